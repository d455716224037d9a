/* rope.c - rotary position embedding: turns pairs of each head by an angle that grows with the position. */
#include "kernels/cpu/cpu.h"

CPU_CLONES void cpu_rope(void *x_, const float *table, size_t B, size_t T, size_t H, size_t D, int inverse)
{
    float *x = x_;
    float sign = inverse ? -1.0f : 1.0f;
#pragma omp parallel for num_threads(cpu_threads)
    for (size_t row = 0; row < B * T; row++) {
        const float *angle = table + row % T * (D / 2 * 2);
        for (size_t h = 0; h < H; h++) {
            float *head = x + (row * H + h) * D;
#pragma omp simd
            for (size_t i = 0; i < D / 2; i++) {
                float cosine = angle[2 * i], sine = sign * angle[2 * i + 1];
                float even = head[2 * i], odd = head[2 * i + 1];
                head[2 * i] = even * cosine - odd * sine;
                head[2 * i + 1] = even * sine + odd * cosine;
            }
        }
    }
}
