/* nccl.h - NCCL as the project uses it, emulated between processes of one machine; for C and C++.
 *
 * Names, codes and meanings are those of NVIDIA's NCCL. Ranks meet in shared memory; a collective is work of a stream
 * that is done when all ranks have reached it (of a single rank: a copy, or nothing if in place). Environment
 * variables (n counts a process's collectives and messages from 1; defaults in parentheses):
 *
 *   EMULATED_NCCL_FAIL_RANK=r,call=n   collective n of rank r (in the communicator that is no part of another) ends in
 *                                      an asynchronous error and is never done; n = 0: connecting fails
 *   EMULATED_NCCL_HANG_RANK=r,call=n   collective n never begins on rank r; n = 0: connecting never ends
 *   EMULATED_NCCL_HANG_RANK=r,finalize ncclCommFinalize never returns on rank r
 *   EMULATED_NCCL_THREADS=n            calls on non-blocking communicators may start n threads (one per call), no more
 *   NCCL_COMM_BLOCKING=0 or 1          whether communicators block; overrides their configuration, as in NCCL
 *   EMULATED_NCCL_MEMORY=0             ncclMemAlloc fails
 *   EMULATED_NCCL_VERSION=23000        the result of ncclGetVersion (22809) */
#ifndef EMULATED_NCCL_H
#define EMULATED_NCCL_H

#include "cuda_runtime_api.h"

#include <limits.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NCCL_MAJOR            2
#define NCCL_VERSION_CODE     22809
#define NCCL_UNIQUE_ID_BYTES  128
#define NCCL_CONFIG_UNDEF_INT INT_MIN

typedef struct ncclComm *ncclComm_t;
typedef struct {
    char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;
typedef enum {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1,
    ncclSystemError = 2,
    ncclInternalError = 3,
    ncclInvalidArgument = 4,
    ncclInvalidUsage = 5,
    ncclRemoteError = 6,
    ncclInProgress = 7
} ncclResult_t;
typedef enum { ncclInt8 = 0, ncclInt32 = 2, ncclFloat32 = 7, ncclFloat64 = 8, ncclBfloat16 = 9 } ncclDataType_t;
typedef enum { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4 } ncclRedOp_t;

typedef struct {
    size_t size;
    unsigned magic, version;
    int blocking, cgaClusterSize, minCTAs, maxCTAs;
    const char *netName;
    int splitShare, trafficClass;
    const char *commName;
} ncclConfig_t;
#define NCCL_CONFIG_INITIALIZER                                                                                        \
    {                                                                                                                  \
        sizeof(ncclConfig_t), 0xcafebeef, NCCL_VERSION_CODE, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT,             \
            NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NULL, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NULL     \
    }

ncclResult_t ncclGetVersion(int *version);
const char *ncclGetErrorString(ncclResult_t result);
const char *ncclGetLastError(ncclComm_t comm);
ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank);
/* If blocking is 0, this function and collectives may return ncclInProgress; they are done when ncclCommGetAsyncError
 * sets *error to something else. */
ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank, ncclConfig_t *config);
/* All ranks of `comm` call it; those with equal colours form a communicator, in the order of their keys. */
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *part, ncclConfig_t *config);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error);
ncclResult_t ncclCommFinalize(ncclComm_t comm);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommRegister(ncclComm_t comm, void *buffer, size_t bytes, void **handle);
ncclResult_t ncclCommDeregister(ncclComm_t comm, void *handle);
ncclResult_t ncclMemAlloc(void **memory, size_t bytes);
ncclResult_t ncclMemFree(void *memory);
ncclResult_t ncclAllReduce(const void *in, void *out, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduceScatter(const void *in, void *out, size_t count_of_rank, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAllGather(const void *in, void *out, size_t count_of_rank, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t ncclBroadcast(const void *in, void *out, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream);
/* Between the start and the end of a group, only the messages of an all-to-all are emulated. */
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);
ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int to_rank, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int from_rank, ncclComm_t comm, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
