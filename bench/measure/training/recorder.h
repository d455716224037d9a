/* recorder.h - a rank's device with and without a record of its operations, and what is recorded of its steps: spans,
 * and the activities of a GPU, which its tracer records while traced implementations run. */
#ifndef BENCH_MEASURE_TRAINING_RECORDER_H
#define BENCH_MEASURE_TRAINING_RECORDER_H

#include "kernels/activity.h"
#include "kernels/device.h"

/* What a run records in addition to phases and collectives, for a profile; zeroed: nothing. */
struct recording {
    int operations, allocations; /* 1: those of the device, as spans */
    int gpu;                     /* 1: the activities of a GPU, by its tracer */
    double buffer_mb;            /* MiB of captured spans on a rank */
    const char *gpu_option;      /* an option that was given and needs a GPU; NULL: none */
};

struct recorder {
    const struct device *device, *traced; /* the device as it is, and recording its operations; traced may be NULL */
    struct timeline timeline;

    struct {
        int wanted, on, started;      /* it is to record; it does so now; it has done so before */
        int keeps;                    /* the records of the current steps are kept */
        struct activities activities; /* of the steps that are kept, once held or stopped */
        struct activities_mark kept;  /* the end of the activities of the last step that is kept */
        struct lane work;             /* what the GPU did for operations of these steps (activities_attribute) */
        char untraced[512];           /* why it did not start; "": it did */
    } tracer;
};

/* Allocates memory for `spans` spans in each lane, and for the records of the GPU. Release with recorder_destroy. */
void recorder_create(struct recorder *recorder, const struct device *device, const struct recording *recording,
                     int on_gpu, const size_t spans[TIMELINE_LANES]);
void recorder_destroy(struct recorder *recorder); /* a zeroed one is fine */

/* Ends the record of one implementation and begins that of another, traced or not. Returns the device to run it on. */
const struct device *recorder_begin(struct recorder *recorder, int traced);

/* Starts the tracer, with no records, for steps that are kept; does nothing if it is on, not wanted, or failed before.
 */
void recorder_start_tracer(struct recorder *recorder);

/* Call before each step: the tracer's records of it are kept (1) or not (0). Waits for the device where this changes.
 */
void recorder_keep(struct recorder *recorder, int keep);

/* Between two steps: waits for the device and completes the tracer's activities and work, and the operations of the
 * timeline, for all steps that were kept. The tracer records nothing until recorder_release. */
void recorder_hold(struct recorder *recorder);
void recorder_release(struct recorder *recorder);

/* After the last step: does the same as recorder_hold and stops the tracer. */
void recorder_stop_tracer(struct recorder *recorder);

/* The lane that shows when the rank computed, for overlap_of_steps: the operations on a device that finishes each
 * before it returns; on a GPU the work that its tracer recorded; NULL: not all of it is known. */
const struct lane *recorder_computing(const struct recorder *recorder);

#endif
