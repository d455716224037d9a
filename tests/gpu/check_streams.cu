/* check_streams.cu - what the emulation promises of streams, copies, events and GPUs that are not there. */
#include "kernels/cuda/kernel.cuh"
#include "tests/gpu/emulator/hazards.h"

#include <check.h>

cudaStream_t cuda_stream;

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

static cudaStream_t new_stream(unsigned flags)
{
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

/* ---- what may be missing between two streams ---- */

/* One stream adds 1, another copies to the host, with an event between the two or without. */
template <int event> static int hand_over()
{
    static float host[N];
    float *x = zeros();
    cudaEvent_t added;
    cudaStream_t copies = new_stream(cudaStreamNonBlocking);
    cuda_stream = new_stream(cudaStreamNonBlocking);
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

/* The default stream and another: they wait for each other, unless the other was made not to. */
template <unsigned flags> static int default_stream()
{
    static float host[N];
    float *x = zeros();
    cuda_stream = new_stream(flags);
    launch(add_kernel, 1, 32, 0, x, 1.0f);
    cudaStream_t other = cuda_stream;
    cuda_stream = nullptr;
    CUDA_CHECK(cudaMemsetAsync(x, 0, N * sizeof *x, nullptr));
    launch(add_kernel, 1, 32, 0, x, 2.0f);
    cuda_stream = other;
    launch(add_kernel, 1, 32, 0, x, 4.0f);
    CUDA_CHECK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, other));
    CUDA_CHECK(cudaFree(x));
    return host[N - 1] != 6;
}

/* An event stands for its last recording before the wait, not for later ones. */
static int record_again()
{
    static float host[N];
    float *x = zeros();
    cudaEvent_t added;
    cudaStream_t copies = new_stream(cudaStreamNonBlocking);
    cuda_stream = new_stream(cudaStreamNonBlocking);
    CUDA_CHECK(cudaEventCreate(&added));
    CUDA_CHECK(cudaStreamWaitEvent(copies, added)); /* never recorded: no wait */
    CUDA_CHECK(cudaEventRecord(added, cuda_stream));
    CUDA_CHECK(cudaStreamWaitEvent(copies, added));
    launch(add_kernel, 1, 32, 0, x, 1.0f);
    CUDA_CHECK(cudaEventRecord(added, cuda_stream));
    CUDA_CHECK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, copies));
    CUDA_CHECK(cudaFree(x));
    CUDA_CHECK(cudaEventDestroy(added));
    return host[N - 1] != 1;
}

START_TEST(order_of_streams)
{
    ck_assert_int_eq(wrong_orders(hand_over<1>), 0);
    ck_assert_int_ge(wrong_orders(hand_over<0>), 3);
    ck_assert_int_eq(wrong_orders(default_stream<cudaStreamDefault>), 0);
    ck_assert_int_ge(wrong_orders(default_stream<cudaStreamNonBlocking>), 3);
    ck_assert_int_ge(wrong_orders(record_again), 1);
}
END_TEST

/* ---- what may be missing between the host and a stream ---- */

/* The host changes what it has just sent, having waited or not. */
template <int pinned, int wait> static int send()
{
    float pageable[N], back[N], *host = pageable, *x = zeros();
    cuda_stream = new_stream(cudaStreamNonBlocking);
    if (pinned)
        CUDA_CHECK(cudaMallocHost(&host, sizeof pageable));
    for (int i = 0; i < N; i++)
        host[i] = 1;
    CUDA_CHECK(cudaMemcpyAsync(x, host, sizeof pageable, cudaMemcpyHostToDevice, cuda_stream));
    if (wait)
        CUDA_CHECK(cudaStreamSynchronize(cuda_stream));
    host[N - 1] = 2;
    CUDA_CHECK(cudaMemcpyAsync(back, x, sizeof back, cudaMemcpyDeviceToHost, cuda_stream));
    if (pinned)
        CUDA_CHECK(cudaFreeHost(host));
    CUDA_CHECK(cudaFree(x));
    return back[N - 1] != 1;
}

/* The host reads what it has asked for, having polled an event or not. */
template <int wait> static int receive()
{
    float *host, *x = zeros();
    cudaEvent_t copied;
    cuda_stream = new_stream(cudaStreamNonBlocking);
    CUDA_CHECK(cudaEventCreate(&copied));
    CUDA_CHECK(cudaMallocHost(&host, N * sizeof *host));
    launch(add_kernel, 1, 32, 0, x, 1.0f);
    CUDA_CHECK(cudaMemcpyAsync(host, x, N * sizeof *host, cudaMemcpyDeviceToHost, cuda_stream));
    CUDA_CHECK(cudaEventRecord(copied, cuda_stream));
    while (wait && cudaEventQuery(copied) == cudaErrorNotReady)
        ;
    int wrong = host[N - 1] != 1;
    CUDA_CHECK(cudaFreeHost(host));
    CUDA_CHECK(cudaFree(x));
    CUDA_CHECK(cudaEventDestroy(copied));
    return wrong;
}

