/* elementwise.cu - operations that touch each number once: filling, copying, adding, bfloat16, and SwiGLU.
 *
 * Each thread handles one group: 16 bytes of the narrowest array, so that enough loads are in flight to saturate the
 * memory bus. Arrays that are not aligned to 16 bytes are moved number by number. */
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/operations.cuh"

constexpr int THREADS = 256;

void cuda_zero(float *x, size_t n)
{
    if (n > 0)
        CUDA_CHECK(cudaMemsetAsync(x, 0, n * sizeof *x, cuda_stream));
}

void cuda_copy(float *to, const float *from, size_t n)
{
    if (n > 0)
        CUDA_CHECK(cudaMemcpyAsync(to, from, n * sizeof *to, cudaMemcpyDeviceToDevice, cuda_stream));
}

template <bool whole> __device__ inline void axpby(float *y, const float *x, size_t start, size_t n, float a, float b)
{
    constexpr int count = Vector<float>::count;
    Group<float, count> xs = load<whole, count>(x, start, n), ys = load<whole, count>(y, start, n);
#pragma unroll
    for (int i = 0; i < count; i++)
        ys.number[i] = a * xs.number[i] + b * ys.number[i];
    store<whole>(y, ys, start, n);
}

__global__ void __launch_bounds__(THREADS)
    axpby_kernel(float *y, const float *x, size_t n, float a, float b, bool vectors)
{
    constexpr int count = Vector<float>::count;
    size_t start = thread_of_grid() * count;
    if (vectors && start + count <= n)
        axpby<true>(y, x, start, n, a, b);
    else
        axpby<false>(y, x, start, n, a, b);
}

void cuda_axpby(float *y, const float *x, size_t n, float a, float b)
{
    if (n > 0)
        launch(axpby_kernel, blocks_of(n, THREADS * Vector<float>::count), THREADS, 0, y, x, n, a, b, aligned(y, x));
}

/* ---- bfloat16 ---- */

/* Rounds floats to bfloat16. The conversion turns every NaN into 0x7FFF, and keeps subnormals. */
template <bool whole> __device__ inline void pack_bf16(bf16 *to, const float *from, size_t start, size_t n)
{
    constexpr int count = Vector<bf16>::count;
    Group<float, count> wide = load<whole, count>(from, start, n);
    Group<bf16, count> narrowed;
#pragma unroll
    for (int i = 0; i < count; i++)
        narrowed.number[i] = narrow<bf16>(wide.number[i]);
    store<whole>(to, narrowed, start, n);
}

__global__ void __launch_bounds__(THREADS) pack_bf16_kernel(bf16 *to, const float *from, size_t n, bool vectors)
{
    constexpr int count = Vector<bf16>::count;
    size_t start = thread_of_grid() * count;
    if (vectors && start + count <= n)
        pack_bf16<true>(to, from, start, n);
    else
        pack_bf16<false>(to, from, start, n);
}

/* Widens bfloat16, which is the upper half of a float, to float, and sums the rows. */
template <bool whole>
__device__ inline void unpack_bf16(float *to, const uint16_t *from, size_t start, size_t n, size_t rows, size_t stride)
{
    constexpr int count = Vector<uint16_t>::count;
    Group<float, count> sum;
    for (size_t r = 0; r < rows; r++) {
        Group<uint16_t, count> narrowed = load<whole, count>(from + r * stride, start, n);
#pragma unroll
        for (int i = 0; i < count; i++) {
            float wide = __uint_as_float(static_cast<unsigned>(narrowed.number[i]) << 16);
            sum.number[i] = r == 0 ? wide : sum.number[i] + wide;
        }
    }
    store<whole>(to, sum, start, n);
}

__global__ void __launch_bounds__(THREADS)
    unpack_bf16_kernel(float *to, const uint16_t *from, size_t n, size_t rows, size_t stride, bool vectors)
{
    constexpr int count = Vector<uint16_t>::count;
    size_t start = thread_of_grid() * count;
    if (vectors && start + count <= n)
        unpack_bf16<true>(to, from, start, n, rows, stride);
    else
        unpack_bf16<false>(to, from, start, n, rows, stride);
}

void cuda_pack_bf16(uint16_t *to, const float *from, size_t n)
{
    if (n > 0)
        launch(pack_bf16_kernel, blocks_of(n, THREADS * Vector<bf16>::count), THREADS, 0, reinterpret_cast<bf16 *>(to),
               from, n, aligned(to, from));
}

void cuda_unpack_bf16(float *to, const uint16_t *from, size_t n, size_t rows, size_t stride)
{
    if (n > 0)
        launch(unpack_bf16_kernel, blocks_of(n, THREADS * Vector<uint16_t>::count), THREADS, 0, to, from, n, rows,
               stride, aligned(to, from) && (rows == 1 || stride % Vector<uint16_t>::count == 0));
}

/* ---- SwiGLU ---- */

/* Returns 1 / (1 + e^-x). If e^-x overflows, 1 / infinity is 0, which is correct. */
template <typename T> __device__ inline float sigmoid(float x);
template <> __device__ inline float sigmoid<float>(float x)
{
    return 1.0f / (1.0f + expf(-x));
}
/* Uses fast functions, because exact ones would take longer than the memory accesses. Their errors, a few ulps of fp32
 * per unit of x, are far below the rounding of the result. */
