/* gpu_memory.c - the GPU's memory, copies to and from it, and asynchronous copies. */
#include "kernels/cuda/gpu_memory.h"

#include "kernels/cuda/runtime.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

void *cuda_allocate(size_t bytes)
{
    void *memory;
    cudaError_t code = cudaMalloc(&memory, bytes ? bytes : 1);
    if (code == cudaErrorMemoryAllocation) {
        size_t free_bytes = 0, total = 0;
        cudaMemGetInfo(&free_bytes, &total);
        FATAL("cannot allocate %.1f MiB of GPU memory: %.1f of %.1f MiB are free; use a smaller --batch-size, "
              "--context-length, --num-layers or --d-model, or more GPUs",
              (double)bytes / 1048576, (double)free_bytes / 1048576, (double)total / 1048576);
    }
    CUDA_CHECK(code);
    CUDA_CHECK(cudaMemsetAsync(memory, 0, bytes, cuda_stream));
    return memory;
}

void cuda_release(void *memory)
{
    if (!memory)
        return;
    CUDA_CHECK(cudaDeviceSynchronize()); /* cudaFree does not always wait for queued work that uses the memory */
    CUDA_CHECK(cudaFree(memory));
}

void *cuda_scratch(size_t bytes)
{
    static void *scratch;
    static size_t have;
    if (bytes > have) {
        cuda_release(scratch);
        scratch = cuda_allocate(bytes);
        have = bytes;
    }
    return scratch;
}

/* ---- uploads through a ring of pinned memory, so that the host may reuse its buffer immediately ---- */

enum { RING_BYTES = 16 << 20, PARTS = 64, PART_BYTES = RING_BYTES / PARTS };

static char *ring;                /* [PARTS, PART_BYTES] */
static cudaEvent_t copied[PARTS]; /* each event is recorded after the last copy from its part of the ring */
static size_t parts_used;         /* number of parts used so far; the next is part parts_used % PARTS */

static void make_ring(void)
{
    CUDA_CHECK(cudaMallocHost((void **)&ring, RING_BYTES));
    for (int i = 0; i < PARTS; i++)
        CUDA_CHECK(cudaEventCreateWithFlags(&copied[i], cudaEventDisableTiming));
}

void cuda_upload(void *to, const void *from_host, size_t bytes)
{
    if (!ring)
        make_ring();
    for (size_t at = 0; at < bytes; at += PART_BYTES) {
        size_t part = parts_used++ % PARTS, n = bytes - at < PART_BYTES ? bytes - at : PART_BYTES;
        char *stage = ring + part * PART_BYTES;
        CUDA_CHECK(cudaEventSynchronize(copied[part])); /* waits only if the host is a whole ring ahead */
        memcpy(stage, (const char *)from_host + at, n);
        CUDA_CHECK(cudaMemcpyAsync((char *)to + at, stage, n, cudaMemcpyHostToDevice, cuda_stream));
        CUDA_CHECK(cudaEventRecord(copied[part], cuda_stream));
    }
}

void cuda_download(void *to_host, const void *from, size_t bytes)
{
    CUDA_CHECK(cudaMemcpyAsync(to_host, from, bytes, cudaMemcpyDeviceToHost, cuda_stream));
    CUDA_CHECK(cudaStreamSynchronize(cuda_stream));
}

void cuda_synchronize(void)
{
    CUDA_CHECK(cudaDeviceSynchronize());
}

/* ---- asynchronous copies ---- */

static cudaStream_t out_lane, in_lane; /* one stream per direction */
static cudaEvent_t issued;             /* recorded before a copy out, after all operations issued so far */
static cudaEvent_t *mark;              /* [marks]; event i is recorded after the last copy with mark i */
static size_t marks;
static int gpu; /* the GPU to which the streams belong */

void *cuda_allocate_host(size_t bytes)
{
    void *memory;
    cudaError_t code = cudaMallocHost(&memory, bytes ? bytes : 1);
    if (code == cudaErrorMemoryAllocation)
        FATAL("cannot allocate %.1f MiB of pinned host memory", (double)bytes / 1048576);
    CUDA_CHECK(code);
    return memory;
}

void cuda_release_host(void *memory)
{
    CUDA_CHECK(cudaFreeHost(memory));
}

/* Sets the calling thread's GPU, because CUDA's current GPU is set per thread; a thread that has not set it would
 * create a context on GPU 0. */
static void choose_gpu(void)
{
    static _Thread_local int chosen;
    if (!chosen)
        CUDA_CHECK(cudaSetDevice(gpu));
    chosen = 1;
}

void cuda_staging_create(size_t n)
{
    int lowest, highest;
    if (mark)
        FATAL("the asynchronous copies already have a user");
    CUDA_CHECK(cudaGetDevice(&gpu));
    CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUDA_CHECK(cudaStreamCreateWithPriority(&out_lane, cudaStreamNonBlocking, highest));
    CUDA_CHECK(cudaStreamCreateWithPriority(&in_lane, cudaStreamNonBlocking, highest));
    CUDA_CHECK(cudaEventCreateWithFlags(&issued, cudaEventDisableTiming));
    marks = n;
    mark = allocate(n, sizeof(cudaEvent_t));
    for (size_t i = 0; i < n; i++)
        CUDA_CHECK(cudaEventCreateWithFlags(&mark[i], cudaEventDisableTiming));
}

void cuda_staging_destroy(void)
{
    for (size_t i = 0; i < marks; i++)
        CUDA_CHECK(cudaEventDestroy(mark[i]));
    free(mark);
    mark = NULL;
    marks = 0;
    CUDA_CHECK(cudaEventDestroy(issued));
    CUDA_CHECK(cudaStreamDestroy(out_lane));
    CUDA_CHECK(cudaStreamDestroy(in_lane));
}

void cuda_stage_out(void *to_host, const void *from, size_t bytes, size_t i)
{
    CUDA_CHECK(cudaEventRecord(issued, cuda_stream));
    CUDA_CHECK(cudaStreamWaitEvent(out_lane, issued, 0));
    CUDA_CHECK(cudaMemcpyAsync(to_host, from, bytes, cudaMemcpyDeviceToHost, out_lane));
    CUDA_CHECK(cudaEventRecord(mark[i], out_lane));
}

void cuda_stage_in(void *to, const void *from_host, size_t bytes, size_t i)
{
    choose_gpu();
    CUDA_CHECK(cudaMemcpyAsync(to, from_host, bytes, cudaMemcpyHostToDevice, in_lane));
    CUDA_CHECK(cudaEventRecord(mark[i], in_lane));
}

int cuda_stage_reached(size_t i)
{
    choose_gpu();
    cudaError_t code = cudaEventQuery(mark[i]);
    if (code == cudaErrorNotReady) {
        (void)cudaGetLastError(); /* clears the "not ready" error, which the next check would report */
        return 0;
    }
    CUDA_CHECK(code);
    return 1;
}
