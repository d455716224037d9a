/* check_mistakes.cu - tests that the emulated GPU finds mistakes: missing barriers, accesses to wrong memory, missing
 * order between streams, and ranks that call different collectives. */
#include "kernels/cuda/kernel.cuh"
#include "tests/gpu/emulator/hazards.h"

extern "C" {
#include "tests/support/suite.h"
}

#include <cublasLt.h>
#include <nccl.h>

cudaStream_t cuda_stream;

/* An array of n floats on the GPU, initially 0, 1, ..., n - 1. */
struct Numbers {
    float *gpu;
    size_t n;

    explicit Numbers(size_t count) : gpu(nullptr), n(count)
    {
        float *host = new float[n];
        for (size_t i = 0; i < n; i++)
            host[i] = static_cast<float>(i);
        CUDA_CHECK(cudaMalloc(&gpu, n * sizeof *gpu));
        CUDA_CHECK(cudaMemcpy(gpu, host, n * sizeof *gpu, cudaMemcpyHostToDevice));
        delete[] host;
    }
    Numbers(const Numbers &) = delete;
    Numbers &operator=(const Numbers &) = delete;
    ~Numbers() { CUDA_CHECK(cudaFree(gpu)); }
    float *read() const
    {
        static float host[4096];
        CUDA_CHECK(cudaMemcpy(host, gpu, n * sizeof *gpu, cudaMemcpyDeviceToHost));
        return host;
    }
};

/* ---- barriers ---- */

/* Reverses a block's numbers. */
__global__ void reverse_kernel(float *x, int barrier)
{
    __shared__ float all[256];
    float *mine = x + blockIdx.x * 256;
    all[threadIdx.x] = mine[threadIdx.x];
    if (barrier)
        __syncthreads();
    mine[threadIdx.x] = all[255 - threadIdx.x];
}

template <int barrier> static int reverse()
{
    Numbers x(768);
    launch(reverse_kernel, 3, 256, 0, x.gpu, barrier);
    const float *host = x.read();
    for (int i = 0; i < 768; i++)
        if (host[i] != static_cast<float>(i / 256 * 256 + 255 - i % 256))
            return 1;
    return 0;
}

/* In each iteration a lane takes the next lane's number through shared memory. Without two barriers, it is wrong. */
__global__ void rotate_kernel(float *x, int rounds, int barriers)
{
    float *all = dynamic_shared<float>();
    unsigned lane = threadIdx.x % 32;
    float mine = x[threadIdx.x];
    for (int i = 0; i < rounds; i++) {
        all[threadIdx.x] = mine;
        if (barriers > 0)
            __syncwarp();
        mine = all[threadIdx.x - lane + (lane + 1) % 32];
        if (barriers > 1)
            __syncwarp();
    }
    x[threadIdx.x] = mine;
}

template <int barriers> static int rotate()
{
    Numbers x(64);
    launch(rotate_kernel, 1, 64, 64 * sizeof(float), x.gpu, 5, barriers);
    const float *host = x.read();
    for (int i = 0; i < 64; i++)
        if (host[i] != static_cast<float>(i / 32 * 32 + (i + 5) % 32))
            return 1;
    return 0;
}

TEST(missing_barriers)
{
    ck_assert_int_eq(wrong_orders(reverse<1>), 0);
    ck_assert_int_ge(wrong_orders(reverse<0>), 10);
    ck_assert_int_eq(wrong_orders(rotate<2>), 0);
    ck_assert_int_ge(wrong_orders(rotate<1>), 10);
    ck_assert_int_ge(wrong_orders(rotate<0>), 10);
}

/* ---- memory ---- */

