/* elementwise.c - operations that touch each number once: filling, copying, bfloat16, and SwiGLU. */
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

CPU_CLONES void cpu_unpack_bf16(float *to, const uint16_t *from, size_t n)
{
#pragma omp parallel for simd num_threads(cpu_threads)
    for (size_t i = 0; i < n; i++)
        to[i] = bf16_widen(from[i]);
}

CPU_CLONES void cpu_swiglu_forward(void *h_, const void *a_, const void *g_, size_t n)
{
    float *h = h_;
    const float *a = a_;
    const float *g = g_;
#pragma omp parallel for simd num_threads(cpu_threads)
    for (size_t i = 0; i < n; i++)
        h[i] = a[i] * cpu_sigmoid(a[i]) * g[i];
}

CPU_CLONES void cpu_swiglu_backward(void *da_, void *dg_, const void *dh_, const void *a_, const void *g_, size_t n)
{
    float *da = da_;
    float *dg = dg_;
    const float *dh = dh_;
    const float *a = a_;
    const float *g = g_;
#pragma omp parallel for simd num_threads(cpu_threads)
    for (size_t i = 0; i < n; i++) {
        float x = a[i], s = cpu_sigmoid(x), d = dh[i];
        float gate = g[i]; /* read before da and dg are written, since they may be a and g */
        da[i] = d * gate * s * (1.0f + x * (1.0f - s));
        dg[i] = d * x * s;
    }
}
