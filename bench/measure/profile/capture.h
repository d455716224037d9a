/* capture.h - trains the epochs of a profile, keeps the steps that its schedule selects, and writes them to files. */
#ifndef BENCH_MEASURE_PROFILE_CAPTURE_H
#define BENCH_MEASURE_PROFILE_CAPTURE_H

#include "profile/profile.h"
#include "trace/trace.h"

struct capture {
    const struct profile_options *options;
    int row;                 /* row of the captured implementation */
    int room;                /* steps for which memory was allocated; trace.steps: kept so far */
    int full;                /* 1: memory was full before the schedule ended */
    int interrupted;         /* 1: any rank received a signal that ends a capture */
    struct overlap *overlap; /* [trace.steps] */
    struct alignment alignment;
    struct collectives collectives; /* in the kept steps; counted: in active epochs; if there are none, in all */
    int in_range;                   /* 1: the GPU vendor's profilers record */
    char missing[640];              /* which GPU records the traces lack, in words without a full stop; "": none */
    struct trace trace;             /* owns the trace's step, times, parameters, seen and of_rank */
};

/* Runs the steps with the implementation of a row, aligns the clocks, and writes the trace of this rank, the trace of
 * all ranks and the telemetry; names of trace files begin with `name`. The spans stay in the run's timeline. SIGHUP,
 * SIGINT, SIGUSR1, SIGUSR2 or SIGTERM during the steps ends the capture, and the steps so far are written. Returns 0;
 * or -1 on every rank, reported. Release with capture_destroy either way. */
int capture_run(struct capture *capture, struct training *t, int row, const char *name,
                const struct profile_options *options, struct results *results);
void capture_destroy(struct capture *capture); /* a zeroed capture is fine */

/* Restores the signal handlers from before capture_run. Returns whether any rank received a signal. All ranks call. */
int capture_stop_noting(const struct job *job);

/* Writes <name>_rank_<r>_trace.json if this rank is in --profile-ranks. Returns 0; or -1, reported. */
int trace_file_write(const struct profile_options *options, const struct results *results, const struct trace *trace);

/* A trace that is being written: of this rank; or of all ranks, whose rows rank 0 receives and concatenates. */
struct trace_file {
    struct new_file file;
    struct watchdog *watchdog;  /* notices if a write hangs */
    const struct job *sends_to; /* the job to whose rank 0 this rank sends its rows; NULL: it writes the file itself */
    int begun, failed;          /* begun: rank 0 has created the file */
};

/* Adds the trace of every rank to all_ranks/<name>_all_ranks_trace.json; the first call creates the file, and
 * merged_trace_end completes it. Both return 0; or -1, reported, in which case no file is left. All ranks call both. */
int merged_trace_add(struct trace_file *merged, const struct profile_options *options, const char *directory,
                     const struct job *job, const struct trace *trace);
int merged_trace_end(struct trace_file *merged, const char *name);

/* Appends a line for each captured step to this rank's metrics. overlap: [trace->steps]; times count from origin_ns;
 * on_device as in struct comm. Returns 0; or -1, reported. */
int captured_steps_write(struct results *results, const struct trace *trace, const struct overlap *overlap,
                         int64_t origin_ns, int on_device);

#endif
