/* matmul.cuh - set-up for matrix products, and a product of fp32 arrays for other operations. */
#ifndef KERNELS_CUDA_MATMUL_CUH
#define KERNELS_CUDA_MATMUL_CUH

extern "C" {
#include "kernels/accelerator.h"
}

/* Computes all further products on the current GPU in cuda_stream, by the library and on the multiprocessors that
 * `products` names. The first call allocates the library's workspace. */
void cuda_matmul_open(const struct gpu_products *products);

/* Member `algorithms` of struct accelerator. */
struct gpu_algorithms *cuda_algorithms(const struct blas_products *products);

/* Computes row-major c[rows, columns] = op(a) op(b) of fp32 arrays, summing over `inner`; a is [rows, inner] or,
 * transposed, [inner, rows], and b is [inner, columns] or transposed. */
void cuda_multiply(float *c, const float *a, int transpose_a, const float *b, int transpose_b, size_t rows,
                   size_t columns, size_t inner);

#endif
