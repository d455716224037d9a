/* block.h - a block: steps of one implementation, from the same weights and data as every other block. */
#ifndef BENCH_MEASURE_TRAINING_BLOCK_H
#define BENCH_MEASURE_TRAINING_BLOCK_H

#include "harness/harness.h"
#include "spans/spans.h"

struct run;
struct engine;

/* A measured block. The arrays are [DISCARDED_STEPS + block_steps]. */
struct block {
    size_t number, round;
    int implementation;
    long first_step;    /* number of its first step among all steps of this process */
    double other_cores; /* that other processes used since the last block with a figure; NAN: no figure */
    double seconds;     /* of the timed steps together, on this rank */
    double comm_cpu_seconds, comm_seconds; /* of a strategy that reduces: CPU time of rank 0's communication thread in
                                              the timed steps, and their length; otherwise 0 */
    size_t peak_bytes; /* most memory in use on this rank during the block (open_device_memory); 0: unknown */
    struct step_times *times;
    struct overlap *overlap;
    float *record; /* [steps, RECORDS] */
    double *loss;  /* [steps] of this rank */
};

/* The time over which the use of CPUs by other processes is measured: a block, or as many short blocks as take 0.2 s
 * together, because the kernel counts in hundredths of a second. Blocks begin and end with a barrier, so that waiting
 * for a slower rank does not count as the work of others. */
struct window {
    int64_t start_ns;                /* 0: not begun */
    double process_cpu, machine_cpu; /* seconds until the start */
    size_t blocks;                   /* since the start */
};

/* Totals over all blocks. */
struct block_counts {
    size_t blocks, watched_blocks;         /* all; those in which the use of CPUs by others is known */
    size_t with_other_processes;           /* blocks with MONITOR_OTHER_CORES or more in use by others */
    double other_cores;                    /* the most cores that other processes used during a block */
    size_t peak_bytes;                     /* most memory in use on this rank before the last block */
    double comm_cpu_seconds, comm_seconds; /* sums over the blocks */
    struct window window;                  /* the current one */
};

/* Prepares the device, the trainer and the record for an implementation, at that step of the schedule and data. */
void block_start(struct run *run, struct engine *engine, int implementation, long step);

/* Runs a block, whose implementation and round are set and whose arrays are allocated. Fills the block, and adds its
 * sample, losses and counts to the run. All ranks call. */
void block_run(struct run *run, const struct harness *harness, struct engine *engine, struct block *block);

/* Runs first steps of an implementation: a cold one, which takes *first seconds, and 1 to 9 more, until all together
 * have taken half a second. Returns the median seconds of the others on the slowest rank, the same on all ranks. All
 * ranks call. */
double block_try_steps(struct run *run, const struct job *job, struct engine *engine, int implementation,
                       double *first);

/* The most memory in use on this rank so far (open_device_memory). */
size_t block_peak_memory(const struct block_counts *counts, const struct open_device *opened);

#endif
