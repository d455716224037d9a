/* linear.c - the three matrix products of a linear layer, by CBLAS. */
#include "kernels/cpu/cpu.h"

#include <cblas.h>
#undef I /* some versions of cblas.h define I as the imaginary unit; here I is the width of the input */

void cpu_linear_forward(void *y, const void *x, const void *w, size_t N, size_t I, size_t O)
{
    int n = cpu_blas_int(N), in = cpu_blas_int(I), out = cpu_blas_int(O);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, out, in, 1.0f, x, in, w, in, 0.0f, y, out);
}

void cpu_linear_backward_input(void *dx, const void *dy, const void *w, size_t N, size_t I, size_t O, int accumulate)
{
    int n = cpu_blas_int(N), in = cpu_blas_int(I), out = cpu_blas_int(O);
    float beta = accumulate ? 1.0f : 0.0f;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, in, out, 1.0f, dy, out, w, in, beta, dx, in);
}

void cpu_linear_backward_weight(float *dw, const void *dy, const void *x, size_t N, size_t I, size_t O, int accumulate)
{
    int n = cpu_blas_int(N), in = cpu_blas_int(I), out = cpu_blas_int(O);
    float beta = accumulate ? 1.0f : 0.0f;
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, out, in, n, 1.0f, dy, out, x, in, beta, dw, in);
}
