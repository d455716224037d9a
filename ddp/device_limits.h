/* device_limits.h - measures how fast a device can compute and read memory while all ranks do the same. */
#ifndef DDP_DEVICE_LIMITS_H
#define DDP_DEVICE_LIMITS_H

#include "ddp/job.h"
#include "kernels/device.h"

/* The limits of a roofline, per rank: means over the ranks. Source: Williams, Waterman and Patterson, Roofline: An
 * Insightful Visual Performance Model for Multicore Architectures, Communications of the ACM 52 (2009) 65-76. */
struct device_limits {
    double flops;     /* FLOP/s of a product of two square matrices of the compute type, large enough for 5 ms */
    double bandwidth; /* bytes/s of axpby: reads two arrays and writes one, which caches do not hold */
};

/* Measures the limits: the best of several repetitions, which all ranks start together. axpby's arrays of all ranks
 * together are each 4 times as large as the caches, as the benchmark STREAM asks, but use at most a 32nd of the free
 * memory. caches, memory: bytes of the last caches, and of free memory, that `sharing` ranks share (caches
 * 0: unknown). Everything is released again, also the matrices of up to 8192 x 8192 numbers. All ranks call. */
enum { DEVICE_LIMITS_L2 = 128 << 20 }; /* more than the L2 cache of any GPU so far */
void device_limits_measure(struct device_limits *limits, const struct job *job, const struct device *device,
                           size_t caches, int sharing, size_t memory);

/* Fills x[n], in the compute type, with random numbers from +-0.5 to +-1: a GPU multiplies zeros with less power, and
 * so faster. */
void device_limits_fill(const struct device *device, void *x, size_t n);

#endif
