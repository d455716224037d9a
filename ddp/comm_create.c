/* comm_create.c - which comm a job has. */
#include "ddp/comm_create.h"

#include "ddp/comm_mpi.h"
#include "ddp/comm_nccl.h"
#include "ddp/comm_self.h"
#include "kernels/error.h"

#include <string.h>

/* Whether the library is NCCL: 1 or 0; or -1, reported. */
static int wants_nccl(const struct device *device, const struct comm_options *o)
{
    int on_gpu = !strcmp(device->name, "cuda");
    if (o->library == COMM_AUTO)
        return on_gpu && !o->shares_gpu && comm_nccl_version();
    if (o->library == COMM_NCCL && !on_gpu)
        return error_report(
            "--comm nccl moves the memory of GPUs, and this run computes on the CPU: use --comm mpi, or "
            "--device cuda");
    if (o->library == COMM_NCCL && comm_nccl_check(o))
        return -1;
    return o->library == COMM_NCCL;
}

struct comm *comm_create(const struct job *job, const struct device *device, struct timeline *timeline, size_t capacity,
                         const struct comm_options *options)
{
    struct comm_options o = *options;
    int nccl = wants_nccl(device, &o);
    if (job_agree(job, nccl < 0 ? -1 : 0))
        return NULL;
    o.core_to_spare = job_max(job, !o.core_to_spare) <= 0;
    if (nccl)
        return comm_nccl_create(job, device, timeline, capacity, &o);
    /* one rank on a GPU uses MPI and the copies around it, as several ranks do, so that their cost shows */
    if (job->size == 1 && device->host_reads_memory)
        return comm_self_create(device, timeline);
    return comm_mpi_create(job, device, timeline, capacity, &o);
}
