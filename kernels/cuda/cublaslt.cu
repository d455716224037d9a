/* cublaslt.cu - matrix products by cublasLt, and the algorithm of each product.
 *
 * cublasLt proposes several algorithms for a product, in the order of the times that it estimates. The first time a
 * product is computed, its algorithm is chosen and kept in a table, so that equal products give equal bits. The first
 * proposal is the same in every process with the same GPU and library; the fastest may change from run to run.
 * Source: NVIDIA, cuBLAS, "Using the cuBLASLt API". */
#include "kernels/cuda/cublaslt.cuh"

extern "C" {
#include "kernels/cuda/stamps.h"
}

#include <cublasLt.h>
#include <string.h>

enum { MOST_PROPOSALS = 8, ROUNDS = 5, CALLS = 4 };

/* Another proposal than the first is used below this share of the first one's time: nearer to 1 the choice would change
 * from run to run. */
constexpr double FASTER = 0.98;

static cublasLtHandle_t handle;
static void *workspace;
static int target_sms;
static bool chooses_by_time;
static struct gpu_algorithms table;

/* A product as cublasLt knows it. Since cuBLAS is column-major, its A is b, its B is a, and its D is c; its C is the
 * addend. */
struct Call {
    cublasLtMatmulDescOpaque_t operation;
    cublasLtMatrixLayoutOpaque_t a, b, c;
    const void *from_a, *from_b, *addend;
    void *to;
};

static_assert(sizeof(cublasLtMatmulAlgo_t) <= sizeof table.item[0].algorithm, "an algorithm fits into its row");

void cublaslt_open(void *memory, size_t sms)
{
    if (!handle)
        CUBLAS_CHECK(cublasLtCreate(&handle));
    workspace = memory;
    target_sms = static_cast<int>(sms);
    table.n = 0;
}

void cublaslt_choose_by_time(bool by_time)
{
    chooses_by_time = by_time;
}

struct gpu_algorithms *cublaslt_algorithms()
{
    return &table;
}

template <typename Value> static void set(Call *call, cublasLtMatmulDescAttributes_t attribute, Value value)
{
    CUBLAS_CHECK(cublasLtMatmulDescSetAttribute(&call->operation, attribute, &value, sizeof value));
}

template <typename Value>
static void set(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute, Value value)
{
    CUBLAS_CHECK(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value));
}

/* Describes a column-major matrix of rows x columns numbers without gaps. */
static void describe_matrix(cublasLtMatrixLayoutOpaque_t *layout, int bytes, int rows, int columns)
{
    CUBLAS_CHECK(cublasLtMatrixLayoutInit(layout, cublas_type(bytes), static_cast<uint64_t>(rows),
                                          static_cast<uint64_t>(columns), rows));
}

