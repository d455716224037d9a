/* block.h - one block: some steps of one implementation, from the same weights and data as every other block. */
#ifndef BENCH_MEASURE_TRAINING_BLOCK_H
#define BENCH_MEASURE_TRAINING_BLOCK_H

#include "harness/harness.h"
#include "spans/spans.h"

struct run;
struct engine;

/* A block that has been measured. The arrays are [DISCARDED_STEPS + block_steps]. */
struct block {
    size_t number, round;
    int implementation;
    long first_step;    /* its number among all steps of this process */
    double other_cores; /* that other processes used since the last block that has a figure; NAN: there is none yet */
    double seconds;     /* of the timed steps together, on this rank */
    double comm_cpu_seconds, comm_seconds; /* of a block that reduces: CPU time of rank 0's communication thread in the
                                              timed steps, and their length; otherwise 0 */
    size_t peak_bytes; /* most memory in use on this rank meanwhile (open_device_memory); 0: unknown */
    struct step_times *times;
    struct overlap *overlap;
    float *record; /* [steps, RECORDS] */
    double *loss;  /* of this rank */
};

/* The use of CPUs by other processes is measured over one block, or over as many short ones as take 0.2 s together,
 * because the kernel counts in hundredths of a second. Blocks begin and end with a barrier, so that waiting for a
 * slower rank is not counted as the work of others. */
struct window {
    int64_t start_ns;                /* 0: not begun */
    double process_cpu, machine_cpu; /* seconds until the start */
    size_t blocks;                   /* since the start */
};

/* Totals over all blocks. */
struct block_counts {
    size_t blocks, watched_blocks;         /* measured; those for which the use by other processes is known */
    size_t with_other_processes;           /* blocks with MONITOR_OTHER_CORES or more in use by others */
    double other_cores;                    /* the most cores that other processes used during a block */
    size_t peak_bytes;                     /* the most memory in use on this rank before the last block */
    double comm_cpu_seconds, comm_seconds; /* sums over the blocks */
    struct window window;                  /* the current one */
};

/* Prepares the device, the trainer and the record for an implementation, with the schedule and the data at `step`. */
void block_start(struct run *run, struct engine *engine, int implementation, long step);

/* Runs the block of an implementation in a round, both set in `block`, whose arrays are allocated. Fills the block, and
 * adds its sample, losses and counts to the run. All ranks call. */
void block_run(struct run *run, const struct harness *harness, struct engine *engine, struct block *block);

/* Runs first steps of an implementation: a cold one, which takes *first seconds, and 1 to 9 more, until they have taken
 * half a second together. Returns the median of the warm ones on the slowest rank. All ranks call and get the same. */
double block_try_steps(struct run *run, const struct job *job, struct engine *engine, int implementation,
                       double *first);

/* The most memory in use on this rank so far (open_device_memory). */
size_t block_peak_memory(const struct block_counts *counts, const struct open_device *opened);

#endif
