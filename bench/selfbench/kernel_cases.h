/* kernel_cases.h - what bench_kernels times: the operations of a device, each with arrays, sizes, and the bytes that it
 * must move and the operations that it must do at least (operations.h). Declaring both for each kernel is after Hager
 * and Eitzinger's TheBandwidthBenchmark (RRZE). */
#ifndef BENCH_SELFBENCH_KERNEL_CASES_H
#define BENCH_SELFBENCH_KERNEL_CASES_H

#include "kernels/device.h"
#include "kernels/operations.h"

struct kernel_arrays;

struct kernel_case {
    const char *name;         /* of the operation, as in operations.h; or "copy loop" */
    enum operation operation; /* OPERATIONS: the loop */
    const char *dtype;        /* as PyTorch calls it: float32, tf32 or bfloat16 */
    char sizes[64];           /* "N=512 I=768 O=3072" */
    double bytes, flops;
    int memory_bound; /* compared with a copy */
    size_t size[4];   /* in the order of operations.h */
    int calls;        /* in a timed stretch; set, as the next, by what times it */
    double *seconds;  /* [rounds] of a call */
};

struct kernel_cases {
    struct kernel_arrays *arrays;
    size_t array_bytes; /* of those that memory-bound operations work on */
    struct kernel_case *item;
    size_t n, copy; /* item[copy] is what memory-bound ones are compared with */
};

/* Arrays of that many MiB or a little more, and cases: the memory-bound operations; and matrix products and attention,
 * on the CPU one of each, otherwise at the sizes of two models and of several heads (`quick`: small ones). On the CPU
 * the copy is a plain loop on so many threads. Release with kernel_cases_destroy. */
void kernel_cases_create(struct kernel_cases *cases, const struct device *device, int threads, size_t array_mib,
                         int quick);
void kernel_cases_destroy(struct kernel_cases *cases);

/* Asks the device for the operation; the loop runs at once. */
void kernel_case_run(const struct kernel_arrays *arrays, const struct kernel_case *k);

#endif
