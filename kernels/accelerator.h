/* accelerator.h - the kinds of processor besides the CPU that ranks can compute on.
 *
 * To add one, write its struct accelerator and its struct device, and add a row in accelerator.c. */
#ifndef KERNELS_ACCELERATOR_H
#define KERNELS_ACCELERATOR_H

#include "kernels/device.h"

/* One GPU. The members from compute_major on have the names that profilers give them. */
struct gpu_facts {
    char name[256];
    char id[48];         /* "GPU-...", the same in every process, however it numbers the GPUs */
    int index;           /* as this process numbers its GPUs */
    int driver, runtime; /* versions of CUDA: 1000 * major + 10 * minor */
    size_t total_memory, free_memory;
    int compute_major, compute_minor;
    int max_threads_per_block, max_threads_per_multiprocessor, registers_per_block, warp_size, multiprocessors;
    size_t shared_memory_per_block;
};

struct accelerator {
    const char *name;  /* the value of --device that chooses it */
    const char *built; /* what the program was built with, such as "CUDA 13.0 for sm_80, sm_90"; "none" without it */
    /* The number of GPUs that this process sees, at least 1; or -1, reported: the program was built without support,
     * there is no driver, the driver is too old, or it shows no GPU. */
    int (*count)(void);
    /* Describes GPU `index` in [0, count()). Returns 0; or -1, reported. Using a GPU may take some of its memory, which
     * is not free any more afterwards. */
    int (*describe)(int index, struct gpu_facts *gpu);
    /* As describe, without using the GPU: free_memory is 0. Returns 0; or -1, not reported. */
    int (*identify)(int index, struct gpu_facts *gpu);
    /* Opens the device that computes on GPU `index`; a process opens one only. The table is static. Returns 0; or -1,
     * reported: the program has no code for this GPU, or the GPU is broken, taken, or lacks what the operations need.
     */
    int (*open)(int index, enum precision precision, const struct device **device);
    /* Starts (1) or stops (0) the vendor's profiler, if the process runs under one that waits for that. */
    void (*profiler)(int on);
};

/* The accelerators in the order in which --device auto tries them, then NULL; and the values of --device: auto, cpu and
 * the name of each, then NULL. */
extern const struct accelerator *const accelerators[];
extern const char *const device_names[];

#endif
