/* tile_product.h - products of small matrices that lie in the caches, for the tiles of attention.
 *
 * A block of rows and columns of the result stays in registers while the inner dimension passes. Each step loads two
 * vectors of a row of b, and multiplies them by one number of each row of a. Source: Goto and van de Geijn, Anatomy of
 * High-Performance Matrix Multiplication, ACM TOMS 34 (3), 2008, section 5. Each number of the result is summed in the
 * order of the inner dimension, whatever the block and the vectors are. The functions are static, so that each version
 * of an operation (CPU_CLONES) has its own. */
#ifndef KERNELS_CPU_TILE_PRODUCT_H
#define KERNELS_CPU_TILE_PRODUCT_H

#include "kernels/cpu/cpu.h"

enum { TILE_ROWS = 8 }; /* the most rows of a block */

/* A tile on the diagonal, whose scores are 0 for keys after the query, needs only a part of its products. */
enum tile_part {
    WHOLE,
    UPPER_RESULT, /* c[i, j] is used only for j >= i, and computed at least there */
    LOWER_LEFT,   /* a[i, l] is 0 for l > i; it is not read for l >= i - i % TILE_ROWS + TILE_ROWS */
    UPPER_LEFT    /* a[i, l] is 0 for l < i; it is not read for l < i - i % TILE_ROWS */
};

/* c[m, n] = a[m, k] * b[k, n], or += if add is not 0. Number (i, l) of a is a[i * a_row + l * a_step]; rows of b and c
 * begin every b_row and c_row numbers. */
struct tile_product {
    float *c;
    const float *a, *b;
    size_t m, n, k;
    size_t c_row, a_row, a_step, b_row;
    enum tile_part part;
    int add;
};

/* Defines name(p, i, j), which computes ROWS rows of VECTORS vectors of BYTES bytes, from row i and column j on. */
#define TILE_BLOCK(name, BYTES, ROWS, VECTORS)                                                                         \
    static inline void name(const struct tile_product *p, size_t i, size_t j)                                          \
    {                                                                                                                  \
        typedef float vector __attribute__((vector_size(BYTES), aligned(4), may_alias));                               \
        enum { LENGTH = (BYTES) / sizeof(float) };                                                                     \
        const size_t c_row = p->c_row, a_row = p->a_row, a_step = p->a_step, b_row = p->b_row;                         \
        const size_t first = p->part == UPPER_LEFT ? i - i % TILE_ROWS : 0;                                            \
        const size_t last = i - i % TILE_ROWS + TILE_ROWS;                                                             \
        const size_t end = p->part == LOWER_LEFT && last < p->k ? last : p->k;                                         \
        const float *a = p->a + i * a_row, *b = p->b + j;                                                              \
        float *c = p->c + i * c_row + j;                                                                               \
        vector sum[(ROWS) * (VECTORS)] = {0}; /* in registers: the loops over it are unrolled */                       \
        for (size_t l = first; l < end; l++) {                                                                         \
            const float *left = a + l * a_step, *right = b + l * b_row;                                                \
            _Pragma("GCC unroll 16") for (size_t s = 0; s < (ROWS) * (VECTORS); s++) sum[s] +=                         \
                left[s / (VECTORS)*a_row] * *(const vector *)(right + s % (VECTORS)*LENGTH);                           \
        }                                                                                                              \
        _Pragma("GCC unroll 16") for (size_t s = 0; s < (ROWS) * (VECTORS); s++)                                       \
        {                                                                                                              \
            vector *to = (vector *)(c + s / (VECTORS)*c_row + s % (VECTORS)*LENGTH);                                   \
            if (p->add)                                                                                                \
                sum[s] += *to;                                                                                         \
            *to = sum[s];                                                                                              \
        }                                                                                                              \
    }

/* Defines name(p, j), which computes the strip of VECTORS vectors from column j on. */
#define TILE_STRIP(name, BYTES, ROWS, VECTORS)                                                                         \
    TILE_BLOCK(name##_rows, BYTES, ROWS, VECTORS)                                                                      \
    TILE_BLOCK(name##_row, BYTES, 1, VECTORS)                                                                          \
    static inline void name(const struct tile_product *p, size_t j)                                                    \
    {                                                                                                                  \
        const size_t right = j + (BYTES) / sizeof(float) * (VECTORS);                                                  \
        const size_t rows = p->part == UPPER_RESULT && right < p->m ? right : p->m;                                    \
        size_t i = 0;                                                                                                  \
        for (; i + (ROWS) <= rows; i += (ROWS))                                                                        \
            name##_rows(p, i, j);                                                                                      \
        for (; i < rows; i++)                                                                                          \
            name##_row(p, i, j);                                                                                       \
    }

/* Defines name(p), which computes the whole product by vectors of BYTES bytes and blocks of ROWS rows. */
#define TILE_MULTIPLY(name, BYTES, ROWS)                                                                               \
    TILE_STRIP(name##_two, BYTES, ROWS, 2)                                                                             \
    TILE_STRIP(name##_one, BYTES, ROWS, 1)                                                                             \
    TILE_STRIP(name##_number, 4, ROWS, 1)                                                                              \
    static inline void name(const struct tile_product *p)                                                              \
    {                                                                                                                  \
        const size_t length = (BYTES) / sizeof(float);                                                                 \
        size_t j = 0;                                                                                                  \
        for (; j + 2 * length <= p->n; j += 2 * length)                                                                \
            name##_two(p, j);                                                                                          \
        for (; j + length <= p->n; j += length)                                                                        \
            name##_one(p, j);                                                                                          \
        for (; j < p->n; j++)                                                                                          \
            name##_number(p, j);                                                                                       \
    }

/* Blocks that fit 32 registers of 64 bytes, and 16 registers of 32 bytes. */
TILE_MULTIPLY(tile_multiply_wide, 64, TILE_ROWS)
TILE_MULTIPLY(tile_multiply_narrow, 32, TILE_ROWS / 2)

static inline void tile_multiply(const struct tile_product *p)
{
    if (CPU_VECTOR_BYTES >= 64)
        tile_multiply_wide(p);
    else
        tile_multiply_narrow(p);
}

#endif
