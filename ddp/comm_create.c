/* comm_create.c - which comm a job has. */
#include "ddp/comm_create.h"

#include "ddp/comm_mpi.h"
#include "ddp/comm_nccl.h"
#include "ddp/comm_self.h"
#include "kernels/error.h"

#include <string.h>

static int is_gpu(const struct device *device)
{
    return !strcmp(device->name, "cuda");
}

static int wants_nccl(const struct device *device, const struct comm_options *o)
{
    return o->library == COMM_AUTO ? is_gpu(device) && !o->shares_gpu && comm_nccl_version() : o->library == COMM_NCCL;
}

/* Whether NCCL can be had for the device: 0, or -1, reported. */
static int check_nccl(const struct device *device, const struct comm_options *o)
{
    if (o->library == COMM_NCCL && !is_gpu(device))
        return error_report(
            "--comm nccl moves the memory of GPUs, and this run computes on the CPU: use --comm mpi, or "
            "--device cuda");
    return wants_nccl(device, o) ? comm_nccl_check(o) : 0;
}

int comm_stages(const struct device *device, const struct comm_options *options)
{
    return !device->host_reads_memory && !wants_nccl(device, options);
}

struct comm *comm_create(const struct job *job, const struct device *device, struct timeline *timeline, size_t capacity,
                         const struct comm_options *options)
{
    struct comm_options o = *options;
    if (job_agree(job, check_nccl(device, &o)))
        return NULL;
    o.core_to_spare = job_max(job, !o.core_to_spare) <= 0;
    o.progress.crowded = job_set_crowded(job, o.progress.crowded);
    if (wants_nccl(device, &o))
        return comm_nccl_create(job, device, timeline, capacity, &o);
    /* one rank on a GPU uses MPI and the copies around it, as several ranks do, so that their cost shows */
    if (job->size == 1 && device->host_reads_memory)
        return comm_self_create(device, timeline);
    return comm_mpi_create(job, device, timeline, capacity, &o);
}
