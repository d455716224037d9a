/* gpu_tracer.c - the tracer of a GPU while traced steps run. */
#include "training/training.h"

#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>

/* Records that a step leaves at most, about: of an operation some kernels with their launches, of a collective its
 * kernel, stamps, events and waits, and stamps of phases and of gradients that are final. */
enum { OF_OPERATION = 8, OF_COLLECTIVE = 12, OF_HOST = 4 };

void gpu_tracer_create(struct gpu_tracer *t, const struct device *device, const size_t spans[TIMELINE_LANES])
{
    size_t records =
        OF_OPERATION * spans[LANE_COMPUTE] + OF_COLLECTIVE * spans[LANE_COMMUNICATION] + OF_HOST * spans[LANE_HOST];
    t->device = device;
    activities_create(&t->activities, records, records / 2);
}

void gpu_tracer_destroy(struct gpu_tracer *t)
{
    tracer_stop();
    activities_destroy(&t->activities);
    free(t->work.span);
    *t = (struct gpu_tracer){0};
}

void gpu_tracer_start(struct gpu_tracer *t)
{
    if (!t->device || t->on || *t->untraced)
        return;
    t->kept = (struct activities_mark){0};
    activities_rewind(&t->activities, &t->kept);
    t->activities.dropped = t->activities.untimed = t->work.n = 0;
    t->keeps = 1;
    t->on = tracer_start(&t->activities) == 0;
    if (!t->on && t->started)
        FATAL("the GPU's tracer recorded until now, and does not start again: %s", error_text());
    t->started |= t->on;
    snprintf(t->untraced, sizeof t->untraced, "%s", t->on ? "" : error_text());
    error_clear();
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
    if (!t->on || keep == t->keeps)
        return;
    pause_tracer(t);
    t->keeps = keep;
    tracer_resume();
}

void gpu_tracer_hold(struct gpu_tracer *t, struct timeline *timeline)
{
    if (!t->on)
        return;
    pause_tracer(t);
    activities_settle(&t->activities);
    activities_attribute(&t->activities, timeline, &t->work);
}

void gpu_tracer_release(struct gpu_tracer *t)
{
    if (t->on)
        tracer_resume();
}

void gpu_tracer_stop(struct gpu_tracer *t, struct timeline *timeline)
{
    if (!t->on)
        return;
    pause_tracer(t);
    tracer_stop();
    activities_rewind(&t->activities, &t->kept); /* what calls of no step left meanwhile */
    activities_settle(&t->activities);
    activities_attribute(&t->activities, timeline, &t->work);
    t->on = 0;
}
