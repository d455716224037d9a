/* capture.h - trains the epochs of a profile, keeps the spans of the steps that its schedule selects, and writes every
 * rank's trace. */
#ifndef BENCH_PROFILE_CAPTURE_H
#define BENCH_PROFILE_CAPTURE_H

#include "kernels/activity.h"
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

/* ---- the tracer of a GPU, which records while steps that are kept run ---- */

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
int capture_run(struct capture *capture, struct run *run, const struct profile_options *options,
                struct results *results);
void capture_destroy(struct capture *capture); /* a zeroed one is fine */

/* ---- their files: each trace appears when it is complete, and then replaces an older one ---- */

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
