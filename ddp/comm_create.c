/* comm_create.c - the table of communication backends, and the choice of a backend. */
#include "ddp/comm_create.h"

#include "ddp/comm_mpi.h"
#include "ddp/comm_nccl.h"
#include "ddp/comm_self.h"
#include "kernels/error.h"

#include <string.h>

/* ---- NCCL ---- */

static int on_cuda(const struct device *device)
{
    return !strcmp(device->name, "cuda");
}

int comm_by_nccl(const struct job *job, const struct device *device, const struct comm_options *o)
{
    (void)job;
    int fits = on_cuda(device) && !o->shares_gpu && comm_nccl_version();
    return o->library == COMM_AUTO ? fits : o->library == COMM_NCCL;
}

static int nccl_check(const struct device *device, const struct comm_options *o)
{
    if (!on_cuda(device))
        return error_report("--comm nccl needs NVIDIA GPUs, and this run computes on %s: use --comm "
                            "mpi, or --device cuda",
                            device->accelerator ? device->name : "the CPU");
    return comm_nccl_check(o);
}

/* ---- one rank ---- */

/* Serves a single rank on the CPU. A single rank on a GPU uses MPI, as several ranks do, so that the copies through
 * host memory are measured, too. */
static int self_serves(const struct job *job, const struct device *device, const struct comm_options *o)
{
    (void)o;
    return job->size == 1 && device->host_reads_memory;
}

static struct comm *self_create(const struct job *job, const struct device *device, struct timeline *timeline,
                                size_t capacity, const struct comm_options *o)
{
    (void)job, (void)capacity, (void)o;
    return comm_self_create(device, timeline);
}

/* ---- MPI ---- */

static int mpi_serves(const struct job *job, const struct device *device, const struct comm_options *o)
{
    (void)job, (void)device, (void)o;
    return 1;
}

/* ---- the table ---- */

/* The job uses the first backend that serves its ranks, device and options. To add a backend, add a row here, and a
 * value of --comm in comm.h and comm.c. */
static const struct backend {
    int (*serves)(const struct job *job, const struct device *device, const struct comm_options *options);
    /* Returns 0; or -1, reported, if the backend cannot be used. NULL: it can always be used. */
    int (*check)(const struct device *device, const struct comm_options *options);
    struct comm *(*create)(const struct job *job, const struct device *device, struct timeline *timeline,
                           size_t capacity, const struct comm_options *options);
    int on_device; /* 1: runs collectives in the device's memory; 0: in host memory */
} backends[] = {
    {comm_by_nccl, nccl_check, comm_nccl_create, 1},
    {self_serves, NULL, self_create, 0},
    {mpi_serves, NULL, comm_mpi_create, 0},
};

static const struct backend *find_backend(const struct job *job, const struct device *device,
                                          const struct comm_options *options)
{
    const struct backend *backend = backends;
    while (!backend->serves(job, device, options))
        backend++;
    return backend;
}

int comm_stages(const struct job *job, const struct device *device, const struct comm_options *options)
{
    return !device->host_reads_memory && !find_backend(job, device, options)->on_device;
}

struct comm *comm_create(const struct job *job, const struct device *device, struct timeline *timeline, size_t capacity,
                         const struct comm_options *options)
{
    struct comm_options o = *options;
    const struct backend *backend = find_backend(job, device, &o);
    if (job_agree(job, backend->check ? backend->check(device, &o) : 0))
        return NULL;
    o.core_to_spare = job_max(job, !o.core_to_spare) <= 0;
    o.progress.crowded = job_set_crowded(job, o.progress.crowded);
    /* cppcheck-suppress returnDanglingLifetime ; create copies the options that it keeps */
    return backend->create(job, device, timeline, capacity, &o);
}
