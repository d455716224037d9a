/* attention.cuh - shared by attention forward and backward: tiles in shared memory, their products, masks.
 *
 * A block of ATTENTION_WARPS warps keeps in shared memory the rows for which it computes results, and streams the rows
 * to be multiplied with them through two buffers: copies fill one while the other is used. A warp owns 16 * M of the
 * kept rows, so that M products share each operand read from a streamed tile: shared-memory reads limit products of
 * this shape. No warp waits for another's results. Sources: Dao, FlashAttention-2, 2023, arXiv:2307.08691, for the
 * division of work and the loops; machine.cuh for the layouts of sums and operands. A lane's sums [M][n][4] are rows g
 * and g+8 of every 16 rows, columns 2t and 2t+1 of every 8 columns, where g = lane / 4 and t = lane % 4. */
#ifndef KERNELS_CUDA_ATTENTION_CUH
#define KERNELS_CUDA_ATTENTION_CUH

extern "C" {
#include "kernels/device_cuda.h"
}

#include "kernels/cuda/attention_products.cuh"

#include <math.h>

constexpr int ATTENTION_WARPS = 4, ATTENTION_THREADS = ATTENTION_WARPS * WARP;

/* The widest head for which shared memory and registers suffice. */
constexpr size_t ATTENTION_MAX_DEPTH = DEVICE_CUDA_MOST_HEAD_WIDTH;

constexpr float LOG2_E = 1.44269504f, LOG_2 = 0.693147181f;

/* Describes arrays [B, T, H, D] for kernels. */
struct attention_sizes {
    int T, H, D;
    int vectors;      /* 1: rows of every array start at multiples of 16 bytes */
    unsigned stride;  /* distance of consecutive tokens in q, k, v and their gradients, in numbers */
    unsigned out;     /* H * D, the distance of consecutive tokens in o and its gradient */
    float scale;      /* 1 / sqrt(D) */
    float scale_log2; /* scale times log2(e): exponentials are computed as powers of two */
};

inline int attention_aligned(const void *x)
{
    return reinterpret_cast<uintptr_t>(x) % 16 == 0;
}

/* Fills the sizes; aligned: 1 if every array passes attention_aligned. Fatal if the heads are too wide. */
template <typename Number>
struct attention_sizes attention_sizes_of(size_t T, size_t H, size_t D, size_t stride, int aligned)
{
    if (D > ATTENTION_MAX_DEPTH)
        FATAL("attention with heads of width %zu; a GPU's shared memory allows at most %zu", D, ATTENTION_MAX_DEPTH);
    double scale = 1.0 / sqrt(static_cast<double>(D));
    struct attention_sizes sizes = {};
    sizes.T = static_cast<int>(T);
    sizes.H = static_cast<int>(H);
    sizes.D = static_cast<int>(D);
    sizes.vectors = aligned && D * sizeof(Number) % 16 == 0 && stride * sizeof(Number) % 16 == 0;
    sizes.stride = static_cast<unsigned>(stride);
    sizes.out = static_cast<unsigned>(H * D);
    sizes.scale = static_cast<float>(scale);
    sizes.scale_log2 = static_cast<float>(scale * 1.4426950408889634);
    return sizes;
}

/* Launches an attention kernel with Plan::SHARED bytes of shared memory. A kernel needs CUDA's permission to use more
 * than 48 KiB; asking once per kernel is enough, because a process uses one GPU. */
template <typename Plan, auto kernel, typename... Arguments> void attention_launch(dim3 grid, Arguments... arguments)
{
    static const bool allowed = [] {
        CUDA_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                        cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(Plan::SHARED)));
        return true;
    }();
    (void)allowed;
    launch(kernel, grid, dim3(ATTENTION_THREADS), Plan::SHARED, arguments...);
}

/* Calls issue(plan) with the sizes of tiles for this GPU: Plan<Products, DEPTH, false>, or Plan<Products, DEPTH, true>
 * if the first needs more shared memory than the GPU allows a block. */
template <template <typename, int, bool> class Plan, typename Products, int DEPTH, typename Issue>
void attention_plan(Issue issue)
{
    typedef Plan<Products, DEPTH, false> Ample;
    if constexpr (Ample::SHARED > DEVICE_CUDA_LEAST_SHARED) {
        typedef Plan<Products, DEPTH, true> Scarce;
        static_assert(Scarce::SHARED <= DEVICE_CUDA_LEAST_SHARED, "there is a plan for every GPU");
        if (cuda_block_shared < Ample::SHARED)
            return issue(Scarce());
    }
    issue(Ample());
}

/* Returns the offset of the block's head in an array with tokens `stride` numbers apart; blockIdx.x is b * H + h. */
__device__ inline size_t attention_head(const struct attention_sizes &sizes, unsigned stride)
{
    size_t b = blockIdx.x / sizes.H, h = blockIdx.x % sizes.H;
    return b * sizes.T * stride + h * sizes.D;
}

