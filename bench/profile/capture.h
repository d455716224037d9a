/* capture.h - trains the epochs of a profile, keeps the spans of the steps that its schedule selects, and writes every
 * rank's trace. */
#ifndef BENCH_PROFILE_CAPTURE_H
#define BENCH_PROFILE_CAPTURE_H

#include "profile/gpu_tracer.h"
#include "profile/schedule.h"
#include "profile/trace_files.h"
#include "results/results.h"
#include "trace/trace.h"

struct capture {
    const struct profile_options *options;
    struct capture_schedule schedule;
    int n, room;     /* steps kept, and how many there is memory for */
    int full;        /* the memory ended before the schedule did */
    int interrupted; /* by SIGINT or SIGTERM, of any rank */
    int first; /* figures are about the steps from this one on: those of active epochs, or all if there are none */
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

/* Runs the steps with the run's first implementation, then aligns the clocks, and writes the trace of this rank, the
 * trace of all ranks, and the telemetry. The spans stay in the run's timeline. Returns 0; or -1 on every rank, and rank
 * 0 has said why. Release with capture_destroy either way. */
struct run;
int capture_run(struct capture *capture, struct run *run, const struct profile_options *options,
                const struct trace_files *files, struct results *results);
void capture_destroy(struct capture *capture); /* a zeroed one is fine */

#endif
