/* attention.c - causal attention, tile by tile: products of tiles (tile_product.h), and softmax between them.
 *
 * Scores are kept transposed, a row for each key and a column for each query: maximum, sum and gradient of a query are
 * then vectors, and nothing is added up across a vector. Tiles before the query's own are whole; of the tile on the
 * diagonal, only the needed part is computed, to the width of a block. The rows of a head are far apart in memory, so
 * the processor does not prefetch them; each tile loads those of the next one between its products.
 *
 * Sources: Dao et al., FlashAttention, 2022, arXiv:2205.14135, algorithms 1 and 4; Milakov and Gimelshein, Online
 * normalizer calculation for softmax, 2018, arXiv:1805.02867, for the running maximum. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/tile_product.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* Queries and keys of a tile; scores are [TILE, TILE], 16 KiB, on the thread's stack. LANES: the widest vector's
 * numbers, of which the columns of a tile are a multiple. */
enum { TILE = 64, LANES = 16 };

/* One tile: `queries` queries from q0 on, `keys` keys from k0 on, in heads of `depth` (D) numbers. */
struct tile {
    size_t q0, k0, queries, keys, depth;
    int diagonal; /* 1: keys after a query are masked */
};

static size_t tiles_of(size_t T)
{
    return (T + TILE - 1) / TILE;
}

/* Returns the tile of query tile i and key tile j. */
static struct tile tile_at(size_t i, size_t j, size_t T, size_t D)
{
    size_t q0 = i * TILE, k0 = j * TILE;
    return (struct tile){.q0 = q0,
                         .k0 = k0,
                         .queries = T - q0 < TILE ? T - q0 : TILE,
                         .keys = T - k0 < TILE ? T - k0 : TILE,
                         .depth = D,
                         .diagonal = i == j};
}

/* Returns the number of columns that hold the tile's queries. */
static size_t columns_of(const struct tile *t)
{
    return (t->queries + LANES - 1) / LANES * LANES;
}

/* Returns the first column of a key's row that is computed; those before it belong to earlier queries. */
static size_t first_column(const struct tile *t, size_t key)
{
    return t->diagonal ? key - key % LANES : 0;
}

/* The sizes of attention. Consecutive tokens are `stride` numbers apart in q, k, v and their gradients, and `row` (H *
 * D) in o and its gradient. */
struct sizes {
    size_t T, H, D, stride, row;
};

/* Returns the place of the first token of tile i of head bh, of all heads of all sequences, in an array with such a
 * distance between tokens. */
static size_t place_of(const struct sizes *z, size_t bh, size_t i, size_t distance)
{
    return (bh / z->H * z->T + i * TILE) * distance + bh % z->H * z->D;
}

/* What the next tile needs: its rows in some arrays, which are loaded one array at a time. */
struct ahead {
    size_t rows, depth, arrays;
    struct {
        uintptr_t tile; /* an address that may be none */
        size_t distance;
    } array[8];
};

/* Adds the tile of an array that comes after tile i of head bh. After the last head it lies after the array, where
 * loading ahead does no harm. */
static void ahead_add(struct ahead *ahead, const struct sizes *z, const float *array, size_t distance, size_t bh,
                      size_t i)
{
    const size_t next = i + 1 < tiles_of(z->T) ? i + 1 : 0, left = z->T - next * TILE;
    ahead->rows = left < TILE ? left : TILE;
    ahead->depth = z->D;
    ahead->array[ahead->arrays].tile =
        (uintptr_t)array + sizeof *array * place_of(z, next ? bh : bh + 1, next, distance);
    ahead->array[ahead->arrays++].distance = distance;
}

/* Starts to load the rows of `arrays` of the arrays that are left. */
static void ahead_load(struct ahead *ahead, int arrays)
{
    for (; arrays > 0 && ahead->arrays > 0; arrays--) {
        ahead->arrays--;
        const uintptr_t tile = ahead->array[ahead->arrays].tile;
        const size_t distance = ahead->array[ahead->arrays].distance;
        for (size_t r = 0; r < ahead->rows; r++)
            for (size_t d = 0; d < ahead->depth; d += LANES)
                __builtin_prefetch((const void *)(tile + (r * distance + d) * sizeof(float)), 0, 2);
    }
}

