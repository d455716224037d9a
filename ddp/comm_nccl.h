/* comm_nccl.h - collectives by NCCL, between GPUs, on streams of their own.
 *
 * It belongs to the program's CUDA parts (kernels/cuda_parts.h), through which comm_nccl_part.c calls comm_nccl.c. */
#ifndef DDP_COMM_NCCL_H
#define DDP_COMM_NCCL_H

#include "ddp/comm.h"
#include "ddp/job.h"
#include "ddp/watchdog.h"
#include "kernels/device.h"
#include "kernels/threads.h"

/* Returns NCCL's version, for example "2.28.9", static; NULL: there is no NCCL, or the program was built without it. */
const char *comm_nccl_version(void);

/* Checks whether NCCL can be used with these options. Returns 0; or -1, reported, if NCCL is missing, too old for ranks
 * that share a GPU, or the environment sets NCCL_COMM_BLOCKING=0. */
int comm_nccl_check(const struct comm_options *options);

/* Creates the comm of all ranks, on the GPU that this process has opened. Every rank calls it, after comm_nccl_check.
 * capacity and timeline: as in comm_create. Ends the job if NCCL does not connect the ranks within the watchdog's
 * limit, or if nccl.conf sets NCCL_COMM_BLOCKING=0. */
struct comm *comm_nccl_create(const struct job *job, const struct device *device, struct timeline *timeline,
                              size_t capacity, const struct comm_options *options);

/* What comm_nccl.c calls in the program; as in job.h, watchdog.h and threads.h. */
struct nccl_calls {
    __typeof__(job_gather) *job_gather;
    __typeof__(watchdog_look) *watchdog_look;
    __typeof__(watchdog_started) *watchdog_started;
    __typeof__(threads_start) *threads_start;
};

/* The functions above, as the CUDA parts offer them. */
struct comm_nccl_part {
    const char *(*version)(void);
    int (*check)(const struct comm_options *options);
    struct comm *(*create)(const struct nccl_calls *program, const struct job *job, const struct device *device,
                           struct timeline *timeline, size_t capacity, const struct comm_options *options);
};
extern const struct comm_nccl_part ddpbench_nccl; /* in comm_nccl.c */

#endif
