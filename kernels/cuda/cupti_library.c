/* cupti_library.c - finds CUPTI and its functions. */
#include "kernels/cuda/cupti_library.h"

#include "kernels/error.h"
#include "kernels/library.h"

#include <stddef.h>
#include <stdio.h>

static const struct library_function functions[] = {
    {"cuptiSubscribe", offsetof(struct cupti, subscribe), 1},
    {"cuptiUnsubscribe", offsetof(struct cupti, unsubscribe), 1},
    {"cuptiActivityRegisterCallbacks", offsetof(struct cupti, register_callbacks), 1},
    {"cuptiActivityRegisterTimestampCallback", offsetof(struct cupti, register_timestamp), 1},
    {"cuptiActivityEnable", offsetof(struct cupti, enable), 1},
    {"cuptiActivityDisable", offsetof(struct cupti, disable), 1},
    {"cuptiActivityFlushAll", offsetof(struct cupti, flush_all), 1},
    {"cuptiActivityGetNextRecord", offsetof(struct cupti, next_record), 1},
    {"cuptiActivityGetNumDroppedRecords", offsetof(struct cupti, dropped), 1},
    {"cuptiGetCallbackName", offsetof(struct cupti, callback_name), 1},
    {"cuptiGetResultString", offsetof(struct cupti, result_string), 1},
    {"cuptiActivitySetAttribute", offsetof(struct cupti, set_attribute), 0},
    {"cuptiSetThreadIdType", offsetof(struct cupti, set_thread_id_type), 0},
    {"cuptiActivityEnableRuntimeApi", offsetof(struct cupti, enable_runtime_call), 0},
    {"cuptiActivityEnableAllSyncRecords", offsetof(struct cupti, enable_all_waits), 0},
};

int cupti_open(struct cupti *cupti)
{
    char file[32];
    snprintf(file, sizeof file, "libcupti.so.%d", CUDA_VERSION / 1000);
    const char *why = library_open(cupti, functions, sizeof functions / sizeof *functions, file);
    if (!why)
        return 0;
    return error_report(
        "cannot load CUPTI, CUDA's tracing library (%s); install the CUDA toolkit's CUPTI of the same version, "
        "or add its directory to LD_LIBRARY_PATH",
        why);
}
