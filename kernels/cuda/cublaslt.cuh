/* cublaslt.cuh - matrix products by cublasLt, for matmul.cu. */
#ifndef KERNELS_CUDA_CUBLASLT_CUH
#define KERNELS_CUDA_CUBLASLT_CUH

#include "kernels/cuda/kernel.cuh"

extern "C" {
#include "kernels/accelerator.h"
}

#include <cublas_v2.h>

#define CUBLAS_CHECK(call)                                                                                             \
    do {                                                                                                               \
        cublasStatus_t code_ = (call);                                                                                 \
        if (code_ != CUBLAS_STATUS_SUCCESS)                                                                            \
            FATAL("%s: %s", #call, cublasGetStatusString(code_));                                                      \
    } while (0)

/* The workspace of products by either library: the size that cuBLAS's manual recommends for sm_90. */
constexpr size_t CUBLAS_WORKSPACE = static_cast<size_t>(32) << 20;

/* Returns cuBLAS's type of numbers of 4 or 2 bytes. */
inline cudaDataType cublas_type(int bytes)
{
    return bytes == sizeof(float) ? CUDA_R_32F : CUDA_R_16BF;
}

inline cublasComputeType_t cublas_compute_type(const struct gpu_product &product)
{
    return product.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

/* Prepares cublasLt for products on `sms` multiprocessors (0: all) and forgets all algorithms. workspace: of
 * CUBLAS_WORKSPACE bytes. */
void cublaslt_open(void *workspace, size_t sms);

/* Computes c = op(a) op(b) + addend in cuda_stream. addend: NULL (none), c or another array. */
void cublaslt_multiply(const struct gpu_product &product, const void *a, const void *b, const void *addend, void *c);

/* Whether the algorithm of each new product is the fastest of cublasLt's proposals, which takes time; else it is the
 * first. */
void cublaslt_choose_by_time(bool by_time);

/* Returns the algorithms of the products since cublaslt_open. */
struct gpu_algorithms *cublaslt_algorithms();

#endif
