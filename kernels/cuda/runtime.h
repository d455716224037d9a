/* runtime.h - what the files of the CUDA device share: the stream of operations, checked calls, scratch memory. */
#ifndef KERNELS_CUDA_RUNTIME_H
#define KERNELS_CUDA_RUNTIME_H

#include "kernels/error.h"

#include <cuda_runtime_api.h>

/* Ends the job when a call of the runtime fails, with the call and the reason. */
#define CUDA_CHECK(call)                                                                                               \
    do {                                                                                                               \
        cudaError_t code_ = (call);                                                                                    \
        if (code_ != cudaSuccess)                                                                                      \
            FATAL("%s: %s", #call, cudaGetErrorString(code_));                                                         \
    } while (0)

/* The stream that operations are issued to, in order. */
extern cudaStream_t cuda_stream;

/* Bytes of shared memory that the GPU lets a block have at most. */
extern size_t cuda_block_shared;

/* At least that many bytes of the GPU's memory, aligned to 256, contents undefined, for the operation being issued: the
 * next operation may ask for the same. It grows when asked for more than ever before and is otherwise reused, so that
 * only a program's first step allocates. */
void *cuda_scratch(size_t bytes);

#endif
