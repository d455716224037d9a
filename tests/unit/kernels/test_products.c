/* test_products.c - products of linear layers by the CBLAS and by oneDNN, and the comparison of their times. */
#include "kernels/blas.h"
#include "kernels/cpu/cpu.h"
#include "kernels/error.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>

/* Tells whether oneDNN is here; if not, prints why the test is skipped. */
static int has_onednn(void)
{
    const char *why = blas_find(BLAS_ONEDNN);
    if (why)
        printf("skip - products by oneDNN: %s\n", why);
    return !why;
}

static float *numbers(size_t n, unsigned seed)
{
    float *x = kept(allocate(n, sizeof *x));
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((seed = seed * 1664525u + 1013904223u) >> 8) * 0x1p-23f - 1.0f;
    return x;
}

/* Computes op(a) op(b), sizes M N K, by a library, on top of `old` if accumulate is not 0. */
static const float *product(enum blas_library library, const size_t s[3], const int t[3])
{
    const float *a = numbers(s[0] * s[2], 1), *b = numbers(s[2] * s[1], 2);
    float *c = numbers(s[0] * s[1], 3);
    blas_use(library);
    cpu_product(t[0], t[1], s[0], s[1], s[2], a, b, t[2], c);
    return c;
}

/* ta, tb and accumulate of _i: all combinations. The sums of at most 129 products
 * of numbers up to 1 are rounded K times. */
TEST_EACH(both_libraries_compute_the_same, 8)
{
    static const size_t sizes[][3] = {{1, 1, 1}, {33, 65, 129}, {17, 100, 3}, {64, 1, 31}};
    const int t[3] = {_i & 1, _i >> 1 & 1, _i >> 2};
    for (size_t s = 0; has_onednn() && s < sizeof sizes / sizeof *sizes; s++) {
        const float *want = product(BLAS_CBLAS, sizes[s], t), *got = product(BLAS_ONEDNN, sizes[s], t);
        for (size_t i = 0; i < sizes[s][0] * sizes[s][1]; i++)
            ck_assert_float_eq_tol(got[i], want[i], (float)(sizes[s][2] + 1) * 129 * 0x1p-24f);
    }
}

/* Times are sums over all products, also of those whose sides are cut. Four times the rows and the sides of a weight
 * take about 64 times as long; a factor that was forgotten would leave 16. */
TEST(times_grow_with_the_operations)
{
    struct blas_weight weight = {512, 512}, long_weight = {2048, 2048};
    const struct blas_products small = {512, 1, 0, &weight}, large = {2048, 1, 0, &long_weight};
    int right = !has_onednn();
    double one[BLAS_CPU_LIBRARIES], more[BLAS_CPU_LIBRARIES];
    for (int attempt = 0; attempt < 5 && !right; attempt++) { /* other programs may use the CPU meanwhile */
        for (int i = 0; i < BLAS_CPU_LIBRARIES; i++)
            one[i] = more[i] = 0;
        blas_compare(&small, one);
        blas_compare(&large, more);
        right = 1;
        for (int i = BLAS_CBLAS; i < BLAS_CPU_LIBRARIES; i++)
            right &= one[i] == 0 || (more[i] > 64 / 3.5 * one[i] && more[i] < 64 * 3.5 * one[i]); /* 0: too slow */
    }
    ck_assert_msg(right, "%g s and %g s by the CBLAS, %g s and %g s by oneDNN", one[BLAS_CBLAS], more[BLAS_CBLAS],
                  one[BLAS_ONEDNN], more[BLAS_ONEDNN]);
}

SUITE("products", NULL, NULL)
