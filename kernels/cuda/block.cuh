/* block.cuh - shared by memory-bound operations: groups of neighbouring numbers, and sums over a block. */
#ifndef KERNELS_CUDA_BLOCK_CUH
#define KERNELS_CUDA_BLOCK_CUH

#include "kernels/cuda/kernel.cuh"

#include <stddef.h>
#include <stdint.h>

/* Neighbouring numbers, moved 16 bytes at a time, or all at once if they take less than 16 bytes. */
template <typename T, int n> struct alignas(n * sizeof(T) < 16 ? n * sizeof(T) : 16) Group {
    T number[n];
};

/* Tests whether all addresses are multiples of a vector's 16 bytes. */
template <typename... T> inline bool aligned(const T *...x)
{
    return ((reinterpret_cast<uintptr_t>(x) | ...) % 16) == 0;
}

/* Loads `count` numbers from x[start] on; start is a multiple of count. whole: x is aligned and all numbers exist;
 * otherwise, numbers from x[end] on are 0. `whole` is known at compile time, so that a kernel issues all its loads
 * before it waits for any. */
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

/* Stores `count` numbers at x[start]; `whole` and `end` mean the same as for `load`. The store is indexed by groups,
 * because nvcc 13.0 splits it into a store for each number if the address is computed in numbers. */
template <bool whole, int count, typename T>
__device__ inline void store(T *x, const Group<T, count> &group, size_t start, size_t end)
{
    if constexpr (whole)
        reinterpret_cast<Group<T, count> *>(x)[start / count] = group;
    else
#pragma unroll
        for (int i = 0; i < count; i++)
            if (start + i < end)
                x[start + i] = group.number[i];
}

/* Returns the index of this thread in a one-dimensional grid. */
__device__ inline size_t thread_of_grid()
{
    return static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/* Returns the sum over a one-dimensional block of `threads` threads to every thread; the order of the sum is fixed. All
 * threads call it. Each warp adds the sums of all warps itself. */
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
    __syncthreads(); /* all threads have read, so the next sum may begin */
    return sum;
}

#endif
