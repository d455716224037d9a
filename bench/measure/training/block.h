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
    long first_step;                       /* number of the block's first step among all steps of this process */
    double other_cores;                    /* cores other processes used, if a window ends with this block; else NAN */
    double seconds;                        /* seconds of all timed steps together, on this rank */
    double comm_cpu_seconds, comm_seconds; /* CPU time of rank 0's communication thread in the timed steps, and seconds
                                              of these steps; 0 for a strategy that reduces nothing */
    size_t peak_bytes; /* most bytes in use on this rank during the block (open_device_memory); 0: unknown */
    struct step_times *times;
    struct overlap *overlap;
    float *record; /* [steps, RECORDS] loss and gradient norm of each step */
    double *loss;  /* [steps] loss of each step on this rank */
};

/* An interval over which CPU use by other processes is measured: one block, or short blocks that take 0.2 s together,
 * since the kernel counts CPU time in hundredths of a second. Ranks read their CPU time right after waiting for each
 * other: a rank that read early would poll for the others, and that would count as use by other processes. */
struct window {
    int64_t start_ns;                /* when the window began; 0: no window has begun yet */
    double process_cpu, machine_cpu; /* CPU seconds of this process and of the whole machine, at start_ns */
    size_t blocks;                   /* number of blocks since the window began */
};

/* Totals over all blocks of the run so far. */
struct block_counts {
    size_t blocks, watched_blocks;         /* all blocks, and the blocks in which CPU use by other processes is known */
    size_t with_other_processes;           /* blocks in which other processes used MONITOR_OTHER_CORES or more */
    double other_cores;                    /* most cores that other processes used in a window */
    size_t peak_bytes;                     /* most bytes in use on this rank until the last block began */
    double comm_cpu_seconds, comm_seconds; /* sums of the same fields of struct block over all blocks */
    struct window window;                  /* the window that the next block is added to */
};

/* Prepares to run an implementation: restores the starting weights, sets the learning-rate schedule and the data to
 * step `step`, and empties the timeline. */
void block_start(struct run *run, struct engine *engine, int implementation, long step);

/* Runs a block; its implementation and round must be set, and its arrays allocated. Fills the block, and adds its
 * sample, losses and counts to the run. All ranks call. */
void block_run(struct run *run, const struct harness *harness, struct engine *engine, struct block *block);

/* Runs a cold first step and stores its seconds in *first; then runs 1 to 9 more steps, until all steps have taken half
 * a second. Returns on every rank the median seconds of these further steps on the slowest rank. All ranks call it. */
double block_try_steps(struct run *run, const struct job *job, struct engine *engine, int implementation,
                       double *first);

/* Returns the most bytes in use on this rank so far (open_device_memory). */
size_t block_peak_memory(const struct block_counts *counts, const struct open_device *opened);

#endif
