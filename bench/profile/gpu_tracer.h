/* gpu_tracer.h - the tracer of a GPU during a capture: it records while steps that are kept run. */
#ifndef BENCH_PROFILE_GPU_TRACER_H
#define BENCH_PROFILE_GPU_TRACER_H

#include "kernels/activity.h"
#include "training/rounds.h"

struct gpu_tracer {
    int on; /* a tracer records */
    struct activities activities;
    struct activities_mark place; /* what belongs to steps that are kept, when the last one of these was over */
    int keeps;                    /* the steps that run now are kept */
    int in_range;                 /* cudaProfilerStart was called, and not yet Stop */
    char untraced[512];           /* why it does not, though it was asked for; "": it was not */
};

/* Starts the tracer where the run is on a GPU and its activities are asked for, with memory for that many steps;
 * untraced says why that is not possible, and rank 0 says it on stderr. */
void gpu_tracer_create(struct gpu_tracer *gpu_tracer, const struct run *run, size_t steps);
void gpu_tracer_destroy(struct gpu_tracer *gpu_tracer); /* a zeroed one is fine */

/* A step is going to run which is kept, or not. Waits for the device where the one before was of the other kind. With
 * --cuda-profiler-range NVIDIA's profilers record from the first one that is kept until gpu_tracer_end. */
void gpu_tracer_step(struct gpu_tracer *gpu_tracer, const struct run *run, int keep);

/* Between two steps: waits for the device, and then the activities are those of all steps that were kept, in order; the
 * tracer adds none until gpu_tracer_release. */
void gpu_tracer_hold(struct gpu_tracer *gpu_tracer, const struct run *run);
void gpu_tracer_release(struct gpu_tracer *gpu_tracer);

/* Behind the last step: the same, and the tracer ends. */
void gpu_tracer_end(struct gpu_tracer *gpu_tracer, const struct run *run);

/* What is missing in the activities, in words; "" if nothing is, or nothing was asked for. */
const char *gpu_tracer_words(const struct gpu_tracer *gpu_tracer, char words[640]);

#endif
