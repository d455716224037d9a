/* check_libraries.cu - the emulated cuBLAS against plain loops, and NCCL between processes made here. */
#include "kernels/cuda/kernel.cuh"
#include "tests/gpu/emulator/hazards.h"

#include <check.h>
#include <cublas_v2.h>
#include <nccl.h>
#include <sys/mman.h>
#include <vector>

cudaStream_t cuda_stream;

/* ---- cuBLAS ---- */

enum { M = 7, N = 5, K = 9, LEADING = 11 };

/* Numbers with few digits, whose products and sums are exact, and one that TF32 and bfloat16 must round. */
static float number(int i)
{
    return static_cast<float>(i * 7 % 13 - 6) + (i == 3 ? 0x1p-11f : 0);
}

static float rounded(float x, cudaDataType type, bool tf32)
{
    return tf32 ? __uint_as_float(round_tf32(x)) : type == CUDA_R_16BF ? __bfloat162float(__float2bfloat16_rn(x)) : x;
}

/* LEADING * LEADING numbers on the GPU. */
static void *numbers_of(cudaDataType type)
{
    float wide[LEADING * LEADING];
    __nv_bfloat16 narrow_ones[LEADING * LEADING];
    for (int i = 0; i < LEADING * LEADING; i++) {
        wide[i] = number(i);
        narrow_ones[i] = __float2bfloat16_rn(wide[i]);
    }
    void *gpu;
    size_t bytes = type == CUDA_R_32F ? sizeof wide : sizeof narrow_ones;
    CUDA_CHECK(cudaMalloc(&gpu, bytes));
    CUDA_CHECK(
        cudaMemcpy(gpu, type == CUDA_R_32F ? static_cast<void *>(wide) : narrow_ones, bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaDeviceSynchronize()); /* a blocking copy is on the default stream, and may end after the call */
    return gpu;
}

static void check_product(cublasHandle_t handle, cudaDataType in, cudaDataType out, cublasComputeType_t compute,
                          int transposed, float beta)
{
    float alpha = 2, wide[LEADING * LEADING];
    __nv_bfloat16 few[LEADING * LEADING];
    void *a = numbers_of(in), *b = numbers_of(in), *c = numbers_of(out);
    bool tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32, ta = transposed & 1, tb = transposed & 2;
    ck_assert_int_eq(cublasGemmEx(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, M, N, K,
                                  &alpha, a, in, LEADING, b, in, LEADING, &beta, c, out, LEADING, compute,
                                  CUBLAS_GEMM_DEFAULT),
                     CUBLAS_STATUS_SUCCESS);
    void *host = out == CUDA_R_32F ? static_cast<void *>(wide) : few;
    CUDA_CHECK(cudaStreamSynchronize(cuda_stream));
    CUDA_CHECK(cudaMemcpy(host, c, out == CUDA_R_32F ? sizeof wide : sizeof few, cudaMemcpyDeviceToHost));
    for (int j = 0; j < N; j++)
        for (int i = 0; i < LEADING; i++) {
            double sum = 0;
            for (int l = 0; l < K; l++)
                sum += static_cast<double>(rounded(number(ta ? l + i * LEADING : i + l * LEADING), in, tf32)) *
                       rounded(number(tb ? j + l * LEADING : l + j * LEADING), in, tf32);
            float before = rounded(number(i + j * LEADING), out, false);
            auto expected = static_cast<float>(alpha * sum + static_cast<double>(beta) * before);
            float got = out == CUDA_R_32F ? wide[i + j * LEADING] : __bfloat162float(few[i + j * LEADING]);
            ck_assert_float_eq(got, i < M ? rounded(expected, out, false) : before);
        }
    for (void *memory : {a, b, c})
        CUDA_CHECK(cudaFree(memory));
}

START_TEST(products)
{
    cublasHandle_t handle;
    CUDA_CHECK(cudaStreamCreateWithFlags(&cuda_stream, cudaStreamNonBlocking));
    ck_assert_int_eq(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
    ck_assert_int_eq(cublasSetStream(handle, cuda_stream), CUBLAS_STATUS_SUCCESS);
    for (int transposed = 0; transposed < 4; transposed++)
        for (float beta : {0.0f, 1.0f, -0.5f}) {
            check_product(handle, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, transposed, beta);
            check_product(handle, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, transposed, beta);
            check_product(handle, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, transposed, beta);
            check_product(handle, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, transposed, beta);
            check_product(handle, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, transposed, beta);
        }
    ck_assert_int_eq(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
}
END_TEST

START_TEST(refused_products)
{
    cublasHandle_t handle;
    float one = 1;
    void *x = numbers_of(CUDA_R_32F);
    ck_assert_int_eq(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
    auto gemm = [&](cublasOperation_t ta, cublasOperation_t tb, int lda, int ldb, int ldc, cudaDataType in,
                    cudaDataType out, cublasComputeType_t compute) {
        return cublasGemmEx(handle, ta, tb, M, N, K, &one, x, in, lda, x, in, ldb, &one, x, out, ldc, compute,
                            CUBLAS_GEMM_DEFAULT);
    };
    const auto none = CUBLAS_OP_N, turned = CUBLAS_OP_T;
    const auto f32 = CUDA_R_32F, bf16_type = CUDA_R_16BF;
    const auto plain = CUBLAS_COMPUTE_32F;
    ck_assert_int_eq(gemm(none, none, M, K, M, f32, f32, plain), CUBLAS_STATUS_SUCCESS);
    ck_assert_int_eq(gemm(none, none, M - 1, K, M, f32, f32, plain), CUBLAS_STATUS_INVALID_VALUE);
    ck_assert_int_eq(gemm(none, none, M, K - 1, M, f32, f32, plain), CUBLAS_STATUS_INVALID_VALUE);
    ck_assert_int_eq(gemm(none, none, M, K, M - 1, f32, f32, plain), CUBLAS_STATUS_INVALID_VALUE);
    ck_assert_int_eq(gemm(turned, none, K - 1, K, M, f32, f32, plain), CUBLAS_STATUS_INVALID_VALUE);
    ck_assert_int_eq(gemm(none, turned, M, N - 1, M, f32, f32, plain), CUBLAS_STATUS_INVALID_VALUE);
    ck_assert_int_eq(gemm(none, none, M, K, M, f32, bf16_type, plain), CUBLAS_STATUS_NOT_SUPPORTED);
    ck_assert_int_eq(gemm(none, none, M, K, M, bf16_type, bf16_type, CUBLAS_COMPUTE_32F_FAST_TF32),
                     CUBLAS_STATUS_NOT_SUPPORTED);
    ck_assert_int_eq(cublasSetWorkspace(handle, x, sizeof(float) * LEADING * LEADING), CUBLAS_STATUS_SUCCESS);
    ck_assert_int_eq(cublasSetWorkspace(handle, x, sizeof(float) * LEADING * LEADING + 1), CUBLAS_STATUS_INVALID_VALUE);
    ck_assert_int_eq(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
    CUDA_CHECK(cudaFree(x));
}
END_TEST

/* ---- NCCL: each rank is a process ---- */

enum { RANKS = 3 };
static ncclUniqueId id;

#define NCCL_CHECK(call) ck_assert_int_eq(call, ncclSuccess)

/* Runs it on all ranks; it returns 0 when all is well. Ranks that still run after ten seconds count as 2. */
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
            CUDA_CHECK(cudaStreamCreateWithFlags(&cuda_stream, cudaStreamNonBlocking));
            _exit(run(r));
        }
    }
    for (int r = 0; r < RANKS; r++) {
        int status;
        waitpid(child[r], &status, 0);
        status_of_rank[r] = WIFEXITED(status) ? WEXITSTATUS(status) : 2;
    }
}

static void check_ranks(int (*run)(int rank))
{
    int status[RANKS];
    run_ranks(run, status);
    for (int r = 0; r < RANKS; r++)
        ck_assert_msg(status[r] == 0, "rank %d ended with %d", r, status[r]);
}

static float one_of(float x, const float *)
{
    return x;
}
static double one_of(float x, const double *)
{
    return x;
}
static int one_of(float x, const int *)
{
    return static_cast<int>(x);
}
static __nv_bfloat16 one_of(float x, const __nv_bfloat16 *)
{
    return __float2bfloat16_rn(x);
}
static double wide_of(double x)
{
    return x;
}
static double wide_of(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}

/* All kinds in one type, each rank's number i being i % 17 + 30 rank: count of them, and as many for each rank. */
template <typename T> static int collectives_of(ncclComm_t comm, int rank, ncclDataType_t type, size_t count)
{
    std::vector<T> in(RANKS * count), host(RANKS * count);
    auto mine = [](size_t i, int of) { return static_cast<double>(i % 17) + 30 * of; };
    for (size_t i = 0; i < in.size(); i++)
        in[i] = one_of(static_cast<float>(mine(i, rank)), static_cast<const T *>(nullptr));
    T *from, *to;
    CUDA_CHECK(cudaMalloc(&from, in.size() * sizeof(T)));
    CUDA_CHECK(cudaMalloc(&to, in.size() * sizeof(T)));
    int wrong = 0;
    for (int kind = 0; kind < 6; kind++) {
        CUDA_CHECK(cudaMemcpyAsync(from, in.data(), in.size() * sizeof(T), cudaMemcpyHostToDevice, cuda_stream));
        CUDA_CHECK(cudaMemsetAsync(to, 0xff, in.size() * sizeof(T), cuda_stream));
        size_t results = kind == 3 ? count : in.size();
        if (kind < 3)
            NCCL_CHECK(ncclAllReduce(from, to, in.size(), type,
                                     kind == 0   ? ncclSum
                                     : kind == 1 ? ncclMax
                                                 : ncclAvg,
                                     comm, cuda_stream));
        else if (kind == 3)
            NCCL_CHECK(ncclReduceScatter(from, to, count, type, ncclSum, comm, cuda_stream));
        else if (kind == 4)
            NCCL_CHECK(ncclAllGather(from, to, count, type, comm, cuda_stream));
        else
            NCCL_CHECK(ncclBroadcast(rank == 1 ? from : nullptr, to, in.size(), type, 1, comm, cuda_stream));
        CUDA_CHECK(cudaMemcpyAsync(host.data(), to, results * sizeof(T), cudaMemcpyDeviceToHost, cuda_stream));
        for (size_t i = 0; i < results; i++) {
            double first = mine(i, 0), sum = 3 * first + 90;
            size_t own = static_cast<size_t>(rank) * count + i;
            const double expected[] = {
                sum,       mine(i, 2), mine(i, 1), 3 * mine(own, 0) + 90, mine(i % count, static_cast<int>(i / count)),
                mine(i, 1)};
            wrong += wide_of(host[i]) != expected[kind];
        }
    }
    CUDA_CHECK(cudaFree(from));
    CUDA_CHECK(cudaFree(to));
    return wrong;
}

static int all_collectives(int rank)
{
    ncclComm_t comm;
    int n, wrong = 0;
    NCCL_CHECK(ncclCommInitRank(&comm, RANKS, id, rank));
    NCCL_CHECK(ncclCommCount(comm, &n));
    for (size_t count : {size_t{1}, size_t{1001}, size_t{100003}}) { /* the last takes several pieces */
        wrong += collectives_of<float>(comm, rank, ncclFloat32, count);
        wrong += collectives_of<double>(comm, rank, ncclFloat64, count);
        wrong += collectives_of<int>(comm, rank, ncclInt32, count);
        wrong += collectives_of<__nv_bfloat16>(comm, rank, ncclBfloat16, count);
    }
    NCCL_CHECK(ncclCommDestroy(comm));
    return wrong != 0 || n != RANKS;
}

START_TEST(collectives)
{
    check_ranks(all_collectives);
}
END_TEST

/* Rank 0 issues its part and then waits for the others by other means: its GPU must work on for them. */
static int *arrived; /* [RANKS], shared by the ranks */
static int waits_elsewhere(int rank)
{
    ncclComm_t comm;
    float *x;
    NCCL_CHECK(ncclCommInitRank(&comm, RANKS, id, rank));
    CUDA_CHECK(cudaMalloc(&x, 4));
    for (int i = 0; i < 5; i++)
        NCCL_CHECK(ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, comm, cuda_stream));
    while (rank == 0 &&
           !(__atomic_load_n(&arrived[1], __ATOMIC_SEQ_CST) && __atomic_load_n(&arrived[2], __ATOMIC_SEQ_CST)))
        usleep(1000);
    CUDA_CHECK(cudaStreamSynchronize(cuda_stream));
    __atomic_store_n(&arrived[rank], 1, __ATOMIC_SEQ_CST);
    NCCL_CHECK(ncclCommDestroy(comm));
    CUDA_CHECK(cudaFree(x));
    return 0;
}

/* A communicator that does not block, in place, in a group, with registered memory. */
static int without_blocking(int rank)
{
    ncclComm_t comm;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclResult_t state = ncclInProgress;
    void *handle;
    float *x, host[2];
    config.blocking = 0;
    auto settle = [&] {
        do
            NCCL_CHECK(ncclCommGetAsyncError(comm, &state));
        while (state == ncclInProgress);
        return state;
    };
    ck_assert_int_eq(ncclCommInitRankConfig(&comm, RANKS, id, rank, &config), ncclInProgress);
    NCCL_CHECK(ncclMemAlloc(reinterpret_cast<void **>(&x), 2 * sizeof *x));
    ck_assert_int_eq(ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, comm, cuda_stream),
                     ncclInvalidArgument); /* too early */
    NCCL_CHECK(settle());
    NCCL_CHECK(ncclCommRegister(comm, x, 2 * sizeof *x, &handle));
    host[0] = host[1] = static_cast<float>(rank);
    CUDA_CHECK(cudaMemcpyAsync(x, host, sizeof host, cudaMemcpyHostToDevice, cuda_stream));
    for (int i = 0; i < 10; i++) {
        NCCL_CHECK(ncclGroupStart());
        NCCL_CHECK(ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, comm, cuda_stream));
        ncclResult_t issued = ncclGroupEnd();
        ck_assert(issued == ncclSuccess || issued == ncclInProgress);
        NCCL_CHECK(settle());
    }
    CUDA_CHECK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, cuda_stream));
    NCCL_CHECK(ncclCommDeregister(comm, handle));
    ncclResult_t finalized = ncclCommFinalize(comm);
    ck_assert(finalized == ncclSuccess || finalized == ncclInProgress);
    NCCL_CHECK(settle());
    NCCL_CHECK(ncclCommDestroy(comm));
    NCCL_CHECK(ncclMemFree(x));
    return host[0] != 3 * powf(3, 9) || host[1] != static_cast<float>(rank);
}

