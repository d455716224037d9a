/* norm.cu - root-mean-square normalisation of rows, with a weight per column.
 *
 * A row stays in the registers of a warp (short rows) or a block (longer ones), so that memory is read once. Rows that
 * do not fit registers, or are not aligned to vectors in width or address, use the plain kernels at the end, with a
 * block per row, which read rows twice (the second time from the cache). */
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/operations.cuh"

constexpr int PLAIN_THREADS = 256; /* threads per block of the plain kernels */

/* The most threads of backward in all its blocks. The number is fixed, so that all GPUs give the same bits of dw. It is
 * 16 warps for each of 128 multiprocessors, as many as an H100 (132) holds at once with 128 registers a thread, so that
 * no block waits for another to end. More are not needed: a row of 768 bf16 is read as 4.5 KiB (dy, x and, if it is
 * added to, dx) and written as 1.5 KiB. 2048 warps, whose next rows are on their way to the L2 cache while they
 * compute, have 9 MiB in flight; 3 TB/s with a latency of 1 us need 3 MB. Fewer blocks also store fewer sums of dw: 256
 * blocks of eight warps write and read 0.8 MB of them, beside 101 MB of 16,384 rows. */
constexpr unsigned BACKWARD_THREADS = 2048 * WARP;

/* Threads per block: the threads of one row or, if a warp holds a row, several warps, each with a row: in forward as
 * many as registers allow, in backward eight. */
constexpr int forward_threads(int threads, int held)
{
    return threads > WARP ? threads : held > 8 ? 128 : 256;
}
constexpr int backward_threads(int threads)
{
    return threads > WARP ? threads : 256;
}

/* Returns the sum over the `threads` threads of a row. */
template <int threads> __device__ inline float row_sum(float x)
{
    if constexpr (threads == WARP)
        return warp_sum(x);
    else
        return block_sum<threads>(x);
}

__device__ inline float reciprocal_root(float sum, int C)
{
    return 1.0f / sqrtf(sum / static_cast<float>(C) + RMSNORM_EPSILON);
}

/* ---- rows in registers: each of `threads` threads holds at most `held` numbers ---- */

template <typename T, int threads, int held>
__global__ void __launch_bounds__(forward_threads(threads, held))
    rmsnorm_forward_kernel(T *__restrict__ y, float *__restrict__ rstd, const T *__restrict__ x,
                           const T *__restrict__ w, size_t N, int C)
{
    constexpr int count = Vector<T>::count, vectors = held / count;
    int lane = threadIdx.x % threads, most = C / count;
    size_t row = thread_of_grid() / threads;
    if (row >= N) /* all threads of a warp take the same branch, because each row has whole warps */
        return;
    const Vector<T> *weights = reinterpret_cast<const Vector<T> *>(w);
    const Vector<T> *from = reinterpret_cast<const Vector<T> *>(x + row * C);
    Vector<T> *to = reinterpret_cast<Vector<T> *>(y + row * C);
    Vector<T> xs[vectors];
#pragma unroll
    for (int k = 0; k < vectors; k++)
        if (k * threads + lane < most)
            xs[k] = from[k * threads + lane];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < vectors; k++)
        if (k * threads + lane < most) {
#pragma unroll
            for (int i = 0; i < count; i++)
                sum += widen(xs[k].number[i]) * widen(xs[k].number[i]);
        }
    float r = reciprocal_root(row_sum<threads>(sum), C);
    if (lane == 0)
        rstd[row] = r;
#pragma unroll
    for (int k = 0; k < vectors; k++)
        if (k * threads + lane < most) {
            Vector<T> ws = weights[k * threads + lane];
#pragma unroll
            for (int i = 0; i < count; i++)
                xs[k].number[i] = narrow<T>(widen(xs[k].number[i]) * r * widen(ws.number[i]));
            to[k * threads + lane] = xs[k];
        }
}

/* Stores the block's sums of dw, for the columns that its threads hold, in partial[C]. If each warp has its own rows,
 * the sums of warps are added in order. */
template <int threads, int count, int vectors>
__device__ inline void write_partial(float *partial, float (&dw)[vectors][count], int C)
{
    int lane = threadIdx.x % threads, part = threadIdx.x / threads, last = blockDim.x / threads - 1;
    if constexpr (threads == WARP) {
        __shared__ float sum[count][vectors][threads];
        for (int turn = 0; turn <= last; turn++) {
            if (part == turn)
#pragma unroll
                for (int k = 0; k < vectors; k++)
#pragma unroll
                    for (int i = 0; i < count; i++) {
                        if (turn > 0)
                            dw[k][i] += sum[i][k][lane];
                        sum[i][k][lane] = dw[k][i];
                    }
            __syncthreads();
        }
    }
    if (part != last)
        return;
#pragma unroll
    for (int k = 0; k < vectors; k++)
#pragma unroll
        for (int i = 0; i < count; i++) {
            int column = (k * threads + lane) * count + i;
            if (column < C)
                partial[column] = dw[k][i];
        }
}

