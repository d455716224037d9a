/* matmul.cuh - the set-up of matrix products. */
#ifndef KERNELS_CUDA_MATMUL_CUH
#define KERNELS_CUDA_MATMUL_CUH

/* Makes what cuBLAS needs on the current GPU, on cuda_stream. */
void cuda_matmul_create();

#endif
