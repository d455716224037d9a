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
 * Stages within hosts take within[i] seconds more, and may overlap with other buckets' alone[]. So the step is at least
 * as long as the formula gives for alone[], for within[], and for each bucket's alone[i] + within[i] by itself. */
double attainable_of_plan(int n, const double *ready, const double *alone, const double *within, double backward_end,
                          double rest);

/* Returns the seconds that gathering weights adds to a step with perfect overlap. Gathers run one after another and
 * take `gather` seconds in all. They start once the optimizer has updated the first part of the weights, which takes
 * the fraction `first` of its `update` seconds. The next forward takes `forward` seconds; it can neither begin before
 * the first gather ends (first_gather seconds), nor end before the last one. */
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

/* Adds the times of a block as a line to this rank's metrics (results/README.md). Returns 0; or -1, reported. */
int attainable_write(const struct attainable *attainable, struct results *results, const char *label,
                     const struct timeline *timeline, const struct block *block);

/* Returns how many times longer the collectives of a block took on this rank in the timed steps than alone: the median
 * over buckets of (mean time in the timed steps) / (time alone). Sets *alone to the seconds of all reductions alone. */
double attainable_slowdown(const struct attainable *attainable, const struct timeline *timeline,
                           const struct block *block, double *alone);

/* Sets seconds[rounds] to the attainable step time in each round of an implementation that reduces, on the rank where
 * it is longest: attainable_of_plan + attainable_gather. If it shards, a rank updates only its part of the weights. If
 * it updates early, all updates but the last bucket's are part of backward. If it releases gradients, only the
 * reductions of the last micro-batch count. If it averages weights, it reduces after the update. All ranks call it. */
void attainable_rounds(const struct attainable *attainable, const struct job *job, int implementation, size_t rounds,
                       double *seconds);

/* Returns a note on why steps may be shorter than attainable: MPI reduces over a number of ranks that is not a power of
 * two, or `ratio` (step / attainable) is below 0.95; else NULL. on_device: as in struct comm. */
const char *attainable_note(int ranks, int on_device, double ratio);

#endif
