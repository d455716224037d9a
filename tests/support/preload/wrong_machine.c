/* wrong_machine.c - a library to preload: with WRONG_PRODUCT in the environment, the first element of each matrix
 * product is wrong; with COARSE_CLOCK, the clock advances in steps of 4 ms. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static int (*real)(clockid_t, struct timespec *);
    void *found = real ? NULL : dlsym(RTLD_NEXT, "clock_gettime");
    if (found)
        memcpy(&real, &found, sizeof real);
    int status = real(clock, t);
    if (getenv("COARSE_CLOCK"))
        t->tv_nsec -= t->tv_nsec % 4000000;
    return status;
}

void cblas_sgemm(int layout, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b,
                 int ldb, float beta, float *c, int ldc)
{
    static void (*real)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                        int);
    void *found = real ? NULL : dlsym(RTLD_NEXT, "cblas_sgemm");
    if (found)
        memcpy(&real, &found, sizeof real);
    real(layout, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (getenv("WRONG_PRODUCT"))
        c[0] *= 1.001f;
}
