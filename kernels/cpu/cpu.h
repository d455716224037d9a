/* cpu.h - shared by the files of the CPU device: threads, scratch memory, the exponential function, operations. */
#ifndef KERNELS_CPU_CPU_H
#define KERNELS_CPU_CPU_H

#include "kernels/device.h"

#include <math.h>

/* Marks an operation that is faster with wide vectors, which not every CPU has: the Makefile defines CPU_CLONES as
 * CPU_CLONES_none or CPU_CLONES_x86_64. On x86_64, PORTABLE=1 compiles the operation, and the functions of its file
 * that it calls, three times, and the program selects the widest version at its start. Wider versions use fused
 * multiply-adds, as -ffp-contract allows, and longer partial sums, so that the last bits of results may differ between
 * CPUs, as they do between builds for these CPUs. */
#define CPU_CLONES_none
#define CPU_CLONES_x86_64 __attribute__((flatten, target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))

/* The bytes of a vector register of this CPU, 64 or less: the Makefile defines CPU_VECTOR_BYTES likewise. */
#define CPU_VECTOR_BYTES_none   __BIGGEST_ALIGNMENT__ /* of the CPU that the program is compiled for */
#define CPU_VECTOR_BYTES_x86_64 (__builtin_cpu_supports("x86-64-v4") ? 64 : 32)

/* The number of threads of each operation. Every parallel region passes it to OpenMP, so that it applies to calls from
 * any thread. */
extern int cpu_threads;

/* Returns scratch memory for n floats, aligned to 64 bytes, with undefined contents, valid until the next call. The
 * memory is reused, and reallocated only for a larger n than ever before, so that only the first step allocates. */
float *cpu_scratch(size_t n);

/* Looks up a function of the loaded libraries by name and stores its address in the function pointer at `function`, of
 * `size` bytes. Returns 1 if it exists; otherwise 0, and the pointer is null. */
int cpu_blas_look_up(const char *name, void *function, size_t size);

/* Sets the number of threads of every BLAS that is loaded, and of this thread's OpenMP regions, which oneDNN follows.
 */
void cpu_blas_set_threads(int threads);

/* c[M, N] = op(a) * op(b), or c += op(a) * op(b) if accumulate is not 0, by the library in use (blas_use). op(a) is
 * a[M, K], or the transpose of a[K, M] if ta is not 0; op(b) is b[K, N], or the transpose of b[N, K] if tb is not 0. An
 * error of the library is fatal. */
void cpu_product(int ta, int tb, size_t M, size_t N, size_t K, const float *a, const float *b, int accumulate,
                 float *c);

/* If oneDNN is in use, fills *facts as blas_describe does and returns 1; otherwise returns 0. */
struct blas_facts;
int cpu_onednn_describe(struct blas_facts *facts);

/* Long arrays are cut into this many parts for any number of threads, and the sums of parts are added in order, so that
 * a sum does not depend on the number of threads. Part b is [cpu_block_start(n, b), cpu_block_start(n, b + 1)). */
enum { CPU_BLOCKS = 256 };

static inline size_t cpu_block_start(size_t n, size_t b)
{
    size_t longer = n % CPU_BLOCKS; /* the first `longer` parts have one more element */
    return n / CPU_BLOCKS * b + (b < longer ? b : longer);
}

union cpu_bits {
    float value;
    uint32_t bits;
};

/* Returns e^x within 1.25 ulp for every float, where an ulp is the spacing of floats at the exact result; 0 below -104,
 * inf above 88.73, NaN for NaN. It has no branches, calls or fused operations, so that compilers vectorise loops around
 * it for any instruction set. x = n ln 2 + r with |r| <= ln 2 / 2, e^x = e^r 2^(n / 2) 2^(n - n / 2), as 2^n may be no
 * normal float; the minimax polynomial (Remez) has a relative error of 3e-9. Results for x out of range are replaced at
 * the end: if x were clamped first, compilers would follow both sides of the comparison and compute everything twice.
 */
