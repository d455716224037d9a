/* device_cuda.cu - the CUDA device: finds and opens GPUs, and fills in the table of operations. */
#include "kernels/cuda/matmul.cuh"
#include "kernels/cuda/operations.cuh"

extern "C" {
#include "kernels/cuda/gpu_memory.h"
#include "kernels/cuda/ranges.h"
#include "kernels/cuda/stamps.h"
#include "kernels/device_cuda.h"
}

#include <cuda_profiler_api.h>
#include <stdio.h>
#include <string.h>

cudaStream_t cuda_stream;
size_t cuda_block_shared;
enum precision cuda_precision;

/* ---- GPUs ---- */

static void version_text(int version, char text[16])
{
    snprintf(text, 16, "%d.%d", version / 1000, version % 1000 / 10);
}

static int cuda_count(void)
{
    int count = 0, driver = 0, runtime = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    cudaGetLastError(); /* clears the error, which the next check would report */
    if (code == cudaSuccess && count > 0)
        return count;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    char has[16], needs[16];
    version_text(driver, has);
    version_text(runtime, needs);
    if (driver == 0)
        return error_report("there is no NVIDIA driver on this machine; install it to use a GPU");
    if (code == cudaErrorInsufficientDriver)
        return error_report(
            "the NVIDIA driver is too old: it supports CUDA up to %s, and this program was built with %s; update "
            "the driver, or build with an older toolkit",
            has, needs);
    if (code == cudaSuccess || code == cudaErrorNoDevice)
        return error_report("the NVIDIA driver shows no GPU to this process (is CUDA_VISIBLE_DEVICES empty?)");
    return error_report("the NVIDIA driver cannot be used: %s", cudaGetErrorString(code));
}

/* Writes a GPU's id as nvidia-smi does. */
static void write_id(char *text, size_t size, const cudaUUID_t *uuid)
{
    size_t at = static_cast<size_t>(snprintf(text, size, "GPU-"));
    for (int i = 0; i < 16; i++)
        at += static_cast<size_t>(snprintf(text + at, size - at, "%s%02x",
                                           i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                                           static_cast<unsigned>(static_cast<unsigned char>(uuid->bytes[i]))));
}

static int refuse_gpu(int index, cudaError_t code)
{
    cudaGetLastError();
    return error_report("GPU %d cannot be used: %s", index, cudaGetErrorString(code));
}

static cudaError_t read_facts(int index, struct gpu_facts *gpu)
{
    cudaDeviceProp p;
    *gpu = {};
    cudaError_t code = cudaGetDeviceProperties(&p, index);
    if (code != cudaSuccess)
        return code;
    gpu->index = index;
    gpu->total_memory = p.totalGlobalMem;
    snprintf(gpu->name, sizeof gpu->name, "%s", p.name);
    write_id(gpu->id, sizeof gpu->id, &p.uuid);
    cudaDriverGetVersion(&gpu->driver);
    cudaRuntimeGetVersion(&gpu->runtime);
    gpu->compute_major = p.major;
    gpu->compute_minor = p.minor;
    gpu->max_threads_per_block = p.maxThreadsPerBlock;
    gpu->max_threads_per_multiprocessor = p.maxThreadsPerMultiProcessor;
    gpu->registers_per_block = p.regsPerBlock;
    gpu->warp_size = p.warpSize;
    gpu->multiprocessors = p.multiProcessorCount;
    gpu->shared_memory_per_block = p.sharedMemPerBlock;
    gpu->cache_bytes = static_cast<size_t>(p.l2CacheSize);
    return cudaSuccess;
}

static int cuda_describe(int index, struct gpu_facts *gpu)
{
    cudaError_t code = read_facts(index, gpu);
    if (code == cudaSuccess)
        code = cudaSetDevice(index);
    if (code == cudaSuccess)
        code = cudaMemGetInfo(&gpu->free_memory, &gpu->total_memory);
    return code == cudaSuccess ? 0 : refuse_gpu(index, code);
}

static int cuda_identify(int index, struct gpu_facts *gpu)
{
    if (read_facts(index, gpu) == cudaSuccess)
        return 0;
    cudaGetLastError(); /* clears the error, which the next check would report */
    return -1;
}

static void cuda_profiler(int on)
{
    CUDA_CHECK(on ? cudaProfilerStart() : cudaProfilerStop());
}

/* ---- the tables of operations ---- */

