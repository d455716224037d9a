/* capture.h - trains the epochs of a profile, keeps the spans of the steps that its schedule selects, and writes every
 * rank's trace. */
#ifndef BENCH_PROFILE_CAPTURE_H
#define BENCH_PROFILE_CAPTURE_H

#include "profile/gpu_tracer.h"
#include "profile/profile.h"
#include "trace/trace.h"

/* ---- the schedule: cycles as of torch.profiler.schedule, cut off by the end of the epochs ---- */

struct capture_schedule {
    size_t steps;                        /* of all epochs */
    size_t wait, warmup, active, repeat; /* as in the options: steps of a cycle; active 0: all that remain; cycles,
                                            0: as many as there is room for. A cycle fits into the steps */
};

/* What happens in a step: nothing, tracing without keeping, tracing; or the schedule has ended. */
enum capture_state { CAPTURE_WAIT, CAPTURE_WARMUP, CAPTURE_ACTIVE, CAPTURE_OVER };
enum capture_state capture_state(const struct capture_schedule *schedule, size_t step);

/* Steps until the schedule has ended, and how many of these are active. */
size_t capture_steps(const struct capture_schedule *schedule);
size_t capture_active_steps(const struct capture_schedule *schedule);

/* ---- the steps ---- */

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
                struct results *results);
void capture_destroy(struct capture *capture); /* a zeroed one is fine */

/* ---- their files: each trace appears when it is complete, and then replaces an older one ---- */

/* Checks that this rank can write its trace, if it writes one. Returns 0; or -1, reported. */
int trace_files_check(const struct profile_options *options, const struct results *results);

/* Writes <implementation>_rank_<r>_trace.json of this rank, if it writes one. Returns 0; or -1, reported. */
int trace_files_write(const struct profile_options *options, const struct results *results, const struct trace *trace);

/* Writes the trace of all ranks that write one: each sends its rows to rank 0, which puts them one behind the other.
 * All ranks call. Returns 0; or -1, reported. */
int trace_files_write_all_ranks(const struct profile_options *options, const struct results *results,
                                const struct job *job, const struct trace *trace);

/* Appends the steps to the metrics of this rank; overlap is [trace->steps], times count from origin_ns, on_device as in
 * struct comm. 0, or -1, reported. */
int captured_steps_write(struct results *results, const struct trace *trace, const struct overlap *overlap,
                         int64_t origin_ns, int on_device);

#endif
