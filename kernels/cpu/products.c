/* products.c - the matrix products of linear layers, by the CBLAS or by oneDNN.
 *
 * oneDNN is opened at run time, so that the program also runs where it is not installed. Its types are those of
 * oneDNN's dnnl.h and dnnl_types.h, versions 2 and 3. */
#include "kernels/blas.h"
#include "kernels/cpu/cpu.h"
#include "kernels/error.h"
#include "kernels/library.h"

#include <cblas.h>
#include <limits.h>
#include <stdio.h>

const char *const blas_library_name[] = {"auto", "cblas", "onednn", "cublas", "cublaslt", NULL};

struct dnnl_version {
    int major, minor, patch;
    const char *hash;
    unsigned cpu_runtime, gpu_runtime;
};

static struct {
    int (*sgemm)(char transpose_a, char transpose_b, int64_t M, int64_t N, int64_t K, float alpha, const float *a,
                 int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
    const struct dnnl_version *(*version)(void);
    unsigned (*instructions)(void);
} onednn;

static const struct library_function functions[] = {
    {"dnnl_sgemm", offsetof(__typeof__(onednn), sgemm), 1},
    {"dnnl_version", offsetof(__typeof__(onednn), version), 1},
    {"dnnl_get_effective_cpu_isa", offsetof(__typeof__(onednn), instructions), 1},
};

static enum blas_library used = BLAS_CBLAS;

#define ONEDNN_ADVICE "; install a libdnnl with OpenMP, or use --blas cblas"

const char *blas_find(enum blas_library library)
{
    const size_t n = sizeof functions / sizeof *functions;
    const unsigned openmp = 2; /* DNNL_RUNTIME_OMP: the threads that device_cpu counts */
    if (library >= BLAS_CPU_LIBRARIES)
        return "it needs a GPU; on the CPU it is auto, cblas or onednn";
    if (library != BLAS_ONEDNN)
        return NULL;
    if (library_open(&onednn, functions, n, "libdnnl.so.3") && library_open(&onednn, functions, n, "libdnnl.so.2"))
        return "neither libdnnl.so.3 nor libdnnl.so.2 can be used" ONEDNN_ADVICE;
    return onednn.version()->cpu_runtime == openmp ? NULL : "the oneDNN here was built without OpenMP" ONEDNN_ADVICE;
}

void blas_use(enum blas_library library)
{
    used = library == BLAS_ONEDNN ? BLAS_ONEDNN : BLAS_CBLAS;
}

/* Returns oneDNN's name for sets of instructions, dnnl_cpu_isa_t; "": an unknown one. Version 2 used two of the numbers
 * for the Xeon Phi. */
static const char *instructions_name(unsigned instructions, int version)
{
    static const struct {
        unsigned instructions;
        int since;
        const char *name;
    } known[] = {
        {0x1, 2, "sse41"},
        {0x3, 2, "avx"},
        {0x7, 2, "avx2"},
        {0xf, 3, "avx2_vnni"},
        {0x1f, 3, "avx2_vnni_2"},
        {0x407, 2, "avx2_vnni"},
        {0x27, 2, "avx512_core"},
        {0x67, 2, "avx512_core_vnni"},
        {0xe7, 2, "avx512_core_bf16"},
        {0x1ef, 2, "avx512_core_fp16"},
        {0x3e7, 2, "avx512_core_amx"},
        {0xfef, 2, "avx512_core_amx"},
        {0x1fef, 2, "avx512_core_amx_fp16"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].instructions == instructions && version >= known[i].since)
            return known[i].name;
    return "";
}

int cpu_onednn_describe(struct blas_facts *facts)
{
    if (used != BLAS_ONEDNN)
        return 0;
    const struct dnnl_version *version = onednn.version();
    *facts = (struct blas_facts){0};
    snprintf(facts->library, sizeof facts->library, "oneDNN %d.%d.%d", version->major, version->minor, version->patch);
    snprintf(facts->kernels, sizeof facts->kernels, "%s", instructions_name(onednn.instructions(), version->major));
    return 1;
}

static void by_onednn(int ta, int tb, size_t M, size_t N, size_t K, const float *a, const float *b, float beta,
                      float *c)
{
    const int64_t m = (int64_t)M, n = (int64_t)N, k = (int64_t)K;
    int status = onednn.sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1.0f, a, ta ? m : k, b, tb ? k : n, beta, c, n);
    if (status)
        FATAL("oneDNN's product of %zu x %zu and %zu x %zu failed with status %d; --blas cblas avoids oneDNN", M, K, K,
              N, status);
}

/* Converts n to the CBLAS's int; fatal if it does not fit. */
static int cblas_int(size_t n)
{
    if (n > INT_MAX)
        FATAL("a matrix dimension of %zu does not fit BLAS, which takes at most %d", n, INT_MAX);
    return (int)n;
}

static void by_cblas(int ta, int tb, size_t M, size_t N, size_t K, const float *a, const float *b, float beta, float *c)
{
    int m = cblas_int(M), n = cblas_int(N), k = cblas_int(K);
    cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k, 1.0f, a,
                ta ? m : k, b, tb ? k : n, beta, c, n);
}

void cpu_product(int ta, int tb, size_t M, size_t N, size_t K, const float *a, const float *b, int accumulate, float *c)
{
    (used == BLAS_ONEDNN ? by_onednn : by_cblas)(ta, tb, M, N, K, a, b, accumulate ? 1.0f : 0.0f, c);
}
