/* comm_nccl.h - collectives by NCCL, between GPUs, on a stream of their own.
 *
 * A program built without NCCL contains comm_nccl_absent.c instead, which reports that NCCL is missing. */
#ifndef DDP_COMM_NCCL_H
#define DDP_COMM_NCCL_H

#include "ddp/comm.h"
#include "ddp/job.h"
#include "kernels/device.h"

/* Returns NCCL's version, for example "2.28.9", static; NULL: the program was built without NCCL. */
const char *comm_nccl_version(void);

/* Checks whether NCCL can be used with these options. Returns 0; or -1, reported, if NCCL is missing, too old for ranks
 * that share a GPU, or the environment sets NCCL_COMM_BLOCKING=0. */
int comm_nccl_check(const struct comm_options *options);

/* Creates the comm of all ranks, on the GPU that this process has opened. Every rank calls it, after comm_nccl_check.
 * capacity and timeline: as in comm_create. Ends the job if NCCL does not connect the ranks within the watchdog's
 * limit, or if nccl.conf sets NCCL_COMM_BLOCKING=0. */
struct comm *comm_nccl_create(const struct job *job, const struct device *device, struct timeline *timeline,
                              size_t capacity, const struct comm_options *options);

#endif
