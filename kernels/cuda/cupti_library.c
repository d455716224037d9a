/* cupti_library.c - finds CUPTI and its functions. */
#include "kernels/cuda/cupti_library.h"

#include "kernels/error.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct function {
    size_t offset; /* offset of the pointer in struct cupti */
    int needed;
    const char *name;
} functions[] = {
    {offsetof(struct cupti, subscribe), 1, "cuptiSubscribe"},
    {offsetof(struct cupti, unsubscribe), 1, "cuptiUnsubscribe"},
    {offsetof(struct cupti, register_callbacks), 1, "cuptiActivityRegisterCallbacks"},
    {offsetof(struct cupti, register_timestamp), 1, "cuptiActivityRegisterTimestampCallback"},
    {offsetof(struct cupti, enable), 1, "cuptiActivityEnable"},
    {offsetof(struct cupti, disable), 1, "cuptiActivityDisable"},
    {offsetof(struct cupti, flush_all), 1, "cuptiActivityFlushAll"},
    {offsetof(struct cupti, next_record), 1, "cuptiActivityGetNextRecord"},
    {offsetof(struct cupti, dropped), 1, "cuptiActivityGetNumDroppedRecords"},
    {offsetof(struct cupti, callback_name), 1, "cuptiGetCallbackName"},
    {offsetof(struct cupti, result_string), 1, "cuptiGetResultString"},
    {offsetof(struct cupti, set_attribute), 0, "cuptiActivitySetAttribute"},
    {offsetof(struct cupti, set_thread_id_type), 0, "cuptiSetThreadIdType"},
    {offsetof(struct cupti, enable_runtime_call), 0, "cuptiActivityEnableRuntimeApi"},
    {offsetof(struct cupti, enable_all_waits), 0, "cuptiActivityEnableAllSyncRecords"},
};

/* Returns a handle of the process itself if it has CUPTI's functions; else a handle of the library, from the program's
 * search path, of the toolkit that the program was built with; NULL if that library is missing. Stores the library's
 * name. */
static void *load(char *name, size_t size)
{
    void *self = dlopen(NULL, RTLD_NOW);
    snprintf(name, size, "libcupti.so.%d", CUDA_VERSION / 1000);
    if (self && dlsym(self, functions[0].name))
        return self;
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

int cupti_open(struct cupti *cupti)
{
    char name[32];
    void *library = load(name, sizeof name);
    if (!library)
        return error_report(
            "cannot load CUPTI, CUDA's tracing library (%s); install the CUDA toolkit's CUPTI of the same "
            "version, or add its directory to LD_LIBRARY_PATH",
            dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found && functions[i].needed)
            return error_report("%s has no %s: it is too old; update the CUDA toolkit", name, functions[i].name);
        memcpy((char *)cupti + functions[i].offset, &found, sizeof found); /* POSIX allows this conversion */
    }
    return 0;
}
