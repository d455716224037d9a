/* comm_nccl_absent.c - takes the place of comm_nccl.c in a program built without NCCL. */
#include "ddp/comm_nccl.h"

#include "kernels/error.h"

#include <stddef.h>

const char *comm_nccl_version(void)
{
    return NULL;
}

int comm_nccl_check(const struct comm_options *options)
{
    (void)options;
    return error_report(
        "--comm nccl: this program was built without NCCL; install it (libnccl-dev) with the CUDA toolkit "
        "and build again, or use --comm mpi");
}

struct comm *comm_nccl_create(const struct job *job, const struct device *device, struct timeline *timeline,
                              size_t capacity, const struct comm_options *options)
{
    (void)job, (void)device, (void)timeline, (void)capacity, (void)options;
    FATAL("built without NCCL"); /* unreachable: comm_nccl_check fails first */
}
