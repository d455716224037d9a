/* matmul.cu - matrix products by cuBLAS.
 *
 * cuBLAS is column-major and reads a row-major [r, c] as a [c, r], so every product is written transposed. Results are
 * bitwise the same from run to run on the same GPU, because a single stream with its own workspace is used. Source:
 * NVIDIA, cuBLAS, section on reproducibility. */
#include "kernels/cuda/matmul.cuh"
#include "kernels/cuda/operations.cuh"

extern "C" {
#include "kernels/cuda/gpu_memory.h"
}

#include <cublas_v2.h>

#include <limits.h>

#define CUBLAS_CHECK(call)                                                                                             \
    do {                                                                                                               \
        cublasStatus_t code_ = (call);                                                                                 \
        if (code_ != CUBLAS_STATUS_SUCCESS)                                                                            \
            FATAL("%s: %s", #call, cublasGetStatusString(code_));                                                      \
    } while (0)

static cublasHandle_t handle;

void cuda_matmul_create()
{
    /* the size that cuBLAS's manual recommends for sm_90 */
    const size_t workspace_bytes = static_cast<size_t>(32) << 20;
    CUBLAS_CHECK(cublasCreate(&handle));
    CUBLAS_CHECK(cublasSetStream(handle, cuda_stream));
    /* Keeps sums in fp32: by default parts of a bf16 result's sum may be added in bf16. */
    CUBLAS_CHECK(cublasSetMathMode(
        handle, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
    CUBLAS_CHECK(cublasSetWorkspace(handle, cuda_allocate(workspace_bytes), workspace_bytes)); /* never freed */
}

/* Converts a size to cuBLAS's int; fatal if it does not fit. */
static int size_of(size_t n)
{
    if (n > INT_MAX)
        FATAL("a matrix has %zu rows or columns; cuBLAS takes at most %d", n, INT_MAX);
    return static_cast<int>(n);
}

template <typename Number> static cudaDataType_t type_of();
template <> cudaDataType_t type_of<float>()
{
    return CUDA_R_32F;
}
template <> cudaDataType_t type_of<bf16>()
{
    return CUDA_R_16BF;
}

/* Computes row-major c[rows, columns] = op(a) op(b) + beta c, summing over `inner`; a is [rows, inner] or, transposed,
 * [inner, rows], and b is [inner, columns] or transposed. Sums are fp32. */
template <typename In, typename Out>
static void multiply(Out *c, const In *a, int transpose_a, const In *b, int transpose_b, size_t rows, size_t columns,
                     size_t inner, float beta)
{
    const float one = 1.0f;
    cublasComputeType_t compute = cuda_precision == PRECISION_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    CUBLAS_CHECK(cublasGemmEx(
        handle, transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, size_of(columns),
        size_of(rows), size_of(inner), &one, b, type_of<In>(), size_of(transpose_b ? inner : columns), a, type_of<In>(),
        size_of(transpose_a ? rows : inner), &beta, c, type_of<Out>(), size_of(columns), compute, CUBLAS_GEMM_DEFAULT));
}

template <typename Number> void cuda_linear_forward(void *y, const void *x, const void *w, size_t N, size_t I, size_t O)
{
    multiply(static_cast<Number *>(y), static_cast<const Number *>(x), 0, static_cast<const Number *>(w), 1, N, O, I,
             0.0f);
}

template <typename Number>
void cuda_linear_backward_input(void *dx, const void *dy, const void *w, size_t N, size_t I, size_t O, int accumulate)
{
    multiply(static_cast<Number *>(dx), static_cast<const Number *>(dy), 0, static_cast<const Number *>(w), 0, N, I, O,
             accumulate ? 1.0f : 0.0f);
}

template <typename Number>
void cuda_linear_backward_weight(float *dw, const void *dy, const void *x, size_t N, size_t I, size_t O, int accumulate)
{
    multiply(dw, static_cast<const Number *>(dy), 1, static_cast<const Number *>(x), 0, O, I, N,
             accumulate ? 1.0f : 0.0f);
}

void cuda_multiply(float *c, const float *a, int transpose_a, const float *b, int transpose_b, size_t rows,
                   size_t columns, size_t inner)
{
    multiply(c, a, transpose_a, b, transpose_b, rows, columns, inner, 0.0f);
}

#define INSTANTIATE(Number)                                                                                            \
    template void cuda_linear_forward<Number>(void *, const void *, const void *, size_t, size_t, size_t);             \
    template void cuda_linear_backward_input<Number>(void *, const void *, const void *, size_t, size_t, size_t, int); \
    template void cuda_linear_backward_weight<Number>(float *, const void *, const void *, size_t, size_t, size_t, int);
INSTANTIATE(float)
INSTANTIATE(bf16)
