/* comm_create.h - chooses and creates the communication backend of a job. */
#ifndef DDP_COMM_CREATE_H
#define DDP_COMM_CREATE_H

#include "ddp/comm.h"
#include "ddp/job.h"
#include "kernels/device.h"

/* Tests whether the backend of comm_create will copy device memory through host memory (comm_staged.h). If so, it needs
 * a byte of host memory for every byte that the comm allocates on the device. */
int comm_stages(const struct job *job, const struct device *device, const struct comm_options *options);

/* Tests whether comm_create will choose NCCL. */
int comm_by_nccl(const struct job *job, const struct device *device, const struct comm_options *options);

/* Creates the comm of a job for memory of `device`: NCCL if each rank has its own GPU, comm_self for one rank on the
 * CPU, otherwise MPI; or the library that the options name. Each rank passes its own options->core_to_spare, which has
 * an effect only if it is 1 on every rank. capacity: the most collectives in flight. timeline NULL: records no spans.
 * All ranks call it. Returns NULL on every rank, reported by rank 0, if the library does not fit the device or is
 * missing. */
struct comm *comm_create(const struct job *job, const struct device *device, struct timeline *timeline, size_t capacity,
                         const struct comm_options *options);

#endif
