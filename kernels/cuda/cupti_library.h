/* cupti_library.h - CUPTI's functions, which are loaded at run time.
 *
 * Names, codes and layouts of records come from the toolkit's headers. */
#ifndef KERNELS_CUDA_CUPTI_LIBRARY_H
#define KERNELS_CUDA_CUPTI_LIBRARY_H

#include <cupti.h>

/* Layouts of records in every toolkit since 12.0. Newer libraries write longer records with the same beginning. */
typedef CUpti_ActivityKernel9 cupti_kernel;
typedef CUpti_ActivityMemcpy5 cupti_copy;
typedef CUpti_ActivityMemset4 cupti_fill;
typedef CUpti_ActivityAPI cupti_call;
typedef CUpti_ActivitySynchronization cupti_wait;
typedef CUpti_ActivityCudaEvent cupti_mark;

/* Functions of CUPTI. The functions after the line "functions that may be NULL" are NULL if an old library lacks them.
 */
struct cupti {
    __typeof__(&cuptiSubscribe) subscribe;
    __typeof__(&cuptiUnsubscribe) unsubscribe;
    __typeof__(&cuptiActivityRegisterCallbacks) register_callbacks;
    __typeof__(&cuptiActivityRegisterTimestampCallback) register_timestamp;
    __typeof__(&cuptiActivityEnable) enable;
    __typeof__(&cuptiActivityDisable) disable;
    __typeof__(&cuptiActivityFlushAll) flush_all;
    __typeof__(&cuptiActivityGetNextRecord) next_record;
    __typeof__(&cuptiActivityGetNumDroppedRecords) dropped;
    __typeof__(&cuptiGetCallbackName) callback_name;
    __typeof__(&cuptiGetResultString) result_string;
    /* ---- functions that may be NULL ---- */
    __typeof__(&cuptiActivitySetAttribute) set_attribute;
    __typeof__(&cuptiSetThreadIdType) set_thread_id_type;
    /* some toolkits' headers do not declare these two functions of CUPTI */
    CUptiResult (*enable_runtime_call)(CUpti_CallbackId call, uint8_t on);
    CUptiResult (*enable_all_waits)(uint8_t on);
};

/* CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, which headers of older toolkits lack: one buffer per thread;
 * supported since 12.3, the default since 13. */
#define CUPTI_PER_THREAD_BUFFER ((CUpti_ActivityAttribute)9)

/* Finds the functions in the process itself, if a tool or a test has loaded them, or in the toolkit's library, which
 * stays loaded. Returns 0; or -1, reported. */
int cupti_open(struct cupti *cupti);

#endif
