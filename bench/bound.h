/* bound.h - measures what perfect overlap of each plan of collectives would reach (--attainable). */
#ifndef BOUND_H
#define BOUND_H

#include "run.h"
#include "steps.h"

struct bound;

/* Room for all rounds of a run. Release with bound_destroy, with the same run; NULL is fine. */
struct bound *bound_create(const struct run *run);
void bound_destroy(struct bound *bound, const struct run *run);

/* After a block of an implementation, whose spans are still in the timeline. From `none`: when each gradient was final
 * in the steps behind the first `discarded`. Of the others: the time of each collective by itself, with the ranks
 * otherwise idle. All ranks call it. */
void bound_measure(struct bound *bound, struct run *run, const struct step_times *times, int discarded,
                   int implementation, size_t round);

/* seconds[n] = attainable step time of each implementation (METRICS: attainable), from medians over the rounds so far,
 * of the slowest rank; NAN for one that does not reduce. All ranks call it. */
void bound_compute(const struct bound *bound, const struct run *run, double *seconds);

#endif
