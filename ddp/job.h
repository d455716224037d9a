/* job.h - the control plane: describes the ranks, and exchanges data while no collective is in flight.
 *
 * Every function here is called by all ranks in the same order, from the thread that called job_begin. */
#ifndef DDP_JOB_H
#define DDP_JOB_H

#include "ddp/alignment.h"

#include <stddef.h>

struct watchdog;

struct job {
    int rank, size;
    int host, hosts;            /* index of this rank's host, and number of hosts; by host name */
    int local_rank, local_size; /* among the ranks of this host */
    int machine, machine_size;  /* which kernel this rank runs under, and how many ranks do: hosts made of namespaces or
                                   containers share its cores and its memory */
    double cores;              /* the logical CPUs that this rank may use, divided evenly among the ranks of its machine
                                  that may use the same ones */
    int clock;                 /* index of the CLOCK_MONOTONIC that it reads: one per kernel and time namespace */
    struct watchdog *watchdog; /* watches every wait below */
};

/* --timeout in seconds: the default and the maximum. */
#define JOB_TIMEOUT_S "300"
enum { JOB_MOST_TIMEOUT_S = 1000000 };

/* Starts the watchdog, with --timeout from the command line (0, NULL: the default), then MPI, and finds the ranks and
 * hosts. Makes fatal() end the whole job. Returns 0; or -1, reported, if a launcher started several ranks that MPI sees
 * as jobs of one rank each (the wrong launcher for this MPI). */
int job_begin(struct job *job, int argc, char *const argv[]);

/* Returns -1, reported, for a single rank without a launcher in a Slurm job with several tasks or nodes: its script
 * lacks srun or mpirun. Otherwise returns 0. */
int job_check_alone(const struct job *job);

/* Ends MPI; all ranks call. */
void job_end(struct job *job);

/* Returns when all ranks have arrived. */
void job_barrier(const struct job *job);

/* Gathers `bytes` bytes of every rank, in the order of ranks, into all[size * bytes] on every rank. */
void job_gather(const struct job *job, const void *mine, size_t bytes, void *all);

/* Sets whether this rank has more threads than cores (job_begin assumes one thread per rank). The machine is crowded if
 * any of its ranks has; then ranks that wait in this module sleep 20 to 500 us at a time. Returns whether the machine
 * is crowded. */
int job_set_crowded(const struct job *job, int this_rank);

/* Return the sum of a value over the ranks of this machine; and the maximum over all ranks. */
double job_sum_machine(const struct job *job, double value);
double job_max(const struct job *job, double value);

/* Returns rank 0's value on every rank. While the others wait for rank 0, they sleep 0.5 ms at a time. grace_s: seconds
 * that rank 0 may take beyond --timeout. */
int job_from_first(const struct job *job, int value, double grace_s);

/* Compares this rank's clock, `now`, with rank 0's. Ranks that read rank 0's clock (job->clock) need no comparison; for
 * each other clock, the first rank that reads it measures round trips to rank 0, the shortest of which counts. A
 * measurement stops when several round trips are about as short, or after a second per clock or 10 s for all clocks.
 * Ranks measure one after another and sleep while they wait. */
void job_compare_clocks(const struct job *job, int64_t (*now)(void), struct clock_sample *sample);

/* job_send sends n bytes to rank 0; there, each job_receive takes the bytes of one job_send of a rank and returns their
 * number, at most capacity. */
void job_send(const struct job *job, const void *bytes, size_t n);
size_t job_receive(const struct job *job, int rank, void *bytes, size_t capacity);

/* Agrees on whether all ranks succeeded: returns 0 on every rank if `status` was 0 on every rank; else -1 on every
 * rank, and rank 0 has printed the reported message of the first rank that failed, once, on stderr. */
int job_agree(const struct job *job, int status);

/* Like job_agree, after a step that returned `before` on every rank. If that is not 0, the failure is already reported
 * and this one follows from it: returns -1 without a report. */
int job_agree_after(const struct job *job, int before, int status);

/* A board has `bytes` bytes of memory for each rank, initially zero, which that rank writes and the other ranks of its
 * host may read at any time, from any thread, without MPI. part[size] points to the bytes of each rank; NULL for ranks
 * that share no memory with this one. bytes is a multiple of 8. */
struct job_board {
    void **part;
    struct job_window *window;
};
void job_board_create(struct job_board *board, const struct job *job, size_t bytes);
void job_board_destroy(struct job_board *board); /* all ranks; a zeroed board is fine */

/* Returns the MPI library's description of itself, one line, static. */
const char *job_library(void);

#endif
