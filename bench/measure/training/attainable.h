/* attainable.h - the step time that perfect overlap of a bucket plan would reach (--attainable). */
#ifndef BENCH_MEASURE_TRAINING_ATTAINABLE_H
#define BENCH_MEASURE_TRAINING_ATTAINABLE_H

#include "ddp/job.h"
#include "ddp/strategy.h"
#include "results/results.h"
#include "spans/spans.h"

/* Returns the seconds of a step with perfect overlap of n collectives: max(backward_end, max over i of (ready[i] + sum
 * over j >= i of alone[j])) + rest. In a step without communication, counted from its start, backward ends at
 * backward_end, and the last gradient of collective i is final at ready[i]. Collective i, run alone, takes alone[i];
 * clipping, optimizer and checkpoint together take `rest`. Collectives are in the order in which backward completes
 * their buckets, even if the strategy launches them in another order.
 *
 * Stages within hosts take within[i] more, and may run beside other buckets' alone[]: the step is at least as long as
 * the formula gives for alone[], for within[], and for each bucket's alone[i] + within[i] by itself. */
double attainable_of_plan(int n, const double *ready, const double *alone, const double *within, double backward_end,
                          double rest);

/* Returns the seconds that gathering weights adds to a step with perfect overlap. Gathers, which take `gather` seconds,
 * run one after another from when the optimizer has updated the first part of the weights, after the fraction `first`
 * of its `update` seconds. The next forward, of `forward` seconds, cannot begin before the first gather, of
 * first_gather seconds, ends, or end before the last one. */
double attainable_gather(double gather, double first_gather, double forward, double update, double first);

struct attainable;
struct block;

/* Makes room for `rounds` rounds of n implementations (attainable_measure enlarges it), with `timed` timed steps in a
 * block, on a model with `tensors` tensors. reducer[n] must outlive the result. Release with attainable_destroy. */
struct attainable *attainable_create(const struct reducer *reducer, int n, int tensors, int timed, size_t rounds);
void attainable_destroy(struct attainable *attainable); /* NULL is fine */

/* Call it after a block, while the timeline has the block's spans; they are left unchanged. After a block of `none`,
 * stores when each gradient was final in the timed steps; after a block of any other strategy, measures each of its
 * collectives alone, while the ranks do nothing else. All ranks call it. */
void attainable_measure(struct attainable *attainable, const struct job *job, struct timeline *timeline,
                        const struct block *block);

/* Adds the times of a block, in ms, as a line to this rank's metrics. For `none`: gradients_ready_ms of each tensor,
 * forward_end_ms, backward_end_ms, update_ms (the optimizer) and rest_ms (clipping and checkpoints). For other
 * strategies, for each bucket: alone_ms, within_host_alone_ms (of stages within hosts), gather_alone_ms (of weights, if
 * it shards), in_step_ms (all of them, mean over the timed steps), last_tensor (it completes the bucket); and
 * reductions, of each bucket in a step. Returns 0; or -1, reported. */
int attainable_write(const struct attainable *attainable, struct results *results, const char *label,
                     const struct timeline *timeline, const struct block *block);

/* Returns how many times longer the collectives of a block took on this rank in the timed steps than alone: the median
 * over buckets of (mean time in the timed steps) / (time alone). Sets *alone to the sum of the times alone of those
 * that reduce, in s. */
double attainable_slowdown(const struct attainable *attainable, const struct timeline *timeline,
                           const struct block *block, double *alone);

/* Sets seconds[rounds] to the attainable step time in each round of an implementation that reduces, on the rank where
 * that time is longest: attainable_of_plan + attainable_gather. If it shards, the update counts in proportion to its
 * part; if it updates early, the updates of all buckets but the last count as part of backward; if it releases
 * gradients, only the reductions of the last micro-batch count; if it averages weights, it does so after the update.
 * All ranks call it. */
void attainable_rounds(const struct attainable *attainable, const struct job *job, int implementation, size_t rounds,
                       double *seconds);

/* Returns why steps are shorter than attainable, or can be, if `ratio`, of step / attainable, is below 0.95 or MPI
 * folds the number of ranks; else NULL. on_device: as in struct comm. */
const char *attainable_note(int ranks, int on_device, double ratio);

#endif