/* Stores a transposed square of 4 rows, `stride` numbers apart, of `from`: to[d * TILE + r] = scale * from[r, d]. */
static void transpose_square(float *to, const float *from, size_t stride, float scale)
{
    typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
    const four a = *(const four *)from * scale, b = *(const four *)(from + stride) * scale;
    const four c = *(const four *)(from + 2 * stride) * scale, d = *(const four *)(from + 3 * stride) * scale;
    *(four *)to = (four){a[0], b[0], c[0], d[0]};
    *(four *)(to + TILE) = (four){a[1], b[1], c[1], d[1]};
    *(four *)(to + (size_t)2 * TILE) = (four){a[2], b[2], c[2], d[2]};
    *(four *)(to + (size_t)3 * TILE) = (four){a[3], b[3], c[3], d[3]};
}

/* to[depth, TILE] = scale * from[queries, depth]^T, with zeros in the columns after the queries. */
static void transpose(float *to, const struct tile *t, const float *from, size_t stride, float scale)
{
    const size_t squares = t->queries / 4 * 4, D = t->depth, columns = columns_of(t);
    for (size_t r = 0; r < squares; r += 4) {
        size_t d = 0;
        for (; d + 4 <= D; d += 4)
            transpose_square(to + d * TILE + r, from + r * stride + d, stride, scale);
        for (; d < D; d++)
            for (size_t i = r; i < r + 4; i++)
                to[d * TILE + i] = scale * from[i * stride + d];
    }
    if (squares == columns)
        return;
    for (size_t d = 0; d < D; d++)
        for (size_t r = squares; r < columns; r++)
            to[d * TILE + r] = r < t->queries ? scale * from[r * stride + d] : 0.0f;
}

/* s[keys, TILE] = rows[keys, depth] * transposed[depth, TILE]. */
static void score(float *s, const struct tile *t, const float *rows, size_t stride, const float *transposed)
{
    tile_multiply(&(struct tile_product){.c = s,
                                         .a = rows,
                                         .b = transposed,
                                         .m = t->keys,
                                         .n = columns_of(t),
                                         .k = t->depth,
                                         .c_row = TILE,
                                         .a_row = stride,
                                         .a_step = 1,
                                         .b_row = TILE,
                                         .part = t->diagonal ? UPPER_RESULT : WHOLE});
}

/* of_queries[queries, depth] = s[keys, TILE]^T * of_keys[keys, depth], or += if add is not 0. */
static void gather_keys(float *of_queries, size_t row, const struct tile *t, const float *s, const float *of_keys,
                        size_t stride, int add)
{
    tile_multiply(&(struct tile_product){.c = of_queries,
                                         .a = s,
                                         .b = of_keys,
                                         .m = t->queries,
                                         .n = t->depth,
                                         .k = t->keys,
                                         .c_row = row,
                                         .a_row = 1,
                                         .a_step = TILE,
                                         .b_row = stride,
                                         .part = t->diagonal ? LOWER_LEFT : WHOLE,
                                         .add = add});
}

/* of_keys[keys, depth] = s[keys, TILE] * of_queries[queries, depth], or += if add is not 0. */
static void gather_queries(float *of_keys, size_t stride, const struct tile *t, const float *s, const float *of_queries,
                           size_t row, int add)
{
    tile_multiply(&(struct tile_product){.c = of_keys,
                                         .a = s,
                                         .b = of_queries,
                                         .m = t->keys,
                                         .n = t->depth,
                                         .k = t->queries,
                                         .c_row = stride,
                                         .a_row = TILE,
                                         .a_step = 1,
                                         .b_row = row,
                                         .part = t->diagonal ? UPPER_LEFT : WHOLE,
                                         .add = add});
}

/* On the diagonal, sets scores of keys after the query to -inf, whose exponential is 0. */
static void mask_scores(float *s, const struct tile *t)
{
    for (size_t c = 0; t->diagonal && c < t->keys; c++)
        for (size_t r = first_column(t, c); r < c; r++)
            s[c * TILE + r] = -INFINITY;
}

/* Per query, of the keys so far. */
struct running {
    float max[TILE], sum[TILE];
    float correction[TILE]; /* the factor by which the last tile has changed sums of earlier tiles */
};