template <typename Number> static struct device make_table(enum precision precision)
{
    struct device d = {};
    d.name = ddpbench_accelerator.name;
    d.accelerator = &ddpbench_accelerator;
    d.most_head_width = DEVICE_CUDA_MOST_HEAD_WIDTH;
    d.precision = precision;
    d.compute_bytes = sizeof(Number);
    d.asynchronous = 1;
    d.allocate = cuda_allocate;
    d.release = cuda_release;
    d.upload = cuda_upload;
    d.download = cuda_download;
    d.synchronize = cuda_synchronize;
    d.stamp = cuda_stamp;
    d.stamps_begin = cuda_stamps_begin;
    d.stamps_end = cuda_stamps_end;
    d.stamp_ns = cuda_stamp_ns;
    d.allocate_host = cuda_allocate_host;
    d.release_host = cuda_release_host;
    d.staging_create = cuda_staging_create;
    d.staging_destroy = cuda_staging_destroy;
    d.stage_out = cuda_stage_out;
    d.stage_in = cuda_stage_in;
    d.stage_reached = cuda_stage_reached;
    d.phase = cuda_phase;
    d.range_begin = cuda_range_begin;
    d.range_end = cuda_range_end;
    d.annotation_begin = cuda_annotation_begin;
    d.annotation_end = cuda_range_end;
    d.zero = cuda_zero;
    d.copy = cuda_copy;
    d.pack_bf16 = cuda_pack_bf16;
    d.unpack_bf16 = cuda_unpack_bf16;
    d.embedding_forward = cuda_embedding_forward<Number>;
    d.embedding_backward = cuda_embedding_backward<Number>;
    d.linear_forward = cuda_linear_forward<Number>;
    d.linear_residual_forward = cuda_linear_residual_forward<Number>;
    d.linear_backward_input = cuda_linear_backward_input<Number>;
    d.linear_backward_weight = cuda_linear_backward_weight<Number>;
    d.rmsnorm_forward = cuda_rmsnorm_forward<Number>;
    d.rmsnorm_backward = cuda_rmsnorm_backward<Number>;
    d.rope_forward = cuda_rope_forward<Number>;
    d.attention_forward = cuda_attention_forward<Number>;
    d.attention_backward = cuda_attention_backward<Number>;
    d.swiglu_forward = cuda_swiglu_forward<Number>;
    d.swiglu_backward = cuda_swiglu_backward<Number>;
    d.cross_entropy = cuda_cross_entropy<Number>;
    d.grad_norm = cuda_grad_norm;
    d.adamw = cuda_adamw<Number>;
    d.axpby = cuda_axpby;
    d.low_rank_left = cuda_low_rank_left;
    d.low_rank_right = cuda_low_rank_right;
    d.low_rank_restore = cuda_low_rank_restore;
    return d;
}

static struct device table;

/* An empty kernel: launching it shows whether the program has code for a GPU. */
__global__ static void empty_kernel() {}

static int cuda_open(int index, enum precision precision, const struct gpu_products *products,
                     const struct device **device)
{
    cudaFuncAttributes attributes;
    cudaDeviceProp p;
    cudaError_t code = cudaSetDevice(index);
    if (code == cudaSuccess)
        code = cudaGetDeviceProperties(&p, index);
    if (code == cudaSuccess)
        code = cudaFuncGetAttributes(&attributes, empty_kernel);
    cudaGetLastError();
    if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction)
        return error_report("this program has code for %s; GPU %d, %s, is sm_%d%d: build with CUDA_ARCHITECTURES=%d%d",
                            CUDA_BUILT, index, p.name, p.major, p.minor, p.major, p.minor);
    if (code == cudaErrorDevicesUnavailable)
        return error_report("GPU %d is in use by another process in exclusive compute mode; choose another GPU", index);
    if (code == cudaErrorMemoryAllocation)
        return error_report("GPU %d has no free memory to start; end other programs on it", index);
    if (code != cudaSuccess)
        return error_report("GPU %d cannot be used: %s", index, cudaGetErrorString(code));
    if (p.sharedMemPerBlockOptin < DEVICE_CUDA_LEAST_SHARED)
        return error_report("GPU %d, %s, allows a thread block only %zu bytes of shared memory; attention needs %d; "
                            "choose another GPU, or --device cpu",
                            index, p.name, p.sharedMemPerBlockOptin, DEVICE_CUDA_LEAST_SHARED);
    if (products->library == BLAS_CBLAS || products->library == BLAS_ONEDNN)
        return error_report("--blas cblas and --blas onednn are for CPUs; on a GPU it is auto, cublas or cublaslt");
    if (products->sms > static_cast<size_t>(p.multiProcessorCount))
        return error_report("--gemm-sms %zu: GPU %d, %s, has only %d multiprocessors", products->sms, index, p.name,
                            p.multiProcessorCount);
    cuda_block_shared = p.sharedMemPerBlockOptin;
    if (!cuda_stream)
        CUDA_CHECK(cudaStreamCreateWithFlags(&cuda_stream, cudaStreamNonBlocking));
    cuda_matmul_open(products);
    cuda_precision = precision;
    table = precision == PRECISION_BF16 ? make_table<bf16>(precision) : make_table<float>(precision);
    *device = &table;
    return 0;
}

const struct accelerator ddpbench_accelerator = {"cuda",        CUDA_BUILT, cuda_count,    cuda_describe,
                                                 cuda_identify, cuda_open,  cuda_profiler, cuda_algorithms};
