/* comm_create.h - the comm of a job: which library it has, and its making. */
#ifndef DDP_COMM_CREATE_H
#define DDP_COMM_CREATE_H

#include "ddp/comm.h"
#include "ddp/job.h"
#include "kernels/device.h"

/* Whether the comm of such a job will stage collectives through host memory, which then needs as much host memory as
 * the comm allocates (comm_staged.h). */
int comm_stages(const struct device *device, const struct comm_options *options);

/* The comm of a job, for memory of that device: comm_self for one rank on the CPU, otherwise NCCL or MPI.
 * options->core_to_spare is this rank's, and counts if all have one. capacity is the most collectives that are ever in
 * flight. timeline NULL: no spans are recorded. All ranks call. Returns NULL on every rank, reported by rank 0, when
 * the library does not go with the device or is not there. */
struct comm *comm_create(const struct job *job, const struct device *device, struct timeline *timeline, size_t capacity,
                         const struct comm_options *options);

#endif
