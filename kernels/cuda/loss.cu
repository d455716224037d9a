/* loss.cu - cross-entropy and its gradient, with a block per row. */
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/operations.cuh"

#include <float.h>

/* Threads per block if a row does not fit registers: the most that CUDA allows, so that few rows are in progress, and a
 * row is probably still in the cache when it is read again. Two blocks fill a multiprocessor, and 264 rows of 50,000
 * bfloat16 fill half of an H200's cache. */
constexpr int THREADS = 1024;

/* Returns vector number v of a row, with -infinity for numbers beyond V: they add nothing to the sum, and their
 * gradient is 0. */
template <typename T> __device__ inline Vector<T> logits_of(const Vector<T> *row, size_t v, size_t V)
{
    constexpr int count = Vector<T>::count;
    Vector<T> xs = row[v];
    if ((v + 1) * count > V)
#pragma unroll
        for (int i = 0; i < count; i++)
            xs.number[i] = v * count + i < V ? xs.number[i] : narrow<T>(-INFINITY);
    return xs;
}

/* e^(x - max). For bfloat16 by a fast function, because the exact one would take longer than the memory accesses. Its
 * error, a few ulps of fp32 per unit of x - max, is far below the rounding of the result. */
template <typename T> __device__ inline float exponential(float x, float max);
template <> __device__ inline float exponential<float>(float x, float max)
{
    return expf(x - max);
}
template <> __device__ inline float exponential<bf16>(float x, float max)
{
    const float log2_e = 1.44269504f;
    return exp2_approximate((x - max) * log2_e);
}

/* The sum of e^(x - max) over the numbers seen so far, and max, the largest of them. */
struct Softmax {
    float max, sum;

    /* Starts without a number. max is finite, so that it can be subtracted from -infinity. */
    __device__ Softmax() : max(-FLT_MAX), sum(0.0f) {}
    template <typename T, int count> __device__ void add(const T (&x)[count])
    {
        float highest = widen(x[0]);
#pragma unroll
        for (int i = 1; i < count; i++)
            highest = fmaxf(highest, widen(x[i]));
        if (highest > max) {
            sum *= exponential<T>(max, highest);
            max = highest;
        }
#pragma unroll
        for (int i = 0; i < count; i++)
            sum += exponential<T>(widen(x[i]), max);
    }
};

/* Computes, over the block's numbers, the maximum and the sum of e^(x - max) in every thread, in a fixed order. Call it
 * once in a kernel. Each warp combines the results of all warps itself. */
template <typename T, int threads> __device__ inline void combine(float &max, double &sum, const Softmax &own)
{
    constexpr int warps = threads / WARP;
    __shared__ float max_of_warp[warps];
    __shared__ double sum_of_warp[warps];
    int lane = threadIdx.x % WARP;
    float highest = warp_max(own.max);
    double part = warp_sum(static_cast<double>(own.sum * exponential<T>(own.max, highest)));
    if (lane == 0) {
        max_of_warp[threadIdx.x / WARP] = highest;
        sum_of_warp[threadIdx.x / WARP] = part;
    }
    __syncthreads();
    highest = max_of_warp[lane % warps];
    max = warp_max(highest);
    sum = warp_sum(lane < warps ? sum_of_warp[lane] * exponential<T>(highest, max) : 0.0);
}

/* Stores the loss of row i in losses[N], and replaces the row by its gradient. Each thread holds at most `held` vectors
 * of the row in registers. If held is 0, the row is read once for the maximum and the sum, and again, mostly from the
 * cache, for the gradient. */
