/* load_measure.h - measures what the network does under load, after the search: messages of all pairs across the middle
 * at once, and all-reduces of groups (load.h). */
#ifndef BENCH_MEASURE_ISOLATE_LOAD_MEASURE_H
#define BENCH_MEASURE_ISOLATE_LOAD_MEASURE_H

#include "isolate/load.h"
#include "isolate/measure.h"

/* Sets up a load from what the search found (diagnosis; NULL on ranks other than 0), measures, and fills the load on
 * rank 0. options: the options of measure->comm. limit_s: the time for each part, but a level of groups that has begun
 * is measured LOAD_REPEATS times. All ranks call it while no collective is in flight. Release with load_destroy. */
enum { LOAD_REPEATS = 12 };
void load_measure(struct load *load, struct measure *measure, const struct diagnosis *diagnosis, double resolve,
                  const struct comm_options *options, double limit_s);

#endif
