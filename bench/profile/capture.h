/* capture.h - trains the epochs of a profile, keeps the spans of the steps that its schedule selects, and writes every
 * rank's trace. */
#ifndef BENCH_PROFILE_CAPTURE_H
#define BENCH_PROFILE_CAPTURE_H

#include "profile/gpu_tracer.h"
#include "trace/trace.h"
#include "training/telemetry.h"

struct capture {
    int n, room; /* steps kept, and how many there is memory for */
    int full;    /* the memory ended before the schedule did */
    int stopped; /* a rank was told to stop by SIGINT or SIGTERM */
    int first;   /* figures are about the steps from this one on: those of active epochs, or all if there are none */
    struct captured_step *step; /* [n] */
    struct step_times *times;   /* [n] */
    struct overlap *overlap;    /* [n] */
    float *record;              /* [n, RECORDS] */
    size_t *parameters;         /* of each collective of the plan */
    int64_t step_ns;            /* what one step took, roughly, before the capture */
    struct alignment alignment;
    struct collectives collectives;
    struct gpu_tracer gpu_tracer;
    struct trace trace;
};

/* What the schedule of torch.profiler does with a step: wait, warm up, record; or there is nothing more to do. */
enum capture_state { CAPTURE_WAIT, CAPTURE_WARMUP, CAPTURE_ACTIVE, CAPTURE_OVER };
enum capture_state capture_state(const struct options *options, size_t step);

/* Steps until there is nothing more to do, and how many of these are recorded. */
size_t capture_steps(const struct options *options);
size_t capture_active_steps(const struct options *options);

/* Runs the steps with the run's first implementation, then aligns the clocks, and writes the trace of this rank, the
 * trace of all ranks, and the telemetry. The spans stay in the run's timeline. Returns 0; or -1 on every rank, and rank
 * 0 has said why. Release with capture_destroy either way. */
int capture_run(struct capture *capture, struct run *run, struct results *results);
void capture_destroy(struct capture *capture); /* a zeroed one is fine */

#endif
