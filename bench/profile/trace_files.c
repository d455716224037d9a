/* trace_files.c - the files that traces are written to: one of each rank, and one of all. */
#include "profile/trace_files.h"

#include "base/files.h"
#include "kernels/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a rank, or of all ranks together with rank -1. */
static void trace_path(const struct run *run, const struct results *results, int rank, char path[FILES_PATH])
{
    const char *name = run->options->implementation[0].label, *zip = run->options->trace_gzip ? ".gz" : "";
    if (rank >= 0)
        snprintf(path, FILES_PATH, "%.511s/%.63s_rank_%d_trace.json%s", results->top, name, rank, zip);
    else
        snprintf(path, FILES_PATH, "%.550s/all_ranks/%.63s_all_ranks_trace.json%s", results->directory, name, zip);
}

static int rank_writes(const struct run *run, int rank)
{
    return option_ranks(run->options->profile_ranks, rank, run->job->size) > 0;
}

static int writes_trace(const struct run *run)
{
    return rank_writes(run, run->job->rank);
}

int trace_files_check(const struct run *run, const struct results *results)
{
    char path[FILES_PATH];
    struct new_file file;
    if (!writes_trace(run))
        return 0;
    trace_path(run, results, run->job->rank, path);
    if (new_file_open(&file, path, 0))
        return -1;
    new_file_abandon(&file);
    return 0;
}

static int write_to_file(void *file, const char *text, size_t n)
{
    const struct new_file *f = file;
    return new_file_write(file, text, n) ? error_report("cannot write %s: %s", f->path, strerror(errno)) : 0;
}

int trace_files_write(const struct trace *trace, const struct run *run, const struct results *results)
{
    char path[FILES_PATH];
    struct new_file file;
    struct trace_sink sink = {write_to_file, &file};
    if (!writes_trace(run))
        return 0;
    trace_path(run, results, run->job->rank, path);
    if (new_file_open(&file, path, run->options->trace_gzip))
        return -1;
    if (trace_write(trace, &sink)) {
        new_file_abandon(&file);
        return -1;
    }
    return new_file_commit(&file);
}

/* ---- all ranks in one trace: every rank writes its rows, and rank 0 puts them one behind the other ---- */

static int send_rows(void *context, const char *text, size_t n)
{
    job_send(context, text, n);
    return 0;
}

/* Takes the rows of one rank; after a failure they are still taken, and dropped. */
static int receive_rows(const struct job *job, int rank, struct new_file *file, int failed)
{
    enum { PIECE = 1 << 16 };
    char *text = allocate(PIECE, 1);
    for (size_t n; (n = job_receive(job, rank, text, PIECE)) > 0;)
        failed = failed || write_to_file(file, text, n);
    free(text);
    return failed;
}

int trace_files_write_all_ranks(const struct trace *trace, const struct run *run, const struct results *results)
{
    const struct job *job = run->job;
    char path[FILES_PATH];
    struct new_file file = {.file = -1};
    int first = 0; /* rank that writes */
    while (!rank_writes(run, first))
        first++;
    if (job->rank) {
        struct trace_sink sink = {send_rows, (void *)job};
        if (writes_trace(run))
            trace_write_merged_rows(trace, &sink, job->rank == first);
        job_send(job, NULL, 0);
        return 0;
    }
    struct trace_sink sink = {write_to_file, &file};
    char directory[FILES_PATH];
    snprintf(directory, sizeof directory, "%.550s/all_ranks", results->directory);
    trace_path(run, results, -1, path);
    int failed = files_make_directories("profile-output-dir", directory) ||
                 new_file_open(&file, path, run->options->trace_gzip) || trace_write_merged_head(trace, &sink) ||
                 (writes_trace(run) && trace_write_merged_rows(trace, &sink, 1));
    for (int r = 1; r < job->size; r++)
        failed = receive_rows(job, r, &file, failed);
    failed = failed || trace_write_merged_tail(trace, &sink);
    if (!failed)
        return new_file_commit(&file);
    new_file_abandon(&file);
    return -1;
}