template <> __device__ inline float sigmoid<bf16>(float x)
{
    const float log2_e = 1.44269504f;
    return __fdividef(1.0f, 1.0f + exp2_approximate(-log2_e * x));
}

/* A thread's numbers: from `column` on, of the row that begins at `start` in a and g, and at `flat` in h. */
template <int count> struct Place {
    size_t column, start, flat;
    bool there; /* the row exists */

    /* blockIdx.x covers the groups of all rows. */
    __device__ Place(size_t N, unsigned F, size_t stride)
    {
        unsigned pieces = (F + count - 1) / count;
        size_t i = thread_of_grid();
        size_t row = i >> 32 ? i / pieces : static_cast<unsigned>(i) / pieces; /* dividing 32 bits is faster than 64 */
        column = (i - row * pieces) * count;
        start = row * stride;
        flat = row * F;
        there = row < N;
    }
};

template <typename T, bool whole, int count>
__device__ inline void swiglu_forward(T *h, const T *a, const T *g, const Place<count> &at, unsigned F)
{
    Group<T, count> as = load<whole, count>(a + at.start, at.column, F),
                    gs = load<whole, count>(g + at.start, at.column, F), out;
#pragma unroll
    for (int i = 0; i < count; i++) {
        float x = widen(as.number[i]);
        out.number[i] = narrow<T>(x * sigmoid<T>(x) * widen(gs.number[i]));
    }
    store<whole>(h + at.flat, out, at.column, F);
}

template <typename T>
__global__ void __launch_bounds__(THREADS)
    swiglu_forward_kernel(T *h, const T *a, const T *g, size_t N, unsigned F, size_t stride, bool vectors)
{
    Place<Vector<T>::count> at(N, F, stride);
    if (!at.there)
        return;
    if (vectors)
        swiglu_forward<T, true>(h, a, g, at, F);
    else
        swiglu_forward<T, false>(h, a, g, at, F);
}

/* Computes da and dg. da may be a, and dg may be g: a thread reads all its numbers before it writes any. */
template <typename T, bool whole, int count>
__device__ inline void swiglu_backward(T *da, T *dg, const T *dh, const T *a, const T *g, const Place<count> &at,
                                       unsigned F)
{
    Group<T, count> ds = load<whole, count>(dh + at.flat, at.column, F),
                    as = load<whole, count>(a + at.start, at.column, F),
                    gs = load<whole, count>(g + at.start, at.column, F);
#pragma unroll
    for (int i = 0; i < count; i++) {
        float d = widen(ds.number[i]), x = widen(as.number[i]), s = sigmoid<T>(x);
        as.number[i] = narrow<T>(d * widen(gs.number[i]) * s * (1.0f + x * (1.0f - s)));
        gs.number[i] = narrow<T>(d * x * s);
    }
    store<whole>(da + at.start, as, at.column, F);
    store<whole>(dg + at.start, gs, at.column, F);
}

template <typename T>
__global__ void __launch_bounds__(THREADS) swiglu_backward_kernel(T *da, T *dg, const T *dh, const T *a, const T *g,
                                                                  size_t N, unsigned F, size_t stride, bool vectors)
{
    Place<Vector<T>::count> at(N, F, stride);
    if (!at.there)
        return;
    if (vectors)
        swiglu_backward<T, true>(da, dg, dh, a, g, at, F);
    else
        swiglu_backward<T, false>(da, dg, dh, a, g, at, F);
}

/* Returns the number of blocks for N rows of F numbers, with a thread for each group of a row. */
template <typename Number> static unsigned swiglu_blocks(size_t N, size_t F)
{
    return blocks_of(N * ((F + Vector<Number>::count - 1) / Vector<Number>::count), THREADS);
}

/* Tests whether all rows consist of whole, aligned vectors. */
template <typename Number, typename... T> static bool swiglu_vectors(size_t F, size_t stride, const T *...arrays)
{
    return F % Vector<Number>::count == 0 && stride % Vector<Number>::count == 0 && aligned(arrays...);
}

template <typename Number>
void cuda_swiglu_forward(void *h, const void *a, const void *g, size_t N, size_t F, size_t stride)
{
    launch(swiglu_forward_kernel<Number>, swiglu_blocks<Number>(N, F), THREADS, 0, static_cast<Number *>(h),
           static_cast<const Number *>(a), static_cast<const Number *>(g), N, F, stride,
           swiglu_vectors<Number>(F, stride, h, a, g));
}

template <typename Number>
void cuda_swiglu_backward(void *da, void *dg, const void *dh, const void *a, const void *g, size_t N, size_t F,
                          size_t stride)
{
    launch(swiglu_backward_kernel<Number>, swiglu_blocks<Number>(N, F), THREADS, 0, static_cast<Number *>(da),
           static_cast<Number *>(dg), static_cast<const Number *>(dh), static_cast<const Number *>(a),
           static_cast<const Number *>(g), N, F, stride, swiglu_vectors<Number>(F, stride, da, dg, dh, a, g));
}

template void cuda_swiglu_forward<float>(void *, const void *, const void *, size_t, size_t, size_t);
template void cuda_swiglu_forward<bf16>(void *, const void *, const void *, size_t, size_t, size_t);
template void cuda_swiglu_backward<float>(void *, void *, const void *, const void *, const void *, size_t, size_t,
                                          size_t);
template void cuda_swiglu_backward<bf16>(void *, void *, const void *, const void *, const void *, size_t, size_t,
                                         size_t);
