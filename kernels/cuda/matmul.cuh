/* matmul.cuh - the set-up of matrix products. */
#ifndef MATMUL_CUH
#define MATMUL_CUH

/* Makes what cuBLAS needs on the current GPU, on cuda_stream. */
void cuda_matmul_create();

#endif
