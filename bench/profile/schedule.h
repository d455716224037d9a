/* schedule.h - which steps of a profile are captured: the cycles of torch.profiler.schedule, cut off by the end of the
 * epochs. Pure. */
#ifndef BENCH_PROFILE_SCHEDULE_H
#define BENCH_PROFILE_SCHEDULE_H

#include <stddef.h>

struct capture_schedule {
    size_t steps;                        /* of all epochs */
    size_t wait, warmup, active, repeat; /* as in the options: steps of a cycle; active 0: all that remain; cycles,
                                            0: as many as there is room for. A cycle fits into the steps */
};

/* What happens in a step: nothing, tracing without keeping, tracing; or the schedule has ended. */
enum capture_state { CAPTURE_WAIT, CAPTURE_WARMUP, CAPTURE_ACTIVE, CAPTURE_OVER };
enum capture_state capture_state(const struct capture_schedule *schedule, size_t step);

/* Steps until the schedule has ended, and how many of these are active. */
size_t capture_steps(const struct capture_schedule *schedule);
size_t capture_active_steps(const struct capture_schedule *schedule);

#endif
