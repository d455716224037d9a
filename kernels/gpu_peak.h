/* gpu_peak.h - what GPUs are published to compute at most. */
#ifndef KERNELS_GPU_PEAK_H
#define KERNELS_GPU_PEAK_H

#include "kernels/device.h"

/* Dense matrix products of that precision, in floating-point operations a second, of a GPU with that name as its driver
 * gives it: without the factor of sparsity, at its boost clock. 0 for GPUs that are not known, and for parts of one.
 * Source: NVIDIA's data sheets of A10, A30, A40, A100, H100, H100 NVL, H200, GH200, L4 and L40S. */
double gpu_peak(const char *name, enum precision precision);

#endif
