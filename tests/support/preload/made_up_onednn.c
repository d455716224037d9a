/* made_up_onednn.c - a library to preload: a oneDNN whose products are right or, by the word in MADE_UP_ONEDNN: idle,
 * not computed; slow, 2 ms late; wrong; failing, with an error; tbb, right, by a library that was built without OpenMP.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *word)
{
    const char *wanted = getenv("MADE_UP_ONEDNN");
    return wanted && !strcmp(wanted, word);
}

int dnnl_sgemm(char ta, char tb, int64_t M, int64_t N, int64_t K, float alpha, const float *a, int64_t lda,
               const float *b, int64_t ldb, float beta, float *c, int64_t ldc)
{
    if (is("idle") || is("failing"))
        return is("idle") ? 0 : 3;
    if (is("slow"))
        usleep(2000);
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++) {
            float sum = 0;
            for (int64_t k = 0; k < K; k++)
                sum += a[ta == 'T' ? k * lda + m : m * lda + k] * b[tb == 'T' ? n * ldb + k : k * ldb + n];
            c[m * ldc + n] = alpha * sum * (is("wrong") ? 1.001f : 1.0f) + (beta == 0 ? 0 : beta * c[m * ldc + n]);
        }
    return 0;
}

struct version {
    int major, minor, patch;
    const char *hash;
    unsigned cpu_runtime, gpu_runtime;
};

const struct version *dnnl_version(void)
{
    static struct version version = {9, 8, 7, "made up", 2, 0};
    version.cpu_runtime = is("tbb") ? 4 : 2;
    return &version;
}

unsigned dnnl_get_effective_cpu_isa(void)
{
    return 0x7;
}
