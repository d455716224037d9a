/* gpu_peak.h - published peak rates of GPUs. */
#ifndef KERNELS_GPU_PEAK_H
#define KERNELS_GPU_PEAK_H

#include "kernels/device.h"

/* Returns the peak rate of dense matrix products of that precision at the boost clock, in FLOP/s, without sparsity; 0
 * for unknown GPUs and slices of a GPU (MIG). name: from the driver. Source: NVIDIA's data sheets of A10, A30, A40,
 * A100, H100, H100 NVL, H200, GH200, L4 and L40S. */
double gpu_peak(const char *name, enum precision precision);

#endif
