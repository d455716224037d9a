/* capture.h - trains the epochs of a profile and keeps the steps that its schedule selects. */
#ifndef BENCH_MEASURE_PROFILE_CAPTURE_H
#define BENCH_MEASURE_PROFILE_CAPTURE_H

#include "profile/schedule.h"
#include "trace/trace.h"

struct capture {
    const struct profile_options *options;
    int row;                    /* the implementation */
    int n, room;                /* steps kept, and how many there is memory for */
    int full;                   /* the memory was full before the schedule ended */
    int interrupted;            /* by SIGINT, SIGTERM or SIGHUP, of any rank */
    struct captured_step *step; /* [n] */
    struct step_times *times;   /* [n] */
    struct overlap *overlap;    /* [n] */
    size_t *parameters;         /* of each bucket of the plan */
    struct alignment alignment;
    struct collectives collectives;   /* counts those of active epochs; of warm-up epochs if all captured steps are */
    int in_range;                     /* the vendor's profiler is on */
    struct gpu_facts *seen, *of_rank; /* GPUs that this process sees; [ranks] that each rank computes on */
    char missing[640];                /* what the traces lack of the GPU, without a full stop; "": nothing */
    struct trace trace;
};

/* Runs the steps with an implementation, aligns the clocks, and writes the trace of this rank, the trace of all ranks
 * and the telemetry under that name. The spans stay in the run's timeline. From the first step on, SIGINT, SIGTERM and
 * SIGHUP are only noted and end the capture; what was captured is written. Returns 0; or -1 on every rank, reported.
 * Release with capture_destroy either way. */
int capture_run(struct capture *capture, struct run *run, int row, const char *name,
                const struct profile_options *options, struct results *results);
void capture_destroy(struct capture *capture); /* a zeroed one is fine */

/* Restores the former actions of these signals. Returns whether any rank has noted one. All ranks call. */
int capture_stop_noting(const struct job *job);

#endif
