/* test_tile_product.c - products of tiles against plain sums, for both lengths of vectors and sizes that fill no block.
 */
#include "kernels/cpu/tile_product.h"

#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 70, GUARD = 7 }; /* sizes; numbers between the rows of c, which stay as they were */

static float left[MOST * MOST], right[MOST * MOST], wide[MOST * (MOST + GUARD)], narrow[MOST * (MOST + GUARD)];

/* Whole numbers, whose products and sums are exact: any order of a sum gives the same result. */
static void fill(float *x, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((seed = seed * 1664525u + 1013904223u) >> 24) - 128.0f;
}

static float element_of(const struct tile_product *p, size_t i, size_t l)
{
    return (p->part == LOWER_LEFT && l > i) || (p->part == UPPER_LEFT && l < i) ? 0
                                                                                : p->a[i * p->a_row + l * p->a_step];
}

/* Sets to 0 the numbers of a that the product takes as 0 and may read, and to NaN those that it must not read. */
static void prepare_left(const struct tile_product *p)
{
    for (size_t i = 0; i < p->m; i++)
        for (size_t l = 0; l < p->k; l++) {
            float *a = &left[i * p->a_row + l * p->a_step];
            if (p->part == LOWER_LEFT && l > i)
                *a = l >= i - i % TILE_ROWS + TILE_ROWS ? NAN : 0.0f;
            if (p->part == UPPER_LEFT && l < i)
                *a = l < i - i % TILE_ROWS ? NAN : 0.0f;
        }
}

static void check_product(struct tile_product p)
{
    fill(left, MOST * MOST, 1);
    fill(right, MOST * MOST, 2);
    fill(wide, MOST * (MOST + GUARD), 3);
    memcpy(narrow, wide, sizeof narrow);
    prepare_left(&p);
    p.a = left, p.b = right, p.c_row = p.n + GUARD;
    float *before = kept(malloc(sizeof wide));
    memcpy(before, wide, sizeof wide);
    p.c = wide;
    tile_multiply_wide(&p);
    p.c = narrow;
    tile_multiply_narrow(&p);
    for (size_t i = 0; i < p.m; i++)
        for (size_t j = 0; j < p.c_row; j++) {
            const size_t at = i * p.c_row + j;
            float want = j < p.n && !p.add ? 0 : before[at];
            for (size_t l = 0; j < p.n && l < p.k; l++)
                want += element_of(&p, i, l) * right[l * p.b_row + j];
            if (p.part == UPPER_RESULT && j < i)
                continue;
            ck_assert_msg(wide[at] == want && narrow[at] == want,
                          "part %d, m %zu, n %zu, k %zu: c[%zu, %zu] is %g with wide vectors and %g with narrow ones; "
                          "expected %g",
                          (int)p.part, p.m, p.n, p.k, i, j, (double)wide[at], (double)narrow[at], (double)want);
        }
}

TEST(products_equal_plain_sums)
{
    static const size_t sizes[][3] = {{64, 64, 64}, {1, 1, 1},    {7, 5, 3}, {13, 32, 64},
                                      {64, 61, 9},  {70, 33, 70}, {8, 16, 1}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int part = WHOLE; part <= UPPER_LEFT; part++)
            for (int way = 0; way < 4; way++) { /* a as it is or transposed; c overwritten or added to */
                const size_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
                check_product((struct tile_product){.m = m,
                                                    .n = n,
                                                    .k = k,
                                                    .a_row = way & 1 ? 1 : MOST,
                                                    .a_step = way & 1 ? MOST : 1,
                                                    .b_row = MOST,
                                                    .part = (enum tile_part)part,
                                                    .add = way >> 1});
            }
}

SUITE("tile_product", NULL, NULL)