START_TEST(order_with_host)
{
    int (*const right[])() = {send<0, 0>, send<0, 1>, send<1, 1>, receive<1>};
    for (auto run : right)
        ck_assert_int_eq(wrong_orders(run), 0);
    ck_assert_int_ge(wrong_orders(send<1, 0>), 3);
    ck_assert_int_ge(wrong_orders(receive<0>), 3);
    ck_assert_int_le(wrong_orders(receive<0>), 19); /* and sometimes the GPU is quick */
}
END_TEST

START_TEST(many_pieces_of_work)
{
    float *x = zeros(), host;
    cuda_stream = new_stream(cudaStreamNonBlocking);
    for (int i = 0; i < 10000; i++)
        CUDA_CHECK(cudaMemsetAsync(x, i % 2, sizeof *x, cuda_stream));
    ck_assert_int_eq(cudaStreamQuery(cuda_stream), cudaErrorNotReady);
    ck_assert_int_eq(cudaGetLastError(), cudaErrorNotReady);
    CUDA_CHECK(cudaStreamSynchronize(cuda_stream));
    ck_assert_int_eq(cudaStreamQuery(cuda_stream), cudaSuccess);
    CUDA_CHECK(cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost));
    ck_assert_uint_eq(__float_as_uint(host), 0x01010101);
    CUDA_CHECK(cudaFree(x));
}
END_TEST

/* ---- events ---- */

START_TEST(times)
{
    cudaEvent_t event[3];
    float ms = -1, *x = zeros();
    int lowest, highest;
    CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    ck_assert_int_lt(highest, lowest);
    CUDA_CHECK(cudaStreamCreateWithPriority(&cuda_stream, cudaStreamNonBlocking, highest));
    for (int i = 0; i < 3; i++)
        CUDA_CHECK(cudaEventCreateWithFlags(&event[i], i == 2 ? cudaEventDisableTiming : cudaEventDefault));
    ck_assert_int_eq(cudaEventQuery(event[0]), cudaSuccess); /* never recorded */
    ck_assert_int_eq(cudaEventElapsedTime(&ms, event[0], event[1]), cudaErrorInvalidResourceHandle);
    for (int i = 0; i < 20; i++) /* few of which are done before they are waited for */
        launch(add_kernel, 1, 32, 0, x, 1.0f);
    for (int i = 0; i < 3; i++) {
        CUDA_CHECK(cudaEventRecord(event[i], cuda_stream));
        launch(add_kernel, 1000, 32, 0, x, 1.0f);
    }
    ck_assert_int_eq(cudaEventElapsedTime(&ms, event[0], event[1]), cudaErrorNotReady);
    CUDA_CHECK(cudaEventSynchronize(event[1]));
    CUDA_CHECK(cudaEventElapsedTime(&ms, event[0], event[1]));
    ck_assert_float_gt(ms, 0.1f); /* a thousand blocks of the emulation */
    CUDA_CHECK(cudaEventElapsedTime(&ms, event[1], event[0]));
    ck_assert_float_lt(ms, -0.1f);
    CUDA_CHECK(cudaEventSynchronize(event[2]));
    ck_assert_int_eq(cudaEventElapsedTime(&ms, event[0], event[2]), cudaErrorInvalidResourceHandle);
    CUDA_CHECK(cudaStreamDestroy(cuda_stream));
    ck_assert_int_eq(cudaStreamSynchronize(cuda_stream), cudaErrorInvalidResourceHandle);
    for (auto one : event)
        CUDA_CHECK(cudaEventDestroy(one));
    CUDA_CHECK(cudaFree(x));
}
END_TEST

/* ---- memory ---- */

