/* loss.c - cross-entropy and its gradient, row by row. */
#include "cpu.h"

#include <math.h>

/* Replaces row[V] by exp(row - max) and returns their sum: floats within a piece, pieces in double. */
static double exponentials(float *row, size_t V, float max)
{
    const size_t piece = 1024;
    double total = 0.0;
    for (size_t start = 0; start < V; start += piece) {
        size_t end = V - start < piece ? V : start + piece;
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (size_t c = start; c < end; c++) {
            float e = cpu_exp(row[c] - max);
            row[c] = e;
            sum += e;
        }
        total += (double)sum;
    }
    return total;
}

/* Replaces row[V] by its gradient and returns its loss. The row comes from memory once; later passes are cached. */
static double cross_entropy_row(float *row, size_t target, size_t V, float grad_scale)
{
    float max = row[0];
#pragma omp simd reduction(max : max)
    for (size_t c = 0; c < V; c++)
        max = row[c] > max ? row[c] : max;
    float at_target = row[target];
    double sum = exponentials(row, V, max);
    float scale = (float)((double)grad_scale / sum);
#pragma omp simd
    for (size_t c = 0; c < V; c++)
        row[c] *= scale;
    row[target] -= grad_scale;
    return log(sum) + ((double)max - (double)at_target);
}

void cpu_cross_entropy(float *loss, float *logits, const int32_t *target, size_t N, size_t V, float loss_scale,
                       float grad_scale)
{
    double partial[CPU_BLOCKS];
#pragma omp parallel for num_threads(cpu_threads)
    for (size_t b = 0; b < CPU_BLOCKS; b++) {
        partial[b] = 0.0;
        for (size_t i = cpu_block_start(N, b); i < cpu_block_start(N, b + 1); i++)
            partial[b] += cross_entropy_row(logits + i * V, (size_t)target[i], V, grad_scale);
    }
    double total = 0.0;
    for (size_t b = 0; b < CPU_BLOCKS; b++)
        total += partial[b];
    *loss += (float)((double)loss_scale * total);
}
