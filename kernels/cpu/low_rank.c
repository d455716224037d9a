/* low_rank.c - the steps of a low-rank approximation: products of linear layers, and Gram-Schmidt. */
#include "kernels/cpu/cpu.h"

#include <math.h>

void cpu_low_rank_left(float *p, float *e, const float *g, const float *q, size_t R, size_t I, size_t O)
{
    cpu_axpby(e, g, O * I, 1, 1);
    cpu_linear_forward(p, q, e, R, I, O);
}

CPU_CLONES static double dot(const float *x, const float *y, size_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)y[i];
    return sum;
}

/* Makes the rows of p[R, O] orthonormal by modified Gram-Schmidt; a row of zeros stays zero. */
static void orthonormalise(float *p, size_t R, size_t O)
{
    for (size_t i = 0; i < R; i++) {
        float *x = p + i * O;
        double square = dot(x, x, O);
        if (!(square > 0))
            continue;
#pragma omp parallel for num_threads(cpu_threads)
        for (size_t j = i + 1; j < R; j++) {
            float *y = p + j * O, part = (float)(dot(x, y, O) / square);
            for (size_t k = 0; k < O; k++)
                y[k] -= part * x[k];
        }
        float scale = (float)(1 / sqrt(square));
        for (size_t k = 0; k < O; k++)
            x[k] *= scale;
    }
}

void cpu_low_rank_right(float *q, float *p, const float *e, size_t R, size_t I, size_t O)
{
    orthonormalise(p, R, O);
    orthonormalise(p, R, O);
    cpu_linear_backward_input(q, p, e, R, I, O, 0);
}

void cpu_low_rank_restore(float *g, float *e, const float *p, const float *q, size_t R, size_t I, size_t O, float share)
{
    cpu_linear_backward_weight(g, p, q, R, I, O, 0);
    cpu_axpby(e, g, O * I, -share, 1);
}
