/* block.h - a block: steps of one implementation that start from the same weights and data as every other block. */
#ifndef BENCH_MEASURE_TRAINING_BLOCK_H
#define BENCH_MEASURE_TRAINING_BLOCK_H

#include "harness/harness.h"
#include "spans/spans.h"

struct run;
struct engine;

/* A measured block. The arrays have [DISCARDED_STEPS + block_steps] elements. */
struct block {
    size_t number, round;
    int implementation;
    long first_step;                       /* number of the block's first step among all steps of this process */
    double other_cores;                    /* cores used by other processes in a window ending here; NAN: none ends */
    double seconds;                        /* seconds of all timed steps together, on this rank */
    double comm_cpu_seconds, comm_seconds; /* CPU time of rank 0's communication thread in the timed steps, and seconds
                                              of these steps; 0 for a strategy that reduces nothing */
    size_t peak_bytes; /* most memory in use on this rank during the block (open_device_memory); 0: unknown */
    struct step_times *times;
    struct overlap *overlap;
    float *record; /* [steps, RECORDS] */
    double *loss;  /* [steps] on this rank */
};

/* The interval over which CPU use by other processes is measured: one block, or enough short blocks to take 0.2 s,
 * because the kernel counts in hundredths of a second. A block begins and ends with a barrier, so that waiting for a
 * slower rank does not count as use by other processes. */
struct window {
    int64_t start_ns;                /* 0: not begun */
    double process_cpu, machine_cpu; /* CPU seconds at the start: of this process, of the whole machine */
    size_t blocks;                   /* blocks since the start */
};

/* Totals over all blocks. */
struct block_counts {
    size_t blocks, watched_blocks;         /* all blocks, and the blocks in which CPU use by other processes is known */
    size_t with_other_processes;           /* blocks in which other processes used MONITOR_OTHER_CORES or more */
    double other_cores;                    /* most cores that other processes used in a window */
    size_t peak_bytes;                     /* most memory in use on this rank up to the last block */
    double comm_cpu_seconds, comm_seconds; /* sums of the same fields of struct block over all blocks */
    struct window window;                  /* the current window */
};

/* Prepares device, trainer and timeline for an implementation, at a step of the learning-rate schedule and data. */
void block_start(struct run *run, struct engine *engine, int implementation, long step);

/* Runs a block; its implementation and round must be set, and its arrays allocated. Fills the block, and adds its
 * sample, losses and counts to the run. All ranks call. */
void block_run(struct run *run, const struct harness *harness, struct engine *engine, struct block *block);

/* Runs a cold first step, which takes *first seconds, and 1 to 9 more steps, until all together have taken half a
 * second. Returns the median seconds of these further steps on the slowest rank, the same on all ranks. All ranks
 * call. */
double block_try_steps(struct run *run, const struct job *job, struct engine *engine, int implementation,
                       double *first);

/* Returns the most memory in use on this rank so far (open_device_memory). */
size_t block_peak_memory(const struct block_counts *counts, const struct open_device *opened);

#endif
