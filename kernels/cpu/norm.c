/* norm.c - root-mean-square normalisation of rows, with a weight per column. */
#include "kernels/cpu/cpu.h"

#include <math.h>
#include <omp.h>
#include <string.h>

CPU_CLONES void cpu_rmsnorm_forward(void *y_, float *rstd, const void *x_, const void *w_, size_t N, size_t C)
{
    float *y = y_;
    const float *x = x_;
    const float *w = w_;
#pragma omp parallel for num_threads(cpu_threads)
    for (size_t i = 0; i < N; i++) {
        const float *row = x + i * C;
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (size_t c = 0; c < C; c++)
            sum += row[c] * row[c];
        float r = 1.0f / sqrtf(sum / (float)C + RMSNORM_EPSILON);
        rstd[i] = r;
#pragma omp simd
        for (size_t c = 0; c < C; c++)
            y[i * C + c] = row[c] * r * w[c];
    }
}

/* Backward of one row of C columns: adds to dw; adds to dx if keep is 1, and overwrites dx if keep is 0. The second
 * loop reads the row from the cache. */
static void backward_row(float *dx, float *dw, const float *dy, const float *x, const float *w, float rstd, size_t C,
                         int keep)
{
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (size_t c = 0; c < C; c++)
        sum += dy[c] * w[c] * x[c];
    float mean = sum * rstd / (float)C;
#pragma omp simd
    for (size_t c = 0; c < C; c++) {
        float n = x[c] * rstd;
        dx[c] = (keep ? dx[c] : 0.0f) + rstd * (dy[c] * w[c] - n * mean);
        dw[c] += dy[c] * n;
    }
}

/* Computes dx and dw. Each thread sums dw over its rows, in order, in separate memory; then the sums of threads are
 * added in order. */
CPU_CLONES void cpu_rmsnorm_backward(void *dx_, float *dw, const void *dy_, const void *x_, const void *w_,
                                     const float *rstd, size_t N, size_t C, int accumulate, int accumulate_weight)
{
    float *dx = dx_;
    const float *dy = dy_;
    const float *x = x_;
    const float *w = w_;
    size_t stride = (C + 15) / 16 * 16; /* whole cache lines, so that threads do not share any */
    float *partial = cpu_scratch((size_t)cpu_threads * stride);
#pragma omp parallel num_threads(cpu_threads)
    {
        size_t team = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
        float *own = partial + me * stride;
        memset(own, 0, C * sizeof *own);
        for (size_t i = N * me / team; i < N * (me + 1) / team; i++)
            backward_row(dx + i * C, own, dy + i * C, x + i * C, w, rstd[i], C, accumulate);
#pragma omp barrier
        size_t start = C * me / team, end = C * (me + 1) / team;
        if (!accumulate_weight)
            memset(dw + start, 0, (end - start) * sizeof *dw);
        for (size_t t = 0; t < team; t++)
            for (size_t c = start; c < end; c++)
                dw[c] += partial[t * stride + c];
    }
}
