/* check_kernels.cu - what the emulation promises of kernels: mistakes show, and a warp's calls mean what CUDA's mean.
 */
#include "kernels/cuda/kernel.cuh"
#include "tests/gpu/emulator/hazards.h"

#include <check.h>

cudaStream_t cuda_stream;

/* Numbers of the GPU, 0 to n - 1 at first. */
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

/* Turns a block's numbers round. */
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

/* Each lane takes the number of the next one, through shared memory; `barriers` of the two that it takes. */
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

/* Each thread takes the number of the one before or behind it: without a barrier right in one order, wrong in another.
 */
__global__ void neighbour_kernel(float *x, int step)
{
    __shared__ float all[64];
    all[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = all[(static_cast<int>(threadIdx.x) + step) & 63];
}

template <int step> static int neighbour()
{
    Numbers x(64);
    launch(neighbour_kernel, 1, 64, 0, x.gpu, step);
    const float *host = x.read();
    for (int i = 1; i < 63; i++)
        if (host[i] != static_cast<float>(i + step))
            return 1;
    return 0;
}

START_TEST(missing_barriers)
{
    ck_assert_int_ge(wrong_orders(neighbour<1>), 10);
    ck_assert_int_ge(wrong_orders(neighbour<-1>), 10);
    ck_assert_int_eq(wrong_orders(reverse<1>), 0);
    ck_assert_int_ge(wrong_orders(reverse<0>), 10);
    ck_assert_int_eq(wrong_orders(rotate<2>), 0);
    ck_assert_int_ge(wrong_orders(rotate<1>), 10);
    ck_assert_int_ge(wrong_orders(rotate<0>), 10);
}
END_TEST

__global__ void half_a_shuffle_kernel(float *x)
{
    if (threadIdx.x < 16)
        x[threadIdx.x] = __shfl_xor_sync(WHOLE_WARP, x[threadIdx.x], 1);
}
__global__ void two_calls_kernel(float *x)
{
    if (threadIdx.x < 16)
        x[threadIdx.x] = __shfl_xor_sync(WHOLE_WARP, x[threadIdx.x], 1);
    else
        __syncwarp();
}
__global__ void two_barriers_kernel(float *x)
{
    if (threadIdx.x < 32)
        __syncthreads();
    else
        x[0] = 1;
    __syncthreads();
}
__global__ void hang_kernel(float *)
{
    if (threadIdx.x >= 48)
        __syncwarp();
    __syncthreads();
}
__global__ void half_a_mask_kernel(float *x)
{
    x[0] = __shfl_xor_sync(0xffff, x[0], 1);
}
/* Threads that have ended are no longer waited for. */
__global__ void early_end_kernel(float *x)
{
    if (threadIdx.x >= 32)
        return;
    __syncthreads();
    x[threadIdx.x] = 7;
}

template <void (*kernel)(float *)> static int run()
{
    Numbers x(64);
    launch(kernel, 1, 64, 0, x.gpu);
    return x.read()[0] != 7;
}

START_TEST(divergence)
{
    ck_assert(ends_with(run<half_a_shuffle_kernel>, "of its warp"));
    ck_assert(ends_with(run<two_calls_kernel>, "of its warp wait at"));
    ck_assert(ends_with(run<two_barriers_kernel>, "of its block wait at __syncthreads"));
    ck_assert(ends_with(run<hang_kernel>, "16 of the 32 lanes of the warp from thread 32 wait at __syncwarp"));
    ck_assert(ends_with(run<half_a_mask_kernel>, "mask 0xffff"));
    ck_assert_int_eq(wrong_orders(run<early_end_kernel>), 0);
}
END_TEST

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
__global__ void read_vector_kernel(float *x, const float *y)
{
    x[0] = reinterpret_cast<const Vector<float> *>(y + 1)->number[0];
}

template <int at> static int read_shared()
{
    Numbers x(32);
    launch(read_shared_kernel, 1, 32, 25 * sizeof(float), x.gpu, at);
    float first = x.read()[0];
    return first == first; /* new shared memory is full of NaN */
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
static int read_misaligned()
{
    Numbers x(32), y(27);
    launch(read_vector_kernel, 1, 1, 0, x.gpu, y.gpu);
    return x.read()[0] != 1;
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
static int read_freed()
{
    Numbers x(32);
    float *y;
    CUDA_CHECK(cudaMalloc(&y, 400));
    CUDA_CHECK(cudaFree(y));
    cudaLaunchConfig_t how = {};
    how.gridDim = how.blockDim = 1;
    struct Hidden { /* pointers in structs aren't looked at when a kernel is issued */
        float *y;
    } hidden = {y};
    void (*kernel)(float *, Hidden) = [](float *to, Hidden from) { *to = *from.y; };
    CUDA_CHECK(cudaLaunchKernelEx(&how, kernel, x.gpu, hidden));
    return x.read()[0] != 0;
}
static int read_new()
{
    float *x, host;
    CUDA_CHECK(cudaMalloc(&x, sizeof *x));
    CUDA_CHECK(cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost));
    return host == host;
}

START_TEST(memory)
{
    ck_assert_int_eq(wrong_orders(read_shared<24>), 0);
    ck_assert(ends_with(read_shared<25>, "heap-buffer-overflow"));
    ck_assert_int_eq(wrong_orders(read_static<9>), 0);
    ck_assert(ends_with(read_static<10>, "insufficient space"));
    ck_assert_int_eq(wrong_orders(read_global<26>), 0);
    ck_assert(ends_with(read_global<27>, "heap-buffer-overflow"));
    ck_assert(ends_with(read_global<-1>, "heap-buffer-overflow"));
    ck_assert(ends_with(read_misaligned, "misaligned"));
    ck_assert(ends_with(read_by_host, "use-after-poison"));
    ck_assert(ends_with(read_of_host, "not the GPU's"));
    ck_assert(ends_with(read_freed, "heap-use-after-free"));
    ck_assert_int_eq(wrong_orders(read_new), 0);
}
END_TEST

/* ---- copies to shared memory ---- */

/* Each lane copies 16 bytes twice, in two groups, and waits for `done` of them; x[2][32][4] becomes what is there. */
template <int done> __global__ void copy_kernel(float *x, const float *from, int valid)
{
    float *to = dynamic_shared<float>();
    unsigned at = threadIdx.x * 4;
    copy_async(to + at, from + at, valid);
    copy_async_commit();
    copy_async(to + 128 + at, from + 128 + at, valid);
    copy_async_commit();
    if (done)
        copy_async_wait<done == 1>();
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += 32)
        x[i] = to[i];
}

template <int done> static void check_copies(int valid)
{
    Numbers x(256), from(256);
    launch(copy_kernel<done>, 1, 32, 1024, x.gpu, from.gpu, valid);
    const float *host = x.read();
    for (int i = 0; i < 256; i++)
        if (i / 128 >= done)
            ck_assert_float_nan(host[i]);
        else
            ck_assert_float_eq(host[i], i % 4 < valid / 4 ? static_cast<float>(i) : 0);
}

START_TEST(copies)
{
    for (int valid = 0; valid <= 16; valid += 4) {
        check_copies<0>(valid);
        check_copies<1>(valid);
        check_copies<2>(valid);
    }
}
END_TEST

/* ---- numbers ---- */

static float of_bits(unsigned bits)
{
    return __uint_as_float(bits);
}

START_TEST(rounding)
{
    /* a tie goes away from zero; beside it, to the nearest */
    ck_assert_uint_eq(round_tf32(of_bits(0x3f801000)), 0x3f802000);
    ck_assert_uint_eq(round_tf32(of_bits(0x3f803000)), 0x3f804000);
    ck_assert_uint_eq(round_tf32(of_bits(0xbf801000)), 0xbf802000);
    ck_assert_uint_eq(round_tf32(of_bits(0x3f800fff)), 0x3f800000);
    ck_assert_uint_eq(round_tf32(of_bits(0x7f7fffff)), 0x7f800000);
    ck_assert_uint_eq(round_tf32(of_bits(0x7f800000)), 0x7f800000);
    ck_assert_uint_eq(round_tf32(of_bits(0xffc00000)) & 0x7fffffff, 0x7fffffff);
    /* a tie goes to the even one */
    ck_assert_uint_eq(__float2bfloat16_rn(of_bits(0x3f808000)).bits, 0x3f80);
    ck_assert_uint_eq(__float2bfloat16_rn(of_bits(0x3f818000)).bits, 0x3f82);
    ck_assert_uint_eq(__float2bfloat16_rn(of_bits(0x3f808001)).bits, 0x3f81);
    ck_assert_uint_eq(__float2bfloat16_rn(of_bits(0x7f7fffff)).bits, 0x7f80);
    ck_assert_uint_eq(__float2bfloat16_rn(of_bits(0x7f800001)).bits, 0x7fff);
    ck_assert_uint_eq(__float2bfloat16_rn(of_bits(0x80000000)).bits, 0x8000);
    ck_assert_float_eq(exp2_approximate(-127), 0);
    ck_assert_float_eq(exp2_approximate(-INFINITY), 0);
    ck_assert_float_eq(exp2_approximate(3), 8);
}
END_TEST

/* ---- a warp's calls ---- */

__global__ void shuffle_kernel(float *x)
{
    float mine = x[threadIdx.x];
    x[threadIdx.x] = __shfl_sync(WHOLE_WARP, mine, 5) + 100 * __shfl_xor_sync(WHOLE_WARP, mine, 3) +
                     10000 * __shfl_down_sync(WHOLE_WARP, mine, 4, 8);
    x[threadIdx.x] += 1e6f * static_cast<float>(__shfl_up_sync(WHOLE_WARP, static_cast<int>(mine), 1));
    if (__ballot_sync(WHOLE_WARP, threadIdx.x % 4 == 1) != 0x22222222 || !__any_sync(WHOLE_WARP, threadIdx.x == 3) ||
        __all_sync(WHOLE_WARP, threadIdx.x != 3) || warp_sum(1.0) != 32)
        x[threadIdx.x] = -1;
}

START_TEST(shuffles)
{
    Numbers x(32);
    launch(shuffle_kernel, 1, 32, 0, x.gpu);
    const float *host = x.read();
    for (int i = 0; i < 32; i++) {
        int down = i % 8 < 4 ? i + 4 : i, up = i ? i - 1 : 0;
        ck_assert_float_eq(host[i], 5 + 100 * static_cast<float>(i ^ 3) + 10000 * static_cast<float>(down) +
                                        1e6f * static_cast<float>(up));
    }
}
END_TEST

/* Places of a lane's numbers, as NVIDIA's PTX ISA has them for mma.m16n8k16 (.bf16) and mma.m16n8k8 (.tf32). */
__device__ int row_of_a(int lane, int i, bool tf32)
{
    bool first = tf32 ? i == 0 || i == 2 : i < 2 || (i >= 4 && i < 6);
    return first ? lane >> 2 : (lane >> 2) + 8;
}
__device__ int column_of_a(int lane, int i, bool tf32)
{
    if (tf32)
        return i < 2 ? lane % 4 : lane % 4 + 4;
    return lane % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0);
}
__device__ int row_of_b(int lane, int i, bool tf32)
{
    if (tf32)
        return i == 0 ? lane % 4 : lane % 4 + 4;
    return lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0);
}

