/* recorder.h - records the operations of a rank's device as spans, and the activities of its GPU through a tracer,
 * while traced implementations run. */
#ifndef BENCH_MEASURE_TRAINING_RECORDER_H
#define BENCH_MEASURE_TRAINING_RECORDER_H

#include "kernels/activity.h"
#include "kernels/device.h"

/* What a profile records in addition to phases and collectives; zeroed: nothing. */
struct recording {
    int operations, allocations; /* 1: record the device's operations (allocations) as spans */
    int gpu;                     /* 1: trace the activities of the GPU */
    double buffer_mb;            /* MiB per rank for captured spans */
    const char *gpu_option;      /* an option that was given and needs a GPU; NULL: none */
};

struct recorder {
    const struct device *device, *traced; /* traced: the same device, with its operations recorded, or NULL */
    struct timeline timeline;

    struct {
        int wanted, on, started;      /* 1: the tracer is wanted, is running, has run before */
        int keeps;                    /* 1: records of the current step are kept */
        struct activities activities; /* in the kept steps; complete after recorder_hold or recorder_stop_tracer */
        struct activities_mark kept;  /* where the activities of the last kept step end */
        struct lane work;             /* the GPU's work for operations of the kept steps (activities_attribute) */
        char untraced[512];           /* why the tracer could not start; "": it could */
    } tracer;
};

/* Allocates memory for `spans` spans in each lane, and for the records of the GPU. Release with recorder_destroy. */
void recorder_create(struct recorder *recorder, const struct device *device, const struct recording *recording,
                     int on_gpu, const size_t spans[TIMELINE_LANES]);
void recorder_destroy(struct recorder *recorder); /* a zeroed recorder is fine */

/* Stops recording one implementation and begins the next, traced or not. Returns the device to use for it. */
const struct device *recorder_begin(struct recorder *recorder, int traced);

/* Starts the tracer, with no records so far. Does nothing if it is on, not wanted, or failed to start before. */
void recorder_start_tracer(struct recorder *recorder);

/* Call before each step: keep 1 keeps the tracer's records of the step, 0 drops them. A change waits for the device. */
void recorder_keep(struct recorder *recorder, int keep);

/* Call between two steps: waits for the device, and completes the activities and work of the tracer and the operations
 * of the timeline for all kept steps. The tracer records nothing until recorder_release. */
void recorder_hold(struct recorder *recorder);
void recorder_release(struct recorder *recorder);

/* Call after the last step: completes the records as recorder_hold does, and stops the tracer. */
void recorder_stop_tracer(struct recorder *recorder);

/* Returns a lane of spans in which the rank computed, for overlap_of_steps: on a GPU the work
 * that the tracer recorded, elsewhere the operations; NULL if part of the work or of the operations is unknown. */
const struct lane *recorder_computing(const struct recorder *recorder);

#endif
