/* block.h - a block: steps of one implementation that start from the same weights and data as every other block. */
#ifndef BENCH_MEASURE_TRAINING_BLOCK_H
#define BENCH_MEASURE_TRAINING_BLOCK_H

#include "harness/harness.h"
#include "spans/spans.h"

struct run;
struct engine;

/* A measured block of `steps` = DISCARDED_STEPS + block_steps steps; `times` and `overlap` have [steps] elements. */
struct block {
    size_t number, round;
    int implementation;
    long first_step;                  /* number of the block's first step among all steps of this process */
    struct control_group_stops stops; /* by CPU quotas of this rank's control groups, during the block's steps */
    double other_cores; /* cores that other processes used, if a window of other_processes_watch ends now; else NAN */
    double seconds;     /* seconds of all timed steps together, on this rank */
    double comm_cpu_seconds, comm_seconds; /* CPU time of this rank's communication thread in the timed steps, and
                                              seconds of these steps; 0 for a strategy that reduces nothing */
    size_t peak_bytes; /* most bytes in use on this rank during the block (open_device_memory); 0: unknown */
    struct step_times *times;
    struct overlap *overlap;
    float *record; /* [steps, RECORDS] loss and gradient norm of each step */
    double *loss;  /* [steps] loss of each step on this rank */
};

/* Totals over all blocks of the run so far. */
struct block_counts {
    size_t blocks;
    size_t peak_bytes;                     /* most bytes in use on this rank until the last block began */
    double comm_cpu_seconds, comm_seconds; /* sums of the same fields of struct block over all blocks */
};

/* Prepares to run an implementation: restores the starting weights, sets the learning-rate schedule and the data to
 * step `step`, and empties the timeline. */
void block_start(struct run *run, struct engine *engine, int implementation, long step);

/* Runs a block; its implementation and round must be set, and its arrays allocated. Fills the block, and adds its
 * sample, losses and counts to the run. All ranks call. */
void block_run(struct run *run, struct harness *harness, struct engine *engine, struct block *block);

/* Runs a block and returns its seconds per timed step on the slowest rank, the same on every rank. Adds nothing to the
 * run's samples. All ranks call. */
double block_step_seconds(struct run *run, const struct job *job, struct engine *engine, int implementation);

/* Runs a cold first step and stores its seconds in *first; then runs 1 to 9 more steps, until all steps have taken half
 * a second. Returns on every rank the median seconds of these further steps on the slowest rank. All ranks call it. */
double block_try_steps(struct run *run, const struct job *job, struct engine *engine, int implementation,
                       double *first);

/* Sets error[implementations] to the gradient_error of each implementation in the first step of a block; for one that
 * approximates gradients, also in the last step. NAN: it does not reduce gradients, or the error was not measured. Call
 * it before the first block. All ranks call it, and get the same errors. */
struct gradient_errors {
    double first, last;
};
void block_gradient_errors(struct run *run, const struct job *job, struct engine *engine,
                           struct gradient_errors *error);

/* Returns the most bytes in use on this rank so far (open_device_memory). */
size_t block_peak_memory(const struct block_counts *counts, const struct open_device *opened);

#endif
