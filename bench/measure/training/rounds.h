/* rounds.h - rounds of blocks, one of each implementation, interleaved so that a drift of the machine hits all alike.
 */
#ifndef BENCH_MEASURE_TRAINING_ROUNDS_H
#define BENCH_MEASURE_TRAINING_ROUNDS_H

#include "training/block.h"
#include "training/options.h"
#include "training/samples.h"

/* What a command does as the rounds go on. All ranks call each but rounds_needed at the same points. */
struct run_hooks {
    void *context;
    const char *directory; /* where results go, for the message before the first round */
    /* A block is over; its spans are still in the timeline. Returns 0; or -1, reported, if it could not be written. */
    int (*block)(void *context, const struct block *block);
    /* Some time has passed: writes the summary so far. Returns 0; or -1, reported. */
    int (*summary)(void *context);
    /* With --resolve, on rank 0 alone: how many rounds answer the question; at most those made if they do. */
    double (*rounds_needed)(const struct measurements *measurements, const struct implementation *implementation,
                            double resolve);
    /* NULL; or, before the first round and after each one, `seconds` after the rounds began on rank 0: sets
     * run->resting and run->planned, alike on all ranks. It prints how long the run will take, and shows its progress.
     */
    void (*plan)(void *context, double seconds);
};

/* Tries some first steps, prints on stderr how long the rounds will take and where results go, and runs the planned
 * rounds. Returns 0; or -1 on every rank, reported by rank 0, if results could not be written: then too the samples up
 * to measurements.rounds are complete. */
int run_rounds(struct run *run, const struct harness *harness, struct engine *engine, const struct run_hooks *hooks);

#endif
