/* kernel.cuh - what kernels share: launching, the compute types, vectors of 16 bytes, sums over warps and blocks. */
#ifndef KERNELS_CUDA_KERNEL_CUH
#define KERNELS_CUDA_KERNEL_CUH

#include "kernels/cuda/machine.cuh"

#include <cuda_bf16.h>
#include <cuda_runtime.h>

extern "C" { /* headers of C; what of CUDA they include is here already */
#include "kernels/cuda/runtime.h"
}

/* Issues a kernel; `shared` is the size of dynamic_shared. */
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, Arguments... arguments)
{
    cudaLaunchConfig_t how = {};
    how.gridDim = grid;
    how.blockDim = block;
    how.dynamicSmemBytes = shared;
    how.stream = cuda_stream;
    CUDA_CHECK(cudaLaunchKernelEx(&how, kernel, static_cast<Parameters>(arguments)...));
}

/* How many blocks of that many cover n. */
inline unsigned blocks_of(size_t n, size_t block)
{
    return static_cast<unsigned>((n + block - 1) / block);
}

typedef __nv_bfloat16 bf16;

__device__ inline float widen(float x)
{
    return x;
}
__device__ inline float widen(bf16 x)
{
    return __bfloat162float(x);
}
/* To the compute type, to the nearest, ties to even. */
template <typename T> __device__ inline T narrow(float x);
template <> __device__ inline float narrow<float>(float x)
{
    return x;
}
template <> __device__ inline bf16 narrow<bf16>(float x)
{
    return __float2bfloat16_rn(x);
}

/* As many numbers as one load or store of 16 bytes moves. */
template <typename T> struct alignas(16) Vector {
    static constexpr int count = 16 / sizeof(T);
    T number[count];
};

constexpr int WARP = 32;
constexpr unsigned WHOLE_WARP = 0xffffffff;

/* The sum, or the largest, over the lanes of the warp, in every lane; in the same order each time. */
template <typename T> __device__ inline T warp_sum(T x)
{
    for (int offset = WARP / 2; offset > 0; offset /= 2)
        x += __shfl_xor_sync(WHOLE_WARP, x, offset);
    return x;
}
__device__ inline float warp_max(float x)
{
    for (int offset = WARP / 2; offset > 0; offset /= 2)
        x = fmaxf(x, __shfl_xor_sync(WHOLE_WARP, x, offset));
    return x;
}

#endif
