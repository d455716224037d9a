/* job.h - the control plane: who the ranks are, and what they exchange while no collective is in flight.
 *
 * Every function here is called by all ranks in the same order, from the thread that called job_begin. */
#ifndef DDP_JOB_H
#define DDP_JOB_H

#include "ddp/alignment.h"

#include <stddef.h>

struct watchdog;

struct job {
    int rank, size;
    int host, hosts;            /* which of the hosts this rank is on, and how many there are; by host name */
    int local_rank, local_size; /* among the ranks of this host */
    int machine, machine_size;  /* which kernel this rank runs under, and how many ranks do: hosts made of namespaces or
                                   containers share its cores and its memory */
    double cores;              /* the logical CPUs that this rank may use, divided evenly among the ranks of its machine
                                  that may use the same ones */
    int clock;                 /* which CLOCK_MONOTONIC it reads: one a kernel and time namespace */
    struct watchdog *watchdog; /* watches every wait below */
};

/* --timeout: seconds where it is not given, and at most. */
#define JOB_TIMEOUT_S "300"
enum { JOB_MOST_TIMEOUT_S = 1000000 };

/* Starts the watchdog, with the --timeout of a command line that has not been read yet (0, NULL: none), then MPI, and
 * finds the ranks and hosts. Makes fatal() end the whole job. Returns 0; or -1, reported, when a launcher started
 * several ranks that MPI sees as jobs of one rank each (the wrong launcher for this MPI). */
int job_begin(struct job *job, int argc, char *const argv[]);

/* Returns 0; or -1, reported, for the only rank of a job of Slurm that has several tasks or nodes, if no launcher
 * started it: a script of that job has left out srun or mpirun. */
int job_check_alone(const struct job *job);

/* Ends MPI; every rank has to arrive. */
void job_end(struct job *job);

/* Returns when all ranks have arrived. */
void job_barrier(const struct job *job);

/* Gathers `bytes` bytes of every rank, in the order of ranks, into all[size * bytes] on every rank. */
void job_gather(const struct job *job, const void *mine, size_t bytes, void *all);

/* Says whether this rank's threads have fewer cores than they are, as job_begin has it of ranks of one thread; it is
 * crowded if one rank is. Ranks that wait here then leave the cores alone, and look every 20 to 500 us. Returns
 * whether it is crowded. */
int job_set_crowded(const struct job *job, int this_rank);

/* The sum of a value over the ranks of this machine, and its largest over all ranks. */
double job_sum_machine(const struct job *job, double value);
double job_max(const struct job *job, double value);

/* Returns rank 0's value on every rank, once rank 0 is here. The others leave the cores alone while they wait, and look
 * every 0.5 ms. grace_s: seconds that rank 0 may take beyond --timeout. */
int job_from_first(const struct job *job, int value, double grace_s);

/* Compares this rank's clock, `now`, with rank 0's: the same clock (job->clock) needs no comparison, and of the ranks
 * that read another the first asks for all, by messages there and back of which the shortest round trip counts. It asks
 * until more trips are about as short, for a second or 10 s of all clocks together at most. Ranks take turns, and those
 * that wait leave the cores alone. */
void job_compare_clocks(const struct job *job, int64_t (*now)(void), struct clock_sample *sample);

/* Sends n bytes of this rank to rank 0, where job_receive takes what one rank sends, in the same pieces: returns its
 * length, at most capacity. */
void job_send(const struct job *job, const void *bytes, size_t n);
size_t job_receive(const struct job *job, int rank, void *bytes, size_t capacity);

/* Agrees on whether all ranks succeeded: returns 0 on every rank if `status` was 0 on every rank; else -1 on every
 * rank, and rank 0 has printed the reported message of the first rank that failed, once, on stderr. */
int job_agree(const struct job *job, int status);

/* The same after a step that has returned `before` on every rank. If that is not 0, the failure is reported already and
 * what failed now follows from it: returns -1 without a report. */
int job_agree_after(const struct job *job, int before, int status);

/* A board: so many bytes of each rank, zeroed, which it writes and the other ranks of its host may read at any time,
 * without MPI, also from other threads. part is [size]: where each rank's bytes are, NULL for ranks that share no
 * memory with this one. bytes is a multiple of 8. */
struct job_board {
    void **part;
    struct job_window *window;
};
void job_board_create(struct job_board *board, const struct job *job, size_t bytes);
void job_board_destroy(struct job_board *board); /* all ranks; a zeroed board is fine */

/* The MPI library's own description of itself, one line, static. */
const char *job_library(void);

#endif
