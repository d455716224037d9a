/* attainable.h - the step time that perfect overlap of a bucket plan would reach (--attainable). */
#ifndef BENCH_MEASURE_TRAINING_ATTAINABLE_H
#define BENCH_MEASURE_TRAINING_ATTAINABLE_H

#include "ddp/job.h"
#include "ddp/strategy.h"
#include "results/results.h"
#include "spans/spans.h"

/* Returns the seconds of a step with perfect overlap of n collectives: max(C, max over i of (ready_i + sum over j >= i
 * of alone_j)) + rest. C is the end of backward, and ready[i] when the last gradient of collective i is final, both
 * without communication; alone[i] is the time of that collective alone; rest is clipping, optimizer and checkpoint.
 * Collectives are in the order in which backward completes their buckets, even if the strategy launches them in another
 * order. */
double attainable_of_plan(int n, const double *ready, const double *alone, double backward_end, double rest);

struct attainable;
struct block;

/* Makes room for `rounds` rounds (more if needed) of n implementations, with `timed` timed steps in a block, on a model
 * with `tensors` tensors. reducer[n] must outlive it. Release with attainable_destroy; NULL is fine. */
struct attainable *attainable_create(const struct reducer *reducer, int n, int tensors, int timed, size_t rounds);
void attainable_destroy(struct attainable *attainable);

/* Call after a block, while its spans are in the timeline, where they stay. For `none`, stores when each gradient was
 * final in the timed steps; for other rows, measures each collective alone, while the ranks do nothing else. All ranks
 * call. */
void attainable_measure(struct attainable *attainable, const struct job *job, struct timeline *timeline,
                        const struct block *block);

/* Adds the measured times, in ms, to this rank's metrics. For `none`: gradients_ready_ms of each tensor,
 * backward_end_ms, update_ms (clipping and optimizer). For others, for each bucket: alone_ms, in_step_ms (mean over the
 * timed steps) and last_tensor, the tensor whose gradient it waits for. Returns 0; or -1, reported. */
int attainable_write(const struct attainable *attainable, struct results *results, const char *label,
                     const struct timeline *timeline, const struct block *block);

/* Returns how many times longer the collectives of a block took on this rank in the timed steps than alone: the median
 * over buckets of (mean time in the timed steps) / (time alone). Sets *alone to the seconds of all, run alone. */
double attainable_slowdown(const struct attainable *attainable, const struct timeline *timeline,
                           const struct block *block, double *alone);

/* Sets seconds[rounds] to the attainable step time (attainable_of_plan) of an implementation that reduces, on the
 * slowest rank of each round. All ranks call. */
void attainable_rounds(const struct attainable *attainable, const struct job *job, int implementation, size_t rounds,
                       double *seconds);

#endif
