/* matmul.cuh - set-up for matrix products. */
#ifndef KERNELS_CUDA_MATMUL_CUH
#define KERNELS_CUDA_MATMUL_CUH

/* Creates cuBLAS's handle and workspace on the current GPU, for cuda_stream. */
void cuda_matmul_create();

#endif