START_TEST(progress)
{
    void *shared = mmap(nullptr, sizeof(int[RANKS]), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    arrived = static_cast<int *>(shared);
    check_ranks(waits_elsewhere);
    check_ranks(without_blocking);
}
END_TEST

/* Four all-reduces. When they have not ended after half a second: 3, or 4 if the library says that something broke;
 * the communicator is aborted, and then the stream must come to its end. */
static int four_collectives(int rank)
{
    ncclComm_t comm;
    ncclResult_t state;
    float *x;
    NCCL_CHECK(ncclCommInitRank(&comm, RANKS, id, rank));
    CUDA_CHECK(cudaMalloc(&x, sizeof *x));
    CUDA_CHECK(cudaMemset(x, 0, sizeof *x));
    CUDA_CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++) {
        ncclResult_t issued = ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, comm, cuda_stream);
        ck_assert(issued == ncclSuccess || issued == ncclSystemError); /* of a collective before */
    }
    for (int i = 0; i < 50 && cudaStreamQuery(cuda_stream) == cudaErrorNotReady; i++)
        usleep(10000);
    bool ended = cudaStreamQuery(cuda_stream) == cudaSuccess;
    NCCL_CHECK(ncclCommGetAsyncError(comm, &state));
    NCCL_CHECK(ncclCommAbort(comm));
    CUDA_CHECK(cudaStreamSynchronize(cuda_stream));
    CUDA_CHECK(cudaFree(x));
    return ended ? 0 : state == ncclSystemError ? 4 : 3;
}