static Call describe(const struct gpu_product &p, const void *a, const void *b, const void *addend, void *c)
{
    Call call = {{}, {}, {}, {}, b, a, addend, c};
    CUBLAS_CHECK(cublasLtMatmulDescInit(&call.operation, cublas_compute_type(p), CUDA_R_32F));
    set(&call, CUBLASLT_MATMUL_DESC_TRANSA, p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(&call, CUBLASLT_MATMUL_DESC_TRANSB, p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(&call, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, target_sms);
    describe_matrix(&call.a, p.in_bytes, p.transpose_b ? p.inner : p.columns, p.transpose_b ? p.columns : p.inner);
    describe_matrix(&call.b, p.in_bytes, p.transpose_a ? p.rows : p.inner, p.transpose_a ? p.inner : p.rows);
    describe_matrix(&call.c, p.out_bytes, p.columns, p.rows);
    return call;
}

static void run(Call *call, const cublasLtMatmulAlgo_t *algorithm)
{
    const float one = 1.0f, beta = call->addend ? 1.0f : 0.0f;
    CUBLAS_CHECK(cublasLtMatmul(handle, &call->operation, &one, call->from_a, &call->a, call->from_b, &call->b, &beta,
                                call->addend ? call->addend : call->to, &call->c, call->to, &call->c, algorithm,
                                workspace, CUBLAS_WORKSPACE, cuda_stream));
}

/* Whether the algorithm can add another array than the one it writes. */
static bool adds_another_array(const cublasLtMatmulAlgo_t *algorithm)
{
    int32_t can = 0;
    size_t written = 0;
    CUBLAS_CHECK(cublasLtMatmulAlgoCapGetAttribute(algorithm, CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT, &can,
                                                   sizeof can, &written));
    return can != 0;
}

/* Writes cublasLt's proposals that add parts of a sum in fp32 and can add any array. Returns their number, at least 1.
 */
static int propose(Call *call, const struct gpu_product &p, cublasLtMatmulHeuristicResult_t proposal[MOST_PROPOSALS])
{
    cublasLtMatmulPreferenceOpaque_t preference;
    int proposals = 0, n = 0;
    CUBLAS_CHECK(cublasLtMatmulPreferenceInit(&preference));
    set(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(CUBLAS_WORKSPACE));
    set(&preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    for (auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
        set(&preference, attribute, static_cast<uint32_t>(p.alignment));
    cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle, &call->operation, &call->a, &call->b, &call->c,
                                                           &call->c, &preference, MOST_PROPOSALS, proposal, &n);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED) /* then there are none */
        CUBLAS_CHECK(status);
    for (int i = 0; i < n; i++)
        if (proposal[i].state == CUBLAS_STATUS_SUCCESS && adds_another_array(&proposal[i].algo))
            proposal[proposals++] = proposal[i];
    if (!proposals)
        FATAL("cublasLt has no algorithm for a product of %d x %d, summed over %d; --blas cublas avoids cublasLt",
              p.rows, p.columns, p.inner);
    return proposals;
}

/* Times the proposals in turn. Writes the least time of CALLS calls of each one, in ns. */
static void time_proposals(Call *call, const cublasLtMatmulHeuristicResult_t *proposal, int n, double *least_ns)
{
    int64_t stamp[ROUNDS][MOST_PROPOSALS + 1];
    cuda_stamps_begin();
    for (int round = 0; round < ROUNDS; round++)
        for (int i = -1; i < n; i++) { /* the GPU is still busy with another product when the first one is issued */
            for (int repeat = 0; repeat < CALLS; repeat++)
                run(call, &proposal[i < 0 ? 0 : i].algo);
            stamp[round][i + 1] = cuda_stamp();
        }
    cuda_stamps_end();
    for (int i = 0; i < n; i++)
        for (int round = 0; round < ROUNDS; round++) {
            auto ns = static_cast<double>(cuda_stamp_ns(stamp[round][i + 1]) - cuda_stamp_ns(stamp[round][i]));
            least_ns[i] = round && least_ns[i] <= ns ? least_ns[i] : ns;
        }
}

/* Adds the row of a product to the table. */
static struct gpu_algorithm *choose(Call *call, const struct gpu_product &product)
{
    cublasLtMatmulHeuristicResult_t proposal[MOST_PROPOSALS];
    double least_ns[MOST_PROPOSALS] = {1.0};
    if (table.n == GPU_ALGORITHMS)
        FATAL("more than %d different products; --blas cublas allows any number", GPU_ALGORITHMS);
    struct gpu_algorithm *row = &table.item[table.n++];
    *row = {product, propose(call, product, proposal), 0, 1.0, cublasLtGetVersion(), {}};
    if (chooses_by_time)
        time_proposals(call, proposal, row->proposals, least_ns);
    for (int i = 1; chooses_by_time && i < row->proposals; i++)
        if (least_ns[i] < FASTER * least_ns[0] && least_ns[i] < least_ns[row->used])
            row->used = i;
    row->time_ratio = least_ns[row->used] / least_ns[0];
    memcpy(row->algorithm, &proposal[row->used].algo, sizeof proposal[0].algo);
    return row;
}

void cublaslt_multiply(const struct gpu_product &product, const void *a, const void *b, const void *addend, void *c)
{
    Call call = describe(product, a, b, addend, c);
    struct gpu_algorithm *row = table.item, *end = table.item + table.n;
    cublasLtMatmulAlgo_t algorithm;
    while (row < end && memcmp(&row->product, &product, sizeof product) != 0)
        row++;
    if (row == end)
        row = choose(&call, product);
    if (row->version != cublasLtGetVersion())
        FATAL("rank 0 has version %zu of cublasLt, but this rank %zu; install one version, or use --blas cublas",
              static_cast<size_t>(row->version), cublasLtGetVersion());
    memcpy(&algorithm, row->algorithm, sizeof algorithm);
    run(&call, &algorithm);
}