/* Rotates a pair by an angle. */
__device__ inline void rotate_pair(float &even, float &odd, float cosine, float sine)
{
    float x = even, y = odd;
    even = x * cosine - y * sine;
    odd = x * sine + y * cosine;
}

/* Return the first row of this warp in the kept tile, and which of the `parts` parts of the columns of results the warp
 * computes. If there are several parts, one warp for each part computes the same rows: all of their scores, but only
 * its own columns of results, so that the results fit registers. */
__device__ inline int attention_own_row(int M, int parts)
{
    return static_cast<int>(threadIdx.x) / WARP % (ATTENTION_WARPS / parts) * 16 * M;
}
__device__ inline int attention_own_part(int parts)
{
    return static_cast<int>(threadIdx.x) / WARP / (ATTENTION_WARPS / parts);
}

/* A tile in shared memory has rows of DEPTH numbers, which are 0 from column D on, and 16 unused bytes after each row,
 * so that eight neighbouring rows lie in different banks, both for load_matrices and for words_of_rows. */
template <typename Number, int DEPTH> struct attention_tile {
    static constexpr int PIECE = 16 / sizeof(Number);
    static constexpr int PIECES = DEPTH / PIECE;
    static constexpr int ROW = DEPTH + PIECE;
    static constexpr int ROWS_AT_ONCE = ATTENTION_THREADS / PIECES; /* rows that a block copies at once */
};

/* All threads of a block begin to copy rows [first, first + ROWS) of a head to a tile; rows from T on become 0. */
template <typename Number, int DEPTH, int ROWS>
__device__ inline void tile_load(Number *tile, const Number *head, unsigned stride, int first,
                                 const struct attention_sizes &sizes)
{
    typedef attention_tile<Number, DEPTH> Tile;
    static_assert(ROWS % Tile::ROWS_AT_ONCE == 0, "each thread copies the same number of pieces");
    if (!sizes.vectors) {
#pragma unroll 1
        for (int i = threadIdx.x; i < ROWS * DEPTH; i += ATTENTION_THREADS) {
            int row = i / DEPTH, d = i % DEPTH;
            bool there = first + row < sizes.T && d < sizes.D;
            tile[row * Tile::ROW + d] =
                there ? head[static_cast<size_t>(first + row) * stride + d] : narrow<Number>(0.0f);
        }
        return;
    }
    int row = threadIdx.x / Tile::PIECES, d = threadIdx.x % Tile::PIECES * Tile::PIECE;
    int rows = d < sizes.D ? sizes.T - first - row : 0; /* number of rows that exist, from the thread's first row on */
    const Number *from = head + static_cast<size_t>(first + row) * stride + d;
    Number *to = tile + row * Tile::ROW + d;
#pragma unroll
    for (int r = 0; r < ROWS; r += Tile::ROWS_AT_ONCE) {
        copy_async(to + r * Tile::ROW, from, r < rows ? 16 : 0);
        from += Tile::ROWS_AT_ONCE * stride;
    }
}

/* A warp loads 16 rows and STEP columns of a tile as a product's left operand a. */
template <typename Products, int ROW>
__device__ inline void load_left(typename Products::template Operand<4> &a, const typename Products::Number *tile)
{
    int lane = threadIdx.x % WARP;
    uint32_t word[4];
    load_matrices(word, tile + lane % 16 * ROW + lane / 16 * (Products::STEP / 2));
    Products::prepare(a, word);
}

/* A warp computes sums[16 M, N] = a[16 M, DEPTH] * b[N, DEPTH]^T; left(a, m, k) loads operands of a; b is a tile. */
template <typename Products, int DEPTH, int M, int N, typename Left>
__device__ inline void multiply_transposed(float (&sums)[M][N / 8][4], Left left, const typename Products::Number *b)
{
    constexpr int STEP = Products::STEP, ROW = attention_tile<typename Products::Number, DEPTH>::ROW;
    int lane = threadIdx.x % WARP;
    b += (lane / 16 * 8 + lane % 8) * ROW + lane / 8 % 2 * (STEP / 2);
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N / 8; n++)
            for (int i = 0; i < 4; i++)
                sums[m][n][i] = 0.0f;
#pragma unroll 4
    for (int k = 0; k < DEPTH; k += STEP) {
        typename Products::template Operand<4> a[M];
        for (int m = 0; m < M; m++)
            left(a[m], m, k);
#pragma unroll
        for (int n = 0; n < N; n += 16) {
            typename Products::template Operand<2> right[2];
            uint32_t word[4];
            load_matrices(word, b + n * ROW + k);
            Products::prepare(right[0], word);
            Products::prepare(right[1], word + 2);
            for (int m = 0; m < M; m++) {
                Products::multiply(sums[m][n / 8], a[m], right[0]);
                Products::multiply(sums[m][n / 8 + 1], a[m], right[1]);
            }
        }
    }
}

