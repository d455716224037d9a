/* test_blas.c - which kernels of OpenBLAS suit which CPU, and the measured speed of matrix products. */
#include "kernels/blas.h"
#include "kernels/clock.h"
#include "kernels/cpu/cpu.h"
#include "kernels/error.h"
#include "tests/support/suite.h"

#include <cblas.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SSE    "fpu sse sse2 pni ssse3 sse4_1 sse4_2 popcnt"
#define AVX2   SSE " avx fma avx2 bmi2"
#define AVX512 AVX2 " avx512f avx512dq avx512cd avx512bw avx512vl\n"
#define NEON   "fp asimd evtstrm aes asimdhp"

static const struct {
    const char *chosen, *features;
    long sve_bytes;
    const char *better;
} cases[] = {
    {"Prescott", AVX512, 0, "SkylakeX"},
    {"PRESCOTT", AVX2, 0, "Haswell"},
    {"Nehalem", SSE " avx", 0, "Sandybridge"},
    {"Zen", AVX512, 0, "SkylakeX"},
    {"Haswell", AVX2 " avx512f avx512cd avx512er avx512pf", 0, NULL}, /* lacks AVX-512 for vectors of 16 and 32 bytes */
    {"Sandybridge", SSE " avx avx2", 0, NULL},                        /* lacks fused multiply-add */
    {"Prescott", SSE, 0, NULL},
    {"SkylakeX", AVX512, 0, NULL},
    {"Cooperlake", AVX512, 0, NULL},
    {"Haswell", SSE, 0, NULL}, /* kernels that the CPU cannot run are not checked here */
    {"Zen9", AVX512, 0, NULL},
    {"Presc", AVX512, 0, NULL},
    {"", AVX512, 0, NULL},
    {"armv8", NEON " sve", 32, "ARMV8SVE"},
    {"neoversen1", NEON " sve", 16, NULL}, /* SVE vectors of 16 bytes gain nothing */
    {"armv8", NEON, 0, NULL},
    {"neoversev1", NEON " sve", 32, NULL},
    {"Prescott", NEON " sve", 32, NULL},
    {"armv8", AVX512, 0, NULL},
};

TEST_EACH(older_families_are_replaced_by_what_the_cpu_can_run, sizeof cases / sizeof *cases)
{
    const char *better = blas_better_kernels(cases[_i].chosen, cases[_i].features, cases[_i].sve_bytes);
    ck_assert_pstr_eq(better, cases[_i].better);
}

TEST(a_replacement_is_claimed_where_it_happened)
{
    struct blas_facts blas;
    blas_describe(&blas);
    ck_assert(*blas.library);
    ck_assert_str_eq(blas.replaced, "");
    setenv("DDPBENCH_OPENBLAS_REPLACED", "Vector9", 1);
    blas_describe(&blas);
    ck_assert_str_eq(blas.replaced, "Vector9");
    for (char *c = blas.kernels; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    setenv("DDPBENCH_OPENBLAS_REPLACED", blas.kernels, 1); /* OpenBLAS did not know the requested kernels */
    blas_describe(&blas);
    ck_assert_str_eq(blas.replaced, "");
    unsetenv("DDPBENCH_OPENBLAS_REPLACED");
}

/* Returns the GFLOP/s of the fastest of 20 matrix products on one thread. */
static double rate_of_products(void)
{
    enum { SIDE = 256, REPEATS = 20 };
    float *x = kept(allocate((size_t)3 * SIDE * SIDE, sizeof *x)), *y = x + SIDE * SIDE, *z = y + SIDE * SIDE;
    double least_ns = INFINITY;
    cpu_blas_set_threads(1);
    for (int i = 0; i < REPEATS; i++) {
        int64_t begin = clock_now_ns();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, x, SIDE, y, SIDE, 0, z, SIDE);
        least_ns = fmin(least_ns, (double)(clock_now_ns() - begin));
    }
    return 2.0 * SIDE * SIDE * SIDE / least_ns;
}

/* has_quick_vectors tells whether this build is optimised, uses FMA, as OpenBLAS does, and has no sanitizer. Compilers
 * define the names that it tests as 1. */
#define WORDS(name) #name
#define VALUE(name) WORDS(name)
static int is_defined(const char *value)
{
    return !strcmp(value, "1");
}
static int has_quick_vectors(void)
{
    return is_defined(VALUE(__OPTIMIZE__)) && is_defined(VALUE(__FMA__)) && !is_defined(VALUE(__SANITIZE_ADDRESS__)) &&
           !is_defined(VALUE(__SANITIZE_THREAD__));
}

/* The measured rates are right within a factor of 1.8, so that counting twice or half the operations would fail. */
TEST(rates_are_those_of_one_thread)
{
    struct blas_facts blas = {0};
    int right = 0;
    double products = 0;
    for (int attempt = 0; attempt < 5 && !right; attempt++) { /* other programs may use the CPU meanwhile */
        blas_measure(&blas);
        products = rate_of_products();
        right = blas.product_gflops < 1.8 * products && products < 1.8 * blas.product_gflops &&
                (blas.product_gflops < blas.vector_gflops || !has_quick_vectors());
    }
    ck_assert_msg(right, "products measured at %g GFLOP/s, here at %g; vectors at %g", blas.product_gflops, products,
                  blas.vector_gflops);
}

SUITE("blas", NULL, NULL)
