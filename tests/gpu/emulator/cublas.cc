/* cublas.cc - matrix products by cuBLAS and cublasLt, queued on a stream and computed by plain loops with sums in
 * double.
 *
 * For wrong calls of cublasLt the real library returns only a status, or computes something else. Here a call that no
 * correct program makes ends the program with a message. */
#include "cublasLt.h"
#include "cuda_bf16.h"
#include "kernels/cuda/machine.cuh"
#include "traced.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unistd.h>
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
    Matrix a, b, c;
    void *d;
    bool tf32;
    size_t parts = 1;    /* sums are computed in as many parts, which are rounded to fp32, */
    bool narrow = false; /* or to the type of d */
    bool slow = false;   /* the product takes 2 ms longer */
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

/* Rounds the part of a sum, if there are several. */
double rounded(const Gemm &gemm, double part)
{
    auto x = static_cast<float>(part);
    if (gemm.parts == 1)
        return part;
    return gemm.narrow && gemm.c.type == CUDA_R_16BF ? __bfloat162float(__float2bfloat16_rn(x)) : x;
}

void multiply(const Gemm &gemm)
{
    std::vector<float> a = read(gemm.a, gemm.m, gemm.k, gemm.tf32), b = read(gemm.b, gemm.k, gemm.n, gemm.tf32);
    std::vector<double> sum(gemm.m), total(gemm.m);
    size_t length = gemm.k / gemm.parts + 1;
    for (size_t j = 0; j < gemm.n; j++) {
        total.assign(gemm.m, 0);
        for (size_t first = 0; first < gemm.k; first += length) {
            sum.assign(gemm.m, 0);
            for (size_t l = first; l < std::min(first + length, gemm.k); l++)
                add_column(sum.data(), &a[l * gemm.m], b[l + j * gemm.k], gemm.m);
            for (size_t i = 0; i < gemm.m; i++)
                total[i] += rounded(gemm, sum[i]);
        }
        for (size_t i = 0; i < gemm.m; i++) {
            size_t at = i + j * gemm.c.leading;
            double before = gemm.beta != 0 ? double{gemm.beta} * number_of(gemm.c.numbers, gemm.c.type, at) : 0;
            auto x = static_cast<float>(gemm.alpha * total[i] + before);
            if (gemm.c.type == CUDA_R_32F)
                static_cast<float *>(gemm.d)[at] = x;
            else
                static_cast<__nv_bfloat16 *>(gemm.d)[at] = __float2bfloat16_rn(x);
        }
    }
    if (gemm.slow)
        usleep(2000);
}

/* Queues the product, whose matrices must be memory of the GPU. */
cublasStatus_t queue_product(Lock &lock, const char *call, cudaStream_t stream, const Gemm &gemm)
{
    for (const void *numbers : {gemm.a.numbers, gemm.b.numbers, gemm.c.numbers, static_cast<const void *>(gemm.d)})
        if (emulated::kind_of(numbers) == emulated::PAGEABLE)
            emulated_wrong(__FILE__, __LINE__, "%s: %p is not memory of the GPU", call, numbers);
    emulated::Traced launch("cuLaunchKernelEx", emulated::Traced::KERNEL, "sm90_xmma_gemm_f32f32_tn_n", true);
    cudaError_t error = emulated::queue(lock, stream, [gemm] {
        multiply(gemm);
        return true;
    });
    return error ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
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
    Gemm gemm = {static_cast<size_t>(m),
                 static_cast<size_t>(n),
                 static_cast<size_t>(k),
                 *static_cast<const float *>(alpha),
                 *static_cast<const float *>(beta),
                 {A, Atype, static_cast<size_t>(lda), transa != CUBLAS_OP_N},
                 {B, Btype, static_cast<size_t>(ldb), transb != CUBLAS_OP_N},
                 {C, Ctype, static_cast<size_t>(ldc), false},
                 C,
                 Atype == CUDA_R_32F && computeType != CUBLAS_COMPUTE_32F_PEDANTIC &&
                     (computeType == CUBLAS_COMPUTE_32F_FAST_TF32 || handle->math == CUBLAS_TF32_TENSOR_OP_MATH)};
    return queue_product(lock, "cublasGemmEx", handle->stream, gemm);
}

/* ---- cublasLt ---- */

struct cublasLtContext {
    char unused;
};

