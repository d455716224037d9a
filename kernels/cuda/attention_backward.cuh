/* attention_backward.cuh - the two kernels that compute gradients of causal attention.
 *
 * One kernel computes dq: a block keeps a tile of queries and streams keys and values. The other computes dk and dv: a
 * block keeps a tile of keys and values and streams queries and gradients of outputs; the rows of its scores are keys,
 * so that probabilities are transposed as the next products need them. Both compute the scores, so that there are 7
 * products of tiles. One kernel for all three gradients would need 5, but would add to dq from concurrent blocks, in an
 * order that differs from run to run. Source: Dao, FlashAttention-2, 2023, arXiv:2307.08691, algorithm 2. */
#ifndef KERNELS_CUDA_ATTENTION_BACKWARD_CUH
#define KERNELS_CUDA_ATTENTION_BACKWARD_CUH

#include "kernels/cuda/attention.cuh"

/* Two numbers for each query, in fp32 arrays [B * H, rows]. Rows from T on are padding and 0; they change nothing,
 * because tiles of queries and gradients are 0 there, too. */
struct attention_rows {
    float *lse;   /* lse times log2(e) */
    float *delta; /* sum of d_o * o over a row */
    int rows;
};
constexpr int ROWS_FILL = 128; /* a multiple of each plan's QUERIES, and a divisor of attention_rows.rows */

/* Sizes of tiles, by the bytes of a row. Sums of dq, the scores and their gradients must fit registers. If shared
 * memory is SCARCE, half the number of rows is streamed at a time or, if that would be fewer than 16, half the number
 * of rows is kept. */
template <typename Of, int D, bool SCARCE> struct backward_query_plan {
    typedef Of Products;
    typedef typename Products::Number Number;
    static constexpr int DEPTH = D, BYTES = DEPTH * sizeof(Number);
    static constexpr int MOST_KEYS = BYTES <= 256 ? 32 : 16;
    static constexpr int PARTS = (BYTES <= 512 ? 1 : 2) * (SCARCE && MOST_KEYS == 16 ? 2 : 1);
    static constexpr int COLUMNS = DEPTH / PARTS;
    static constexpr int M = BYTES <= 256 && Products::WORDS == 1 ? 2 : 1;
    static constexpr int QUERIES = 16 * M * ATTENTION_WARPS / PARTS;
    static constexpr int KEYS = SCARCE ? 16 : MOST_KEYS;
    static constexpr int ROW = attention_tile<Number, DEPTH>::ROW;
    static constexpr size_t SHARED = (2 * QUERIES + 4 * KEYS) * ROW * sizeof(Number);
};

template <typename Plan, typename Number>
__global__ void __launch_bounds__(ATTENTION_THREADS)
    attention_backward_query_kernel(Number *dq, const Number *d_o, struct attention_rows rows, const Number *q,
                                    const Number *k, const Number *v, const float *__restrict__ rope,
                                    struct attention_sizes sizes)
{
    typedef typename Plan::Products Products;
    typedef typename Products::template Operand<4> Left;
    constexpr int M = Plan::M, DEPTH = Plan::DEPTH, KEYS = Plan::KEYS, ROW = Plan::ROW;
    Number *queries = dynamic_shared<Number>(), *gradients = queries + Plan::QUERIES * ROW,
           *streamed = gradients + Plan::QUERIES * ROW;
    size_t head = attention_head(sizes, sizes.stride), out = attention_head(sizes, sizes.out);
    int q0 = static_cast<int>(gridDim.y - 1 - blockIdx.y) * Plan::QUERIES;
    int own = attention_own_row(M, Plan::PARTS), first = q0 + own,
        column = attention_own_part(Plan::PARTS) * Plan::COLUMNS;
    int tiles = (min(q0 + Plan::QUERIES, sizes.T) + KEYS - 1) / KEYS;

    auto stream = [&](int tile) {
        Number *buffer = streamed + tile % 2 * 2 * KEYS * ROW;
        tile_load<Number, DEPTH, KEYS>(buffer, k + head, sizes.stride, tile * KEYS, sizes);
        tile_load<Number, DEPTH, KEYS>(buffer + KEYS * ROW, v + head, sizes.stride, tile * KEYS, sizes);
        copy_async_commit();
    };
    tile_load<Number, DEPTH, Plan::QUERIES>(queries, q + head, sizes.stride, q0, sizes);
    tile_load<Number, DEPTH, Plan::QUERIES>(gradients, d_o + out, sizes.out, q0, sizes);
    stream(0);

