/* attention_forward.cu - causal attention: a block computes one tile of queries of one head, key tile by key tile.
 *
 * Sources: Dao, FlashAttention-2, 2023, arXiv:2307.08691, algorithm 1; Milakov and Gimelshein, Online normalizer
 * calculation for softmax, 2018, arXiv:1805.02867, for the running maximum. */
#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/operations.cuh"

/* Sizes of tiles, chosen by the bytes of a row, so that a lane needs at most 255 registers, and two blocks fit the
 * shared memory of an sm_90 multiprocessor. If shared memory is SCARCE, half the number of keys is streamed at a time.
 */
template <typename Of, int D, bool SCARCE> struct forward_plan {
    typedef Of Products;
    typedef typename Products::Number Number;
    static constexpr int DEPTH = D, BYTES = DEPTH * sizeof(Number);
    static constexpr int PARTS = BYTES <= 512 ? 1 : 2;
    static constexpr int COLUMNS = DEPTH / PARTS;
    static constexpr int M = BYTES <= 256 && Products::WORDS == 1 ? 2 : 1;
    static constexpr int QUERIES = 16 * M * ATTENTION_WARPS / PARTS;
    static constexpr int KEYS = (BYTES <= 256 ? 64 : BYTES == 512 ? 32 : 16) / (SCARCE ? 2 : 1);
    static constexpr int ROW = attention_tile<Number, DEPTH>::ROW;
    static constexpr size_t SHARED = (QUERIES + 4 * KEYS) * ROW * sizeof(Number);
    /* true: the queries fit into registers, too, and need not be read from shared memory for each key tile */
    static constexpr bool QUERIES_STAY = BYTES <= 128 && Products::WORDS == 1;
};

/* Running softmax of a warp's rows: the largest score, and this lane's part of the sum of exponentials. */
template <int M> struct softmax {
    float high[M][2], sum[M][2];
};

template <int M> __device__ inline void softmax_begin(softmax<M> &state)
{
    for (int m = 0; m < M; m++)
        for (int half = 0; half < 2; half++) {
            state.high[m][half] = -INFINITY;
            state.sum[m][half] = 0.0f;
        }
}

/* A warp replaces scores s by exp(s - largest score of the row so far), and rescales earlier sums and results to that
 * score. The first tile has key 0, which every row may see, so that the largest score is never -inf. */
template <int M, int TILES, int COLUMN_TILES>
__device__ inline void softmax_update(softmax<M> &state, float (&scores)[M][TILES][4],
                                      float (&results)[M][COLUMN_TILES][4], float scale_log2)
{
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float high = state.high[m][half];
#pragma unroll
            for (int n = 0; n < TILES; n++)
                high = fmaxf(high, fmaxf(scores[m][n][2 * half], scores[m][n][2 * half + 1]));
            high = fmaxf(high, __shfl_xor_sync(WHOLE_WARP, high, 1));
            high = fmaxf(high, __shfl_xor_sync(WHOLE_WARP, high, 2));
            float correction = exp2_approximate((state.high[m][half] - high) * scale_log2);
            float sum = state.sum[m][half] * correction, offset = -high * scale_log2;
#pragma unroll
            for (int n = 0; n < TILES; n++)
#pragma unroll
                for (int i = 2 * half; i < 2 * half + 2; i++) {
                    float e = exp2_approximate(fmaf(scores[m][n][i], scale_log2, offset));
                    scores[m][n][i] = e;
                    sum += e;
                }
            state.high[m][half] = high;
            state.sum[m][half] = sum;
            if (__any_sync(WHOLE_WARP, correction != 1.0f)) /* seldom true after the first tile */
#pragma unroll
                for (int n = 0; n < COLUMN_TILES; n++) {
                    results[m][n][2 * half] *= correction;
                    results[m][n][2 * half + 1] *= correction;
                }
        }
}

/* A warp adds up its lanes' sums, writes lse of rows from `first` on, and returns the factors for the results. */
template <int M>
__device__ inline void softmax_finish(float (&factor)[M][2], float *lse, int first, const softmax<M> &state,
                                      const struct attention_sizes &sizes)
{
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float sum = state.sum[m][half];
            sum += __shfl_xor_sync(WHOLE_WARP, sum, 1);
            sum += __shfl_xor_sync(WHOLE_WARP, sum, 2);
            factor[m][half] = 1.0f / sum;
            int row = first + sums_row(m, 2 * half);
            if (threadIdx.x % 4 == 0 && row < sizes.T && lse != nullptr)
                lse[row] = state.high[m][half] * sizes.scale + logf(sum);
        }
}

template <typename Plan, typename Number>
__global__ void __launch_bounds__(ATTENTION_THREADS)
    attention_forward_kernel(Number *o, float *lse, const Number *q, const Number *k, const Number *v,
                             struct attention_sizes sizes)
{
    typedef typename Plan::Products Products;
    typedef typename Products::template Operand<4> Left;
    constexpr int M = Plan::M, DEPTH = Plan::DEPTH, KEYS = Plan::KEYS, ROW = Plan::ROW, STEP = Products::STEP;
    Number *queries = dynamic_shared<Number>(), *streamed = queries + Plan::QUERIES * ROW;
    size_t head = attention_head(sizes, sizes.stride);
    /* Blocks of the last queries start first, because they have the most keys to process. */
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
    stream(0);

