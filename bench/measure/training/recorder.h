/* recorder.h - a rank's device with and without a record of its operations, and the records: spans, and the activities
 * of a GPU, which its tracer records while traced implementations run. */
#ifndef BENCH_MEASURE_TRAINING_RECORDER_H
#define BENCH_MEASURE_TRAINING_RECORDER_H

#include "kernels/activity.h"
#include "kernels/device.h"

/* What a run records for a profile, in addition to phases and collectives; zeroed: nothing. */
struct recording {
    int operations, allocations; /* 1: of the device, as spans */
    int gpu;                     /* 1: the activities of a GPU, by its tracer */
    double buffer_mb;            /* MiB of captured spans on a rank */
    const char *gpu_option;      /* a given option that needs a GPU; NULL: none */
};

struct recorder {
    const struct device *device, *traced; /* the device, and the same device with its operations recorded, or NULL */
    struct timeline timeline;

    struct {
        int wanted, on, started;      /* it is to record; it records; it has recorded before */
        int keeps;                    /* 1: the records of the current steps are kept */
        struct activities activities; /* of the kept steps, complete once held or stopped */
        struct activities_mark kept;  /* the end of the activities of the last kept step */
        struct lane work;             /* of the GPU for operations of the kept steps (activities_attribute) */
        char untraced[512];           /* why the tracer did not start; "": it did */
    } tracer;
};

/* Allocates memory for `spans` spans in each lane, and for the records of the GPU. Release with recorder_destroy. */
void recorder_create(struct recorder *recorder, const struct device *device, const struct recording *recording,
                     int on_gpu, const size_t spans[TIMELINE_LANES]);
void recorder_destroy(struct recorder *recorder); /* a zeroed one is fine */

/* Ends the record of one implementation and begins that of the next, traced or not. Returns the device for it. */
const struct device *recorder_begin(struct recorder *recorder, int traced);

/* Starts the tracer without records, for steps that are kept; does nothing if it is on, not wanted, or failed before.
 */
void recorder_start_tracer(struct recorder *recorder);

/* Call before each step, to keep the tracer's records of it (1) or not (0). Waits for the device where this changes. */
void recorder_keep(struct recorder *recorder, int keep);

/* Between two steps: waits for the device and completes the tracer's activities and work, and the operations of the
 * timeline, of all kept steps. The tracer records nothing until recorder_release. */
void recorder_hold(struct recorder *recorder);
void recorder_release(struct recorder *recorder);

/* After the last step: does the same as recorder_hold and stops the tracer. */
void recorder_stop_tracer(struct recorder *recorder);

/* The lane that shows when the rank computed, for overlap_of_steps: the operations on a device that finishes each
 * before it returns; on a GPU the work that its tracer recorded; NULL: not all of it is known. */
const struct lane *recorder_computing(const struct recorder *recorder);

#endif
