/* allreduce.c - `ddpbench allreduce`: times a collective size by size, prints and keeps the figures. */
#include "allreduce/allreduce.h"

#include "allreduce/parts.h"
#include "base/files.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/version.h"
#include "ddp/comm_create.h"
#include "ddp/watchdog.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exit statuses. */
enum { OK = 0, FAILED = 1, USAGE = 2 };

/* ---- set-up ---- */

static int check_memory(const char *where, double needed, size_t available)
{
    char need[CELL], have[CELL];
    if (needed <= (double)available)
        return 0;
    return error_report(
        "the ranks need %s of memory for the largest message and %s has %s free for it; use a smaller --max-bytes",
        text_memory(need, (size_t)fmin(needed, 1e19)), where, text_memory(have, available));
}

/* run.json: what was run, where, and with what. All ranks call; rank 0 writes. */
static int write_run(const struct allreduce *a, const struct command *command)
{
    cJSON *json = provenance_create("allreduce", a->options->results.label, command);
    cJSON *derived = cJSON_AddObjectToObject(json, "derived");
    json_add_number(derived, "world_size", a->job->size);
    json_add_number(derived, "host_count", a->job->hosts);
    json_add_number(derived, "threads", a->threads);
    json_add_text(derived, "device", a->endpoint.device->name);
    open_device_describe(&a->opened, derived);
    provenance_add_comm(derived, a->endpoint.comm);
    if (!a->options->overlap)
        json_add_text(derived, "blocking", blocking_name[timing_blocking(&a->endpoint, a->options->timing.blocking)]);
    host_describe(&a->host, a->job, json);
    return provenance_write(&a->results, json);
}

/* The mark of an --output-file (files_check_path), which no file of a run has. */
static const char file_mark[] = "\"written_by\":\t\"--output-file\"";

static int check_output_file(const struct allreduce_options *o)
{
    if (!strcmp(o->output_file, o->results.prometheus))
        return error_report(
            "--output-file %s and --prometheus %s: both name the same file; name another for one of them",
            o->output_file, o->output_file);
    if (results_check_apart("output-file", o->output_file, o->results.output))
        return -1;
    return files_check_path("output-file", o->output_file, file_mark);
}

static int set_up(struct allreduce *a, const struct command *command)
{
    const struct job *job = a->job;
    const struct allreduce_options *o = a->options;
    enum { LONGEST_ELEMENT = 8 }; /* a message has a whole one of each rank, at least */
    size_t most_bytes = o->messages.bytes[o->messages.n - 1] + LONGEST_ELEMENT * (size_t)job->size;
    size_t most_iterations = o->timing.iters ? o->timing.iters : TIMING_MOST_ITERATIONS;
    size_t buffers = 2 * most_bytes; /* and of all sizes the samples, which are gathered for one size at a time */
    size_t samples = most_iterations * sizeof(double) * (2 * o->messages.n + (size_t)job->size);
    double cores = job->cores;
    struct results_target place = {"output", o->results.output, o->results.label, "", o->results.prometheus};
    watchdog_limit(job->watchdog, o->comm.timeout_s);
    watchdog_doing(job->watchdog, "the set-up");
    a->origin_ns = clock_now_ns();
    a->threads = host_threads(o->device.threads, cores);
    host_facts(&a->host);
    if (job_agree(job, a->threads < 0 ? -1 : 0) || open_device(&a->opened, job, &o->device, a->threads))
        return -1;
    struct comm_options comm = o->comm;
    comm.core_to_spare = cores >= a->threads + 1;
    comm.progress.crowded = cores < a->threads;
    comm.shares_gpu = o->device.share_gpu;
    size_t of_host = buffers * (comm_stages(job, a->opened.device, &comm) ? 2 : 1) + samples;
    double needed = job_sum_machine(job, (double)of_host), on_gpu = (double)buffers * a->opened.sharing;
    if (job_agree(job, check_memory("this machine", needed, host_memory_available())) ||
        job_agree(job, check_memory(a->opened.gpu.name, on_gpu, open_device_available(&a->opened))) ||
        job_agree(job, job->rank || !*o->output_file ? 0 : check_output_file(o)) ||
        job_agree(job, monitor_create(&a->monitor, job, o->monitor.cpu, o->monitor.gpu)))
        return -1;
    a->timing = timing_create(&o->choice, o->messages.bytes, o->messages.n, job->size, o->overlap, &a->timings);
    if (endpoint_create(&a->endpoint, job, a->opened.device, &comm, most_bytes, o->overlap) ||
        results_open(&a->results, job, &place)) /* last, so that nothing is left of what is refused */
        return -1;
    if (o->overlap)
        overlap_table_create(&a->table, a->endpoint.device, a->endpoint.comm);
    else
        timing_table_create(&a->table, o->show_cpu_time != 0, o->nominal.rate > 0, o->show_iterations != 0,
                            o->choice.kind == COMM_BROADCAST, comm_bus_factor(o->choice.kind, job->size));
    if (cores < 1 && !o->overlap && o->timing.blocking != BLOCKING_YIELDS && job->rank == 0)
        fprintf(stderr,
                "ddpbench: %d ranks share the cores: a blocking call may hold one for a time slice of the "
                "scheduler; --blocking yield does not\n",
                job->machine_size);
    if (job_agree(job, write_run(a, command)))
        return -1;
    open_device_explain(&a->opened);
    return job_agree(job, monitor_start(a->monitor, a->results.directory, a->origin_ns));
}

