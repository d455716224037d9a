/* attention.c - causal attention, tile by tile: products of tiles by CBLAS, softmax by plain loops.
 *
 * Sources: Dao et al., FlashAttention, 2022, arXiv:2205.14135, algorithms 1 and 4; Milakov and Gimelshein, Online
 * normalizer calculation for softmax, 2018, arXiv:1805.02867, for the running maximum. */
#include "kernels/cpu/cpu.h"

#include <cblas.h>
#include <math.h>

/* Rows and columns of a tile of scores: 16 KiB, on the thread's stack. Tiles of 128 took a tenth longer at T 512, D 64,
 * because more of a tile on the diagonal is masked. */
enum { TILE = 64 };

/* One tile: `rows` queries from q0 on, `columns` keys from k0 on, with `depth` (D) numbers each. Consecutive tokens are
 * `stride` numbers apart in q, k and v, and `out` numbers apart in o. Scores are [rows, TILE]: loops run over all TILE
 * columns, because compilers unroll loops of constant length. */
struct tile {
    size_t q0, k0;
    int rows, columns, depth, stride, out;
    float scale; /* 1 / sqrt(D) */
};

static size_t tiles_of(size_t T)
{
    return (T + TILE - 1) / TILE;
}

/* Returns the tile of scores between query tile i and key tile j. */
static struct tile tile_at(size_t i, size_t j, size_t T, size_t H, size_t D, size_t stride)
{
    size_t q0 = i * TILE, k0 = j * TILE;
    return (struct tile){.q0 = q0,
                         .k0 = k0,
                         .rows = (int)(T - q0 < TILE ? T - q0 : TILE),
                         .columns = (int)(T - k0 < TILE ? T - k0 : TILE),
                         .depth = cpu_blas_int(D),
                         .stride = cpu_blas_int(stride),
                         .out = cpu_blas_int(H * D),
                         .scale = 1.0f / sqrtf((float)D)};
}

/* s[rows, TILE] = scale * a b^T. a and b point to the tile's first row of queries and keys, or of d_o and v. */
static void multiply_transposed(float *s, const struct tile *t, float scale, const float *a, int a_stride,
                                const float *b)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, t->rows, t->columns, t->depth, scale, a, a_stride, b,
                t->stride, 0.0f, s, TILE);
}

/* Sets scores of keys after the query, or past the last key, to -inf, whose exponential is 0. */
static void mask_scores(float *s, const struct tile *t)
{
    for (size_t r = 0; r < (size_t)t->rows; r++) {
        size_t visible = t->q0 + r + 1 - t->k0; /* number of keys from k0 on that row r may see; limited below */
        if (visible > (size_t)t->columns)
            visible = (size_t)t->columns;
        for (size_t c = visible; c < TILE; c++)
            s[r * TILE + c] = -INFINITY;
    }
}

/* Replaces a row of scores s by exp(s - running maximum) and updates the running sum. Returns the factor by which the
 * sums of earlier tiles must be multiplied. */
static float softmax_row(float *s, float *max, float *sum)
{
    float high = *max, part = 0.0f;
#pragma omp simd reduction(max : high)
    for (int c = 0; c < TILE; c++)
        high = s[c] > high ? s[c] : high;
#pragma omp simd reduction(+ : part)
    for (int c = 0; c < TILE; c++) {
        float e = cpu_exp(s[c] - high);
        s[c] = e;
        part += e;
    }
    float correction = cpu_exp(*max - high); /* the factor is 0 in the first tile, where *max is -inf */
    *max = high;
    *sum = *sum * correction + part;
    return correction;
}

static void scale_row(float *row, size_t D, float factor)
{
#pragma omp simd
    for (size_t d = 0; d < D; d++)
        row[d] *= factor;
}

/* Rotates the pairs of one head of one token by the angles whose cosines and sines are angle[D / 2, 2]; sign -1 rotates
 * back. */
