/* embedding.c - looks up a table's rows by token, and sums gradients into these rows. */
#include "kernels/cpu/cpu.h"

#include <omp.h>
#include <string.h>

void cpu_embedding_forward(void *x_, const void *table_, const int32_t *token, size_t N, size_t C)
{
    float *x = x_;
    const float *table = table_;
#pragma omp parallel for num_threads(cpu_threads)
    for (size_t i = 0; i < N; i++)
        memcpy(x + i * C, table + (size_t)token[i] * C, C * sizeof *x);
}

/* Adds the rows of equal tokens. Each thread adds all rows, in order, for a part of the columns, so that no two threads
 * write the same number. It ignores `order`: rows of dx in sequence, which the processor fetches ahead, are
 * worth more than rows of the table several times in a row (768 columns, 512 to 87,552 rows). */
CPU_CLONES void cpu_embedding_backward(float *dtable, const void *dx_, const int32_t *token, const int32_t *order,
                                       size_t N, size_t C, size_t V, int accumulate)
{
    const float *dx = dx_;
    (void)order;
    if (!accumulate)
        cpu_zero(dtable, V * C);
#pragma omp parallel num_threads(cpu_threads)
    {
        size_t team = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
        size_t start = C * me / team, end = C * (me + 1) / team;
        for (size_t i = 0; i < N; i++) {
            float *to = dtable + (size_t)token[i] * C;
            const float *from = dx + i * C;
#pragma omp simd
            for (size_t c = start; c < end; c++)
                to[c] += from[c];
        }
    }
}