/* Replaces scores by exp(score - running maximum), and updates the running sum. */
static void softmax(float *s, const struct tile *t, struct running *now)
{
    const size_t columns = columns_of(t);
    float high[TILE], part[TILE] = {0};
    memcpy(high, now->max, sizeof high);
    for (size_t c = 0; c < t->keys; c++)
#pragma omp simd
        for (size_t r = first_column(t, c); r < columns; r++)
            high[r] = s[c * TILE + r] > high[r] ? s[c * TILE + r] : high[r];
    for (size_t c = 0; c < t->keys; c++)
#pragma omp simd
        for (size_t r = first_column(t, c); r < columns; r++) {
            float e = cpu_exp(s[c * TILE + r] - high[r]);
            s[c * TILE + r] = e;
            part[r] += e;
        }
#pragma omp simd
    for (size_t r = 0; r < columns; r++) {
        float correction = cpu_exp(now->max[r] - high[r]); /* 0 in the first tile, where max is -inf */
        now->correction[r] = correction;
        now->sum[r] = now->sum[r] * correction + part[r];
        now->max[r] = high[r];
    }
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

/* Computes the outputs of query tile i of head bh; transposed[D, TILE] is scratch memory. */
static void forward_tile(const struct sizes *z, float *o, float *lse, const float *q, const float *k, const float *v,
                         float *transposed, size_t bh, size_t i)
{
    _Alignas(64) float s[TILE * TILE];
    const size_t D = z->D, stride = z->stride;
    struct running now;
    struct tile t = tile_at(i, 0, z->T, D);
    float *out = o + place_of(z, bh, i, z->row);
    for (size_t r = 0; r < TILE; r++) {
        now.max[r] = -INFINITY;
        now.sum[r] = 0.0f;
    }
    transpose(transposed, &t, q + place_of(z, bh, i, stride), stride, 1.0f / sqrtf((float)D));
    struct ahead ahead = {0};
    ahead_add(&ahead, z, v, stride, bh, i);
    ahead_add(&ahead, z, k, stride, bh, i);
    ahead_add(&ahead, z, q, stride, bh, i);
    ahead_load(&ahead, 1);
    for (size_t j = 0; j <= i; j++) {
        t = tile_at(i, j, z->T, D);
        const size_t keys = place_of(z, bh, j, stride);
        score(s, &t, k + keys, stride, transposed);
        ahead_load(&ahead, 1);
        mask_scores(s, &t);
        softmax(s, &t, &now);
        ahead_load(&ahead, 1);
        for (size_t r = 0; j > 0 && r < t.queries; r++)
            if (now.correction[r] < 1.0f)
                scale_row(out + r * z->row, D, now.correction[r]);
        gather_keys(out, z->row, &t, s, v + keys, stride, j > 0);
    }
    for (size_t r = 0; r < t.queries; r++) {
        scale_row(out + r * z->row, D, 1.0f / now.sum[r]);
        lse[bh * z->T + t.q0 + r] = now.max[r] + logf(now.sum[r]);
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

/* Returns how many tiles a thread takes at once: a whole head, if there are enough heads for all threads. */
static int tiles_at_once(size_t heads, size_t T)
{
    return heads >= 8 * (size_t)cpu_threads ? (int)tiles_of(T) : 1;
}

CPU_CLONES void cpu_attention_forward(void *o, float *lse, const void *q, const void *k, const void *v, size_t B,
                                      size_t T, size_t H, size_t D, size_t stride)
{
    const struct sizes z = {T, H, D, stride, H * D};
    float *scratch = cpu_scratch((size_t)cpu_threads * D * TILE);
#pragma omp parallel for collapse(2) schedule(dynamic, tiles_at_once(B *H, T)) num_threads(cpu_threads)
    for (size_t bh = 0; bh < B * H; bh++)
        for (size_t i = 0; i < tiles_of(T); i++)
            forward_tile(&z, o, lse, q, k, v, scratch + (size_t)omp_get_thread_num() * D * TILE, bh, i);
}

/* Turns scores p[keys, TILE] into probabilities by forward's lse; and turns dp into the gradient of the scores before
 * their scaling, scale * p * (dp - delta), where delta is the sum of d_o * o over a query's row. */
static void backward_softmax(float *p, float *dp, const struct tile *t, const float lse[TILE], const float delta[TILE],
                             float scale)
{
    const size_t columns = columns_of(t);
    for (size_t c = 0; c < t->keys; c++)
#pragma omp simd
        for (size_t r = first_column(t, c); r < columns; r++) {
            float e = cpu_exp(p[c * TILE + r] - lse[r]);
            p[c * TILE + r] = e;
            dp[c * TILE + r] = e * (dp[c * TILE + r] - delta[r]) * scale;
        }
}

/* The arrays of attention_backward. */
struct backward_arrays {
    float *dq, *dk, *dv;
    const float *d_o, *o, *lse, *q, *k, *v;
};

/* delta[r] = the sum of d_o * o over the row of query r. */
static void sum_rows(float delta[TILE], const struct tile *t, const float *d_o, const float *o, size_t row)
{
    for (size_t r = 0; r < t->queries; r++) {
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (size_t d = 0; d < t->depth; d++)
            sum += d_o[r * row + d] * o[r * row + d];
        delta[r] = sum;
    }
}

/* Adds the contribution of query tile i of head bh to the gradients. Query tile i = j comes first for key tile j, so it
 * overwrites the gradient of that key tile instead of adding to it. transposed[2, D, TILE] is scratch memory. */
static void backward_tile(const struct sizes *z, const struct backward_arrays *a, float *transposed, size_t bh,
                          size_t i)
{
    _Alignas(64) float p[TILE * TILE], dp[TILE * TILE];
    float delta[TILE] = {0}, lse[TILE] = {0}; /* finite after the queries */
    struct tile t = tile_at(i, 0, z->T, z->D);
    const size_t stride = z->stride, row = z->row;
    const size_t queries = place_of(z, bh, i, stride), out = place_of(z, bh, i, row);
    const float scale = 1.0f / sqrtf((float)z->D);
    float *q_transposed = transposed, *d_o_transposed = transposed + z->D * TILE;
    memcpy(lse, a->lse + bh * z->T + t.q0, t.queries * sizeof *lse);
    sum_rows(delta, &t, a->d_o + out, a->o + out, row);
    transpose(q_transposed, &t, a->q + queries, stride, scale);
    transpose(d_o_transposed, &t, a->d_o + out, row, 1.0f);
    struct ahead ahead = {0};
    const float *const of_stride[] = {a->dq, a->dk, a->dv, a->v, a->k, a->q}, *const of_row[] = {a->d_o, a->o};
    for (size_t n = 0; n < sizeof of_row / sizeof *of_row; n++)
        ahead_add(&ahead, z, of_row[n], row, bh, i);
    for (size_t n = 0; n < sizeof of_stride / sizeof *of_stride; n++)
        ahead_add(&ahead, z, of_stride[n], stride, bh, i);
    for (size_t j = 0; j <= i; j++) {
        t = tile_at(i, j, z->T, z->D);
        const size_t keys = place_of(z, bh, j, stride);
        ahead_load(&ahead, 2);
        score(p, &t, a->k + keys, stride, q_transposed);
        mask_scores(p, &t);
        ahead_load(&ahead, 2);
        score(dp, &t, a->v + keys, stride, d_o_transposed);
        backward_softmax(p, dp, &t, lse, delta, scale);
        ahead_load(&ahead, 2);
        gather_queries(a->dv + keys, stride, &t, p, a->d_o + out, row, j < i);
        ahead_load(&ahead, 2);
        gather_queries(a->dk + keys, stride, &t, dp, a->q + queries, stride, j < i);
        gather_keys(a->dq + queries, stride, &t, dp, a->k + keys, stride, j > 0);
    }
}

/* Rotates the gradients of one head back, from those of rotated queries and keys. */
static void rotate_back(const struct sizes *z, float *gradient, const float *rope, size_t bh)
{
    float *head = gradient + place_of(z, bh, 0, z->stride);
    for (size_t t = 0; t < z->T; t++)
        rotate_pairs(head + t * z->stride, rope + t * (z->D / 2 * 2), z->D, -1.0f);
}

/* One thread computes a whole head, so that gradients of keys and values need neither locks nor copies and are summed
 * in the same order for any number of threads. */
CPU_CLONES void cpu_attention_backward(void *dq, void *dk, void *dv, const void *d_o, const void *o, const float *lse,
                                       const void *q, const void *k, const void *v, const float *rope, size_t B,
                                       size_t T, size_t H, size_t D, size_t stride)
{
    const struct sizes z = {T, H, D, stride, H * D};
    const struct backward_arrays arrays = {dq, dk, dv, d_o, o, lse, q, k, v};
    float *scratch = cpu_scratch((size_t)cpu_threads * 2 * D * TILE);
#pragma omp parallel for schedule(dynamic) num_threads(cpu_threads)
    for (size_t bh = 0; bh < B * H; bh++) {
        for (size_t i = 0; i < tiles_of(T); i++)
            backward_tile(&z, &arrays, scratch + (size_t)omp_get_thread_num() * 2 * D * TILE, bh, i);
        rotate_back(&z, dq, rope, bh);
        rotate_back(&z, dk, rope, bh);
    }
}