/* d[16, 8] = 1 + a[16, K] * b[K, 8] with K = 16 of bfloat16, or 8 of TF32. */
__global__ void product_kernel(float *d, const float *a, const float *b, int tf32)
{
    int lane = static_cast<int>(threadIdx.x), K = tf32 ? 8 : 16;
    uint32_t x[4] = {}, y[2] = {};
    float sum[4] = {1, 1, 1, 1};
    for (int i = 0; i < (tf32 ? 4 : 8); i++) {
        float number = a[row_of_a(lane, i, tf32) * K + column_of_a(lane, i, tf32)];
        if (tf32)
            x[i] = round_tf32(number);
        else
            x[i / 2] |= static_cast<uint32_t>(__bfloat16_as_ushort(__float2bfloat16_rn(number))) << i % 2 * 16;
    }
    for (int i = 0; i < (tf32 ? 2 : 4); i++) {
        float number = b[row_of_b(lane, i, tf32) * 8 + (lane >> 2)];
        if (tf32)
            y[i] = round_tf32(number);
        else
            y[i / 2] |= static_cast<uint32_t>(__bfloat16_as_ushort(__float2bfloat16_rn(number))) << i % 2 * 16;
    }
    if (tf32)
        mma_tf32(sum, x, y);
    else
        mma_bf16(sum, x, y);
    for (int i = 0; i < 4; i++)
        d[((lane >> 2) + (i < 2 ? 0 : 8)) * 8 + lane % 4 * 2 + (i & 1)] = sum[i];
}

