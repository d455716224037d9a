/* comm.c - what collectives and their parts are called, and which comm a job has. */
#include "ddp/comm.h"

#include "ddp/comm_nccl.h"
#include "ddp/job.h"
#include "kernels/device.h"
#include "kernels/error.h"

#include <stdio.h>
#include <string.h>

const char *const comm_kind_name[COMM_KINDS] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast"};
const char *const comm_dtype_name[COMM_DTYPES] = {"float", "double", "bf16", "int32"};
const char *const comm_op_name[COMM_OPS] = {"sum", "max", "avg"};
const char *const comm_library_name[COMM_LIBRARIES + 1] = {"auto", "mpi", "nccl", NULL};

void comm_words(const struct collective *c, long ticket, char words[COMM_WORDS])
{
    int reduces = c->kind == COMM_ALL_REDUCE || c->kind == COMM_REDUCE_SCATTER;
    int at = snprintf(words, COMM_WORDS, "%s of %zu %s%s%s", comm_kind_name[c->kind], c->count,
                      comm_dtype_name[c->dtype], reduces ? " " : "", reduces ? comm_op_name[c->op] : "");
    if (ticket)
        snprintf(words + at, (size_t)(COMM_WORDS - at), ", number %d of the plan, ticket %ld", c->index, ticket);
}

/* Whether NCCL it is: 1 or 0; or -1, reported. */
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
    /* one rank on a GPU goes through MPI and the copies around it as several do: they are what is looked at there */
    if (job->size == 1 && device->host_reads_memory)
        return comm_self_create(device, timeline);
    return comm_mpi_create(job, device, timeline, capacity, &o);
}
