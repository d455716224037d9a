/* trace_files.h - the files that traces are written to: one of each rank, and one of all. Each appears when it is
 * complete, and then replaces an older one. */
#ifndef BENCH_PROFILE_TRACE_FILES_H
#define BENCH_PROFILE_TRACE_FILES_H

#include "results/results.h"
#include "training/rounds.h"
#include "trace/write.h"

/* Checks that this rank can write its trace, if it is one of --profile-ranks. Returns 0; or -1, reported. */
int trace_files_check(const struct run *run, const struct results *results);

/* Writes <implementation>_rank_<r>_trace.json of this rank, if it is one of --profile-ranks. Returns 0; or -1,
 * reported. */
int trace_files_write(const struct trace *trace, const struct run *run, const struct results *results);

/* Writes the trace of all --profile-ranks: each sends its rows to rank 0, which puts them one behind the other. All
 * ranks call. Returns 0; or -1, reported. */
int trace_files_write_all_ranks(const struct trace *trace, const struct run *run, const struct results *results);

#endif