static inline void rotate_pairs(float *head, const float *angle, size_t D, float sign)
{
#pragma omp simd
    for (size_t i = 0; i < D / 2; i++) {
        float cosine = angle[2 * i], sine = sign * angle[2 * i + 1];
        float even = head[2 * i], odd = head[2 * i + 1];
        head[2 * i] = even * cosine - odd * sine;
        head[2 * i + 1] = even * sine + odd * cosine;
    }
}

/* Computes the outputs of query tile i of one head. Pointers point to position 0 of that head. */
static void forward_tile(float *o, float *lse, const float *q, const float *k, const float *v, size_t i, size_t T,
                         size_t H, size_t D, size_t stride)
{
    _Alignas(64) float s[TILE * TILE];
    float max[TILE], sum[TILE];
    for (size_t r = 0; r < TILE; r++) {
        max[r] = -INFINITY;
        sum[r] = 0.0f;
    }
    float *out = o + i * TILE * H * D;
    struct tile t = {0};
    for (size_t j = 0; j <= i; j++) {
        t = tile_at(i, j, T, H, D, stride);
        multiply_transposed(s, &t, t.scale, q + t.q0 * stride, t.stride, k + t.k0 * stride);
        mask_scores(s, &t);
        for (size_t r = 0; r < (size_t)t.rows; r++) {
            float correction = softmax_row(s + r * TILE, &max[r], &sum[r]);
            if (j > 0)
                scale_row(out + r * H * D, D, correction);
        }
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, t.rows, t.depth, t.columns, 1.0f, s, TILE,
                    v + t.k0 * stride, t.stride, j > 0 ? 1.0f : 0.0f, out, t.out);
    }
    for (size_t r = 0; r < (size_t)t.rows; r++) {
        scale_row(out + r * H * D, D, 1.0f / sum[r]);
        lse[t.q0 + r] = max[r] + logf(sum[r]);
    }
}

CPU_CLONES void cpu_rope_forward(void *q_, void *k_, const float *rope, size_t B, size_t T, size_t H, size_t D,
                                 size_t stride)
{
    float *q = q_;
    float *k = k_;
#pragma omp parallel for num_threads(cpu_threads)
    for (size_t row = 0; row < B * T; row++)
        for (size_t h = 0; h < H; h++) {
            rotate_pairs(q + row * stride + h * D, rope + row % T * (D / 2 * 2), D, 1.0f);
            rotate_pairs(k + row * stride + h * D, rope + row % T * (D / 2 * 2), D, 1.0f);
        }
}

CPU_CLONES void cpu_attention_forward(void *o_, float *lse, const void *q_, const void *k_, const void *v_, size_t B,
                                      size_t T, size_t H, size_t D, size_t stride)
{
    float *o = o_;
    const float *q = q_;
    const float *k = k_;
    const float *v = v_;
    cpu_blas_enter_region();
#pragma omp parallel for collapse(2) schedule(dynamic) num_threads(cpu_threads)
    for (size_t bh = 0; bh < B * H; bh++)
        for (size_t i = 0; i < tiles_of(T); i++) {
            size_t head = bh / H * T * stride + bh % H * D, out = (bh / H * T * H + bh % H) * D;
            forward_tile(o + out, lse + bh * T, q + head, k + head, v + head, i, T, H, D, stride);
        }
    cpu_blas_leave_region();
}

/* Turns scores p[rows, TILE] into probabilities, using forward's lse; and turns dp into the gradient of the scores,
 * scale * p * (dp - delta), where delta[r] is the sum of d_o * o over the row. */
static void backward_softmax(float *p, float *dp, const struct tile *t, const float *lse, const float *delta)
{
    for (size_t r = 0; r < (size_t)t->rows; r++) {
        float *prow = p + r * TILE, *dprow = dp + r * TILE;
        float l = lse[t->q0 + r], d = delta[r], scale = t->scale;
#pragma omp simd
        for (int c = 0; c < TILE; c++) {
            float e = cpu_exp(prow[c] - l);
            prow[c] = e;
            dprow[c] = e * (dprow[c] - d) * scale;
        }
    }
}

