/* cupti.h - the part of CUPTI's activity API that this project uses, emulated for tests: it delivers buffers with
 * records of the emulation's calls and work, out of order.
 *
 * Names, codes and meanings are those of NVIDIA's CUPTI reference; records have only the members that are read.
 * EMULATED_CUPTI=taken: another tool has subscribed; restricted: only administrators may trace; absent: the library
 * does not work on this machine. EMULATED_CUPTI_LOSE=n: every n-th kernel has no times. EMULATED_CUPTI_DROP=n: every
 * n-th record is dropped. EMULATED_CUPTI_US=n: a record costs n us. */
#ifndef EMULATED_CUPTI_H
#define EMULATED_CUPTI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_VERSION 13000
#define CUPTIAPI
#define CUPTI_SYNCHRONIZATION_INVALID_VALUE ((uint32_t)0xFFFFFFFFU)

typedef struct CUctx_st *CUcontext;

typedef enum {
    CUPTI_SUCCESS = 0,
    CUPTI_ERROR_INVALID_PARAMETER = 1,
    CUPTI_ERROR_MAX_LIMIT_REACHED = 12,
    CUPTI_ERROR_NOT_COMPATIBLE = 14,
    CUPTI_ERROR_NOT_INITIALIZED = 15,
    CUPTI_ERROR_INSUFFICIENT_PRIVILEGES = 35,
    CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 39,
    CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES = 40
} CUptiResult;

typedef enum {
    CUPTI_ACTIVITY_KIND_MEMCPY = 1,
    CUPTI_ACTIVITY_KIND_MEMSET = 2,
    CUPTI_ACTIVITY_KIND_KERNEL = 3,
    CUPTI_ACTIVITY_KIND_DRIVER = 4,
    CUPTI_ACTIVITY_KIND_RUNTIME = 5,
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL = 10,
    CUPTI_ACTIVITY_KIND_CUDA_EVENT = 36,
    CUPTI_ACTIVITY_KIND_SYNCHRONIZATION = 38,
    CUPTI_ACTIVITY_KIND_COUNT = 64
} CUpti_ActivityKind;

typedef enum { CUPTI_CB_DOMAIN_DRIVER_API = 1, CUPTI_CB_DOMAIN_RUNTIME_API = 2 } CUpti_CallbackDomain;
typedef enum { CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM = 1 } CUpti_ActivityThreadIdType;
typedef enum {
    CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER = 5,
    CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER = 9 /* its value is 1 by default, as in CUPTI 13 */
} CUpti_ActivityAttribute;
enum { CUPTI_ACTIVITY_FLAG_FLUSH_FORCED = 1 }; /* a flush without this flag holds back the GPU's latest records */
typedef uint32_t CUpti_CallbackId;
typedef struct CUpti_Subscriber_st *CUpti_SubscriberHandle;

typedef struct {
    CUpti_ActivityKind kind;
} CUpti_Activity;

typedef struct {
    CUpti_ActivityKind kind;
    uint16_t registersPerThread;
    uint64_t start, end;
    uint32_t deviceId, contextId, streamId;
    int32_t gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory;
    uint32_t correlationId;
    const char *name;
} CUpti_ActivityKernel9;

typedef struct {
    CUpti_ActivityKind kind;
    uint8_t copyKind, srcKind, dstKind, flags;
    uint64_t bytes, start, end;
    uint32_t deviceId, contextId, streamId, correlationId;
} CUpti_ActivityMemcpy5;

typedef struct {
    CUpti_ActivityKind kind;
    uint32_t value;
    uint64_t bytes, start, end;
    uint32_t deviceId, contextId, streamId, correlationId;
    uint16_t flags, memoryKind;
} CUpti_ActivityMemset4;

typedef struct {
    CUpti_ActivityKind kind;
    CUpti_CallbackId cbid;
    uint64_t start, end;
    uint32_t processId, threadId, correlationId, returnValue;
} CUpti_ActivityAPI;

typedef struct {
    CUpti_ActivityKind kind;
    uint32_t type;
    uint64_t start, end;
    uint32_t correlationId, contextId, streamId, cudaEventId;
} CUpti_ActivitySynchronization;

typedef struct {
    CUpti_ActivityKind kind;
    uint32_t correlationId, contextId, streamId, eventId;
} CUpti_ActivityCudaEvent;

typedef void (*CUpti_CallbackFunc)(void *context, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data);
typedef void (*CUpti_BuffersCallbackRequestFunc)(uint8_t **buffer, size_t *size, size_t *records);
typedef void (*CUpti_BuffersCallbackCompleteFunc)(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                                  size_t valid);
typedef uint64_t (*CUpti_TimestampCallbackFunc)(void);

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *context);
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber);
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete);
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc timestamp);
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind);
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind);
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t *size, void *value);
CUptiResult cuptiActivityFlushAll(uint32_t flag);
CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record);
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped);
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char **name);
CUptiResult cuptiGetResultString(CUptiResult result, const char **text);
enum { CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020 = 7 }; /* the call's number in the emulation */
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId call, uint8_t on);
CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t on); /* 0: a query answered "not ready" makes no record */
CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type);
size_t emulated_cupti_buffers(void); /* the number of buffers requested so far */

#ifdef __cplusplus
}
#endif
#endif
