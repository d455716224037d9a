/* elementwise.c - operations that touch each number once: filling, copying, adding, bfloat16, and SwiGLU. */
#include "kernels/bf16.h"
#include "kernels/cpu/cpu.h"

#include <string.h>

void cpu_zero(float *x, size_t n)
{
#pragma omp parallel for num_threads(cpu_threads)
    for (size_t b = 0; b < CPU_BLOCKS; b++) {
        size_t start = cpu_block_start(n, b), end = cpu_block_start(n, b + 1);
        memset(x + start, 0, (end - start) * sizeof *x);
    }
}

void cpu_copy(float *to, const float *from, size_t n)
{
#pragma omp parallel for num_threads(cpu_threads)
    for (size_t b = 0; b < CPU_BLOCKS; b++) {
        size_t start = cpu_block_start(n, b), end = cpu_block_start(n, b + 1);
        memcpy(to + start, from + start, (end - start) * sizeof *to);
    }
}

CPU_CLONES void cpu_pack_bf16(uint16_t *to, const float *from, size_t n)
{
#pragma omp parallel for simd num_threads(cpu_threads)
    for (size_t i = 0; i < n; i++)
        to[i] = bf16_narrow(from[i]);
}

CPU_CLONES void cpu_unpack_bf16(float *to, const uint16_t *from, size_t n, size_t rows, size_t stride)
{
#pragma omp parallel for num_threads(cpu_threads)
    for (size_t b = 0; b < CPU_BLOCKS; b++) {
        size_t start = cpu_block_start(n, b), end = cpu_block_start(n, b + 1);
        for (size_t i = start; i < end; i++)
            to[i] = bf16_widen(from[i]);
        for (size_t r = 1; r < rows; r++)
            for (size_t i = start; i < end; i++)
                to[i] += bf16_widen(from[r * stride + i]);
    }
}

CPU_CLONES void cpu_axpby(float *y, const float *x, size_t n, float a, float b)
{
#pragma omp parallel for simd num_threads(cpu_threads)
    for (size_t i = 0; i < n; i++)
        y[i] = a * x[i] + b * y[i];
}

CPU_CLONES void cpu_swiglu_forward(void *h_, const void *a_, const void *g_, size_t N, size_t F, size_t stride)
{
    float *h = h_;
#pragma omp parallel for num_threads(cpu_threads)
    for (size_t i = 0; i < N; i++) {
        const float *a = (const float *)a_ + i * stride, *g = (const float *)g_ + i * stride;
#pragma omp simd
        for (size_t c = 0; c < F; c++)
            h[i * F + c] = a[c] * cpu_sigmoid(a[c]) * g[c];
    }
}

CPU_CLONES void cpu_swiglu_backward(void *da_, void *dg_, const void *dh_, const void *a_, const void *g_, size_t N,
                                    size_t F, size_t stride)
{
    const float *dh = dh_;
#pragma omp parallel for num_threads(cpu_threads)
    for (size_t i = 0; i < N; i++) {
        const float *a = (const float *)a_ + i * stride, *g = (const float *)g_ + i * stride;
        float *da = (float *)da_ + i * stride, *dg = (float *)dg_ + i * stride;
#pragma omp simd
        for (size_t c = 0; c < F; c++) {
            float x = a[c], s = cpu_sigmoid(x), d = dh[i * F + c];
            float gate = g[c]; /* read first, because da and dg may be a and g */
            da[c] = d * gate * s * (1.0f + x * (1.0f - s));
            dg[c] = d * x * s;
        }
    }
}
