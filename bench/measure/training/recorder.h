/* recorder.h - records operations of a rank's device as spans, and its GPU's activities, while traced rows run. */
#ifndef BENCH_MEASURE_TRAINING_RECORDER_H
#define BENCH_MEASURE_TRAINING_RECORDER_H

#include "kernels/activity.h"
#include "kernels/device.h"

/* What a profile records in addition to phases and collectives; zeroed: nothing more. */
struct recording {
    int operations;         /* 1: record the device's operations and allocations as spans */
    int gpu;                /* 1: trace the activities of the GPU */
    double buffer_mb;       /* MiB per rank for captured spans */
    const char *gpu_option; /* an option that was given and needs a GPU; NULL: none */
};

struct recorder {
    const struct device *device, *traced; /* traced: the same device, with its operations recorded, or NULL */
    struct timeline timeline;

    struct {
        const struct tracer *calls;   /* once it was started */
        int wanted, on, started;      /* 1: the tracer is wanted, is running, has run before */
        int keeps;                    /* 1: the tracer's records of the current step are kept */
        struct activities activities; /* of the kept steps; complete after recorder_hold or recorder_stop_tracer */
        struct activities_mark kept;  /* where the activities of the last kept step end */
        struct lane work;             /* the GPU's work for operations of the kept steps (activities_attribute) */
        char untraced[512];           /* why the tracer could not start; "": it has not failed */
    } tracer;
};

/* Allocates memory for spans[i] spans in lane i, and for the tracer's records. Release with recorder_destroy. */
void recorder_create(struct recorder *recorder, const struct device *device, const struct recording *recording,
                     int on_gpu, const size_t spans[TIMELINE_LANES]);
void recorder_destroy(struct recorder *recorder); /* a zeroed recorder is fine */

/* Stops recording; if `traced`, begins to record the next implementation. Returns the device to run the next on. */
const struct device *recorder_begin(struct recorder *recorder, int traced);

/* Drops all records and starts the tracer. Does nothing if the tracer runs, is unwanted, or could not start before. */
void recorder_start_tracer(struct recorder *recorder);

/* Call before a step. keep 1: keep the step's tracer records; 0: drop them. Waits for the device if `keep` changes. */
void recorder_keep(struct recorder *recorder, int keep);

/* Call between two steps: waits for the device, and completes the activities and work of the tracer and the operations
 * of the timeline for all kept steps. Later records of the tracer are held back until recorder_release. */
void recorder_hold(struct recorder *recorder);
void recorder_release(struct recorder *recorder);

/* Call after the last step: completes the records as recorder_hold does, and stops the tracer. */
void recorder_stop_tracer(struct recorder *recorder);

/* Returns a lane of spans in which the rank computed, for overlap_of_steps: on a GPU the work that the tracer recorded,
 * elsewhere the operations. NULL: on a GPU, if the tracer recorded no work or lost a record. */
const struct lane *recorder_computing(const struct recorder *recorder);

#endif
