/* device_cpu.c - the CPU device: its table of operations, its number of threads, and its memory. */
#include "kernels/clock.h"
#include "kernels/cpu/cpu.h"
#include "kernels/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int cpu_threads = 1;

static const struct device table = {
    .name = "cpu",
    .precision = PRECISION_FP32,
    .compute_bytes = sizeof(float),
    .host_reads_memory = 1,
    .allocate = cpu_allocate,
    .release = cpu_release,
    .upload = cpu_upload,
    .download = cpu_download,
    .synchronize = cpu_synchronize,
    .stamp = cpu_stamp,
    .stamps_begin = cpu_synchronize,
    .stamps_end = cpu_synchronize,
    .stamp_ns = cpu_stamp_ns,
    .allocate_host = cpu_allocate,
    .release_host = cpu_release,
    .staging_create = cpu_staging_create,
    .staging_destroy = cpu_synchronize,
    .stage_out = cpu_stage_copy,
    .stage_in = cpu_stage_copy,
    .stage_reached = cpu_stage_reached,
    .phase = cpu_phase,
    .range_begin = cpu_range_begin,
    .range_end = cpu_range_end,
    .annotation_begin = cpu_annotation_begin,
    .annotation_end = cpu_range_end,
    .zero = cpu_zero,
    .copy = cpu_copy,
    .pack_bf16 = cpu_pack_bf16,
    .unpack_bf16 = cpu_unpack_bf16,
    .embedding_forward = cpu_embedding_forward,
    .embedding_backward = cpu_embedding_backward,
    .linear_forward = cpu_linear_forward,
    .linear_residual_forward = cpu_linear_residual_forward,
    .linear_backward_input = cpu_linear_backward_input,
    .linear_backward_weight = cpu_linear_backward_weight,
    .rmsnorm_forward = cpu_rmsnorm_forward,
    .rmsnorm_backward = cpu_rmsnorm_backward,
    .rope_forward = cpu_rope_forward,
    .attention_forward = cpu_attention_forward,
    .attention_backward = cpu_attention_backward,
    .swiglu_forward = cpu_swiglu_forward,
    .swiglu_backward = cpu_swiglu_backward,
    .cross_entropy = cpu_cross_entropy,
    .grad_norm = cpu_grad_norm,
    .adamw = cpu_adamw,
    .axpby = cpu_axpby,
    .low_rank_left = cpu_low_rank_left,
    .low_rank_right = cpu_low_rank_right,
    .low_rank_restore = cpu_low_rank_restore,
};

const struct device *device_cpu(int threads)
{
    cpu_threads = threads;
    cpu_blas_set_threads(threads);
    return &table;
}

/* Allocates zeroed memory. For large sizes, aligns it to huge pages and requests them, for fewer TLB misses in long
 * streams. */
void *cpu_allocate(size_t bytes)
{
    const size_t huge_page = (size_t)2 << 20, cache_line = 64;
    int large = bytes >= 2 * huge_page;
    size_t alignment = large ? huge_page : cache_line;
    void *memory;
    int code = posix_memalign(&memory, alignment, bytes ? bytes : 1);
    if (code != 0)
        fatal_no_memory(bytes, 1);
    if (large) {
        (void)madvise(memory, bytes, MADV_HUGEPAGE); /* only a hint: a kernel without huge pages refuses it */
        cpu_zero(memory, bytes / sizeof(float));     /* the threads that will use the memory touch it first */
    }
    size_t done = large ? bytes / sizeof(float) * sizeof(float) : 0;
    memset((char *)memory + done, 0, bytes - done);
    return memory;
}

void cpu_release(void *memory)
{
    free(memory);
}

float *cpu_scratch(size_t n)
{
    static float *scratch;
    static size_t have;
    if (n > have) {
        cpu_release(scratch);
        scratch = cpu_allocate(n * sizeof(float));
        have = n;
    }
    return scratch;
}

void cpu_upload(void *to, const void *from_host, size_t bytes)
{
    memcpy(to, from_host, bytes);
}

void cpu_download(void *to_host, const void *from, size_t bytes)
{
    memcpy(to_host, from, bytes);
}

void cpu_synchronize(void)
{
    /* Operations are complete when they return. */
}

int64_t cpu_stamp(void)
{
    return clock_now_ns(); /* this time is correct, because all operations issued so far are complete */
}

int64_t cpu_stamp_ns(int64_t ticket)
{
    return ticket; /* stamps are times, not tickets */
}

void cpu_staging_create(size_t marks)
{
    (void)marks; /* copies are complete when they return */
}

void cpu_stage_copy(void *to, const void *from, size_t bytes, size_t mark)
{
    (void)mark;
    memcpy(to, from, bytes);
}

int cpu_stage_reached(size_t mark)
{
    (void)mark;
    return 1;
}

void cpu_phase(const char *name)
{
    (void)name; /* ignored: there is no vendor's profiler */
}

void cpu_range_begin(const char *name, int number)
{
    (void)name, (void)number;
}

void cpu_range_end(void) {}

void cpu_annotation_begin(const char *format, ...)
{
    (void)format;
}
