/* capture.h - trains the epochs of a profile, keeps the steps that its schedule selects, and writes them to files. */
#ifndef BENCH_MEASURE_PROFILE_CAPTURE_H
#define BENCH_MEASURE_PROFILE_CAPTURE_H

#include "profile/profile.h"
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
    char missing[640];                /* tells what the traces lack of the GPU, without a full stop; "": nothing */
    struct trace trace;
};

/* Runs the steps with an implementation, aligns the clocks, and writes the trace of this rank, the trace of all ranks
 * and the telemetry under that name. The spans stay in the run's timeline. From the first step on, SIGINT, SIGTERM and
 * SIGHUP are only noted and end the capture; what was captured is written. Returns 0; or -1 on every rank, reported.
 * Release with capture_destroy either way. */
int capture_run(struct capture *capture, struct training *t, int row, const char *name,
                const struct profile_options *options, struct results *results);
void capture_destroy(struct capture *capture); /* a zeroed one is fine */

/* Restores the former actions of these signals. Returns whether any rank has noted one. All ranks call. */
int capture_stop_noting(const struct job *job);

/* Writes <name>_rank_<r>_trace.json if --profile-ranks has this rank. Returns 0; or -1, reported. */
int trace_file_write(const struct profile_options *options, const struct results *results, const struct trace *trace);

/* One trace of all ranks in --profile-ranks: each sends its rows to rank 0, which concatenates them. */
struct trace_file {
    struct new_file file;
    struct watchdog *watchdog; /* watches the writes */
    int begun, failed;         /* on rank 0 */
};

/* Adds a trace of every rank to all_ranks/<name>_all_ranks_trace.json; the first call makes the file. End with
 * merged_trace_end. Both return 0; or -1, reported, and then no file remains. All ranks call both. */
int merged_trace_add(struct trace_file *merged, const struct profile_options *options, const char *directory,
                     const struct job *job, const struct trace *trace);
int merged_trace_end(struct trace_file *merged, const char *name);

/* Appends the steps to the metrics of this rank. overlap is [trace->steps]; times count from origin_ns; on_device is as
 * in struct comm. Returns 0; or -1, reported. */
int captured_steps_write(struct results *results, const struct trace *trace, const struct overlap *overlap,
                         int64_t origin_ns, int on_device);

#endif