/* A warp adds weights[16 M, N] * b[N, COLUMNS] to sums[16 M, COLUMNS]; b points to the first column in a tile. */
template <typename Products, int DEPTH, int COLUMNS, int M, int N>
__device__ inline void multiply_add(float (&sums)[M][COLUMNS / 8][4], const float (&weights)[M][N / 8][4],
                                    const typename Products::Number *b)
{
    constexpr int STEP = Products::STEP, ROW = attention_tile<typename Products::Number, DEPTH>::ROW;
#pragma unroll
    for (int k = 0; k < N; k += STEP) {
        typename Products::template Operand<4> a[M];
        for (int m = 0; m < M; m++) {
            uint32_t word[4];
            Products::words_of_sums(word, &weights[m][k / 8]);
            Products::prepare(a[m], word);
        }
#pragma unroll
        for (int n = 0; n < COLUMNS; n += 16) {
            typename Products::template Operand<2> right[2];
            uint32_t word[4];
            Products::words_of_rows(word, b + k * ROW + n, ROW);
            Products::prepare(right[0], word);
            Products::prepare(right[1], word + 2);
            for (int m = 0; m < M; m++) {
                Products::multiply(sums[m][n / 8], a[m], right[0]);
                Products::multiply(sums[m][n / 8 + 1], a[m], right[1]);
            }
        }
    }
}

/* Return the row, and the column, of a lane's sums[m][n][i], relative to the warp's first row and column. */
__device__ inline int sums_row(int m, int i)
{
    return m * 16 + i / 2 * 8 + static_cast<int>(threadIdx.x) % WARP / 4;
}
__device__ inline int sums_column(int n, int i)
{
    return n * 8 + static_cast<int>(threadIdx.x) % 4 * 2 + i % 2;
}

/* Sets scores of keys after their query to -inf. Rows of the sums are queries from `row` on, columns are keys from
 * `column` on; with ROWS_ARE_KEYS, rows are keys and columns are queries. */
template <bool ROWS_ARE_KEYS, int M, int TILES>
__device__ inline void mask_scores(float (&scores)[M][TILES][4], int row, int column)
{
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int n = 0; n < TILES; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int behind = column + sums_column(n, i) - (row + sums_row(m, i));
                if (ROWS_ARE_KEYS ? behind < 0 : behind > 0)
                    scores[m][n][i] = -INFINITY;
            }
}

/* A warp multiplies its sums by the factors of their rows, writes the products to its rows and columns of a tile that
 * no warp reads any more, and copies them from the tile to a head of an array, from row `first` and column `column` on.
 * With TURN_BACK, it first rotates pairs (a pair is in one lane) back by their angles in rope[T, D / 2, 2]. */
template <typename Number, int DEPTH, int COLUMNS, bool TURN_BACK, int M>
__device__ inline void store_sums(Number *head, unsigned stride, int first, int column, Number *tile,
                                  const float (&sums)[M][COLUMNS / 8][4], const float (&factor)[M][2],
                                  const float *__restrict__ rope, const struct attention_sizes &sizes)
{
    typedef attention_tile<Number, DEPTH> Tile;
    int lane = threadIdx.x % WARP;
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int n = 0; n < COLUMNS / 8; n++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                int row = sums_row(m, 2 * half), d = column + sums_column(n, 0);
                float even = sums[m][n][2 * half] * factor[m][half], odd = sums[m][n][2 * half + 1] * factor[m][half];
                if (TURN_BACK && first + row < sizes.T && d + 1 < sizes.D) {
                    const float *angle = rope + static_cast<size_t>(first + row) * (sizes.D / 2 * 2) + d;
                    float2 turn = *reinterpret_cast<const float2 *>(angle);
                    rotate_pair(even, odd, turn.x, -turn.y);
                }
                tile[row * Tile::ROW + d] = narrow<Number>(even);
                tile[row * Tile::ROW + d + 1] = narrow<Number>(odd);
            }
    __syncwarp();
    int width = sizes.vectors ? Tile::PIECE : 1;
#pragma unroll 1
    for (int i = lane * width; i < 16 * M * COLUMNS; i += WARP * width) {
        int row = i / COLUMNS, d = column + i % COLUMNS;
        if (first + row >= sizes.T || d >= sizes.D)
            continue;
        const Number *from = tile + row * Tile::ROW + d;
        Number *to = head + static_cast<size_t>(first + row) * stride + d;
        if (sizes.vectors)
            *reinterpret_cast<Vector<Number> *>(to) = *reinterpret_cast<const Vector<Number> *>(from);
        else
            *to = *from;
    }
}

#endif