namespace
{
#define WRONG(...) emulated_wrong(__FILE__, __LINE__, "cublasLt: " __VA_ARGS__)

/* The contents of opaque structures. Each begins with the number of its kind, and none has gaps. */
struct Operation {
    uint64_t kind = 0x4f504552;
    int32_t compute, attribute[CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET + 2] = {}; /* one more: no gap at the end */
};
struct Layout {
    uint64_t kind = 0x4c41594f, type, rows, columns, leading;
};
struct Preference {
    uint64_t kind = 0x50524546, workspace = 0;
    uint32_t attribute[9] = {0, 0, 0, CUBLASLT_REDUCTION_SCHEME_MASK, 0, 256, 256, 256, 256};
};
struct Algorithm {
    uint64_t kind = 0x414c474f, number, narrow, alignment, workspace, product;
};

constexpr uint64_t IN_PLACE = 4; /* the number of the algorithm that adds only to D */

/* The product that descriptors describe, without the numbers of its matrices; `product` differs between products. */
struct Call {
    Gemm gemm;
    cublasComputeType_t compute;
    uint64_t product;
};

template <typename Content, typename Opaque> Content *content_of(Opaque *opaque, const char *name)
{
    static_assert(sizeof(Content) <= sizeof(Opaque), "the content fits");
    auto *content = reinterpret_cast<Content *>(opaque);
    if (!content || content->kind != Content().kind)
        WRONG("%s is missing or not initialised", name);
    return content;
}

Call describe(cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t of_a, cublasLtMatrixLayout_t of_b,
              cublasLtMatrixLayout_t of_c, cublasLtMatrixLayout_t of_d)
{
    const auto *o = content_of<Operation>(operation, "the operation");
    const auto *a = content_of<Layout>(of_a, "the layout of A"), *b = content_of<Layout>(of_b, "the layout of B"),
               *c = content_of<Layout>(of_c, "the layout of C"), *d = content_of<Layout>(of_d, "the layout of D");
    bool ta = o->attribute[CUBLASLT_MATMUL_DESC_TRANSA], tb = o->attribute[CUBLASLT_MATMUL_DESC_TRANSB];
    size_t m = ta ? a->columns : a->rows, n = tb ? b->rows : b->columns, k = ta ? a->rows : a->columns;
    if (memcmp(c, d, sizeof *c) != 0)
        WRONG("C and D have different layouts");
    if (m != c->rows || n != c->columns || k != (tb ? b->columns : b->rows))
        WRONG("the shapes of A, B and C do not fit together");
    for (const Layout *layout : {a, b, c})
        if (layout->leading < layout->rows)
            WRONG("a leading dimension is %d, less than %d rows", static_cast<int>(layout->leading),
                  static_cast<int>(layout->rows));
    auto matrix = [](const Layout *x, bool transposed) {
        return Matrix{nullptr, static_cast<cudaDataType>(x->type), x->leading, transposed};
    };
    auto bytes = [](const auto *x) { return std::string(reinterpret_cast<const char *>(x), sizeof *x); };
    auto compute = static_cast<cublasComputeType_t>(o->compute);
    Gemm gemm = {m, n, k, 1, 0, matrix(a, ta), matrix(b, tb), matrix(c, false), nullptr, false};
    gemm.tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    return {gemm, compute, std::hash<std::string>()(bytes(o) + bytes(a) + bytes(b) + bytes(c))};
}

template <typename Value> cublasStatus_t set(Value *to, const void *value, size_t bytes)
{
    if (bytes != sizeof *to)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

template <typename Content, typename Opaque> cublasStatus_t initialise(Opaque *opaque, const Content &content)
{
    memcpy(opaque, &content, sizeof content);
    return CUBLAS_STATUS_SUCCESS;
}
} // namespace

size_t cublasLtGetVersion()
{
    return static_cast<size_t>(emulated::setting("EMULATED_CUBLASLT_VERSION", 130100));
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    *handle = new cublasLtContext;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t operation, cublasComputeType_t compute, cudaDataType scale)
{
    Operation content;
    content.compute = compute;
    return scale == CUDA_R_32F ? initialise(operation, content) : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t bytes)
{
    return set(&content_of<Operation>(operation, "the operation")->attribute[attribute], value, bytes);
}

cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType type, uint64_t rows,
                                        uint64_t columns, int64_t leading)
{
    return initialise(layout, Layout{Layout().kind, type, rows, columns, static_cast<uint64_t>(leading)});
}

cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference)
{
    return initialise(preference, Preference());
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
                                                    size_t bytes)
{
    auto *p = content_of<Preference>(preference, "the preference");
    bool is_workspace = attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
    return is_workspace ? set(&p->workspace, value, bytes) : set(&p->attribute[attribute], value, bytes);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[], int *returned)
{
    const auto [gemm, compute, product] = describe(operation, a, b, c, d);
    const auto *p = content_of<Preference>(preference, "the preference");
    const uint32_t alignment = *std::max_element(&p->attribute[CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES],
                                                 &p->attribute[CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES] + 1);
    const uint32_t other_schemes =
        p->attribute[CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK] & ~CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    *returned = 0;
    if (!handle || requested < 1 || !supported(gemm.a.type, gemm.b.type, gemm.c.type, compute))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const bool on_some = content_of<Operation>(operation, "")->attribute[CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET];
    const auto most = static_cast<uint64_t>(emulated::setting("EMULATED_CUBLASLT_PROPOSALS", on_some ? 3 : 5));
    for (uint64_t i = 0; i < most && i < static_cast<uint64_t>(requested); i++) {
        uint64_t workspace = i ? (i + 1) * gemm.m * gemm.n * sizeof(float) : 0;
        if (workspace > p->workspace)
            break;
        Algorithm algorithm = {Algorithm().kind, i, other_schemes, alignment, workspace, product};
        results[i] = {{}, workspace, i == 1 ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS, 1, {}};
        if (i != 1)
            initialise(&results[i].algo, algorithm);
        ++*returned;
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *algorithm,
                                                 cublasLtMatmulAlgoCapAttributes_t attribute, void *value, size_t bytes,
                                                 size_t *written)
{
    const int32_t can = content_of<const Algorithm>(algorithm, "the algorithm")->number != IN_PLACE;
    *written = sizeof can;
    return attribute == CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT ? set(static_cast<int32_t *>(value), &can, bytes)
                                                                      : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void *alpha, const void *A,
                              cublasLtMatrixLayout_t a, const void *B, cublasLtMatrixLayout_t b, const void *beta,
                              const void *C, cublasLtMatrixLayout_t c, void *D, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t *algorithm, void *workspace, size_t workspace_bytes,
                              cudaStream_t stream)
{
    Lock lock(machine);
    auto [gemm, compute, product] = describe(operation, a, b, c, d);
    const auto *by = content_of<const Algorithm>(algorithm, "the algorithm");
    if (!handle || !alpha || !beta || !supported(gemm.a.type, gemm.b.type, gemm.c.type, compute))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (by->product != product)
        WRONG("an algorithm is used for another product than it was proposed for");
    if (by->number == IN_PLACE && C != D && *static_cast<const float *>(beta) != 0)
        WRONG("an algorithm that works in place adds C to another array");
    if (by->workspace > workspace_bytes)
        WRONG("the algorithm needs more than %zu bytes of workspace", workspace_bytes);
    for (size_t at : {static_cast<size_t>(0), workspace_bytes})
        if (workspace_bytes && emulated::kind_of(static_cast<char *>(workspace) + at) != emulated::DEVICE)
            WRONG("the workspace is not %zu bytes of memory of the GPU", workspace_bytes);
    for (const void *numbers : {A, B, C, static_cast<const void *>(D)})
        if (reinterpret_cast<uintptr_t>(numbers) % by->alignment)
            WRONG("%p is not aligned as the algorithm needs", numbers);
    const auto apart = static_cast<float>(emulated::setting("EMULATED_CUBLASLT_APART", 0));
    gemm.alpha = *static_cast<const float *>(alpha) * (1 + 0x1p-20f * apart * static_cast<float>(by->number));
    gemm.beta = *static_cast<const float *>(beta);
    gemm.a.numbers = A;
    gemm.b.numbers = B;
    gemm.c.numbers = C;
    gemm.d = D;
    gemm.narrow = by->narrow;
    gemm.parts = by->number + (gemm.narrow ? 2 : 1);
    gemm.slow = emulated::setting("EMULATED_CUBLASLT_FASTEST", static_cast<long long>(by->number)) !=
                static_cast<long long>(by->number);
    return queue_product(lock, "cublasLtMatmul", stream, gemm);
}
