/* device_cuda.h - NVIDIA GPUs as an accelerator.
 *
 * They belong to the program's CUDA parts (cuda_parts.h). */
#ifndef KERNELS_DEVICE_CUDA_H
#define KERNELS_DEVICE_CUDA_H

#include "kernels/accelerator.h"

/* Attention keeps tiles of a head in shared memory. The limits are the widest head, and the least shared memory, in
 * bytes, that a GPU must allow a thread block. sm_86, sm_89 and sm_120 allow exactly this much; sm_80 allows 163 KiB,
 * sm_90 and sm_100 allow 227 KiB. */
enum { DEVICE_CUDA_MOST_HEAD_WIDTH = 256, DEVICE_CUDA_LEAST_SHARED = 99 << 10 };

/* Returns the accelerator, whose profiler member is for nsys --capture-range=cudaProfilerApi and ncu
 * --profile-from-start no; NULL, reported, if the program's CUDA parts cannot be used. */
const struct accelerator *accelerator_cuda(void);

extern const struct accelerator ddpbench_accelerator; /* the same, in the CUDA parts */

#endif
