/* trace_files.h - the files that traces are written to: one of each rank, and one of all. Each appears when it is
 * complete, and then replaces an older one. */
#ifndef BENCH_PROFILE_TRACE_FILES_H
#define BENCH_PROFILE_TRACE_FILES_H

#include "ddp/job.h"
#include "profile/options.h"
#include "trace/trace.h"

struct trace_files {
    const struct job *job;
    const struct rank_list *ranks; /* that write a trace */
    const char *label;             /* what the names begin with */
    const char *top, *directory;   /* of the ranks' traces; in that one's all_ranks/ that of all */
    int gzip;
};

/* Checks that this rank can write its trace, if it writes one. Returns 0; or -1, reported. */
int trace_files_check(const struct trace_files *files);

/* Writes <label>_rank_<r>_trace.json of this rank, if it writes one. Returns 0; or -1, reported. */
int trace_files_write(const struct trace_files *files, const struct trace *trace);

/* Writes the trace of all ranks that write one: each sends its rows to rank 0, which puts them one behind the other.
 * All ranks call. Returns 0; or -1, reported. */
int trace_files_write_all_ranks(const struct trace_files *files, const struct trace *trace);

#endif