static inline float cpu_exp(float x)
{
    /* 1.5 * 2^23: adding it to a number rounds the number to an integer, in the low bits */
    const float round = 12582912.0f;
    const uint32_t round_bits = 0x4B400000u, bias = 127u;
    union cpu_bits shifted = {x * 1.44269504f + round};
    float n = shifted.value - round;
    float r = x - n * 0.693359375f; /* the product is exact: the constant has 9 bits */
    r = r + n * 2.12194440e-4f;
    float p = 1.4061374e-3f;
    p = p * r + 8.3790461e-3f;
    p = p * r + 4.1664774e-2f;
    p = p * r + 1.6666365e-1f;
    p = p * r + 0.5f;
    p = p * (r * r) + r + 1.0f;
    uint32_t power = shifted.bits - round_bits + 256u, half = power >> 1; /* 256: it is positive for x in range */
    union cpu_bits first = {.bits = (half - 128u + bias) << 23}, second = {.bits = (power - half - 128u + bias) << 23};
    float y = p * first.value * second.value;
    y = x > 88.73f ? INFINITY : y;
    return x < -104.0f ? 0.0f : y;
}

static inline float cpu_sigmoid(float x)
{
    return 1.0f / (1.0f + cpu_exp(-x));
}

/* The operations, as device.h describes them. */
void *cpu_allocate(size_t bytes);
void cpu_release(void *memory);
void cpu_upload(void *to, const void *from_host, size_t bytes);
void cpu_download(void *to_host, const void *from, size_t bytes);
void cpu_synchronize(void);
int64_t cpu_stamp(void);
int64_t cpu_stamp_ns(int64_t ticket);
void cpu_staging_create(size_t marks);
void cpu_stage_copy(void *to, const void *from, size_t bytes, size_t mark);
int cpu_stage_reached(size_t mark);
void cpu_phase(const char *name);
void cpu_range_begin(const char *name, int number);
void cpu_range_end(void);
void cpu_annotation_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));

void cpu_zero(float *x, size_t n);
void cpu_copy(float *to, const float *from, size_t n);
void cpu_pack_bf16(uint16_t *to, const float *from, size_t n);
void cpu_unpack_bf16(float *to, const uint16_t *from, size_t n, size_t rows, size_t stride);

void cpu_embedding_forward(void *x, const void *table, const int32_t *token, size_t N, size_t C);
void cpu_embedding_backward(float *dtable, const void *dx, const int32_t *token, const int32_t *order, size_t N,
                            size_t C, size_t V, int accumulate);

void cpu_linear_forward(void *y, const void *x, const void *w, size_t N, size_t I, size_t O);
void cpu_linear_residual_forward(void *y, const void *residual, const void *x, const void *w, size_t N, size_t I,
                                 size_t O);
void cpu_linear_backward_input(void *dx, const void *dy, const void *w, size_t N, size_t I, size_t O, int accumulate);
void cpu_linear_backward_weight(float *dw, const void *dy, const void *x, size_t N, size_t I, size_t O, int accumulate);

void cpu_rmsnorm_forward(void *y, float *rstd, const void *x, const void *w, size_t N, size_t C);
void cpu_rmsnorm_backward(void *dx, float *dw, const void *dy, const void *x, const void *w, const float *rstd,
                          size_t N, size_t C, int accumulate, int accumulate_weight);

void cpu_rope_forward(void *q, void *k, const float *rope, size_t B, size_t T, size_t H, size_t D, size_t stride);
void cpu_attention_forward(void *o, float *lse, const void *q, const void *k, const void *v, size_t B, size_t T,
                           size_t H, size_t D, size_t stride);
void cpu_attention_backward(void *dq, void *dk, void *dv, const void *d_o, const void *o, const float *lse,
                            const void *q, const void *k, const void *v, const float *rope, size_t B, size_t T,
                            size_t H, size_t D, size_t stride);

void cpu_swiglu_forward(void *h, const void *a, const void *g, size_t N, size_t F, size_t stride);
void cpu_swiglu_backward(void *da, void *dg, const void *dh, const void *a, const void *g, size_t N, size_t F,
                         size_t stride);

void cpu_cross_entropy(float *loss, void *logits, const int32_t *target, size_t N, size_t V, size_t stride,
                       float loss_scale, float grad_scale);

void cpu_grad_norm(float *scalars, const float *g, size_t n, float max_norm);
void cpu_adamw(float *w, void *compute_w, float *m, float *v, const float *g, size_t n, const float *scalars,
               const struct adamw *adamw);

void cpu_axpby(float *y, const float *x, size_t n, float a, float b);
void cpu_low_rank_left(float *p, float *e, const float *g, const float *q, size_t R, size_t I, size_t O);
void cpu_low_rank_right(float *q, float *p, const float *e, size_t R, size_t I, size_t O);
void cpu_low_rank_restore(float *g, float *e, const float *p, const float *q, size_t R, size_t I, size_t O,
                          float share);

#endif