__global__ void read_shared_kernel(float *x, int at)
{
    x[threadIdx.x] = dynamic_shared<float>()[at];
}
__global__ void read_static_kernel(float *x, int at)
{
    __shared__ float some[10];
    const float *all = some;
    some[threadIdx.x % 10] = 0;
    x[threadIdx.x] = all[at];
}
__global__ void read_kernel(float *x, const float *y, int at)
{
    x[threadIdx.x] = y[at];
}
template <int at> static int read_shared()
{
    Numbers x(32);
    launch(read_shared_kernel, 1, 32, 25 * sizeof(float), x.gpu, at);
    float first = x.read()[0];
    return first == first; /* 0 for NaN, with which new shared memory is filled */
}
template <int at> static int read_static()
{
    Numbers x(32);
    launch(read_static_kernel, 1, 32, 0, x.gpu, at);
    return x.read()[0] != 0;
}
template <int at> static int read_global()
{
    Numbers x(32), y(27);
    launch(read_kernel, 1, 32, 0, x.gpu, y.gpu, at);
    return x.read()[0] != static_cast<float>(at);
}
static int read_by_host()
{
    Numbers x(32);
    return x.gpu[3] == 3;
}
static int read_of_host()
{
    Numbers x(32);
    float y = 0;
    launch(read_kernel, 1, 1, 0, x.gpu, &y, 0);
    return 0;
}
TEST(memory)
{
    ck_assert_int_eq(wrong_orders(read_shared<24>), 0);
    ck_assert(ends_with(read_shared<25>, "heap-buffer-overflow"));
    ck_assert_int_eq(wrong_orders(read_static<9>), 0);
    ck_assert(ends_with(read_static<10>, "insufficient space"));
    ck_assert_int_eq(wrong_orders(read_global<26>), 0);
    ck_assert(ends_with(read_global<27>, "heap-buffer-overflow"));
    ck_assert(ends_with(read_global<-1>, "heap-buffer-overflow"));
    ck_assert(ends_with(read_by_host, "use-after-poison"));
    ck_assert(ends_with(read_of_host, "not the GPU's"));
}

/* ---- streams ---- */

enum { N = 1000 };

__global__ void add_kernel(float *x, float by)
{
    for (unsigned i = threadIdx.x; i < N; i += 32)
        x[i] += by;
}

static float *zeros()
{
    float *x;
    CUDA_CHECK(cudaMalloc(&x, N * sizeof *x));
    CUDA_CHECK(cudaMemset(x, 0, N * sizeof *x));
    CUDA_CHECK(cudaDeviceSynchronize());
    return x;
}

static cudaStream_t new_stream()
{
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

/* One stream adds 1 to the numbers and another copies them to the host, with or without an event between the two. */
template <int event> static int hand_over()
{
    static float host[N];
    float *x = zeros();
    cudaEvent_t added;
    cudaStream_t copies = new_stream();
    cuda_stream = new_stream();
    CUDA_CHECK(cudaEventCreateWithFlags(&added, cudaEventDisableTiming));
    launch(add_kernel, 1, 32, 0, x, 1.0f);
    CUDA_CHECK(cudaEventRecord(added, cuda_stream));
    if (event)
        CUDA_CHECK(cudaStreamWaitEvent(copies, added));
    CUDA_CHECK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, copies));
    CUDA_CHECK(cudaFree(x));
    CUDA_CHECK(cudaEventDestroy(added));
    return host[N - 1] != 1;
}

TEST(order_of_streams)
{
    ck_assert_int_eq(wrong_orders(hand_over<1>), 0);
    ck_assert_int_ge(wrong_orders(hand_over<0>), 3);
}

/* ---- products by cublasLt ---- */

enum Mistake { NO_MISTAKE, NO_LAYOUT, SHORT_COLUMNS, OTHER_RESULT, NO_WORKSPACE, OTHER_PRODUCT, ODD_ADDRESS };

/* Multiplies two square matrices by the algorithm that cublasLt proposes last. */
template <Mistake mistake> static int multiply()
{
    enum { SIDE = 32, PROPOSALS = 8, WORKSPACE = 1 << 20 };
    const float one = 1, zero = 0;
    const uint64_t most = WORKSPACE;
    Numbers a(SIDE * SIDE), b(SIDE * SIDE), c(SIDE * SIDE), workspace(WORKSPACE / sizeof(float));
    cublasLtHandle_t handle;
    cublasLtMatmulDescOpaque_t operation;
    cublasLtMatrixLayoutOpaque_t of[4] = {};
    cublasLtMatmulPreferenceOpaque_t preference;
    cublasLtMatmulHeuristicResult_t proposal[PROPOSALS];
    int n = 0, failed = cublasLtCreate(&handle) | cublasLtMatmulDescInit(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F) |
                        cublasLtMatmulPreferenceInit(&preference);
    failed |= cublasLtMatmulPreferenceSetAttribute(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, 8);
    for (int i = mistake == NO_LAYOUT; i < 4; i++)
        failed |= cublasLtMatrixLayoutInit(&of[i], CUDA_R_32F, SIDE, SIDE,
                                           SIDE - (mistake == SHORT_COLUMNS) + (mistake == OTHER_RESULT && i == 3));
    failed |= cublasLtMatmulAlgoGetHeuristic(handle, &operation, &of[0], &of[1], &of[2], &of[3], &preference, PROPOSALS,
                                             proposal, &n);
    if (mistake == OTHER_PRODUCT)
        failed |= cublasLtMatrixLayoutInit(&of[0], CUDA_R_32F, SIDE, SIDE, SIDE + 1);
    failed |= cublasLtMatmul(handle, &operation, &one, a.gpu + (mistake == ODD_ADDRESS), &of[0], b.gpu, &of[1], &zero,
                             c.gpu, &of[2], c.gpu, &of[3], &proposal[n - 1].algo, workspace.gpu,
                             mistake == NO_WORKSPACE ? 0 : WORKSPACE, nullptr);
    float first = 0;
    for (int k = 0; k < SIDE; k++)
        first += static_cast<float>(SIDE * k * k);
    return failed || c.read()[0] != first;
}