/* ---- measuring ---- */

/* Rank 0: prints a row as soon as it is complete, and keeps the summary up to date within a second. */
static int show_row(struct allreduce *a, const cJSON *row)
{
    progress_end(&a->progress);
    table_print_row(stdout, a->table.json, row);
    fflush(stdout);
    if (clock_now_ns() - a->written_ns < 1000000000)
        return 0;
    cJSON *summary = allreduce_summary(a);
    a->written_ns = clock_now_ns();
    int status = results_write_summary(&a->results, summary, &a->figures);
    cJSON_Delete(summary);
    return status;
}

/* Appends the iterations of a timing's last cycle to this rank's metrics. */
static int write_iterations(struct allreduce *a, const struct collective_timing *t, size_t cycle)
{
    char *text = NULL;
    size_t length = 0, first = t->n - t->last_n;
    FILE *out = text_begin(&text, &length);
    fprintf(out,
            "{\"rank\":%d,\"collective\":\"%s\",\"dtype\":\"%s\",\"op\":\"%s\",\"root\":%d,\"placement\":\"%s\","
            "\"bytes\":%zu,\"cycle\":%zu,\"start\":%.6f,\"seconds\":[",
            a->job->rank, comm_kind_name[t->collective.kind], t->dtype, t->op, t->root, t->placement, t->bytes, cycle,
            1e-9 * (double)(t->start_ns - a->origin_ns));
    for (size_t i = first; i < t->n; i++)
        fprintf(out, "%s%.9f", i > first ? "," : "", t->seconds[i]);
    fprintf(out, "]}\n");
    text_end(out);
    return results_append(&a->results, text, length);
}

/* Timing i in one cycle, or its overlap. */
static int measure_one(struct allreduce *a, size_t i, size_t cycle)
{
    struct collective_timing *t = &a->timing[i];
    struct growing_table *table = &a->table;
    const cJSON *row = NULL;
    if (a->options->overlap) {
        struct overlap_timing overlap = overlap_timing_measure(&a->endpoint, t, a->options->timing.iters);
        overlap_timing_figures(&a->figures, &overlap);
        row = table_add_row(table->json, table->column, table->columns, &overlap);
    } else {
        timing_measure(&a->endpoint, &a->options->timing, t, cycle);
        int failed = job_agree(a->job, write_iterations(a, t, cycle));
        if (failed || cycle + 1 < a->options->timing.cycles)
            return failed;
        timing_finish(a->job, a->options->timing.time, t);
        t->nominal_share = a->options->nominal.rate > 0 ? t->busbw / a->options->nominal.rate : NAN;
        timing_figures(&a->figures, t);
        a->wrong += t->wrong > 0 ? t->wrong : 0;
        a->busbw += t->busbw;
        if (t->in_place) /* a row begins with the timing out of place, where there is one */
            row = table_add_row(table->json, table->column, table->columns, t - (i && !t[-1].in_place));
    }
    a->finished = i + 1;
    return row ? job_agree(a->job, a->job->rank ? 0 : show_row(a, row)) : 0;
}

