/* attainable.h - the step time that perfect overlap of each plan of collectives would reach (--attainable). */
#ifndef BENCH_MEASURE_TRAINING_ATTAINABLE_H
#define BENCH_MEASURE_TRAINING_ATTAINABLE_H

#include "ddp/job.h"
#include "ddp/strategy.h"
#include "results/results.h"
#include "spans/spans.h"

/* Seconds of a step with perfect overlap of a plan of n collectives:
 * max(C, max over i of (ready_i + sum over j >= i of alone_j)) + rest, where C is the end of backward, ready[i] when
 * the last gradient of collective i is final (both without communication), alone[i] the time of that collective by
 * itself, and rest clipping, optimizer and checkpoint. Collectives are in the order in which backward completes their
 * buckets, also for a strategy that launches them in another order. */
double attainable_of_plan(int n, const double *ready, const double *alone, double backward_end, double rest);

struct attainable;
struct block;

/* Room for `rounds` rounds (it grows) of n implementations, with `timed` steps in a block, on a model of that many
 * tensors. reducer[n] must outlive it. Release with attainable_destroy; NULL is fine. */
struct attainable *attainable_create(const struct reducer *reducer, int n, int tensors, int timed, size_t rounds);
void attainable_destroy(struct attainable *attainable);

/* Call after a block, while its spans are in the timeline, where they stay. Of `none`, keeps when each gradient was
 * final in the timed steps; of the others, the time of each collective alone, with the ranks otherwise idle. All ranks
 * call. */
void attainable_measure(struct attainable *attainable, const struct job *job, struct timeline *timeline,
                        const struct block *block);

/* Adds the measured times to this rank's metrics, in ms. Of `none`: gradients_ready_ms of each tensor, backward_end_ms,
 * update_ms (clipping and optimizer). Of the others, for each bucket: alone_ms, in_step_ms (the mean in the timed
 * steps) and last_tensor, the tensor whose gradient it waits for. Returns 0; or -1, reported. */
int attainable_write(const struct attainable *attainable, struct results *results, const char *label,
                     const struct timeline *timeline, const struct block *block);

/* How much longer the collectives of a block that reduces took on this rank than alone: the median over the buckets of
 * (mean time in the timed steps) / (time alone); *alone becomes the seconds of all of them alone. */
double attainable_slowdown(const struct attainable *attainable, const struct timeline *timeline,
                           const struct block *block, double *alone);

/* seconds[rounds] = the attainable step time of an implementation that reduces (attainable_of_plan), on the slowest
 * rank of each round. All ranks call. */
void attainable_rounds(const struct attainable *attainable, const struct job *job, int implementation, size_t rounds,
                       double *seconds);

#endif