/* c[columns, depth] = (or +=) s[rows, TILE]^T * a[rows, depth]: the tile's part of the gradient of keys or values. */
static void multiply_by_transpose(float *c, const struct tile *t, const float *s, const float *a, int a_stride,
                                  int accumulate)
{
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, t->columns, t->depth, t->rows, 1.0f, s, TILE, a, a_stride,
                accumulate ? 1.0f : 0.0f, c, t->stride);
}

/* Adds the contribution of query tile i of one head to the gradients. Query tile i = j comes first for key tile j, so
 * it overwrites the gradient of that key tile instead of adding to it. */
static void backward_tile(float *dq, float *dk, float *dv, const float *d_o, const float *o, const float *lse,
                          const float *q, const float *k, const float *v, size_t i, size_t T, size_t H, size_t D,
                          size_t stride)
{
    _Alignas(64) float p[TILE * TILE], dp[TILE * TILE] = {0}; /* dp is read past t.columns, so must be finite there */
    float delta[TILE];
    size_t q0 = i * TILE * stride, out = H * D, o0 = i * TILE * out;
    for (size_t r = 0; r < TILE && i * TILE + r < T; r++) {
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (size_t d = 0; d < D; d++)
            sum += d_o[o0 + r * out + d] * o[o0 + r * out + d];
        delta[r] = sum;
    }
    for (size_t j = 0; j <= i; j++) {
        struct tile t = tile_at(i, j, T, H, D, stride);
        size_t k0 = t.k0 * stride;
        multiply_transposed(p, &t, t.scale, q + q0, t.stride, k + k0);
        mask_scores(p, &t);
        multiply_transposed(dp, &t, 1.0f, d_o + o0, t.out, v + k0);
        backward_softmax(p, dp, &t, lse, delta);
        multiply_by_transpose(dv + k0, &t, p, d_o + o0, t.out, j < i);
        multiply_by_transpose(dk + k0, &t, dp, q + q0, t.stride, j < i);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, t.rows, t.depth, t.columns, 1.0f, dp, TILE, k + k0,
                    t.stride, j > 0 ? 1.0f : 0.0f, dq + q0, t.stride);
    }
}

/* One thread computes a whole head, so that gradients of keys and values need neither locks nor copies and are summed
 * in the same order for any number of threads. */
CPU_CLONES void cpu_attention_backward(void *dq_, void *dk_, void *dv_, const void *d_o_, const void *o_,
                                       const float *lse, const void *q_, const void *k_, const void *v_,
                                       const float *rope, size_t B, size_t T, size_t H, size_t D, size_t stride)
{
    float *dq = dq_;
    float *dk = dk_;
    float *dv = dv_;
    const float *d_o = d_o_;
    const float *o = o_;
    const float *q = q_;
    const float *k = k_;
    const float *v = v_;
    cpu_blas_enter_region();
#pragma omp parallel for schedule(dynamic) num_threads(cpu_threads)
    for (size_t bh = 0; bh < B * H; bh++) {
        size_t head = bh / H * T * stride + bh % H * D, out = (bh / H * T * H + bh % H) * D;
        for (size_t i = 0; i < tiles_of(T); i++)
            backward_tile(dq + head, dk + head, dv + head, d_o + out, o + out, lse + bh * T, q + head, k + head,
                          v + head, i, T, H, D, stride);
        for (size_t t = 0; t < T; t++) {
            rotate_pairs(dq + head + t * stride, rope + t * (D / 2 * 2), D, -1.0f);
            rotate_pairs(dk + head + t * stride, rope + t * (D / 2 * 2), D, -1.0f);
        }
    }
    cpu_blas_leave_region();
}