START_TEST(failures)
{
    int status[RANKS];
    check_ranks(four_collectives);
    setenv("EMULATED_NCCL_HANG_RANK", "1,call=3", 1);
    run_ranks(four_collectives, status);
    for (int r = 0; r < RANKS; r++)
        ck_assert_int_eq(status[r], 3);
    unsetenv("EMULATED_NCCL_HANG_RANK");
    setenv("EMULATED_NCCL_FAIL_RANK", "2,call=2", 1);
    run_ranks(four_collectives, status);
    for (int r = 0; r < RANKS; r++)
        ck_assert_int_eq(status[r], r == 2 ? 4 : 3);
}
END_TEST

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
static int one_gpu(int rank)
{
    ncclComm_t comm;
    CUDA_CHECK(cudaSetDevice(0));
    return ncclCommInitRank(&comm, RANKS, id, rank) != ncclInvalidUsage;
}

START_TEST(mistakes)
{
    int status[RANKS];
    check_ranks(one_gpu);
    run_ranks(other_counts, status);
    ck_assert(status[0] || status[1] || status[2]);
    run_ranks(own_part_misplaced, status);
    ck_assert_int_eq(status[0], 0);
    ck_assert_int_eq(status[1], 2);
    ck_assert_int_eq(status[2], 2);
}
END_TEST

int main()
{
    Suite *suite = suite_create("libraries of the emulation");
    TCase *tcase = tcase_create("libraries");
    suite_add_tcase(suite, tcase);
    tcase_set_timeout(tcase, 120);
    for (const TTest *test : {products, refused_products, collectives, progress, failures, mistakes})
        tcase_add_test(tcase, test);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
