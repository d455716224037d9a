/* nccl_library.h - the functions of NCCL that comm_nccl.c calls; their pointers are found at run time. */
#ifndef DDP_NCCL_LIBRARY_H
#define DDP_NCCL_LIBRARY_H

#include <nccl.h>

/* Applies DO to the name of each function. */
#define NCCL_FUNCTIONS(DO)                                                                                             \
    DO(ncclGetVersion)                                                                                                 \
    DO(ncclGetErrorString)                                                                                             \
    DO(ncclGetLastError)                                                                                               \
    DO(ncclGetUniqueId)                                                                                                \
    DO(ncclCommInitRankConfig)                                                                                         \
    DO(ncclCommSplit)                                                                                                  \
    DO(ncclCommFinalize)                                                                                               \
    DO(ncclCommDestroy)                                                                                                \
    DO(ncclCommGetAsyncError)                                                                                          \
    DO(ncclMemAlloc)                                                                                                   \
    DO(ncclMemFree)                                                                                                    \
    DO(ncclCommRegister)                                                                                               \
    DO(ncclCommDeregister)                                                                                             \
    DO(ncclAllReduce)                                                                                                  \
    DO(ncclReduceScatter)                                                                                              \
    DO(ncclAllGather)                                                                                                  \
    DO(ncclBroadcast)                                                                                                  \
    DO(ncclGroupStart)                                                                                                 \
    DO(ncclGroupEnd)                                                                                                   \
    DO(ncclSend)                                                                                                       \
    DO(ncclRecv)

#define NCCL_POINTER(name)  __typeof__(&(name)) name; /* NOLINT(bugprone-macro-parentheses) */
#define NCCL_FUNCTION(name) {#name, offsetof(struct nccl_library, name), 1},

struct nccl_library {
    NCCL_FUNCTIONS(NCCL_POINTER)
};

#endif