    float lse[M][2], delta[M][2], results[M][Plan::COLUMNS / 8][4] = {};
    for (int m = 0; m < M; m++)
        for (int half = 0; half < 2; half++) {
            size_t row = static_cast<size_t>(blockIdx.x) * rows.rows + first + sums_row(m, 2 * half);
            lse[m][half] = rows.lse[row];
            delta[m][half] = rows.delta[row];
        }
    auto query = [&](Left &a, int m, int d) { load_left<Products, ROW>(a, queries + (own + m * 16) * ROW + d); };
    auto gradient = [&](Left &a, int m, int d) { load_left<Products, ROW>(a, gradients + (own + m * 16) * ROW + d); };

    for (int tile = 0; tile < tiles; tile++) {
        copy_async_wait<0>();
        __syncthreads(); /* all threads see the tile, and none reads the other buffer any more */
        if (tile + 1 < tiles)
            stream(tile + 1);
        int k0 = tile * KEYS;
        if (k0 > first + 16 * M - 1)
            continue; /* all of the tile's keys are after the warp's queries */
        const Number *buffer = streamed + tile % 2 * 2 * KEYS * ROW;
        float scores[M][KEYS / 8][4], dscores[M][KEYS / 8][4];
        multiply_transposed<Products, DEPTH, M, KEYS>(scores, query, buffer);
        if (k0 + KEYS - 1 > first)
            mask_scores<false>(scores, first, k0);
        multiply_transposed<Products, DEPTH, M, KEYS>(dscores, gradient, buffer + KEYS * ROW);
#pragma unroll
        for (int m = 0; m < M; m++)
#pragma unroll
            for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    float p = exp2_approximate(fmaf(scores[m][n][i], sizes.scale_log2, -lse[m][i / 2]));
                    dscores[m][n][i] = p * (dscores[m][n][i] - delta[m][i / 2]);
                }
        multiply_add<Products, DEPTH, Plan::COLUMNS, M, KEYS>(results, dscores, buffer + column);
    }
    float factor[M][2];
    for (int m = 0; m < M; m++)
        factor[m][0] = factor[m][1] = sizes.scale;
    __syncthreads(); /* all threads have read their queries */
    store_sums<Number, DEPTH, Plan::COLUMNS, true>(dq + head, sizes.stride, first, column, queries + own * ROW, results,
                                                   factor, rope, sizes);
}

template <typename Of, int D, bool SCARCE> struct backward_key_plan {
    typedef Of Products;
    typedef typename Products::Number Number;
    static constexpr int DEPTH = D, BYTES = DEPTH * sizeof(Number);
    static constexpr int LEAST_PARTS = DEPTH * Products::WORDS <= 128 ? 1 : DEPTH * Products::WORDS / 128;
    static constexpr int MOST_QUERIES = BYTES == 1024 || (BYTES == 512 && LEAST_PARTS == 1) ? 16
                                        : BYTES == 256 && Products::WORDS == 1              ? 64
                                                                                            : 32;
    static constexpr int PARTS = LEAST_PARTS * (SCARCE && MOST_QUERIES == 16 ? 2 : 1);
    static constexpr int COLUMNS = DEPTH / PARTS;
    static constexpr int M = BYTES <= 128 && Products::WORDS == 1 ? 2 : 1;
    static constexpr int KEYS = 16 * M * ATTENTION_WARPS / PARTS;
    static constexpr int QUERIES = SCARCE && MOST_QUERIES > 16 ? MOST_QUERIES / 2 : MOST_QUERIES;
    static constexpr int ROW = attention_tile<Number, DEPTH>::ROW;
    static constexpr size_t SHARED = (2 * KEYS + 4 * QUERIES) * ROW * sizeof(Number) + 4 * QUERIES * sizeof(float);
};

/* A block begins to copy lse of the tile's QUERIES queries, followed by their deltas, to the buffer. */
template <int QUERIES> __device__ inline void rows_load(float *buffer, const struct attention_rows &rows, int first)
{
    int i = static_cast<int>(threadIdx.x) * 4;
    if (i >= 2 * QUERIES)
        return;
    const float *from = (i < QUERIES ? rows.lse : rows.delta - QUERIES) + static_cast<size_t>(blockIdx.x) * rows.rows;
    copy_async(buffer + i, from + first + i, 16);
}

