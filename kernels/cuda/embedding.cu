/* embedding.cu - looks up a table's rows by token, and sums gradients into these rows.
 *
 * Backward adds the rows of equal tokens in the order of rows, which `order` lists one after another. For each token
 * and each 128 columns, a warp adds all rows of the token. */
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/operations.cuh"

constexpr int WARPS = 8;         /* warps per block, in kernels with a warp per row */
constexpr int COLUMNS = 4;       /* columns that each lane sums, if addresses are aligned */
constexpr int BATCH = 8;         /* number of rows that a warp loads at once; a divisor of 32 */
constexpr size_t SLICES = 65535; /* the largest grid along y that CUDA allows */

/* ---- forward ---- */

/* Looks up rows. A row of x[N, C] and table[V, C] consists of C pieces, each a whole vector or a single number. */
template <typename Piece>
__global__ void __launch_bounds__(WARPS *WARP)
    embedding_forward_kernel(Piece *__restrict__ x, const Piece *__restrict__ table, const int32_t *__restrict__ token,
                             size_t N, size_t C)
{
    size_t row = static_cast<size_t>(blockIdx.x) * WARPS + threadIdx.y;
    if (row >= N)
        return;
    Piece *to = x + row * C;
    const Piece *from = table + static_cast<size_t>(token[row]) * C;
#pragma unroll 4
    for (size_t c = threadIdx.x; c < C; c += WARP)
        to[c] = from[c];
}

template <typename Number>
void cuda_embedding_forward(void *x, const void *table, const int32_t *token, size_t N, size_t C)
{
    constexpr size_t count = Vector<Number>::count;
    dim3 grid = blocks_of(N, WARPS), block(WARP, WARPS);
    if (C % count == 0 && aligned(x, table))
        launch(embedding_forward_kernel<Vector<Number>>, grid, block, 0, static_cast<Vector<Number> *>(x),
               static_cast<const Vector<Number> *>(table), token, N, C / count);
    else
        launch(embedding_forward_kernel<Number>, grid, block, 0, static_cast<Number *>(x),
               static_cast<const Number *>(table), token, N, C);
}

/* ---- backward ---- */

/* The warp at a token's first place adds the token's rows to the table, in slices of `count` columns per lane (by
 * vectors if count is not 1). The warp reads the numbers of the next 32 rows at once, and loads BATCH rows before it
 * adds any, so that it need not wait for the memory at each row of a frequent token. */
template <typename T, int count>
__global__ void __launch_bounds__(WARPS *WARP, 3)
    embedding_sum_kernel(float *__restrict__ dtable, const T *__restrict__ dx, const int32_t *__restrict__ token,
                         const int32_t *__restrict__ order, size_t N, size_t C)
{
    size_t first = static_cast<size_t>(blockIdx.x) * WARPS + threadIdx.y;
    if (first >= N || (first > 0 && token[order[first - 1]] == token[order[first]]))
        return;
    int32_t mine = token[order[first]];
    for (size_t slice = blockIdx.y; slice * WARP * count < C; slice += gridDim.y) {
        size_t column = (slice * WARP + threadIdx.x) * count;
        bool exists = column < C;
        Group<float, count> *to = reinterpret_cast<Group<float, count> *>(dtable + mine * C + column), sum = {};
        if (exists)
            sum = *to;
        int rows = WARP;
        for (size_t at = first; rows == WARP; at += WARP) {
            size_t next = at + threadIdx.x;
            int32_t row = next < N ? order[next] : 0;
            bool belongs = next < N && token[row] == mine;
            rows = warp_sum(belongs ? 1 : 0); /* how many of the 32 rows belong to the token; they come first */
            for (int start = 0; start < rows; start += BATCH) {
                Group<T, count> more[BATCH];
#pragma unroll
                for (int i = 0; i < BATCH; i++) {
                    size_t from = static_cast<size_t>(__shfl_sync(WHOLE_WARP, row, start + i)) * C + column;
                    if (exists && start + i < rows)
                        more[i] = *reinterpret_cast<const Group<T, count> *>(dx + from);
                }
#pragma unroll
                for (int i = 0; i < BATCH; i++)
                    if (exists && start + i < rows)
#pragma unroll
                        for (int c = 0; c < count; c++)
                            sum.number[c] += widen(more[i].number[c]);
            }
        }
        if (exists)
            *to = sum;
    }
}

/* Adds the sorted rows of each token to the table, `count` columns per lane. */
template <typename T, int count>
static void sum_rows(float *dtable, const void *dx, const int32_t *token, const int32_t *order, size_t N, size_t C)
{
    size_t slices = (C + WARP * count - 1) / (WARP * count);
    dim3 grid(blocks_of(N, WARPS), static_cast<unsigned>(min(slices, SLICES)));
    launch(embedding_sum_kernel<T, count>, grid, dim3(WARP, WARPS), 0, dtable, static_cast<const T *>(dx), token, order,
           N, C);
}

template <typename Number>
void cuda_embedding_backward(float *dtable, const void *dx, const int32_t *token, const int32_t *order, size_t N,
                             size_t C, size_t V, int accumulate)
{
    if (!accumulate)
        cuda_zero(dtable, V * C);
    if (C % COLUMNS == 0 && aligned(dtable, dx))
        sum_rows<Number, COLUMNS>(dtable, dx, token, order, N, C);
    else
        sum_rows<Number, 1>(dtable, dx, token, order, N, C);
}

template void cuda_embedding_forward<float>(void *, const void *, const int32_t *, size_t, size_t);
template void cuda_embedding_forward<bf16>(void *, const void *, const int32_t *, size_t, size_t);
template void cuda_embedding_backward<float>(float *, const void *, const int32_t *, const int32_t *, size_t, size_t,
                                             size_t, int);
template void cuda_embedding_backward<bf16>(float *, const void *, const int32_t *, const int32_t *, size_t, size_t,
                                            size_t, int);
