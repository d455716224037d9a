/* cublas.cc - matrix products, queued on a stream and computed by plain loops with sums in double. */
#include "cublas_v2.h"
#include "cuda_bf16.h"
#include "kernels/cuda/machine.cuh"
#include "traced.h"

#include <vector>

using emulated::Lock;
using emulated::machine;

struct cublasContext {
    cudaStream_t stream;
    int math;
};

namespace
{
struct Matrix {
    const void *numbers;
    cudaDataType type;
    size_t leading;
    bool transposed;
};

struct Gemm {
    size_t m, n, k;
    float alpha, beta;
    Matrix a, b;
    void *c;
    cudaDataType c_type;
    size_t c_leading;
    bool tf32;
};

float number_of(const void *numbers, cudaDataType type, size_t i)
{
    return type == CUDA_R_32F ? static_cast<const float *>(numbers)[i]
                              : __bfloat162float(static_cast<const __nv_bfloat16 *>(numbers)[i]);
}

/* Returns op(matrix)[rows, columns], column by column, rounded to TF32 if tf32. */
std::vector<float> read(const Matrix &matrix, size_t rows, size_t columns, bool tf32)
{
    std::vector<float> all(rows * columns);
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++) {
            size_t at = matrix.transposed ? j + i * matrix.leading : i + j * matrix.leading;
            float x = number_of(matrix.numbers, matrix.type, at);
            all[i + j * rows] = tf32 ? __uint_as_float(round_tf32(x)) : x;
        }
    return all;
}

/* sum[i] += a[i] * b. */
__attribute__((no_sanitize_address)) void add_column(double *sum, const float *a, double b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += a[i] * b;
}

void multiply(const Gemm &gemm)
{
    std::vector<float> a = read(gemm.a, gemm.m, gemm.k, gemm.tf32), b = read(gemm.b, gemm.k, gemm.n, gemm.tf32);
    std::vector<double> sum(gemm.m);
    for (size_t j = 0; j < gemm.n; j++) {
        sum.assign(gemm.m, 0);
        for (size_t l = 0; l < gemm.k; l++)
            add_column(sum.data(), &a[l * gemm.m], b[l + j * gemm.k], gemm.m);
        for (size_t i = 0; i < gemm.m; i++) {
            size_t at = i + j * gemm.c_leading;
            double before = gemm.beta != 0 ? static_cast<double>(gemm.beta) * number_of(gemm.c, gemm.c_type, at) : 0;
            auto x = static_cast<float>(gemm.alpha * sum[i] + before);
            if (gemm.c_type == CUDA_R_32F)
                static_cast<float *>(gemm.c)[at] = x;
            else
                static_cast<__nv_bfloat16 *>(gemm.c)[at] = __float2bfloat16_rn(x);
        }
    }
}

/* Returns whether all matrices are fp32, or inputs are bfloat16 and the result fp32 or bfloat16; TF32 needs fp32. */
bool supported(cudaDataType a, cudaDataType b, cudaDataType c, cublasComputeType_t compute)
{
    if (compute != CUBLAS_COMPUTE_32F && compute != CUBLAS_COMPUTE_32F_PEDANTIC &&
        compute != CUBLAS_COMPUTE_32F_FAST_TF32)
        return false;
    if (a == CUDA_R_32F)
        return b == a && c == a;
    return a == CUDA_R_16BF && b == a && (c == a || c == CUDA_R_32F) && compute != CUBLAS_COMPUTE_32F_FAST_TF32;
}

bool aligned(const void *numbers, cudaDataType type)
{
    return reinterpret_cast<uintptr_t>(numbers) % (type == CUDA_R_32F ? 4 : 2) == 0;
}
} // namespace

static const struct {
    cublasStatus_t code;
    const char *text;
} known[] = {
    {CUBLAS_STATUS_SUCCESS, "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "the library was not initialized"},
    {CUBLAS_STATUS_INVALID_VALUE, "an unsupported value or parameter was passed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "the program failed to execute on the GPU"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "the functionality requested is not supported"},
};

const char *cublasGetStatusString(cublasStatus_t status)
{
    for (auto &row : known)
        if (row.code == status)
            return row.text;
    return "unknown status";
}

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    *handle = nullptr;
    if (emulated::no_machine())
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = new cublasContext{nullptr, CUBLAS_DEFAULT_MATH};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
    Lock lock(machine);
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    bool fits = !bytes || (emulated::kind_of(workspace) == emulated::DEVICE &&
                           emulated::kind_of(static_cast<char *>(workspace) + bytes) == emulated::DEVICE);
    return fits && reinterpret_cast<uintptr_t>(workspace) % 256 == 0 ? CUBLAS_STATUS_SUCCESS
                                                                     : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->math = mode & 15;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void *alpha, const void *A, cudaDataType Atype, int lda, const void *B,
                            cudaDataType Btype, int ldb, const void *beta, void *C, cudaDataType Ctype, int ldc,
                            cublasComputeType_t computeType, cublasGemmAlgo_t algo)
{
    Lock lock(machine);
    (void)algo;
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || k < 0 || !alpha || !beta || lda < max(1, transa == CUBLAS_OP_N ? m : k) ||
        ldb < max(1, transb == CUBLAS_OP_N ? k : n) || ldc < max(1, m) || !aligned(A, Atype) || !aligned(B, Btype) ||
        !aligned(C, Ctype))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!supported(Atype, Btype, Ctype, computeType))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    for (const void *numbers : {A, B, const_cast<const void *>(C)})
        if (emulated::kind_of(numbers) == emulated::PAGEABLE)
            emulated_wrong(__FILE__, __LINE__, "cublasGemmEx: %p is not memory of the GPU", numbers);
    Gemm gemm = {static_cast<size_t>(m),
                 static_cast<size_t>(n),
                 static_cast<size_t>(k),
                 *static_cast<const float *>(alpha),
                 *static_cast<const float *>(beta),
                 {A, Atype, static_cast<size_t>(lda), transa != CUBLAS_OP_N},
                 {B, Btype, static_cast<size_t>(ldb), transb != CUBLAS_OP_N},
                 C,
                 Ctype,
                 static_cast<size_t>(ldc),
                 Atype == CUDA_R_32F && computeType != CUBLAS_COMPUTE_32F_PEDANTIC &&
                     (computeType == CUBLAS_COMPUTE_32F_FAST_TF32 || handle->math == CUBLAS_TF32_TENSOR_OP_MATH)};
    emulated::Traced launch("cuLaunchKernelEx", emulated::Traced::KERNEL, "sm90_xmma_gemm_f32f32_tn_n", true);
    cudaError_t error = emulated::queue(lock, handle->stream, [gemm] {
        multiply(gemm);
        return true;
    });
    return error ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}
