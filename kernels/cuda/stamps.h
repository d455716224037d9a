/* stamps.h - times of points in a stream's work, on the host's clock.
 *
 * A stamp is a timed event, identified by a ticket until the next stamps_begin. stamps_begin and stamps_end compare the
 * GPU's clock with the host's; times of stamps between the two comparisons are interpolated. */
#ifndef KERNELS_CUDA_STAMPS_H
#define KERNELS_CUDA_STAMPS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

/* Records a stamp after all work issued to the stream so far. Returns its ticket, below 0. */
int64_t cuda_stamp_on(cudaStream_t stream);

/* Functions of struct device for stamps (device.h). */
int64_t cuda_stamp(void);
void cuda_stamps_begin(void);
void cuda_stamps_end(void);
int64_t cuda_stamp_ns(int64_t ticket);

#endif
