/* stamps.h - moments in the order of a stream's work, as times of the host's clock.
 *
 * A stamp is an event with a time, kept under a ticket until stamps are begun anew. The GPU's clock is compared with
 * the host's when stamps begin and when they end; times between are interpolated. */
#ifndef KERNELS_CUDA_STAMPS_H
#define KERNELS_CUDA_STAMPS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

/* Records a stamp behind all that was issued to the stream so far; returns its ticket, below 0. */
int64_t cuda_stamp_on(cudaStream_t stream);

/* The functions of struct device. */
int64_t cuda_stamp(void);
void cuda_stamps_begin(void);
void cuda_stamps_end(void);
int64_t cuda_stamp_ns(int64_t ticket);

#endif
