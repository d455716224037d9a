/* gpu_tracer.c - the tracer of a GPU during a capture. */
#include "profile/gpu_tracer.h"

#include "kernels/error.h"
#include "training/implementations.h"

#include <stdio.h>
#include <string.h>

/* Records that a step leaves at most, about: of an operation some kernels with their launches and two stamps, of a
 * collective its kernel, stamps, events and waits, and stamps of phases and ranges. */
enum { OF_OPERATION = 8, OF_COLLECTIVE = 12, OF_HOST = 3, OF_STEP = 64 };

static void reserve(struct gpu_tracer *t, const struct run *run, size_t steps)
{
    size_t spans[TIMELINE_LANES];
    step_spans(&run->model, run->options->grad_accumulation, 1, spans);
    size_t activities = OF_OPERATION * spans[LANE_COMPUTE] + OF_COLLECTIVE * spans[LANE_COMMUNICATION] +
                        OF_HOST * spans[LANE_HOST] + OF_STEP;
    activities_create(&t->activities, activities * (steps + 2), activities * (steps + 2) / 2);
}

void gpu_tracer_create(struct gpu_tracer *t, const struct run *run, size_t steps)
{
    if (!run->opened.on_gpu || !(option_activities(run->options->profile_activities) & ACTIVITIES_CUDA))
        return;
    reserve(t, run, steps);
    t->on = tracer_start(&t->activities) == 0;
    if (t->on)
        return;
    snprintf(t->untraced, sizeof t->untraced, "%s", error_text());
    error_clear();
    activities_destroy(&t->activities);
    if (run->job->rank == 0)
        fprintf(stderr, "No kernels in the traces, operations instead, timed by CUDA events: %s.\n", t->untraced);
}

void gpu_tracer_destroy(struct gpu_tracer *t)
{
    tracer_stop();
    activities_destroy(&t->activities);
    *t = (struct gpu_tracer){0};
}

/* What was recorded since the last step that is kept is forgotten, unless that is the last one. */
static void hold(struct gpu_tracer *t, const struct run *run)
{
    run->device->synchronize();
    tracer_pause();
    if (t->keeps)
        t->place = activities_mark(&t->activities);
    else
        activities_rewind(&t->activities, &t->place);
}

static void set_range(struct gpu_tracer *t, const struct run *run, int on)
{
    if (on == t->in_range || !run->options->cuda_profiler_range)
        return;
    run->device->synchronize();
    device_cuda_profiler(on);
    t->in_range = on;
}

void gpu_tracer_step(struct gpu_tracer *t, const struct run *run, int keep)
{
    if (keep)
        set_range(t, run, 1);
    if (!t->on || keep == t->keeps)
        return;
    hold(t, run);
    t->keeps = keep;
    tracer_resume();
}

void gpu_tracer_hold(struct gpu_tracer *t, const struct run *run)
{
    if (!t->on)
        return;
    hold(t, run);
    activities_settle(&t->activities);
}

void gpu_tracer_release(struct gpu_tracer *t)
{
    if (t->on)
        tracer_resume();
}

void gpu_tracer_end(struct gpu_tracer *t, const struct run *run)
{
    set_range(t, run, 0);
    if (!t->on)
        return;
    hold(t, run);
    tracer_stop();
    if (!t->keeps)
        activities_rewind(&t->activities, &t->place);
    activities_settle(&t->activities);
}

const char *gpu_tracer_words(const struct gpu_tracer *t, char words[640])
{
    const struct activities *a = &t->activities;
    *words = 0;
    if (*t->untraced)
        snprintf(words, 640, "no kernels in the traces, operations instead, timed by CUDA events: %s", t->untraced);
    else if (a->dropped)
        snprintf(words, 640,
                 "the tracer of rank 0's GPU had no room for %zu records, which are missing in its trace; "
                 "--profile-buffer-mb makes the room larger",
                 a->dropped);
    else if (a->untimed)
        snprintf(words, 640, "%zu records of rank 0's GPU had no times and are missing in its trace", a->untimed);
    return words;
}