START_TEST(kinds_of_memory)
{
    float host[10] = {}, *gpu, *pinned;
    cudaPointerAttributes attributes;
    size_t before, now, total;
    CUDA_CHECK(cudaMemGetInfo(&before, &total));
    CUDA_CHECK(cudaMalloc(&gpu, sizeof host));
    CUDA_CHECK(cudaHostAlloc(reinterpret_cast<void **>(&pinned), sizeof host, cudaHostAllocDefault));
    CUDA_CHECK(cudaMemGetInfo(&now, &total));
    ck_assert_uint_eq(before - now, sizeof host);
    ck_assert_uint_eq(reinterpret_cast<uintptr_t>(gpu) % 256, 0);
    CUDA_CHECK(cudaPointerGetAttributes(&attributes, gpu + 3));
    ck_assert_int_eq(attributes.type, cudaMemoryTypeDevice);
    CUDA_CHECK(cudaPointerGetAttributes(&attributes, pinned));
    ck_assert_int_eq(attributes.type, cudaMemoryTypeHost);
    CUDA_CHECK(cudaPointerGetAttributes(&attributes, host));
    ck_assert_int_eq(attributes.type, cudaMemoryTypeUnregistered);
    ck_assert_int_eq(cudaMemcpy(gpu, host, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    ck_assert_int_eq(cudaMemcpy(host, gpu, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    ck_assert_int_eq(cudaMemcpy(host, pinned, 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    ck_assert_int_eq(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
    ck_assert_int_eq(cudaFree(host), cudaErrorInvalidValue);
    ck_assert_int_eq(cudaFree(pinned), cudaErrorInvalidValue);
    ck_assert_int_eq(cudaFree(nullptr), cudaSuccess);
    CUDA_CHECK(cudaFreeHost(pinned));
    CUDA_CHECK(cudaFree(gpu));
}
END_TEST

START_TEST(little_memory)
{
    void *memory, *more;
    setenv("EMULATED_CUDA_MEMORY", "1000", 1);
    ck_assert_int_eq(cudaMalloc(&memory, 1001), cudaErrorMemoryAllocation);
    ck_assert_int_eq(cudaMalloc(&memory, 600), cudaSuccess);
    ck_assert_int_eq(cudaMalloc(&more, 600), cudaErrorMemoryAllocation);
    ck_assert_int_eq(cudaMallocHost(&more, 600), cudaSuccess);
    CUDA_CHECK(cudaFreeHost(more));
    CUDA_CHECK(cudaFree(memory));
}
END_TEST

/* ---- machines ---- */

static void check_absent(cudaError_t expected)
{
    int n = 7;
    void *memory;
    ck_assert_int_eq(cudaGetDeviceCount(&n), expected);
    ck_assert_int_eq(n, 7);
    ck_assert_int_eq(cudaSetDevice(0), expected);
    ck_assert_int_eq(cudaMalloc(&memory, 1), expected);
    ck_assert_int_eq(cudaStreamCreate(&cuda_stream), expected);
    ck_assert_int_eq(cudaDeviceSynchronize(), expected);
    ck_assert_int_eq(cudaGetLastError(), expected);
}

START_TEST(machines)
{
    int version, n = 0;
    cudaDeviceProp first, second;
    CUDA_CHECK(cudaGetDeviceCount(&n));
    ck_assert_int_eq(n, 8);
    setenv("CUDA_VISIBLE_DEVICES", "3,5", 1);
    CUDA_CHECK(cudaGetDeviceCount(&n));
    ck_assert_int_eq(n, 2);
    CUDA_CHECK(cudaGetDeviceProperties(&first, 0));
    CUDA_CHECK(cudaGetDeviceProperties(&second, 1));
    ck_assert(memcmp(&first.uuid, &second.uuid, sizeof first.uuid) != 0);
    ck_assert_int_eq(first.major, 9);
    ck_assert_int_eq(cudaSetDevice(2), cudaErrorInvalidDevice);
    ck_assert_int_eq(cudaGetDeviceProperties(&first, 2), cudaErrorInvalidDevice);
    cudaGetLastError();
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    check_absent(cudaErrorNoDevice);
    unsetenv("CUDA_VISIBLE_DEVICES");
    setenv("EMULATED_CUDA_GPUS", "0", 1);
    check_absent(cudaErrorNoDevice);
    setenv("EMULATED_CUDA_DRIVER", "old", 1);
    check_absent(cudaErrorInsufficientDriver);
    CUDA_CHECK(cudaDriverGetVersion(&version));
    ck_assert_int_eq(version, 11040);
    setenv("EMULATED_CUDA_DRIVER", "none", 1);
    check_absent(cudaErrorInsufficientDriver);
    CUDA_CHECK(cudaDriverGetVersion(&version));
    ck_assert_int_eq(version, 0);
}
END_TEST

START_TEST(another_architecture)
{
    cudaFuncAttributes attributes;
    cudaLaunchConfig_t how = {};
    how.gridDim = how.blockDim = 1;
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, add_kernel));
    ck_assert_int_eq(attributes.numRegs, 32);
    setenv("EMULATED_CUDA_ARCH", "70", 1);
    ck_assert_int_eq(cudaFuncGetAttributes(&attributes, add_kernel), cudaErrorNoKernelImageForDevice);
    ck_assert_int_eq(cudaLaunchKernelEx(&how, add_kernel, static_cast<float *>(nullptr), 1.0f),
                     cudaErrorNoKernelImageForDevice);
    ck_assert_str_eq(cudaGetErrorName(cudaGetLastError()), "cudaErrorNoKernelImageForDevice");
}
END_TEST

int main()
{
    Suite *suite = suite_create("streams of the emulation");
    TCase *tcase = tcase_create("streams");
    suite_add_tcase(suite, tcase);
    tcase_set_timeout(tcase, 120);
    for (const TTest *test : {order_of_streams, order_with_host, many_pieces_of_work, times, kinds_of_memory,
                              little_memory, machines, another_architecture})
        tcase_add_test(tcase, test);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
