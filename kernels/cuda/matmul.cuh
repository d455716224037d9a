/* matmul.cuh - set-up for matrix products, and a product of fp32 arrays for other operations. */
#ifndef KERNELS_CUDA_MATMUL_CUH
#define KERNELS_CUDA_MATMUL_CUH

#include <stddef.h>

/* Creates cuBLAS's handle and workspace on the current GPU, for cuda_stream. */
void cuda_matmul_create();

/* Computes row-major c[rows, columns] = op(a) op(b) of fp32 arrays, summing over `inner`; a is [rows, inner] or,
 * transposed, [inner, rows], and b is [inner, columns] or transposed. */
void cuda_multiply(float *c, const float *a, int transpose_a, const float *b, int transpose_b, size_t rows,
                   size_t columns, size_t inner);

#endif
