/* trace_files.c - the files that traces are written to: one of each rank, and one of all. */
#include "profile/trace_files.h"

#include "base/files.h"
#include "kernels/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int writes_trace(const struct trace_files *files)
{
    return rank_list_has(files->ranks, files->job->rank);
}

/* Begins the trace of this rank. */
static int open_trace(struct new_file *file, const struct trace_files *files)
{
    char path[FILES_PATH];
    snprintf(path, sizeof path, "%.511s/%.63s_rank_%d_trace.json%s", files->top, files->label, files->job->rank,
             files->gzip ? ".gz" : "");
    return new_file_open(file, path, files->gzip);
}

int trace_files_check(const struct trace_files *files)
{
    struct new_file file;
    if (!writes_trace(files))
        return 0;
    if (open_trace(&file, files))
        return -1;
    new_file_abandon(&file);
    return 0;
}

static int write_to_file(void *file, const char *text, size_t n)
{
    const struct new_file *f = file;
    return new_file_write(file, text, n) ? error_report("cannot write %s: %s", f->path, strerror(errno)) : 0;
}

/* Gives a file its name, or leaves nothing behind if writing it failed. */
static int end_file(struct new_file *file, int failed)
{
    if (!failed)
        return new_file_commit(file);
    new_file_abandon(file);
    return -1;
}

int trace_files_write(const struct trace_files *files, const struct trace *trace)
{
    struct new_file file;
    struct trace_sink sink = {write_to_file, &file};
    if (!writes_trace(files))
        return 0;
    return open_trace(&file, files) ? -1 : end_file(&file, trace_write(trace, &sink));
}

/* ---- all ranks in one trace ---- */

static int send_rows(void *job, const char *text, size_t n)
{
    job_send(job, text, n);
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

static int open_trace_of_all(struct new_file *file, const struct trace_files *files)
{
    char directory[FILES_PATH], path[FILES_PATH];
    snprintf(directory, sizeof directory, "%.550s/all_ranks", files->directory);
    snprintf(path, sizeof path, "%.600s/%.63s_all_ranks_trace.json%s", directory, files->label,
             files->gzip ? ".gz" : "");
    return files_make_directories("profile-output-dir", directory) || new_file_open(file, path, files->gzip);
}

int trace_files_write_all_ranks(const struct trace_files *files, const struct trace *trace)
{
    const struct job *job = files->job;
    int first = 0; /* rank that writes */
    while (!rank_list_has(files->ranks, first))
        first++;
    if (job->rank) {
        struct trace_sink sink = {send_rows, (void *)job};
        if (writes_trace(files))
            trace_write_merged_rows(trace, &sink, job->rank == first);
        job_send(job, NULL, 0);
        return 0;
    }
    struct new_file file = {.file = -1};
    struct trace_sink sink = {write_to_file, &file};
    int failed = open_trace_of_all(&file, files) || trace_write_merged_head(trace, &sink) ||
                 (writes_trace(files) && trace_write_merged_rows(trace, &sink, 1));
    for (int r = 1; r < job->size; r++)
        failed = receive_rows(job, r, &file, failed);
    return end_file(&file, failed || trace_write_merged_tail(trace, &sink));
}