template <typename T, int threads, int held>
__global__ void __launch_bounds__(threads, held > 0 ? 1024 / threads : 2)
    cross_entropy_kernel(float *__restrict__ losses, T *__restrict__ logits, const int32_t *__restrict__ target,
                         size_t V, size_t stride, float grad_scale)
{
    constexpr int count = Vector<T>::count;
    T *row = logits + blockIdx.x * stride, *right = row + target[blockIdx.x];
    const size_t vectors = stride / count;
    Vector<T> *vector = reinterpret_cast<Vector<T> *>(row), kept[held > 0 ? held : 1];
    float at_target = threadIdx.x == 0 ? widen(*right) : 0.0f; /* must be read before the target's element changes */

    Softmax own;
    if constexpr (held > 0) {
#pragma unroll
        for (int k = 0; k < held; k++)
            if (k * threads + threadIdx.x < vectors)
                kept[k] = logits_of(vector, k * threads + threadIdx.x, V);
#pragma unroll
        for (int k = 0; k < held; k++)
            if (k * threads + threadIdx.x < vectors)
                own.add(kept[k].number);
    } else {
#pragma unroll 2
        for (size_t v = threadIdx.x; v < vectors; v += threads)
            own.add(logits_of(vector, v, V).number);
    }
    float max;
    double sum;
    combine<T, threads>(max, sum, own);
    float scale = grad_scale / static_cast<float>(sum);

    auto put = [&](size_t v, Vector<T> xs) {
#pragma unroll
        for (int i = 0; i < count; i++)
            xs.number[i] = narrow<T>(exponential<T>(widen(xs.number[i]), max) * scale);
        vector[v] = xs;
    };
    if constexpr (held > 0) {
#pragma unroll
        for (int k = 0; k < held; k++)
            if (k * threads + threadIdx.x < vectors)
                put(k * threads + threadIdx.x, kept[k]);
    } else {
        for (size_t v = threadIdx.x; v < vectors; v += threads)
            put(v, logits_of(vector, v, V));
    }
    __syncthreads();        /* the target's gradient has been written, and is corrected below */
    if (threadIdx.x == 0) { /* computed in double, because a good prediction makes the difference small */
        *right = narrow<T>(static_cast<float>(grad_scale * (exponential<T>(at_target, max) / sum - 1.0)));
        losses[blockIdx.x] = logf(static_cast<float>(sum)) + (max - at_target);
    }
}

/* loss += scale * sum of losses[N], by one block: each thread adds every 1024th loss, and then the threads' sums are
 * added. All sums are double, so that millions of rows lose no digits. */
__global__ void __launch_bounds__(THREADS)
    cross_entropy_sum_kernel(float *loss, const float *losses, size_t N, float scale)
{
    double sum = 0.0;
    for (size_t i = threadIdx.x; i < N; i += THREADS)
        sum += losses[i];
    sum = block_sum<THREADS>(sum);
    if (threadIdx.x == 0)
        *loss += static_cast<float>(scale * sum);
}

template <typename Number>
void cuda_cross_entropy(float *loss, void *logits, const int32_t *target, size_t N, size_t V, size_t stride,
                        float loss_scale, float grad_scale)
{
    float *losses = static_cast<float *>(cuda_scratch(N * sizeof *losses));
    auto issue = [&](decltype(&cross_entropy_kernel<Number, THREADS, 0>) kernel, int threads) {
        launch(kernel, blocks_of(N, 1), threads, 0, losses, static_cast<Number *>(logits), target, V, stride,
               grad_scale);
    };
    size_t vectors = stride / Vector<Number>::count;
    if (vectors <= 256 * 2)
        issue(cross_entropy_kernel<Number, 256, 2>, 256);
    else if (vectors <= 256 * 5) /* rows of up to 10,240 bfloat16 */
        issue(cross_entropy_kernel<Number, 256, 5>, 256);
    else if (vectors <= 512 * 5)
        issue(cross_entropy_kernel<Number, 512, 5>, 512);
    else
        issue(cross_entropy_kernel<Number, THREADS, 0>, THREADS);
    launch(cross_entropy_sum_kernel, 1, THREADS, 0, loss, losses, N, loss_scale);
}

template void cuda_cross_entropy<float>(float *, void *, const int32_t *, size_t, size_t, size_t, float, float);
template void cuda_cross_entropy<bf16>(float *, void *, const int32_t *, size_t, size_t, size_t, float, float);
