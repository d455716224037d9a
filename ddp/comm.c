/* comm.c - what collectives and their parts are called, and which comm a job has. */
#include "comm.h"

#include "job.h"

const char *const comm_kind_name[COMM_KINDS] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast"};
const char *const comm_dtype_name[COMM_DTYPES] = {"float", "double", "bf16", "int32"};
const char *const comm_op_name[COMM_OPS] = {"sum", "max", "avg"};

struct comm *comm_create(const struct job *job, struct timeline *timeline, size_t capacity,
                         struct comm_progress progress, int core_to_spare)
{
    int none_to_spare = job_max(job, !core_to_spare) > 0;
    return job->size == 1 ? comm_self_create(timeline) : comm_mpi_create(timeline, capacity, progress, !none_to_spare);
}
