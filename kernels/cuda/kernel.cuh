/* kernel.cuh - shared by kernels: launches, the compute types, vectors of 16 bytes, sums over warps. */
#ifndef KERNELS_CUDA_KERNEL_CUH
#define KERNELS_CUDA_KERNEL_CUH

#include "kernels/cuda/machine.cuh"

#include <cuda_bf16.h>
#include <cuda_runtime.h>

extern "C" { /* headers in C; the CUDA headers that they include are included above */
#include "kernels/cuda/runtime.h"
}

/* Launches a kernel; `shared` is the size of dynamic_shared, in bytes. */
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

/* Returns how many blocks of size `block` cover n. */
inline unsigned blocks_of(size_t n, size_t block)
{
    return static_cast<unsigned>((n + block - 1) / block);
}

typedef __nv_bfloat16 bf16;

/* widen converts a number of a compute type to fp32; narrow rounds fp32 to a compute type: to nearest, ties to even. */
__device__ inline float widen(float x)
{
    return x;
}
__device__ inline float widen(bf16 x)
{
    return __bfloat162float(x);
}
template <typename T> __device__ inline T narrow(float x);
template <> __device__ inline float narrow<float>(float x)
{
    return x;
}
template <> __device__ inline bf16 narrow<bf16>(float x)
{
    return __float2bfloat16_rn(x);
}

/* The numbers that a single load or store of 16 bytes moves. */
template <typename T> struct alignas(16) Vector {
    static constexpr int count = 16 / sizeof(T);
    T number[count];
};

constexpr int WARP = 32;
constexpr unsigned WHOLE_WARP = 0xffffffff;

/* warp_sum and warp_max return the sum and the maximum over the warp's lanes, to every lane, in a fixed order. */
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
