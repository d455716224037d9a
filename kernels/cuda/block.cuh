/* block.cuh - what operations that memory bounds share: groups of neighbouring numbers, and sums over a block. */
#ifndef KERNELS_CUDA_BLOCK_CUH
#define KERNELS_CUDA_BLOCK_CUH

#include "kernels/cuda/kernel.cuh"

#include <stddef.h>
#include <stdint.h>

/* Neighbouring numbers, which move 16 bytes at a time, or all at once if they are less. */
template <typename T, int n> struct alignas(n * sizeof(T) < 16 ? n * sizeof(T) : 16) Group {
    T number[n];
};

/* 1 if all the addresses are those of vectors. */
template <typename... T> inline bool aligned(const T *...x)
{
    return ((reinterpret_cast<uintptr_t>(x) | ...) % 16) == 0;
}

/* x[start] and those behind it. `whole`: x is aligned, and all of them exist. Otherwise there are none from x[end] on,
 * and 0 takes their place. start is a multiple of count. The two are apart at compile time, so that a kernel decides
 * once and then issues all its loads before it waits for any. */
template <bool whole, int count, typename T>
__device__ inline Group<T, count> load(const T *x, size_t start, size_t end)
{
    if constexpr (whole)
        return *reinterpret_cast<const Group<T, count> *>(x + start);
    else {
        Group<T, count> group;
#pragma unroll
        for (int i = 0; i < count; i++)
            group.number[i] = start + i < end ? x[start + i] : T();
        return group;
    }
}

/* The same way back. */
template <bool whole, int count, typename T>
__device__ inline void store(T *x, const Group<T, count> &group, size_t start, size_t end)
{
    if constexpr (whole)
        *reinterpret_cast<Group<T, count> *>(x + start) = group;
    else
#pragma unroll
        for (int i = 0; i < count; i++)
            if (start + i < end)
                x[start + i] = group.number[i];
}

/* The number of this thread among all of a launch of one dimension. */
__device__ inline size_t thread_of_grid()
{
    return static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/* The sum over the block of so many threads of one dimension, in every thread; in the same order each time. All threads
 * call it. Each warp adds the sums of all warps itself. */
template <int threads, typename T> __device__ inline T block_sum(T x)
{
    constexpr int warps = threads / WARP;
    __shared__ T of_warp[warps];
    int lane = threadIdx.x % WARP;
    x = warp_sum(x);
    if (lane == 0)
        of_warp[threadIdx.x / WARP] = x;
    __syncthreads();
    T sum = warp_sum(lane < warps ? of_warp[lane] : T());
    __syncthreads(); /* all have read: the next sum may begin */
    return sum;
}

#endif
