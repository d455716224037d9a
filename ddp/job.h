/* job.h - the control plane: describes the ranks, and exchanges data while no collective is in flight.
 *
 * Every function here is called by all ranks in the same order, from the thread that called job_begin. */
#ifndef DDP_JOB_H
#define DDP_JOB_H

#include "ddp/alignment.h"

#include <stddef.h>

struct facts;
struct watchdog;

struct job {
    int rank, size;
    int host, hosts;            /* index of this rank's host, and number of hosts; a host is identified by its name */
    int local_rank, local_size; /* rank among the ranks of this host, and the number of ranks of this host */
    /* index of the operating-system kernel that this rank runs under, and number of ranks under it: hosts that are
     * containers or namespaces of one kernel share its cores and memory */
    int machine, machine_size;
    /* this rank's share of CPUs: `cpus` by its affinity, `quota` by the CPU quotas of its control groups, as of a
     * container (cores_by_affinity, cores_by_quota); cores: the smaller of the two */
    double cpus, quota, cores;
    int clock; /* index of the CLOCK_MONOTONIC that this rank reads; each kernel and time namespace has one */
    struct watchdog *watchdog; /* watches the waits in all functions below */
};

/* The default and the maximum of --timeout, in seconds. */
#define JOB_TIMEOUT_S "300"
enum { JOB_MOST_TIMEOUT_S = 1000000 };

/* Starts the watchdog and then MPI, compares the facts of all ranks (NULL on all ranks: no facts), and finds the ranks
 * and hosts. The watchdog's limit is --timeout on the command line (argc 0, argv NULL: the default). Makes fatal() end
 * the whole job. Returns 0; or -1 on every rank if ranks have different facts, reported on rank 0, or if a launcher
 * started several ranks that MPI sees as jobs of one rank each (the wrong launcher for this MPI), reported on each. */
int job_begin(struct job *job, int argc, char *const argv[], const struct facts *facts);

/* Returns -1, reported, for a single rank without a launcher in a Slurm job with several tasks or nodes, where the job
 * script must have omitted srun or mpirun. Otherwise returns 0. */
int job_check_alone(const struct job *job);

/* Ends MPI; all ranks call it once all output is written, and then end with `status`, which it returns. If MPI has not
 * ended 5 s after all ranks called this function, it ends the process with `status` itself. */
int job_end(struct job *job, int status);

/* Returns when all ranks have arrived. */
void job_barrier(const struct job *job);

/* Gathers `bytes` bytes of every rank, in the order of ranks, into all[size * bytes] on every rank. */
void job_gather(const struct job *job, const void *mine, size_t bytes, void *all);

/* job_gather_first gathers on rank 0 only, into all[size * bytes]; job_scatter_first does the reverse: `mine` of each
 * rank becomes its part of rank 0's all[size * bytes]. On other ranks `all` is not used. */
void job_gather_first(const struct job *job, const void *mine, size_t bytes, void *all);
void job_scatter_first(const struct job *job, const void *all, size_t bytes, void *mine);

/* Sets whether this rank has more threads than cores (job_begin assumes one thread per rank). If any rank has, the job
 * is crowded: ranks that wait in this module then sleep for 20 to 500 us at a time. Returns 1 if the job is crowded,
 * else 0. */
int job_set_crowded(const struct job *job, int this_rank);

/* job_sum_machine returns the sum of `value` over the ranks of this machine; job_max, the maximum over all ranks. */
double job_sum_machine(const struct job *job, double value);
double job_max(const struct job *job, double value);

/* Replaces each number of x[n] with its sum over all ranks. */
void job_sum(const struct job *job, double *x, size_t n);

/* Returns rank 0's value on every rank. While the other ranks wait for rank 0, they sleep 0.5 ms at a time. grace_s:
 * seconds that rank 0 may take beyond --timeout. */
int job_from_first(const struct job *job, int value, double grace_s);

/* Compares this rank's clock, `now`, with rank 0's, and fills *sample. Ranks that read rank 0's clock (job->clock) need
 * no comparison; for each other clock, the first rank that reads it measures round trips to rank 0 and uses the
 * shortest. A measurement stops when several round trips are about as short as the shortest, or after 1 s; all
 * measurements together take at most 10 s. Ranks measure one after another and sleep while they wait. */
void job_compare_clocks(const struct job *job, int64_t (*now)(void), struct clock_sample *sample);

/* job_send sends n bytes to rank 0. On rank 0, each job_receive receives the bytes of one job_send of the given rank
 * and returns their number, which must not exceed capacity. */
void job_send(const struct job *job, const void *bytes, size_t n);
size_t job_receive(const struct job *job, int rank, void *bytes, size_t capacity);

/* Returns 0 on every rank if `status` is 0 on every rank. Otherwise returns -1 on every rank, after rank 0 has printed
 * on stderr the message that the first failed rank reported. */
int job_agree(const struct job *job, int status);

/* Like job_agree, for the second of two actions. before: the result of the first one, the same on every rank. If
 * `before` is not 0, the first failure has been reported and caused this one: returns -1 without a report. */
int job_agree_after(const struct job *job, int before, int status);

/* A board is `bytes` bytes of memory per rank, initially zero. Each rank writes its own bytes; the other ranks of its
 * host may read them at any time, from any thread, without MPI. part[r] points to rank r's bytes; it is NULL if rank r
 * shares no memory with this rank. bytes is a multiple of 8. */
struct job_board {
    void **part;
    struct job_window *window;
};
void job_board_create(struct job_board *board, const struct job *job, size_t bytes);
void job_board_destroy(struct job_board *board); /* all ranks call it; a zeroed board is fine */

/* Returns the MPI library's description of itself, one line, static. */
const char *job_library(void);

#endif
