/* linear.c - the matrix products of a linear layer. */
#include "kernels/cpu/cpu.h"

void cpu_linear_forward(void *y, const void *x, const void *w, size_t N, size_t I, size_t O)
{
    cpu_product(0, 1, N, O, I, x, w, 0, y);
}

void cpu_linear_residual_forward(void *y, const void *residual, const void *x, const void *w, size_t N, size_t I,
                                 size_t O)
{
    cpu_copy(y, residual, N * O);
    cpu_product(0, 1, N, O, I, x, w, 1, y);
}

void cpu_linear_backward_input(void *dx, const void *dy, const void *w, size_t N, size_t I, size_t O, int accumulate)
{
    cpu_product(0, 0, N, I, O, dy, w, accumulate, dx);
}

void cpu_linear_backward_weight(float *dw, const void *dy, const void *x, size_t N, size_t I, size_t O, int accumulate)
{
    cpu_product(1, 0, O, I, N, dy, x, accumulate, dw);
}
