/* capture_files.c - writes captured steps: a trace of each rank, a merged trace of all ranks, and telemetry. */
#include "base/files.h"
#include "ddp/watchdog.h"
#include "kernels/error.h"
#include "kernels/files.h"
#include "profile/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 16 }; /* bytes of a trace that are written, or sent to rank 0, at a time */

/* Writes a piece of a trace, or sends it to rank 0; the watchdog notices if a write hangs. After a failure nothing more
 * is written. Returns n; or 0, reported (fopencookie(3)). */
static ssize_t write_piece(void *trace_file, const char *text, size_t n)
{
    struct trace_file *out = trace_file;
    if (out->sends_to)
        job_send(out->sends_to, text, n);
    else if (!out->failed) {
        watchdog_wait(out->watchdog, "writing a trace", 0, 0);
        out->failed = new_file_write(&out->file, text, n) != 0;
        watchdog_arrived(out->watchdog);
    }
    return out->failed ? 0 : (ssize_t)n;
}

static void write_part(struct trace_file *file, const struct trace *trace, enum trace_part part)
{
    static char buffer[PIECE]; /* setvbuf does not allocate one of this size */
    if (file->failed)
        return;
    FILE *out = fopencookie(file, "w", (cookie_io_functions_t){.write = write_piece});
    if (!out)
        fatal_no_memory(0, 0);
    setvbuf(out, buffer, _IOFBF, sizeof buffer);
    trace_write(trace, out, part);
    fclose(out);
}

/* ---- the trace of a rank ---- */

/* Links the trace of this rank, if the file system can, under the name that TensorBoard's plugin looks for: host and
 * rank, then the ns at which the capture began. Returns 0; or -1, reported. */
static int link_for_tensorboard(const struct results *results, const struct trace *trace, const char *suffix)
{
    char folder[FILES_PATH], path[FILES_PATH + 200], to[200];
    snprintf(folder, sizeof folder, "%.576s/tensorboard", results->directory);
    snprintf(path, sizeof path, "%s/%.100s_rank_%d.%" PRId64 ".pt.trace.json%s", folder, trace->host, trace->rank,
             trace->base_unix_ns, suffix);
    snprintf(to, sizeof to, "../../%.80s_rank_%d_trace.json%s", trace->name, trace->rank, suffix);
    int status = files_make_directories("profile-output-dir", folder);
    if (!status && symlink(to, path) && errno != EEXIST && errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
        status = error_report("cannot create %s: %s", path, strerror(errno));
    return status;
}

int trace_file_write(const struct profile_options *options, const struct results *results, const struct trace *trace)
{
    char path[FILES_PATH];
    struct trace_file out = {.watchdog = results->watchdog};
    if (!rank_list_has(&options->ranks, trace->rank))
        return 0;
    const char *suffix = options->trace_gzip ? ".gz" : "";
    snprintf(path, sizeof path, "%.540s/%.80s_rank_%d_trace.json%s", results->top, trace->name, trace->rank, suffix);
    out.failed = new_file_open(&out.file, path, options->trace_gzip) != 0;
    write_part(&out, trace, TRACE_WHOLE);
    return new_file_end(&out.file, out.failed) ? -1 : link_for_tensorboard(results, trace, suffix);
}

/* ---- all ranks in one trace ---- */

/* Creates the file of the merged trace and writes its head, on rank 0. */
static void begin_merged(struct trace_file *m, const struct profile_options *options, const char *directory,
                         const struct trace *trace)
{
    char folder[FILES_PATH], path[FILES_PATH];
    m->begun = 1;
    snprintf(folder, sizeof folder, "%.576s/all_ranks", directory);
    snprintf(path, sizeof path, "%.600s/%.80s_all_ranks_trace.json%s", folder, trace->name,
             options->trace_gzip ? ".gz" : "");
    m->failed =
        files_make_directories("profile-output-dir", folder) || new_file_open(&m->file, path, options->trace_gzip);
    write_part(m, trace, TRACE_MERGED_HEAD);
}

int merged_trace_add(struct trace_file *m, const struct profile_options *options, const char *directory,
                     const struct job *job, const struct trace *trace)
{
    static char text[PIECE];                                           /* rows of another rank */
    int first = 0, writes = rank_list_has(&options->ranks, job->rank); /* first: lowest rank that writes rows */
    while (!rank_list_has(&options->ranks, first))
        first++;
    int begins = !trace->group && job->rank == first;
    m->watchdog = job->watchdog;
    m->sends_to = job->rank ? job : NULL;
    if (job->rank == 0 && !m->begun)
        begin_merged(m, options, directory, trace);
    for (int r = 0; r < job->size; r++) {
        if (r == job->rank && writes)
            write_part(m, trace, begins ? TRACE_MERGED_FIRST_ROWS : TRACE_MERGED_ROWS);
        if (r == job->rank && r > 0)
            job_send(job, NULL, 0);
        if (r > 0 && job->rank == 0)
            for (size_t n; (n = job_receive(job, r, text, sizeof text)) > 0;) /* until an empty message */
                (void)write_piece(m, text, n);
        job_barrier(job); /* so that no wait, which --timeout limits, spans the rows of several ranks */
    }
    return m->failed ? -1 : 0;
}

int merged_trace_end(struct trace_file *m, const char *name)
{
    if (!m->begun)
        return 0;
    write_part(m, &(struct trace){.name = name}, TRACE_MERGED_TAIL);
    return new_file_end(&m->file, m->failed);
}

/* ---- telemetry ---- */

int captured_steps_write(struct results *results, const struct trace *trace, const struct overlap *overlap,
                         int64_t origin_ns, int on_device)
{
    const struct lane *communication = &trace->timeline->lane[LANE_COMMUNICATION];
    struct interval *busy = allocate(communication->n + 1, sizeof *busy);
    size_t at = 0;
    FILE *out = results_begin(results);
    for (int s = 0; s < trace->steps; s++) {
        const struct captured_step *step = &trace->step[s];
        int64_t start_ns = trace->times[s].start_ns;
        fprintf(out, "{\"implementation\": \"%s\", \"captured\": true, \"profiler_step\": %ld, \"global_step\": %ld",
                trace->implementation, step->number + 1, step->global_step);
        fprintf(out, ", \"epoch\": %ld, \"epoch_kind\": \"%s\"", step->epoch + 1, step->warmup ? "warmup" : "active");
        telemetry_print_number(out, "loss", (double)step->loss);
        telemetry_print_number(out, "learning_rate", (double)step->learning_rate);
        if (isfinite(step->grad_norm))
            telemetry_print_grad_norm(out, (double)step->grad_norm, step->max_norm);
        telemetry_print_times(out, origin_ns, &trace->times[s]);
        int64_t since_base_ns = alignment_apply(trace->alignment, start_ns) - trace->base_ns;
        fprintf(out, ", \"trace_start_ms\": %.6f", 1e-6 * (double)since_base_ns);
        telemetry_print_overlap(out, &overlap[s], 1, on_device);
        fprintf(out, ", \"in_flight\": [");
        size_t n = intervals_in_flight(communication, COMM_KINDS, trace->times, s, &at, busy);
        for (size_t i = 0; i < n; i++)
            fprintf(out, "%s{\"start_ms\": %.6f, \"end_ms\": %.6f}", i ? ", " : "",
                    1e-6 * (double)(busy[i].start - start_ns), 1e-6 * (double)(busy[i].end - start_ns));
        fprintf(out, "]}\n");
    }
    free(busy);
    return results_end(results);
}