/* Begins to fetch a row of `most` vectors, spread over `threads` threads, into the L2 cache. */
template <int threads, int vectors, typename Piece> __device__ inline void prefetch_row(const Piece *row, int most)
{
    int lane = threadIdx.x % threads;
#pragma unroll
    for (int k = 0; k < vectors; k++)
        if (k * threads + lane < most)
            prefetch(row + k * threads + lane);
}

/* Block b handles every gridDim.x-th row, or set of rows with one row per warp; its sum of dw goes to partial[b, C].
 * While it computes, the next row is fetched, and dx of this one, for which registers do not suffice. */
template <typename T, int threads, int held>
__global__ void __launch_bounds__(backward_threads(threads), BACKWARD_THREADS / 128 / backward_threads(threads))
    rmsnorm_backward_kernel(T *__restrict__ dx, float *__restrict__ partial, const T *__restrict__ dy,
                            const T *__restrict__ x, const T *__restrict__ w, const float *__restrict__ rstd, size_t N,
                            int C, bool accumulate)
{
    constexpr int count = Vector<T>::count, vectors = held / count;
    int lane = threadIdx.x % threads, most = C / count;
    size_t step = static_cast<size_t>(gridDim.x) * blockDim.x / threads;
    const Vector<T> *weights = reinterpret_cast<const Vector<T> *>(w);
    float dw[vectors][count] = {};
    for (size_t row = thread_of_grid() / threads; row < N; row += step) {
        const Vector<T> *from = reinterpret_cast<const Vector<T> *>(x + row * C);
        const Vector<T> *above = reinterpret_cast<const Vector<T> *>(dy + row * C);
        Vector<T> *to = reinterpret_cast<Vector<T> *>(dx + row * C);
        Vector<T> xs[vectors], ds[vectors];
#pragma unroll
        for (int k = 0; k < vectors; k++)
            if (k * threads + lane < most) {
                xs[k] = from[k * threads + lane];
                ds[k] = above[k * threads + lane];
            }
        if (accumulate)
            prefetch_row<threads, vectors>(to, most);
        if (row + step < N) {
            prefetch_row<threads, vectors>(from + step * most, most);
            prefetch_row<threads, vectors>(above + step * most, most);
            prefetch(rstd + row + step);
        }
        float r = rstd[row], sum = 0.0f;
#pragma unroll
        for (int k = 0; k < vectors; k++)
            if (k * threads + lane < most) {
                Vector<T> ws = weights[k * threads + lane];
#pragma unroll
                for (int i = 0; i < count; i++)
                    sum += widen(ds[k].number[i]) * widen(ws.number[i]) * widen(xs[k].number[i]);
            }
        float mean = row_sum<threads>(sum) * r / static_cast<float>(C);
#pragma unroll
        for (int k = 0; k < vectors; k++)
            if (k * threads + lane < most) {
                Vector<T> ws = weights[k * threads + lane], out = {};
                if (accumulate)
                    out = to[k * threads + lane];
#pragma unroll
                for (int i = 0; i < count; i++) {
                    float d = widen(ds[k].number[i]), n = widen(xs[k].number[i]) * r;
                    dw[k][i] += d * n;
                    d = r * (d * widen(ws.number[i]) - n * mean);
                    out.number[i] = narrow<T>(accumulate ? widen(out.number[i]) + d : d);
                }
                to[k * threads + lane] = out;
            }
    }
    write_partial<threads>(partial + static_cast<size_t>(blockIdx.x) * C, dw, C);
}

/* ---- plain kernels, for any rows ---- */

template <typename T>
__global__ void __launch_bounds__(PLAIN_THREADS)
    rmsnorm_forward_plain_kernel(T *__restrict__ y, float *__restrict__ rstd, const T *__restrict__ x,
                                 const T *__restrict__ w, int C)
{
    size_t row = blockIdx.x, start = row * C;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < C; c += PLAIN_THREADS)
        sum += widen(x[start + c]) * widen(x[start + c]);
    float r = reciprocal_root(block_sum<PLAIN_THREADS>(sum), C);
    if (threadIdx.x == 0)
        rstd[row] = r;
    for (int c = threadIdx.x; c < C; c += PLAIN_THREADS)
        y[start + c] = narrow<T>(widen(x[start + c]) * r * widen(w[c]));
}

/* Plain kernel for backward. Each column belongs to one thread, which sums its dw in memory. */
template <typename T>
__global__ void __launch_bounds__(PLAIN_THREADS)
    rmsnorm_backward_plain_kernel(T *__restrict__ dx, float *__restrict__ partial, const T *__restrict__ dy,
                                  const T *__restrict__ x, const T *__restrict__ w, const float *__restrict__ rstd,
                                  size_t N, int C, bool accumulate)
{
    float *dw = partial + static_cast<size_t>(blockIdx.x) * C;
    for (int c = threadIdx.x; c < C; c += PLAIN_THREADS)
        dw[c] = 0.0f;
    for (size_t row = blockIdx.x; row < N; row += gridDim.x) {
        size_t start = row * C;
        float r = rstd[row], sum = 0.0f;
        for (int c = threadIdx.x; c < C; c += PLAIN_THREADS)
            sum += widen(dy[start + c]) * widen(w[c]) * widen(x[start + c]);
        float mean = block_sum<PLAIN_THREADS>(sum) * r / static_cast<float>(C);
        for (int c = threadIdx.x; c < C; c += PLAIN_THREADS) {
            float d = widen(dy[start + c]), n = widen(x[start + c]) * r;
            dw[c] += d * n;
            d = r * (d * widen(w[c]) - n * mean);
            dx[start + c] = narrow<T>(accumulate ? widen(dx[start + c]) + d : d);
        }
    }
}