static int measure(struct allreduce *a)
{
    size_t total = 0, done = 0, cycles = a->options->overlap ? 1 : a->options->timing.cycles;
    char words[CELL];
    for (size_t i = 0; i < a->timings; i++) /* a MiB takes about as long as anything below it */
        total += (1 + a->timing[i].bytes / 1048576) * cycles;
    progress_begin(&a->progress, a->job->rank ? 0 : total);
    for (size_t cycle = 0; cycle < cycles; cycle++)
        for (size_t i = 0; i < a->timings; i++) {
            if (measure_one(a, i, cycle))
                return -1;
            done += 1 + a->timing[i].bytes / 1048576;
            progress_show(&a->progress, done, text_memory(words, a->timing[i].bytes));
        }
    progress_end(&a->progress);
    return 0;
}

/* What stands before the rows of the growing table. */
static void print_head(const struct allreduce *a)
{
    cJSON *summary = allreduce_summary(a);
    results_print_heading(stdout, summary);
    cJSON_Delete(summary);
    table_print_head(stdout, "# ", a->table.json);
    fflush(stdout);
}

/* Rank 0, once all is measured or measuring has failed: writes what there is; prints the rest of the table if `print`.
 */
static int finish(struct allreduce *a, int print)
{
    cJSON *summary = allreduce_summary(a);
    const char *output_file = a->options->output_file;
    int status = a->finished ? results_write_summary(&a->results, summary, &a->figures) : 0;
    if (!status && *output_file && a->finished) {
        json_add_text(summary, "written_by", "--output-file"); /* the first member: the mark */
        cJSON_InsertItemInArray(summary, 0, cJSON_DetachItemFromObjectCaseSensitive(summary, "written_by"));
        char *text = cJSON_Print(summary);
        if (!text)
            fatal_no_memory(0, 0);
        status = files_replace_path("output-file", output_file, file_mark, text);
        cJSON_free(text);
    }
    if (print) {
        table_print_notes(stdout, "# ", a->table.json);
        cJSON_DeleteItemFromArray(cJSON_GetObjectItemCaseSensitive(summary, "tables"), 0); /* printed by now */
        results_print_body(stdout, summary);
    }
    cJSON_Delete(summary);
    return status;
}

static int run(struct allreduce *a)
{
    if (a->job->rank == 0)
        print_head(a);
    int status = measure(a);
    if (job_agree(a->job, monitor_stop(a->monitor, &a->findings)))
        status = -1;
    /* also when a row could not be written: what was measured is kept if it still can be */
    status = job_agree_after(a->job, status, a->job->rank ? 0 : finish(a, !status));
    if (job_agree_after(a->job, status, results_close(&a->results)))
        return -1;
    if (a->job->rank == 0)
        fprintf(stderr, "Results: %s\n", a->results.directory);
    return a->wrong > 0 ? -1 : 0;
}

static void print_help(const struct option_table *table)
{
    fputs("Usage: " ALLREDUCE_SYNOPSIS " [OPTION VALUE]...\n\n"
          "Times a collective over a range of sizes, out of place and in place, checks its results, and fits latency\n"
          "and bandwidth to the times. Options and columns are those of nccl-tests where it has them.\n",
          stdout);
    option_table_help(stdout, table, table->help);
    if (table->help != HELP_COMMON) {
        workload_help_presets(stdout);
        training_options_help_implementations(stdout);
    }
    printf("\nExit status: 0 fine, 1 the run failed or a result was wrong, 2 the command line is wrong.\n");
}

int run_allreduce(const struct job *job, int argc, char *const argv[])
{
    struct allreduce_options options;
    struct option_table table;
    struct command command = {argc, argv, &table};
    struct allreduce a = {.job = job, .options = &options, .results = {.telemetry.file = -1}};
    int status = OK;
    if (job_agree(job, allreduce_options_parse(&options, &table, argc, argv)))
        status = USAGE;
    else if (table.help || table.version) {
        if (job->rank == 0 && table.help)
            print_help(&table);
        else if (job->rank == 0)
            printf("ddpbench %s\n", version_text());
    } else {
        int dry_run_ranks = (int)options.results.dry_run_ranks;
        if (job_agree(job, allreduce_options_fit(&options, &table, dry_run_ranks ? dry_run_ranks : job->size,
                                                 open_device_wants_gpus(job, &options.device))))
            status = USAGE;
        else if (!dry_run_ranks && (set_up(&a, &command) || run(&a)))
            status = FAILED;
    }
    results_close(&a.results);
    monitor_destroy(a.monitor);
    endpoint_destroy(&a.endpoint);
    timing_destroy(a.timing, a.timings);
    figures_destroy(&a.figures);
    cJSON_Delete(a.table.json);
    free(options.messages.bytes);
    return status;
}
