/* schedule.h - which steps a profile captures: cycles as of torch.profiler.schedule, cut off by the end of the epochs.
 */
#ifndef BENCH_MEASURE_PROFILE_SCHEDULE_H
#define BENCH_MEASURE_PROFILE_SCHEDULE_H

#include "profile/profile.h"

/* What happens in a step: nothing, tracing without keeping, tracing. */
enum capture_state { CAPTURE_WAIT, CAPTURE_WARMUP, CAPTURE_ACTIVE };
enum capture_state capture_state(const struct profile_options *options, size_t step);

/* The steps until the last cycle has ended, of the epochs' `steps`, which hold at least one cycle. */
size_t capture_steps(const struct profile_options *options, size_t steps);

/* How many of the first `steps` are active. */
size_t capture_active(const struct profile_options *options, size_t steps);

#endif