    softmax<M> state;
    softmax_begin(state);
    float results[M][Plan::COLUMNS / 8][4] = {};
    Left kept[M][Plan::QUERIES_STAY ? DEPTH / STEP : 1] = {};
    if (Plan::QUERIES_STAY) {
        copy_async_wait<0>();
        __syncthreads();
        for (int m = 0; m < M; m++)
            for (int d = 0; d < DEPTH; d += STEP)
                load_left<Products, ROW>(kept[m][Plan::QUERIES_STAY ? d / STEP : 0],
                                         queries + (own + m * 16) * ROW + d);
    }
    auto left = [&](Left &a, int m, int d) {
        if (Plan::QUERIES_STAY)
            a = kept[m][Plan::QUERIES_STAY ? d / STEP : 0];
        else
            load_left<Products, ROW>(a, queries + (own + m * 16) * ROW + d);
    };

    for (int tile = 0; tile < tiles; tile++) {
        copy_async_wait<0>();
        __syncthreads(); /* all threads see the tile, and none reads the other buffer any more */
        if (tile + 1 < tiles)
            stream(tile + 1);
        int k0 = tile * KEYS;
        if (k0 > first + 16 * M - 1)
            continue; /* all of the tile's keys are after the warp's queries */
        const Number *buffer = streamed + tile % 2 * 2 * KEYS * ROW;
        float scores[M][KEYS / 8][4];
        multiply_transposed<Products, DEPTH, M, KEYS>(scores, left, buffer);
        if (k0 + KEYS - 1 > first)
            mask_scores<false>(scores, first, k0);
        softmax_update(state, scores, results, sizes.scale_log2);
        multiply_add<Products, DEPTH, Plan::COLUMNS, M, KEYS>(results, scores, buffer + KEYS * ROW + column);
    }
    float factor[M][2];
    float *lse_of_head = column == 0 ? lse + static_cast<size_t>(blockIdx.x) * sizes.T : nullptr;
    softmax_finish(factor, lse_of_head, first, state, sizes);
    __syncthreads(); /* all threads have read their queries */
    store_sums<Number, DEPTH, Plan::COLUMNS, false>(o + attention_head(sizes, sizes.out), sizes.out, first, column,
                                                    queries + own * ROW, results, factor, nullptr, sizes);
}

template <typename Products, int DEPTH>
static void forward_of_depth(void *o, float *lse, const void *q, const void *k, const void *v, size_t B,
                             const struct attention_sizes &sizes)
{
    typedef typename Products::Number Number;
    attention_plan<forward_plan, Products, DEPTH>([&](auto plan) {
        typedef decltype(plan) Plan;
        dim3 grid(static_cast<unsigned>(B) * sizes.H, blocks_of(sizes.T, Plan::QUERIES));
        attention_launch<Plan, attention_forward_kernel<Plan, Number>>(
            grid, static_cast<Number *>(o), lse, static_cast<const Number *>(q), static_cast<const Number *>(k),
            static_cast<const Number *>(v), sizes);
    });
}

template <typename Products>
static void forward(void *o, float *lse, const void *q, const void *k, const void *v, size_t B, size_t T, size_t H,
                    size_t D, size_t stride)
{
    typedef typename Products::Number Number;
    int aligned = attention_aligned(o) && attention_aligned(q) && attention_aligned(k) && attention_aligned(v);
    struct attention_sizes sizes = attention_sizes_of<Number>(T, H, D, stride, aligned);
    if (D <= 32)
        forward_of_depth<Products, 32>(o, lse, q, k, v, B, sizes);
    else if (D <= 64)
        forward_of_depth<Products, 64>(o, lse, q, k, v, B, sizes);
    else if (D <= 128)
        forward_of_depth<Products, 128>(o, lse, q, k, v, B, sizes);
    else
        forward_of_depth<Products, ATTENTION_MAX_DEPTH>(o, lse, q, k, v, B, sizes);
}

template <>
void cuda_attention_forward<bf16>(void *o, float *lse, const void *q, const void *k, const void *v, size_t B,
                                  size_t Tokens, size_t H, size_t D, size_t stride)
{
    forward<products_bf16>(o, lse, q, k, v, B, Tokens, H, D, stride);
}

template <>
void cuda_attention_forward<float>(void *o, float *lse, const void *q, const void *k, const void *v, size_t B,
                                   size_t Tokens, size_t H, size_t D, size_t stride)
{
    if (cuda_precision == PRECISION_TF32)
        forward<products_tf32>(o, lse, q, k, v, B, Tokens, H, D, stride);
    else
        forward<products_fp32>(o, lse, q, k, v, B, Tokens, H, D, stride);
}