START_TEST(products)
{
    for (int tf32 = 0; tf32 < 2; tf32++) {
        int K = tf32 ? 8 : 16;
        Numbers d(128), a(256), b(128);
        launch(product_kernel, 1, 32, 0, d.gpu, a.gpu, b.gpu, tf32);
        const float *host = d.read();
        for (int i = 0; i < 128; i++) { /* all numbers are whole and below 256, so the types hold them */
            int sum = 1;
            for (int k = 0; k < K; k++)
                sum += (i / 8 * K + k) * (k * 8 + i % 8);
            ck_assert_float_eq(host[i], static_cast<float>(sum));
        }
    }
}
END_TEST

/* Four matrices of numbers 64 i + 8 row + column; each lane's words become pairs of floats. */
__global__ void load_kernel(float *x, int transposed)
{
    uint16_t *matrix = dynamic_shared<uint16_t>();
    for (unsigned i = threadIdx.x; i < 256; i += 32)
        matrix[i] = static_cast<uint16_t>(i);
    __syncwarp();
    uint32_t word[4];
    if (transposed)
        load_matrices_transposed(word, matrix + 8 * threadIdx.x);
    else
        load_matrices(word, matrix + 8 * threadIdx.x);
    for (unsigned i = 0; i < 8; i++)
        x[threadIdx.x * 8 + i] = static_cast<float>(word[i / 2] >> i % 2 * 16 & 0xffff);
}

