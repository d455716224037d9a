/* sizes.h - the sizes of a sweep: a range, a list, or those that a model's strategies send. */
#ifndef BENCH_ALLREDUCE_SIZES_H
#define BENCH_ALLREDUCE_SIZES_H

#include "allreduce/options.h"

#define SWEEP_MOST_BYTES 1099511627776.0 /* of a message: 1 TiB */

/* Makes options->size from the options, in order and without repeats. Returns 0; or -1, reported. */
int sweep_sizes_make(struct sweep_options *options);

#endif
