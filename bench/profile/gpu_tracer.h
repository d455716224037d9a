/* gpu_tracer.h - the tracer of a GPU during a capture: it records while steps that are kept run. */
#ifndef BENCH_PROFILE_GPU_TRACER_H
#define BENCH_PROFILE_GPU_TRACER_H

#include "kernels/activity.h"
#include "kernels/device.h"
#include "kernels/timeline.h"

struct gpu_tracer {
    const struct device *device;
    int on;                       /* a tracer records */
    int profiler_range;           /* the steps that are kept are bracketed by cudaProfilerStart and Stop */
    int in_range;                 /* Start was called, and not yet Stop */
    int keeps;                    /* the steps that run now are kept */
    struct activities activities; /* of the steps that are kept, once held */
    struct activities_mark kept;  /* where they ended after the last of these */
    char untraced[512];           /* why no tracer records; "": one does, or was not asked for */
};

/* Starts the tracer, with memory for so many steps that leave at most so many spans each; where that is not possible,
 * untraced says why. */
void gpu_tracer_start(struct gpu_tracer *tracer, size_t steps, const size_t spans[TIMELINE_LANES]);
void gpu_tracer_destroy(struct gpu_tracer *tracer); /* a zeroed one is fine */

/* A step is going to run which is kept, or not. Waits for the device where the one before was of the other kind. With
 * profiler_range NVIDIA's profilers record from the first one that is kept until gpu_tracer_end. */
void gpu_tracer_step(struct gpu_tracer *tracer, int keep);

/* Between two steps: waits for the device, and then the activities are those of all steps that were kept, in order; the
 * tracer adds none until gpu_tracer_release. */
void gpu_tracer_hold(struct gpu_tracer *tracer);
void gpu_tracer_release(struct gpu_tracer *tracer);

/* After the last step: the same, and the tracer ends. */
void gpu_tracer_end(struct gpu_tracer *tracer);

/* What is missing in the traces, in words; "" if nothing is, or nothing was asked for. */
const char *gpu_tracer_words(const struct gpu_tracer *tracer, char words[640]);

#endif
