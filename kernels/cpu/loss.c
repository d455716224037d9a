/* loss.c - cross-entropy and its gradient, row by row. */
#include "kernels/cpu/cpu.h"

#include <math.h>
#include <omp.h>
#include <string.h>

static float maximum(const float *x, size_t n)
{
    float max = -INFINITY;
#pragma omp simd reduction(max : max)
    for (size_t i = 0; i < n; i++)
        max = x[i] > max ? x[i] : max;
    return max;
}

/* Replaces row[V] by exp(row - max) and returns the sum, in float within a piece and in double over pieces. Also finds
 * the maximum of `next`, which is the next row, or this row if it is the last: computing this row hides the wait for
 * the next row's memory. */
static double exponentials(float *row, size_t V, float max, const float *next, float *next_max)
{
    const size_t piece = 1024;
    double total = 0.0;
    float next_high = -INFINITY;
    for (size_t start = 0; start < V; start += piece) {
        size_t end = V - start < piece ? V : start + piece;
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum) reduction(max : next_high)
        for (size_t c = start; c < end; c++) {
            next_high = next[c] > next_high ? next[c] : next_high;
            float e = cpu_exp(row[c] - max);
            row[c] = e;
            sum += e;
        }
        total += (double)sum;
    }
    *next_max = next_high;
    return total;
}

/* For rows [start, end), stores the gradient in logits, whose rows begin every `stride` numbers, and the loss of each
 * row in loss[N]. */
static void compute_rows(double *loss, float *logits, const int32_t *target, size_t start, size_t end, size_t V,
                         size_t stride, float grad_scale)
{
    float max = start < end ? maximum(logits + start * stride, V) : 0.0f;
    for (size_t i = start; i < end; i++) {
        float *row = logits + i * stride, at_target = row[target[i]], next_max;
        double sum = exponentials(row, V, max, i + 1 < end ? row + stride : row, &next_max);
        loss[i] = log(sum) + ((double)max - (double)at_target);
        float scale = (float)((double)grad_scale / sum);
#pragma omp simd
        for (size_t c = 0; c < V; c++)
            row[c] *= scale;
        row[target[i]] -= grad_scale;
        memset(row + V, 0, (stride - V) * sizeof *row);
        max = next_max;
    }
}

CPU_CLONES void cpu_cross_entropy(float *loss, void *logits_, const int32_t *target, size_t N, size_t V, size_t stride,
                                  float loss_scale, float grad_scale)
{
    float *logits = logits_;
    double *losses = (double *)(void *)cpu_scratch(2 * N); /* one loss per row, so that the order of the sum is fixed */
#pragma omp parallel num_threads(cpu_threads)
    {
        size_t team = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
        compute_rows(losses, logits, target, N * me / team, N * (me + 1) / team, V, stride, grad_scale);
    }
    double total = 0.0;
    for (size_t i = 0; i < N; i++)
        total += losses[i];
    *loss += (float)((double)loss_scale * total);
}