template <typename Plan, typename Number>
__global__ void __launch_bounds__(ATTENTION_THREADS)
    attention_backward_key_kernel(Number *dk, Number *dv, const Number *d_o, struct attention_rows rows,
                                  const Number *q, const Number *k, const Number *v, const float *__restrict__ rope,
                                  struct attention_sizes sizes)
{
    typedef typename Plan::Products Products;
    typedef typename Products::template Operand<4> Left;
    constexpr int M = Plan::M, DEPTH = Plan::DEPTH, QUERIES = Plan::QUERIES, ROW = Plan::ROW, COLUMNS = Plan::COLUMNS;
    Number *keys = dynamic_shared<Number>(), *values = keys + Plan::KEYS * ROW, *streamed = values + Plan::KEYS * ROW;
    float *streamed_rows = reinterpret_cast<float *>(streamed + 4 * QUERIES * ROW);
    size_t head = attention_head(sizes, sizes.stride), out = attention_head(sizes, sizes.out);
    /* Blocks of the first keys start first, because they have the most queries to process. */
    int k0 = static_cast<int>(blockIdx.y) * Plan::KEYS;
    int own = attention_own_row(M, Plan::PARTS), first = k0 + own, column = attention_own_part(Plan::PARTS) * COLUMNS;
    int tiles = (sizes.T + QUERIES - 1) / QUERIES, first_tile = k0 / QUERIES;

    auto stream = [&](int tile) {
        Number *buffer = streamed + tile % 2 * 2 * QUERIES * ROW;
        tile_load<Number, DEPTH, QUERIES>(buffer, q + head, sizes.stride, tile * QUERIES, sizes);
        tile_load<Number, DEPTH, QUERIES>(buffer + QUERIES * ROW, d_o + out, sizes.out, tile * QUERIES, sizes);
        rows_load<QUERIES>(streamed_rows + tile % 2 * 2 * QUERIES, rows, tile * QUERIES);
        copy_async_commit();
    };
    tile_load<Number, DEPTH, Plan::KEYS>(keys, k + head, sizes.stride, k0, sizes);
    tile_load<Number, DEPTH, Plan::KEYS>(values, v + head, sizes.stride, k0, sizes);
    stream(first_tile);

    float key_results[M][COLUMNS / 8][4] = {}, value_results[M][COLUMNS / 8][4] = {};
    auto key = [&](Left &a, int m, int d) { load_left<Products, ROW>(a, keys + (own + m * 16) * ROW + d); };
    auto value = [&](Left &a, int m, int d) { load_left<Products, ROW>(a, values + (own + m * 16) * ROW + d); };

    for (int tile = first_tile; tile < tiles; tile++) {
        copy_async_wait<0>();
        __syncthreads(); /* all threads see the tile, and none reads the other buffer any more */
        if (tile + 1 < tiles)
            stream(tile + 1);
        int q0 = tile * QUERIES;
        if (first > q0 + QUERIES - 1)
            continue; /* all of the warp's keys are after the tile's queries */
        const Number *buffer = streamed + tile % 2 * 2 * QUERIES * ROW;
        const float *lse = streamed_rows + tile % 2 * 2 * QUERIES, *delta = lse + QUERIES;
        float scores[M][QUERIES / 8][4], dscores[M][QUERIES / 8][4];
        multiply_transposed<Products, DEPTH, M, QUERIES>(scores, key, buffer);
        if (first + 16 * M - 1 > q0)
            mask_scores<true>(scores, first, q0);
#pragma unroll
        for (int n = 0; n < QUERIES / 8; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float lse_of_query = lse[sums_column(n, i)];
#pragma unroll
                for (int m = 0; m < M; m++)
                    scores[m][n][i] = exp2_approximate(fmaf(scores[m][n][i], sizes.scale_log2, -lse_of_query));
            }
        multiply_add<Products, DEPTH, COLUMNS, M, QUERIES>(value_results, scores, buffer + QUERIES * ROW + column);
        multiply_transposed<Products, DEPTH, M, QUERIES>(dscores, value, buffer + QUERIES * ROW);
#pragma unroll
        for (int n = 0; n < QUERIES / 8; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float delta_of_query = delta[sums_column(n, i)];
#pragma unroll
                for (int m = 0; m < M; m++)
                    dscores[m][n][i] = scores[m][n][i] * (dscores[m][n][i] - delta_of_query);
            }
        multiply_add<Products, DEPTH, COLUMNS, M, QUERIES>(key_results, dscores, buffer + column);
    }
    float factor[M][2], one[M][2];
    for (int m = 0; m < M; m++)
        for (int half = 0; half < 2; half++) {
            factor[m][half] = sizes.scale;
            one[m][half] = 1.0f;
        }
    __syncthreads(); /* all threads have read their keys and values */
    store_sums<Number, DEPTH, COLUMNS, false>(dv + head, sizes.stride, first, column, values + own * ROW, value_results,
                                              one, nullptr, sizes);
    store_sums<Number, DEPTH, COLUMNS, true>(dk + head, sizes.stride, first, column, keys + own * ROW, key_results,
                                             factor, rope, sizes);
}

#endif
