/* matmul.cu - matrix products by cuBLAS or by cublasLt.
 *
 * cuBLAS is column-major and reads a row-major [r, c] as a [c, r], so every product is written transposed. cuBLAS's
 * results are bitwise the same from run to run on the same GPU, because a single stream with its own workspace is used.
 * Source: NVIDIA, cuBLAS, section on reproducibility. */
#include "kernels/cuda/cublaslt.cuh"
#include "kernels/cuda/matmul.cuh"
#include "kernels/cuda/operations.cuh"

extern "C" {
#include "kernels/cuda/gpu_memory.h"
}

#include <algorithm>
#include <initializer_list>
#include <limits.h>

static cublasHandle_t handle;
static bool by_cublaslt;

/* Creates cuBLAS's handle. workspace: of CUBLAS_WORKSPACE bytes. */
static void create_handle(void *workspace)
{
    CUBLAS_CHECK(cublasCreate(&handle));
    CUBLAS_CHECK(cublasSetStream(handle, cuda_stream));
    /* Keeps sums in fp32: by default parts of a bf16 result's sum may be added in bf16. */
    CUBLAS_CHECK(cublasSetMathMode(
        handle, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
    CUBLAS_CHECK(cublasSetWorkspace(handle, workspace, CUBLAS_WORKSPACE));
}

void cuda_matmul_open(const struct gpu_products *products)
{
    static void *workspace; /* never freed; products of one stream may share it */
    if (!workspace) {
        workspace = cuda_allocate(CUBLAS_WORKSPACE);
        create_handle(workspace);
    }
    by_cublaslt = products->library == BLAS_CUBLASLT;
    if (by_cublaslt)
        cublaslt_open(workspace, products->sms);
}

/* Converts a size to cuBLAS's int; fatal if it does not fit. */
static int size_of(size_t n)
{
    if (n > INT_MAX)
        FATAL("a matrix has %zu rows or columns; cuBLAS takes at most %d", n, INT_MAX);
    return static_cast<int>(n);
}

/* Returns the largest power of 2, of at most 16 bytes, that divides the addresses (NULL: any number does): no
 * algorithm of cuBLAS needs more. */
static int alignment_of(std::initializer_list<const void *> addresses)
{
    uintptr_t bits = 16;
    for (const void *address : addresses)
        bits |= reinterpret_cast<uintptr_t>(address);
    return static_cast<int>(bits & -bits);
}

/* Computes c = op(a) op(b) + addend, like cublaslt_multiply; cublasGemmEx adds only to c, so another array is copied
 * first. */
static void cublas_multiply(const struct gpu_product &p, const void *a, const void *b, const void *addend, void *c)
{
    const float one = 1.0f, beta = addend ? 1.0f : 0.0f;
    cudaDataType in = cublas_type(p.in_bytes), out = cublas_type(p.out_bytes);
    if (addend && addend != c)
        CUDA_CHECK(cudaMemcpyAsync(c, addend, static_cast<size_t>(p.rows) * p.columns * p.out_bytes,
                                   cudaMemcpyDeviceToDevice, cuda_stream));
    CUBLAS_CHECK(cublasGemmEx(handle, p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                              p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, p.columns, p.rows, p.inner, &one, b, in,
                              p.transpose_b ? p.inner : p.columns, a, in, p.transpose_a ? p.rows : p.inner, &beta, c,
                              out, p.columns, cublas_compute_type(p), CUBLAS_GEMM_DEFAULT));
}

/* Computes row-major c[rows, columns] = op(a) op(b) + addend, summing over `inner`; a is [rows, inner] or, transposed,
 * [inner, rows], and b is [inner, columns] or transposed. Sums are fp32. addend: NULL (none), c or another array. */
template <typename In, typename Out>
static void multiply(Out *c, const In *a, int transpose_a, const In *b, int transpose_b, size_t rows, size_t columns,
                     size_t inner, const Out *addend)
{
    const struct gpu_product product = {size_of(rows),
                                        size_of(columns),
                                        size_of(inner),
                                        transpose_a,
                                        transpose_b,
                                        static_cast<int>(sizeof(In)),
                                        sizeof(Out),
                                        cuda_precision == PRECISION_TF32,
                                        alignment_of({a, b, addend, c})};
    (by_cublaslt ? cublaslt_multiply : cublas_multiply)(product, a, b, addend, c);
}

template <typename Number>
void cuda_linear_residual_forward(void *y, const void *residual, const void *x, const void *w, size_t N, size_t I,
                                  size_t O)
{
    multiply(static_cast<Number *>(y), static_cast<const Number *>(x), 0, static_cast<const Number *>(w), 1, N, O, I,
             static_cast<const Number *>(residual));
}

template <typename Number> void cuda_linear_forward(void *y, const void *x, const void *w, size_t N, size_t I, size_t O)
{
    cuda_linear_residual_forward<Number>(y, NULL, x, w, N, I, O);
}

template <typename Number>
void cuda_linear_backward_input(void *dx, const void *dy, const void *w, size_t N, size_t I, size_t O, int accumulate)
{
    auto *sum = static_cast<Number *>(dx);
    multiply(sum, static_cast<const Number *>(dy), 0, static_cast<const Number *>(w), 0, N, I, O,
             accumulate ? sum : NULL);
}

template <typename Number>
void cuda_linear_backward_weight(float *dw, const void *dy, const void *x, size_t N, size_t I, size_t O, int accumulate)
{
    multiply(dw, static_cast<const Number *>(dy), 1, static_cast<const Number *>(x), 0, O, I, N,
             accumulate ? dw : NULL);
}

void cuda_multiply(float *c, const float *a, int transpose_a, const float *b, int transpose_b, size_t rows,
                   size_t columns, size_t inner)
{
    multiply<float, float>(c, a, transpose_a, b, transpose_b, rows, columns, inner, NULL);
}

/* Computes each product of the model once, with arrays of zeros. */
template <typename Number> static void compute_once(const struct blas_products *products)
{
    size_t I = 0, O = 0, weights = 0;
    for (const struct blas_weight *w = products->weight; w < products->weight + products->n; w++) {
        I = std::max(I, w->I);
        O = std::max(O, w->O);
        weights = std::max(weights, w->I * w->O);
    }
    const size_t N = products->N;
    void *x = cuda_allocate(N * I * sizeof(Number)), *y = cuda_allocate(N * O * sizeof(Number));
    auto *weight = static_cast<float *>(cuda_allocate(weights * sizeof(float)));
    for (const struct blas_weight *w = products->weight; w < products->weight + products->n; w++) {
        cuda_linear_forward<Number>(y, x, weight, N, w->I, w->O);
        if (products->forward_only)
            continue;
        cuda_linear_backward_input<Number>(x, y, weight, N, w->I, w->O, 0);
        cuda_linear_backward_weight<Number>(weight, y, x, N, w->I, w->O, 0);
    }
    cuda_release(x);
    cuda_release(y);
    cuda_release(weight);
}

struct gpu_algorithms *cuda_algorithms(const struct blas_products *products)
{
    if (!by_cublaslt)
        return NULL;
    cublaslt_choose_by_time(products != NULL);
    if (products)
        (cuda_precision == PRECISION_BF16 ? compute_once<bf16> : compute_once<float>)(products);
    cublaslt_choose_by_time(false);
    return cublaslt_algorithms();
}

#define INSTANTIATE(Number)                                                                                            \
    template void cuda_linear_forward<Number>(void *, const void *, const void *, size_t, size_t, size_t);             \
    template void cuda_linear_residual_forward<Number>(void *, const void *, const void *, const void *, size_t,       \
                                                       size_t, size_t);                                                \
    template void cuda_linear_backward_input<Number>(void *, const void *, const void *, size_t, size_t, size_t, int); \
    template void cuda_linear_backward_weight<Number>(float *, const void *, const void *, size_t, size_t, size_t, int);
INSTANTIATE(float)
INSTANTIATE(bf16)
