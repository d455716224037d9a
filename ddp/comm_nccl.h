/* comm_nccl.h - collectives by NCCL, between GPUs, on a stream of their own.
 *
 * Where NCCL was not found when the program was built, comm_nccl_absent.c takes its place and reports that. */
#ifndef DDP_COMM_NCCL_H
#define DDP_COMM_NCCL_H

#include "ddp/comm.h"
#include "ddp/job.h"
#include "kernels/device.h"

/* The library's version, such as "2.28.9", static; NULL: the program was built without it. */
const char *comm_nccl_version(void);

/* Whether NCCL can be used with these options. Returns 0; or -1, reported: it is not there, it is too old for ranks
 * that share a GPU, or the environment has NCCL_COMM_BLOCKING=0. */
int comm_nccl_check(const struct comm_options *options);

/* All ranks together, on the GPU that this process has opened; every rank calls it, after comm_nccl_check. Ends
 * the job when NCCL has not connected the ranks within the limit of the watchdog, or if its nccl.conf has
 * NCCL_COMM_BLOCKING=0. */
struct comm *comm_nccl_create(const struct job *job, const struct device *device, struct timeline *timeline,
                              size_t capacity, const struct comm_options *options);

#endif
