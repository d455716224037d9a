/* embedding.cu - looks up a table's rows by token, and sums gradients into these rows.
 *
 * Backward adds the rows of equal tokens in the order of rows. For this it sorts row numbers stably by token, for
 * tokens of any size. It first sorts within each tile of TILE rows (each row counts the tile's rows that precede it). A
 * row's place among all rows is then its place in its tile plus the number of rows that precede it in each other tile,
 * found by bisection. That takes N TILE + N^2 / TILE log2(TILE) comparisons: for 16,384 rows 12 million, which take
 * 0.09 ms on an H100. Ten times the rows need a hundred times the comparisons, which then take most of the time.
 * Finally, for each token and each 128 columns, a warp adds all rows of the token. */
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/operations.cuh"

constexpr int WARPS = 8;         /* warps per block, in kernels with a warp per row */
constexpr int TILE = 256;        /* rows that a block sorts, one per thread */
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

/* Sorts the tokens of each tile into sorted[N], and stores each row's place within its tile in place[N]. */
__global__ void __launch_bounds__(TILE)
    embedding_sort_kernel(int32_t *sorted, int32_t *place, const int32_t *token, size_t N)
{
    __shared__ int32_t tile[TILE];
    size_t start = static_cast<size_t>(blockIdx.x) * TILE;
    int rows = static_cast<int>(min(N - start, static_cast<size_t>(TILE))), row = threadIdx.x, before = 0;
    if (row < rows)
        tile[row] = token[start + row];
    __syncthreads();
    if (row >= rows)
        return;
    int32_t mine = tile[row];
    for (int other = 0; other < rows; other++)
        before += tile[other] < mine || (tile[other] == mine && other < row);
    place[start + row] = before;
    sorted[start + before] = mine;
}

/* Returns how many of the tile's sorted numbers are below x, by bisection without branches, so that the loads of
 * several tiles are in flight at once. */
__device__ inline int count_below(const int32_t *tile, int rows, int64_t x)
{
    int below = 0;
#pragma unroll
    for (int step = TILE; step > 0; step /= 2) {
        int next = below + step;
        bool all_below = tile[min(next, rows) - 1] < x;
        below = next <= rows && all_below ? next : below;
    }
    return below;
}

/* Merges the sorted tiles: row_at[N] becomes the rows in order of their tokens, token_at[N] their tokens. */
__global__ void __launch_bounds__(TILE)
    embedding_place_kernel(int32_t *__restrict__ row_at, int32_t *__restrict__ token_at,
                           const int32_t *__restrict__ sorted, const int32_t *__restrict__ place,
                           const int32_t *__restrict__ token, size_t N)
{
    size_t row = thread_of_grid();
    if (row >= N)
        return;
    int64_t mine = token[row];
    size_t own = row / TILE, at = place[row];
    unsigned tiles = static_cast<unsigned>((N + TILE - 1) / TILE);
#pragma unroll 4
    for (unsigned tile = 0; tile < tiles; tile++) {
        size_t start = static_cast<size_t>(tile) * TILE;
        int rows = static_cast<int>(min(N - start, static_cast<size_t>(TILE)));
        /* of rows with equal tokens, those in earlier tiles come first */
        int before = count_below(sorted + start, rows, tile < own ? mine + 1 : mine);
        at += tile == own ? 0 : before;
    }
    row_at[at] = static_cast<int32_t>(row);
    token_at[at] = static_cast<int32_t>(mine);
}

/* The warp at a token's first place adds the token's rows to the table, in slices of `count` columns per lane (by
 * vectors if count is not 1). The warp reads the numbers of the next 32 rows at once, and loads BATCH rows before it
 * adds any, so that it need not wait for the memory at each row of a frequent token. */
template <typename T, int count>
__global__ void __launch_bounds__(WARPS *WARP, 3)
    embedding_sum_kernel(float *__restrict__ dtable, const T *__restrict__ dx, const int32_t *__restrict__ row_at,
                         const int32_t *__restrict__ token_at, size_t N, size_t C)
{
    size_t first = static_cast<size_t>(blockIdx.x) * WARPS + threadIdx.y;
    if (first >= N || (first > 0 && token_at[first - 1] == token_at[first]))
        return;
    int32_t mine = token_at[first];
    for (size_t slice = blockIdx.y; slice * WARP * count < C; slice += gridDim.y) {
        size_t column = (slice * WARP + threadIdx.x) * count;
        bool exists = column < C;
        Group<float, count> *to = reinterpret_cast<Group<float, count> *>(dtable + mine * C + column), sum = {};
        if (exists)
            sum = *to;
        int rows = WARP;
        for (size_t at = first; rows == WARP; at += WARP) {
            size_t next = at + threadIdx.x;
            bool belongs = next < N && token_at[next] == mine;
            int32_t row = belongs ? row_at[next] : 0;
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
static void sum_rows(float *dtable, const void *dx, const int32_t *row_at, const int32_t *token_at, size_t N, size_t C)
{
    size_t slices = (C + WARP * count - 1) / (WARP * count);
    dim3 grid(blocks_of(N, WARPS), static_cast<unsigned>(min(slices, SLICES)));
    launch(embedding_sum_kernel<T, count>, grid, dim3(WARP, WARPS), 0, dtable, static_cast<const T *>(dx), row_at,
           token_at, N, C);
}

template <typename Number>
void cuda_embedding_backward(float *dtable, const void *dx, const int32_t *token, size_t N, size_t C, size_t V,
                             int accumulate)
{
    if (!accumulate)
        cuda_zero(dtable, V * C);
    int32_t *sorted = static_cast<int32_t *>(cuda_scratch(4 * N * sizeof *sorted));
    int32_t *place = sorted + N, *row_at = place + N, *token_at = row_at + N;
    unsigned tiles = blocks_of(N, TILE);
    launch(embedding_sort_kernel, tiles, TILE, 0, sorted, place, token, N);
    launch(embedding_place_kernel, tiles, TILE, 0, row_at, token_at, sorted, place, token, N);
    if (C % COLUMNS == 0 && aligned(dtable, dx))
        sum_rows<Number, COLUMNS>(dtable, dx, row_at, token_at, N, C);
    else
        sum_rows<Number, 1>(dtable, dx, row_at, token_at, N, C);
}

template void cuda_embedding_forward<float>(void *, const void *, const int32_t *, size_t, size_t);
template void cuda_embedding_forward<bf16>(void *, const void *, const int32_t *, size_t, size_t);
template void cuda_embedding_backward<float>(float *, const void *, const int32_t *, size_t, size_t, size_t, int);
template void cuda_embedding_backward<bf16>(float *, const void *, const int32_t *, size_t, size_t, size_t, int);
