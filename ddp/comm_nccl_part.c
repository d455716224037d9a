/* comm_nccl_part.c - NCCL's part of the program's CUDA parts. */
#include "ddp/comm_nccl.h"

#include "kernels/cuda_parts.h"
#include "kernels/error.h"

static const struct comm_nccl_part *part(void)
{
    return cuda_part("ddpbench_nccl");
}

const char *comm_nccl_version(void)
{
    return part() ? part()->version() : NULL;
}

int comm_nccl_check(const struct comm_options *options)
{
    if (!part())
        return error_report(
            "--comm nccl: the program's CUDA parts were built without NCCL; install it (libnccl-dev) with "
            "the CUDA toolkit and build again, or use --comm mpi");
    return part()->check(options);
}

struct comm *comm_nccl_create(const struct job *job, const struct device *device, struct timeline *timeline,
                              size_t capacity, const struct comm_options *options)
{
    static const struct nccl_calls program = {job_gather, watchdog_look, watchdog_started, threads_start};
    return part()->create(&program, job, device, timeline, capacity, options);
}