TEST(products)
{
    ck_assert_int_eq(wrong_orders(multiply<NO_MISTAKE>), 0);
    ck_assert(ends_with(multiply<NO_LAYOUT>, "the layout of A is missing"));
    ck_assert(ends_with(multiply<SHORT_COLUMNS>, "a leading dimension is 31, less than 32 rows"));
    ck_assert(ends_with(multiply<OTHER_RESULT>, "C and D have different layouts"));
    ck_assert(ends_with(multiply<NO_WORKSPACE>, "needs more than 0 bytes of workspace"));
    ck_assert(ends_with(multiply<OTHER_PRODUCT>, "another product than it was proposed for"));
    ck_assert(ends_with(multiply<ODD_ADDRESS>, "is not aligned as the algorithm needs"));
}

/* ---- NCCL: each rank is a process ---- */

enum { RANKS = 3 };
static ncclUniqueId id;

#define NCCL_CHECK(call) ck_assert_int_eq(call, ncclSuccess)

/* Runs a function, which returns 0 for success, on all ranks. Ranks that crash or run for ten seconds get status 2. */
static void run_ranks(int (*run)(int rank), int status_of_rank[RANKS])
{
    pid_t child[RANKS];
    memset(&id, 0, sizeof id);
    NCCL_CHECK(ncclGetUniqueId(&id));
    for (int r = 0; r < RANKS; r++) {
        fflush(nullptr);
        child[r] = fork();
        if (!child[r]) {
            setenv("EMULATED_CUDA_SEED", std::to_string(r + 1).c_str(), 1);
            alarm(10);
            CUDA_CHECK(cudaSetDevice(r));
            cuda_stream = new_stream();
            _exit(run(r));
        }
    }
    for (int r = 0; r < RANKS; r++) {
        int status;
        waitpid(child[r], &status, 0);
        status_of_rank[r] = WIFEXITED(status) ? WEXITSTATUS(status) : 2;
    }
}

static int other_counts(int rank)
{
    ncclComm_t comm;
    float *x;
    NCCL_CHECK(ncclCommInitRank(&comm, RANKS, id, rank));
    CUDA_CHECK(cudaMalloc(&x, 4 * sizeof *x));
    NCCL_CHECK(ncclAllReduce(x, x, rank == 1 ? 3 : 4, ncclFloat32, ncclSum, comm, cuda_stream));
    CUDA_CHECK(cudaStreamSynchronize(cuda_stream));
    return 0;
}
static int own_part_misplaced(int rank)
{
    ncclComm_t comm;
    float *x;
    NCCL_CHECK(ncclCommInitRank(&comm, RANKS, id, rank));
    CUDA_CHECK(cudaMalloc(&x, RANKS * sizeof *x));
    NCCL_CHECK(ncclReduceScatter(x, x, 1, ncclFloat32, ncclSum, comm, cuda_stream)); /* in place only on rank 0 */
    return 0;
}

TEST(ranks_that_differ)
{
    int status[RANKS];
    run_ranks(other_counts, status);
    ck_assert(status[0] || status[1] || status[2]);
    run_ranks(own_part_misplaced, status);
    ck_assert_int_eq(status[0], 0);
    ck_assert_int_eq(status[1], 2);
    ck_assert_int_eq(status[2], 2);
}

SUITE("mistakes on the emulated GPU", NULL, NULL)
