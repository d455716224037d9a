/* device_cuda.h - NVIDIA GPUs as an accelerator.
 *
 * In a program built without a CUDA compiler, device_cuda_absent.c takes its place. */
#ifndef KERNELS_DEVICE_CUDA_H
#define KERNELS_DEVICE_CUDA_H

#include "kernels/accelerator.h"

/* Attention keeps tiles of a head in the shared memory of a multiprocessor: the widest head, and the shared memory of a
 * block that a GPU must allow, in bytes. sm_86, sm_89 and sm_120 allow exactly that; sm_80 163 KiB, sm_90 and sm_100
 * 227 KiB. */
enum { DEVICE_CUDA_MOST_HEAD_WIDTH = 256, DEVICE_CUDA_LEAST_SHARED = 99 << 10 };

/* Its profiler member serves NVIDIA's profilers: nsys --capture-range=cudaProfilerApi, ncu --profile-from-start no. */
extern const struct accelerator accelerator_cuda;

#endif
