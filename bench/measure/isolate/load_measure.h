/* load_measure.h - measures what the network does under load, after the search: messages of all pairs across the middle
 * at once, and all-reduces of groups (load.h). */
#ifndef BENCH_MEASURE_ISOLATE_LOAD_MEASURE_H
#define BENCH_MEASURE_ISOLATE_LOAD_MEASURE_H

#include "isolate/load.h"
#include "isolate/measure.h"

/* Rank 0: sets up a load from what the search found. Release with load_destroy. */
void load_prepare(struct load *load, const struct diagnosis *diagnosis, int members, double resolve);

/* Measures, and fills the load on rank 0; the load of other ranks is not used. options: those of measure->comm.
 * limit_s: the time for either part; a level of groups that has begun is measured LOAD_REPEATS times. All ranks call it
 * while no collective is in flight. */
enum { LOAD_REPEATS = 12 };
void load_measure(struct load *load, struct measure *measure, const struct comm_options *options, double limit_s);

#endif
