/* runtime.h - shared by the files of the CUDA device: the stream of operations, checked calls, scratch memory. */
#ifndef KERNELS_CUDA_RUNTIME_H
#define KERNELS_CUDA_RUNTIME_H

#include "kernels/error.h"

#include <cuda_runtime_api.h>

/* Ends the job if a call of the runtime fails, and prints the call and the reason. */
#define CUDA_CHECK(call)                                                                                               \
    do {                                                                                                               \
        cudaError_t code_ = (call);                                                                                    \
        if (code_ != cudaSuccess)                                                                                      \
            FATAL("%s: %s", #call, cudaGetErrorString(code_));                                                         \
    } while (0)

/* The stream that operations are issued to, in order. */
extern cudaStream_t cuda_stream;

/* The most bytes of shared memory that the GPU allows a thread block. */
extern size_t cuda_block_shared;

/* Returns scratch memory of that many bytes on the GPU, aligned to 256 bytes, with undefined contents, for the current
 * operation only: the next operation may get the same memory. It is reallocated only for more bytes than ever before,
 * so that only the first step allocates. */
void *cuda_scratch(size_t bytes);

#endif