/* Computes dw[C] = or += sum of partial[blocks, C]: lanes of a warp handle neighbouring columns, and each warp of the
 * block adds every 32nd row of partial; then the sums of warps are added in order. */
__global__ void __launch_bounds__(WARP *WARP)
    rmsnorm_weight_kernel(float *__restrict__ dw, const float *__restrict__ partial, unsigned blocks, int C,
                          bool accumulate)
{
    __shared__ float of_warp[WARP][WARP];
    int column = static_cast<int>(blockIdx.x) * WARP + threadIdx.x;
    float sum = 0.0f;
    if (column < C)
#pragma unroll 8
        for (unsigned b = threadIdx.y; b < blocks; b += WARP)
            sum += partial[static_cast<size_t>(b) * C + column];
    of_warp[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || column >= C)
        return;
    for (int warp = 1; warp < WARP; warp++)
        sum += of_warp[warp][threadIdx.x];
    dw[column] = accumulate ? dw[column] + sum : sum;
}

/* ---- choice of the kernel ---- */

/* The kernels for rows of at most `widest` numbers, each row spread over `threads` threads. With few threads, each
 * holds a longer piece of the row and has more bytes in flight; threads of several warps need barriers. */
template <typename T> struct Spread {
    int widest, threads, forward_threads;
    decltype(&rmsnorm_forward_kernel<T, WARP, 8>) forward;
    decltype(&rmsnorm_backward_kernel<T, WARP, 8>) backward;
};
template <typename T, int threads, int held> constexpr Spread<T> spread()
{
    return {threads * held, threads, forward_threads(threads, held), rmsnorm_forward_kernel<T, threads, held>,
            rmsnorm_backward_kernel<T, threads, held>};
}

/* Returns the first spread into which a row fits, or NULL. */
template <typename T> static const Spread<T> *find_spread(size_t C)
{
    static const Spread<T> spreads[] = {spread<T, 32, 8>(), spread<T, 32, 32>(), spread<T, 128, 16>(),
                                        spread<T, 128, 32>(), spread<T, 512, 16>()};
    if (C % Vector<T>::count == 0)
        for (const Spread<T> &candidate : spreads)
            if (C <= static_cast<size_t>(candidate.widest))
                return &candidate;
    return nullptr;
}

template <typename Number>
void cuda_rmsnorm_forward(void *y, float *rstd, const void *x, const void *w, size_t N, size_t C)
{
    const Spread<Number> *chosen = find_spread<Number>(C);
    Number *out = static_cast<Number *>(y);
    const Number *in = static_cast<const Number *>(x), *weights = static_cast<const Number *>(w);
    if (chosen != nullptr && aligned(y, x, w)) {
        int threads = chosen->forward_threads;
        launch(chosen->forward, blocks_of(N, threads / chosen->threads), threads, 0, out, rstd, in, weights, N, C);
    } else
        launch(rmsnorm_forward_plain_kernel<Number>, blocks_of(N, 1), PLAIN_THREADS, 0, out, rstd, in, weights, C);
}

template <typename Number>
void cuda_rmsnorm_backward(void *dx, float *dw, const void *dy, const void *x, const void *w, const float *rstd,
                           size_t N, size_t C, int accumulate, int accumulate_weight)
{
    const Spread<Number> *chosen = find_spread<Number>(C);
    if (!aligned(dx, dy, x, w))
        chosen = nullptr;
    int threads = chosen ? backward_threads(chosen->threads) : PLAIN_THREADS;
    unsigned blocks = min(blocks_of(N, chosen ? threads / chosen->threads : 1), BACKWARD_THREADS / threads);
    float *partial = static_cast<float *>(cuda_scratch(blocks * C * sizeof *partial));
    launch(chosen ? chosen->backward : rmsnorm_backward_plain_kernel<Number>, blocks, threads, 0,
           static_cast<Number *>(dx), partial, static_cast<const Number *>(dy), static_cast<const Number *>(x),
           static_cast<const Number *>(w), rstd, N, C, accumulate != 0);
    launch(rmsnorm_weight_kernel, blocks_of(C, WARP), dim3(WARP, WARP), 0, dw, partial, blocks, C,
           accumulate_weight != 0);
}

template void cuda_rmsnorm_forward<float>(void *, float *, const void *, const void *, size_t, size_t);
template void cuda_rmsnorm_forward<bf16>(void *, float *, const void *, const void *, size_t, size_t);
template void cuda_rmsnorm_backward<float>(void *, float *, const void *, const void *, const void *, const float *,
                                           size_t, size_t, int, int);
template void cuda_rmsnorm_backward<bf16>(void *, float *, const void *, const void *, const void *, const float *,
                                          size_t, size_t, int, int);
