/* attainable.h - what perfect overlap of each plan of collectives would reach (--attainable). */
#ifndef BENCH_MEASURE_TRAINING_ATTAINABLE_H
#define BENCH_MEASURE_TRAINING_ATTAINABLE_H

#include "ddp/job.h"
#include "ddp/strategy.h"
#include "results/results.h"
#include "spans/spans.h"

/* Seconds from a step's start in which perfect overlap of a plan of n collectives would be done:
 * max(C, max over i of (ready_i + sum over j >= i of alone_j)) + rest, where C is the end of backward, ready[i] when
 * the last gradient of collective i is final (both without communication), alone[i] the time of that collective by
 * itself, and rest clipping, optimizer and checkpoint. The order is that in which backward completes the buckets, also
 * for a strategy that launches them in another one: the bound is what the same collectives could reach. */
double attainable_of_plan(int n, const double *ready, const double *alone, double backward_end, double rest);

struct attainable;

/* Room for `rounds` rounds (and more when they come) of n implementations on a model of that many tensors. The reducers
 * [n] must outlive it. Release with attainable_destroy; NULL is fine. */
struct attainable *attainable_create(const struct reducer *reducer, int n, int tensors, size_t rounds);
void attainable_destroy(struct attainable *attainable);

/* After a block of an implementation with so many timed steps, whose spans are still in the timeline (and stay there).
 * From `none`: when each gradient was final in the timed steps. Of the others: the time of each collective by itself,
 * with the ranks otherwise idle. All ranks call it. */
void attainable_measure(struct attainable *attainable, const struct job *job, struct timeline *timeline,
                        const struct step_times *times, int timed, int implementation, size_t round);

/* Adds to this rank's metrics what that measured in a round, in ms, so that anyone can compute attainable, and
 * comm_slowdown, again. Of `none`: gradients_ready_ms of each tensor, backward_end_ms, update_ms (clipping and
 * optimizer). Of the others: for each collective alone_ms, in_step_ms (its mean duration in the timed steps) and
 * last_tensor, whose gradient it waits for. 0, or -1, reported. */
int attainable_write(const struct attainable *attainable, struct results *results, const char *label,
                     const struct timeline *timeline, int timed, int implementation, size_t round);

/* Of this rank in one round of an implementation that reduces: how much longer its collectives took in its
 * block, whose spans are in the timeline: the median over the collectives of (mean duration in the timed steps) /
 * (duration alone); and in *alone the seconds of all of them alone. */
double attainable_slowdown(const struct attainable *attainable, const struct timeline *timeline, int timed,
                           int implementation, size_t round, double *alone);

/* seconds[rounds] = the attainable step time of an implementation that reduces (attainable_of_plan), of the slowest
 * rank in each of the first rounds. All ranks call it. */
void attainable_rounds(const struct attainable *attainable, const struct job *job, int implementation, size_t rounds,
                       double *seconds);

#endif
