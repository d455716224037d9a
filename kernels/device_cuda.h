/* device_cuda.h - NVIDIA GPUs: which there are, and the device that computes on one of them.
 *
 * Where no CUDA compiler was found when the program was built, device_cuda_absent.c takes its place and reports that.
 */
#ifndef KERNELS_DEVICE_CUDA_H
#define KERNELS_DEVICE_CUDA_H

#include "kernels/device.h"

/* What is known about a GPU; the last part under the names that profilers give it. */
struct gpu_facts {
    char name[256];
    char id[48];         /* "GPU-...", the same whichever process asks and however it numbers the GPUs */
    int index;           /* as this process numbers its GPUs */
    int driver, runtime; /* versions of CUDA: 1000 * major + 10 * minor */
    size_t total_memory, free_memory;
    int compute_major, compute_minor;
    int max_threads_per_block, max_threads_per_multiprocessor, registers_per_block, warp_size, multiprocessors;
    size_t shared_memory_per_block;
};

/* Attention keeps tiles of a head in a multiprocessor's shared memory: the widest head, and the bytes that a GPU must
 * let a block have. sm_86, sm_89 and sm_120 give that; sm_80 163 KiB, sm_90 and sm_100 227 KiB. */
enum { DEVICE_CUDA_MOST_HEAD_WIDTH = 256, DEVICE_CUDA_LEAST_SHARED = 99 << 10 };

/* How many GPUs this process sees, at least 1; or -1, reported: the program was built without CUDA, there is no driver,
 * the driver is too old for the program, or it shows no GPU. */
int device_cuda_count(void);

/* Describes a GPU in [0, device_cuda_count()), and how much of its memory is free, for which this process takes some of
 * it, as CUDA does on each GPU that is used. Returns 0; or -1, reported. */
int device_cuda_describe(int index, struct gpu_facts *gpu);

/* The same of a GPU that need not be used: free_memory is 0. Returns -1 without a report if it does not answer. */
int device_cuda_look(int index, struct gpu_facts *gpu);

/* The device that computes on a GPU of this process, from now on its only one. The table is static. Returns 0; or -1,
 * reported: the program holds no code for this GPU's architecture, or the GPU is out of order or taken, or gives a
 * block less shared memory than attention needs. */
int device_cuda_open(int index, enum precision precision, const struct device **device);

/* Begins (1) or ends (0) what NVIDIA's profilers record when they wait for it: nsys --capture-range=cudaProfilerApi,
 * ncu --profile-from-start no. Without such a profiler nothing happens. */
void device_cuda_profiler(int on);

/* "CUDA 13.0 for sm_80, sm_90, sm_100", or "none": what the program was built with. */
const char *device_cuda_built(void);

#endif
