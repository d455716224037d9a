/* test_blas.c - which of OpenBLAS's families suits which CPU. */
#include "kernels/blas.h"
#include "tests/support/suite.h"

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
    {"Haswell", AVX2 " avx512f avx512cd avx512er avx512pf", 0, NULL}, /* without the vectors of 16 and 32 bytes */
    {"Sandybridge", SSE " avx avx2", 0, NULL},                        /* without fused multiply-adds */
    {"Prescott", SSE, 0, NULL},
    {"SkylakeX", AVX512, 0, NULL},
    {"Cooperlake", AVX512, 0, NULL},
    {"Haswell", SSE, 0, NULL}, /* a choice that the CPU cannot run is not this function's business */
    {"Zen9", AVX512, 0, NULL},
    {"Presc", AVX512, 0, NULL},
    {"", AVX512, 0, NULL},
    {"armv8", NEON " sve", 32, "ARMV8SVE"},
    {"neoversen1", NEON " sve", 16, NULL}, /* as long as the others */
    {"armv8", NEON, 0, NULL},
    {"neoversev1", NEON " sve", 32, NULL},
    {"Prescott", NEON " sve", 32, NULL},
    {"armv8", AVX512, 0, NULL},
};

START_TEST(older_families_are_replaced_by_what_the_cpu_can_run)
{
    const char *better = blas_better_kernels(cases[_i].chosen, cases[_i].features, cases[_i].sve_bytes);
    ck_assert_pstr_eq(better, cases[_i].better);
}
END_TEST

/* How they compare depends on how this was compiled: a sanitizer's build has slow vectors. */
START_TEST(both_rates_are_measured)
{
    struct blas_facts blas;
    blas_describe(&blas);
    blas_measure(&blas);
    ck_assert(*blas.library);
    ck_assert(blas.product_gflops > 0.05 && blas.product_gflops < 1e4); /* of any CPU, in GFLOP/s */
    ck_assert(blas.vector_gflops > 0.05 && blas.vector_gflops < 1e4);
    ck_assert_str_eq(blas.replaced, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("blas");
    TCase *tests = tcase_create("blas");
    tcase_add_loop_test(tests, older_families_are_replaced_by_what_the_cpu_can_run, 0, sizeof cases / sizeof *cases);
    tcase_add_test(tests, both_rates_are_measured);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
