/* gpu_tracer.c - the tracer of a GPU during a capture. */
#include "kernels/device_cuda.h"
#include "kernels/error.h"
#include "profile/outcome.h"

#include <stdio.h>

/* Records that a step leaves at most, about: of an operation some kernels with their launches and two stamps, of a
 * collective its kernel, stamps, events and waits, and stamps of phases and ranges. */
enum { OF_OPERATION = 8, OF_COLLECTIVE = 12, OF_HOST = 3, OF_STEP = 64 };

void gpu_tracer_start(struct gpu_tracer *t, size_t steps, const size_t spans[TIMELINE_LANES])
{
    size_t records = (steps + 2) * (OF_OPERATION * spans[LANE_COMPUTE] + OF_COLLECTIVE * spans[LANE_COMMUNICATION] +
                                    OF_HOST * spans[LANE_HOST] + OF_STEP);
    activities_create(&t->activities, records, records / 2);
    t->on = tracer_start(&t->activities) == 0;
    if (t->on)
        return;
    snprintf(t->untraced, sizeof t->untraced, "%s", error_text());
    snprintf(t->missing, sizeof t->missing,
             "CUPTI unavailable (%s): traces hold operations timed by CUDA events, no kernels", t->untraced);
    error_clear();
    activities_destroy(&t->activities);
}

void gpu_tracer_destroy(struct gpu_tracer *t)
{
    tracer_stop();
    activities_destroy(&t->activities);
    *t = (struct gpu_tracer){0};
}

/* Forgets what was recorded since the last step that is kept, unless that is the last one. */
static void pause_tracer(struct gpu_tracer *t)
{
    t->device->synchronize();
    tracer_pause();
    if (t->keeps)
        t->kept = activities_mark(&t->activities);
    else
        activities_rewind(&t->activities, &t->kept);
}

void gpu_tracer_step(struct gpu_tracer *t, int keep)
{
    if (keep && t->profiler_range && !t->in_range) {
        t->device->synchronize();
        device_cuda_profiler(1);
        t->in_range = 1;
    }
    if (!t->on || keep == t->keeps)
        return;
    pause_tracer(t);
    t->keeps = keep;
    tracer_resume();
}

void gpu_tracer_hold(struct gpu_tracer *t)
{
    if (!t->on)
        return;
    pause_tracer(t);
    activities_settle(&t->activities);
}

void gpu_tracer_release(struct gpu_tracer *t)
{
    if (t->on)
        tracer_resume();
}

void gpu_tracer_end(struct gpu_tracer *t)
{
    if (t->in_range) {
        t->device->synchronize();
        device_cuda_profiler(0);
        t->in_range = 0;
    }
    if (!t->on)
        return;
    pause_tracer(t);
    tracer_stop();
    if (!t->keeps)
        activities_rewind(&t->activities, &t->kept);
    activities_settle(&t->activities);
    if (t->activities.dropped)
        snprintf(t->missing, sizeof t->missing,
                 "%zu records of rank 0's GPU did not fit into the tracer's memory and are missing in its trace; use a "
                 "larger --profile-buffer-mb",
                 t->activities.dropped);
    else if (t->activities.untimed)
        snprintf(t->missing, sizeof t->missing, "%zu records of rank 0's GPU had no times and are missing in its trace",
                 t->activities.untimed);
}
