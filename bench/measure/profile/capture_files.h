/* capture_files.h - writes captured steps to files. A trace replaces an older one when it is complete. */
#ifndef BENCH_MEASURE_PROFILE_CAPTURE_FILES_H
#define BENCH_MEASURE_PROFILE_CAPTURE_FILES_H

#include "profile/profile.h"
#include "trace/trace.h"

/* Writes <name>_rank_<r>_trace.json if --profile-ranks has this rank; with --trace-per-cycle one for each cycle, into
 * the directory cycle_<c>, from 1. Returns 0; or -1, reported. */
int trace_files_write(const struct profile_options *options, const struct results *results, const struct trace *trace);

struct trace_file {
    struct new_file file;
    struct watchdog *watchdog; /* watches the writes */
};

/* One trace of all ranks in --profile-ranks: each sends its rows to rank 0, which concatenates them. */
struct merged_trace {
    struct trace_file out;
    int begun, failed; /* on rank 0 */
};

/* Adds a trace of every rank to all_ranks/<name>_all_ranks_trace.json; the first call makes the file. End with
 * merged_trace_end. Both return 0; or -1, reported, and then no file remains. All ranks call both. */
int merged_trace_add(struct merged_trace *merged, const struct profile_options *options, const char *directory,
                     const char *name, const struct job *job, const struct trace *trace);
int merged_trace_end(struct merged_trace *merged, const char *name);

/* Appends the steps to the metrics of this rank. computing is as from run_computing; overlap is [trace->steps]; times
 * count from origin_ns; on_device is as in struct comm. Returns 0; or -1, reported. */
int captured_steps_write(struct results *results, const struct trace *trace, const struct lane *computing,
                         const struct overlap *overlap, int64_t origin_ns, int on_device);

#endif