START_TEST(loads)
{
    for (int transposed = 0; transposed < 2; transposed++) {
        Numbers x(256);
        launch(load_kernel, 1, 32, 512, x.gpu, transposed);
        const float *host = x.read();
        for (int i = 0; i < 256; i++) {
            int lane = i / 8, row = lane / 4, column = lane % 4 * 2 + i % 2;
            int expected = i % 8 / 2 * 64 + (transposed ? column * 8 + row : row * 8 + column);
            ck_assert_float_eq(host[i], static_cast<float>(expected));
        }
    }
}
END_TEST

/* ---- limits ---- */

__global__ void nothing_kernel(float *) {}

static cudaError_t launched(dim3 grid, dim3 block, size_t shared)
{
    cudaLaunchConfig_t how = {};
    how.gridDim = grid;
    how.blockDim = block;
    how.dynamicSmemBytes = shared;
    return cudaLaunchKernelEx(&how, nothing_kernel, static_cast<float *>(nullptr));
}

START_TEST(limits)
{
    ck_assert_int_eq(launched(1, 1024, 48 << 10), cudaSuccess);
    ck_assert_int_eq(launched(1, 1025, 0), cudaErrorInvalidConfiguration);
    ck_assert_int_eq(launched(1, dim3(32, 33), 0), cudaErrorInvalidConfiguration);
    ck_assert_int_eq(launched(0, 1, 0), cudaErrorInvalidConfiguration);
    ck_assert_int_eq(launched(dim3(1, 65536), 1, 0), cudaErrorInvalidConfiguration);
    ck_assert_int_eq(launched(1, 1, (48 << 10) + 1), cudaErrorInvalidValue);
    ck_assert_int_eq(cudaPeekAtLastError(), cudaErrorInvalidValue);
    ck_assert_int_eq(cudaGetLastError(), cudaErrorInvalidValue);
    ck_assert_int_eq(cudaGetLastError(), cudaSuccess);
    auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
    ck_assert_int_eq(cudaFuncSetAttribute(nothing_kernel, attribute, (227 << 10) + 1), cudaErrorInvalidValue);
    ck_assert_int_eq(cudaFuncSetAttribute(nothing_kernel, attribute, 227 << 10), cudaSuccess);
    ck_assert_int_eq(launched(1, 1, 227 << 10), cudaSuccess);
    CUDA_CHECK(cudaDeviceSynchronize());
}
END_TEST

int main()
{
    Suite *suite = suite_create("kernels of the emulation");
    TCase *tcase = tcase_create("kernels");
    suite_add_tcase(suite, tcase);
    tcase_set_timeout(tcase, 120);
    for (const TTest *test :
         {missing_barriers, divergence, memory, copies, rounding, shuffles, products, loads, limits})
        tcase_add_test(tcase, test);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
