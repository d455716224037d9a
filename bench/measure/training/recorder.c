/* recorder.c - turns on and off the recording of a device's operations and the tracing of its GPU. */
#include "training/recorder.h"

#include "kernels/device_traced.h"
#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>

/* Estimates of the largest number of tracer records per span. An operation has a few kernels and their launches; a
 * collective has a kernel, time stamps, events and waits; phases and ready marks of the host have time stamps. */
enum { OF_OPERATION = 8, OF_COLLECTIVE = 12, OF_HOST = 4 };

void recorder_create(struct recorder *r, const struct device *device, const struct recording *recording, int on_gpu,
                     const size_t spans[TIMELINE_LANES])
{
    r->device = device;
    timeline_create(&r->timeline, spans);
    r->tracer.wanted = recording->gpu && on_gpu;
    size_t records =
        OF_OPERATION * spans[LANE_COMPUTE] + OF_COLLECTIVE * spans[LANE_COMMUNICATION] + OF_HOST * spans[LANE_HOST];
    if (r->tracer.wanted)
        activities_create(&r->tracer.activities, records, records / 2);
    r->traced = recording->operations ? device_traced(device, &r->timeline, 1) : NULL;
}

void recorder_destroy(struct recorder *r)
{
    if (r->tracer.on)
        r->tracer.calls->stop();
    activities_destroy(&r->tracer.activities);
    free(r->tracer.work.span);
    timeline_destroy(&r->timeline);
    *r = (struct recorder){0};
}

void recorder_start_tracer(struct recorder *r)
{
    struct activities *activities = &r->tracer.activities;
    if (!r->tracer.wanted || r->tracer.on || *r->tracer.untraced)
        return;
    r->tracer.kept = (struct activities_mark){0};
    activities_rewind(activities, &r->tracer.kept);
    activities->dropped = activities->untimed = r->tracer.work.n = 0;
    r->tracer.keeps = 1;
    r->tracer.calls = tracer_find();
    r->tracer.on = r->tracer.calls && !r->tracer.calls->start(activities);
    if (!r->tracer.on && r->tracer.started)
        FATAL("the GPU's tracer recorded until now, and does not start again: %s", error_text());
    r->tracer.started |= r->tracer.on;
    snprintf(r->tracer.untraced, sizeof r->tracer.untraced, "%s", r->tracer.on ? "" : error_text());
    error_clear();
}

/* Pauses the tracer. If tracer.keeps is 1, keeps all records so far; otherwise drops those after the last kept step. */
static void pause_tracer(struct recorder *r)
{
    r->device->synchronize();
    r->tracer.calls->pause();
    if (r->tracer.keeps)
        r->tracer.kept = activities_mark(&r->tracer.activities);
    else
        activities_rewind(&r->tracer.activities, &r->tracer.kept);
}

/* Finds the operation to which each activity of the GPU belongs. */
static void attribute(struct recorder *r)
{
    activities_settle(&r->tracer.activities);
    activities_attribute(&r->tracer.activities, &r->timeline, &r->tracer.work);
}

void recorder_keep(struct recorder *r, int keep)
{
    if (!r->tracer.on || keep == r->tracer.keeps)
        return;
    pause_tracer(r);
    r->tracer.keeps = keep;
    r->tracer.calls->resume();
}

void recorder_hold(struct recorder *r)
{
    if (!r->tracer.on)
        return;
    pause_tracer(r);
    attribute(r);
}

void recorder_release(struct recorder *r)
{
    if (r->tracer.on)
        r->tracer.calls->resume();
}

void recorder_stop_tracer(struct recorder *r)
{
    if (!r->tracer.on)
        return;
    pause_tracer(r);
    r->tracer.calls->stop();
    activities_rewind(&r->tracer.activities, &r->tracer.kept); /* drops records after the last kept step */
    attribute(r);
    r->tracer.on = 0;
}

const struct device *recorder_begin(struct recorder *r, int traced)
{
    recorder_stop_tracer(r);
    if (!traced)
        return r->device;
    recorder_start_tracer(r);
    return r->traced = device_traced(r->device, &r->timeline, !r->tracer.on);
}

const struct lane *recorder_computing(const struct recorder *r)
{
    if (!r->device->asynchronous)
        return &r->timeline.lane[LANE_COMPUTE];
    const struct activities *activities = &r->tracer.activities;
    return r->tracer.work.n && !activities->dropped && !activities->untimed ? &r->tracer.work : NULL;
}
