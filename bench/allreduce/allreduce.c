/* allreduce.c - `ddpbench allreduce`: times a collective size by size, prints and keeps the figures. */
#include "allreduce/allreduce.h"

#include "allreduce/figures.h"
#include "allreduce/options.h"
#include "allreduce/results.h"
#include "allreduce/tables.h"
#include "base/files.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/version.h"
#include "kernels/clock.h"
#include "kernels/error.h"
#include "machine/machine.h"
#include "monitor/monitor.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One run of the command. */
struct allreduce {
    const struct job *job;
    const struct allreduce_options *options;
    struct sizes sizes;
    struct open_device opened;
    struct host_facts host;
    int threads;
    struct endpoint endpoint;
    struct collective_timing *timing; /* [timings]; with --overlap they only say what is measured */
    size_t timings, finished;         /* of them: their figures are made */
    double wrong;                     /* elements, so far */
    double busbw;                     /* sum over the finished */

    int64_t origin_ns, written_ns; /* when the run began; when the summary was last written */
    struct results results;
    struct figure_list figures;
    struct growing_table table;
    struct monitor *monitor; /* NULL: none */
    struct monitor_findings findings;
    struct progress progress;
};

/* Exit statuses. */
enum { OK = 0, FAILED = 1, USAGE = 2 };

static int make_sizes(struct sizes *sizes, struct allreduce_options *options);
static int set_up(struct allreduce *a, const struct command *command);
static int run(struct allreduce *a);

/* Frees what there is of a run. */
static void tear_down(struct allreduce *a)
{
    results_close(&a->results);
    monitor_destroy(a->monitor);
    endpoint_destroy(&a->endpoint);
    timing_destroy(a->timing, a->timings);
    figures_destroy(&a->figures);
    cJSON_Delete(a->table.json);
    sizes_destroy(&a->sizes);
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
            allreduce_options_help(stdout, &table);
        else if (job->rank == 0)
            printf("ddpbench %s\n", version_text());
    } else if (job_agree(job, make_sizes(&a.sizes, &options)) ||
               job_agree(job, allreduce_options_fit(&options, a.sizes.bytes[a.sizes.n - 1], job->size)))
        status = USAGE;
    else if (set_up(&a, &command) || run(&a))
        status = FAILED;
    tear_down(&a);
    return status;
}

/* ---- set-up ---- */

static int make_sizes(struct sizes *sizes, struct allreduce_options *options)
{
    if (options->sizes_from_model)
        return sizes_of_workload(sizes, &options->workload);
    return options->list.n ? sizes_of_list(sizes, &options->list) : sizes_of_range(sizes, &options->range);
}

static int check_memory(const struct allreduce *a, size_t most_bytes)
{
    char need[CELL], have[CELL];
    const struct job *job = a->job;
    enum { LONGEST_ELEMENT = 8 }; /* a message has a whole one of each rank, at least */
    size_t buffers = 2 * (most_bytes + LONGEST_ELEMENT * (size_t)job->size);
    size_t samples = timing_memory(&a->options->timing, a->sizes.n, job->size);
    double needed = job_sum_machine(job, (double)(buffers + samples));
    size_t available = host_memory_available();
    if (needed <= (double)available)
        return 0;
    return error_report("the %d rank%s of this machine need %s of memory for the largest message and it has %s; use a "
                        "smaller --max-bytes",
                        job->machine_size, text_plural((size_t)job->machine_size),
                        text_memory(need, (size_t)fmin(needed, 1e19)), text_memory(have, available));
}

static int check_gpu_memory(const struct open_device *opened, size_t most_bytes)
{
    char need[CELL], have[CELL];
    double needed = 2.0 * (double)most_bytes * opened->sharing;
    if (!opened->on_gpu || needed <= (double)opened->gpu.free_memory)
        return 0;
    return error_report(
        "%s has %s free and %d rank%s on it need%s %s for the largest message; use a smaller --max-bytes",
        opened->gpu.name, text_memory(have, opened->gpu.free_memory), opened->sharing,
        text_plural((size_t)opened->sharing), opened->sharing == 1 ? "s" : "",
        text_memory(need, (size_t)fmin(needed, 1e19)));
}

/* Before anything is measured: whether --output-file can be written. Rank 0 only. */
static int check_output_file(const char *path)
{
    struct new_file file;
    if (!*path)
        return 0;
    if (new_file_open(&file, path, 0))
        return -1;
    new_file_abandon(&file);
    return 0;
}

static int set_up(struct allreduce *a, const struct command *command)
{
    const struct job *job = a->job;
    const struct allreduce_options *o = a->options;
    size_t most_bytes = a->sizes.bytes[a->sizes.n - 1];
    double cores = host_cores_per_rank(job), factor = comm_bus_factor(o->choice.kind, job->size);
    struct results_target place = {"output", o->results.output, o->results.label, ""};
    a->origin_ns = clock_now_ns();
    a->threads = host_threads(o->device.threads, cores);
    host_facts(&a->host);
    if (open_device(&a->opened, job, &o->device, a->threads))
        return -1;
    if (job_agree(job, check_memory(a, most_bytes)) || job_agree(job, check_gpu_memory(&a->opened, most_bytes)) ||
        job_agree(job, job->rank ? 0 : check_output_file(o->output_file)) ||
        job_agree(job, monitor_create(&a->monitor, job, o->monitor.cpu, o->monitor.gpu)) ||
        job_agree(job, results_open(&a->results, job, &place)))
        return -1;

    struct comm_options comm = o->comm;
    comm.core_to_spare = cores >= a->threads + 1;
    comm.shares_gpu = o->device.share_gpu;
    a->timing = timing_create(&o->choice, a->sizes.bytes, a->sizes.n, job->size, o->overlap, &a->timings);
    for (size_t i = 0; i < a->timings; i++)
        most_bytes = most_bytes > a->timing[i].bytes ? most_bytes : a->timing[i].bytes;
    if (endpoint_create(&a->endpoint, job, a->opened.device, &comm, most_bytes, o->overlap))
        return -1;
    if (o->overlap)
        overlap_table_create(&a->table, a->endpoint.device, a->endpoint.comm);
    else
        timing_table_create(&a->table, &o->view, o->choice.kind == COMM_BROADCAST, factor);
    if (cores < 1 && !o->timing.nonblocking && job->rank == 0)
        fprintf(stderr,
                "ddpbench: %d ranks share the cores: a blocking call may hold one for a time slice of the "
                "scheduler; --call nonblocking yields instead\n",
                job->machine_size);
    if (job_agree(job, allreduce_write_run(&a->results, command, o->results.label, &a->endpoint, &a->opened, &a->host,
                                           a->threads)))
        return -1;
    open_device_explain(&a->opened);
    return job_agree(job, monitor_start(a->monitor, a->results.directory, a->origin_ns));
}

/* ---- the summary ---- */

static void add_heading(const struct allreduce *a, cJSON *summary)
{
    const struct allreduce_options *o = a->options;
    const struct timing_options *t = &o->timing;
    const struct job *job = a->job;
    const struct comm *comm = a->endpoint.comm;
    const char *machine = a->opened.on_gpu ? a->opened.gpu.name : a->host.cpu[0] ? a->host.cpu : a->host.name;
    char iters[64] = "as many as fit into 0.2 s at the fastest call's pace, 5 to 2000";
    results_add_line(summary, "heading",
                     "# ddpbench %s allreduce on %d rank%s x %d thread%s on %d host%s (%s), comm %s%s%s%s, %s",
                     version_text(), job->size, text_plural((size_t)job->size), a->threads,
                     text_plural((size_t)a->threads), job->hosts, text_plural((size_t)job->hosts), machine, comm->name,
                     comm->on_device ? " (" : "", comm->on_device ? comm->progress : "", comm->on_device ? ")" : "",
                     t->nonblocking || o->overlap ? "non-blocking calls" : "blocking calls");
    if (o->overlap) {
        results_add_line(summary, "heading", "# %s", comm_kind_name[o->choice.kind]);
        return;
    }
    if (t->iters)
        snprintf(iters, sizeof iters, "%zu", t->iters);
    results_add_line(
        summary, "heading", "# %s; iterations: %s; warm-up %zu; cycles %zu; check %zu; time of an iteration: %s",
        comm_kind_name[o->choice.kind], iters, t->warmup_iters, t->cycles, t->check, rank_time_name[t->time]);
}

static void add_notes(const struct allreduce *a, cJSON *summary)
{
    if (!a->options->overlap && a->options->timing.check)
        results_add_line(summary, "notes", "# Out of bounds values : %.0f %s", a->wrong,
                         a->wrong > 0 ? "FAILED" : "OK");
    if (!a->options->overlap && a->finished)
        results_add_line(summary, "notes", "# Avg bus bandwidth    : %.4f GB/s", 1e-9 * a->busbw / (double)a->finished);
    if (a->job->size == 1)
        results_add_line(summary, "notes", "# One rank: nothing is sent, so there is no bus bandwidth.");
    for (int i = 0; i < a->findings.n; i++)
        results_add_line(summary, "notes", "# Note: %s.", a->findings.finding[i].text);
}

/* All that is known now, with the table's JSON by reference. */
static cJSON *make_summary(const struct allreduce *a)
{
    cJSON *json =
        results_summary_create("allreduce", a->options->results.label, (double)a->finished, (double)a->timings, "rows");
    cJSON *tables = cJSON_GetObjectItemCaseSensitive(json, "tables");
    add_heading(a, json);
    cJSON_AddItemReferenceToArray(tables, a->table.json);
    if (!a->options->overlap && a->finished == a->timings)
        cJSON_AddItemToArray(tables, link_table(a->timing, a->timings, a->job->size));
    add_notes(a, json);
    monitor_findings_describe(&a->findings, json);
    return json;
}

static int write_summary(struct allreduce *a, cJSON *summary)
{
    a->written_ns = clock_now_ns();
    return results_write_summary(&a->results, summary, &a->figures, a->options->results.label);
}

static int flush_stdout(void)
{
    return fflush(stdout) || ferror(stdout) ? error_report("cannot write to the standard output: %s", strerror(errno))
                                            : 0;
}

/* ---- measuring ---- */

/* Rank 0: prints a row as soon as it is complete, and keeps the summary up to date within a second. */
static int show_row(struct allreduce *a, const cJSON *row)
{
    int status = 0;
    if (row) {
        progress_end(&a->progress);
        table_print_row(stdout, a->table.json, row);
        status = flush_stdout();
    }
    if (!status && clock_now_ns() - a->written_ns >= 1000000000) {
        cJSON *summary = make_summary(a);
        status = write_summary(a, summary);
        cJSON_Delete(summary);
    }
    return status;
}

/* Timing i in one cycle, or its overlap. */
static int measure_one(struct allreduce *a, size_t i, size_t cycle)
{
    struct collective_timing *t = &a->timing[i];
    const cJSON *row = NULL;
    if (a->options->overlap) {
        struct overlap_timing overlap = overlap_timing_measure(&a->endpoint, t, a->options->timing.iters);
        overlap_timing_figures(&a->figures, &overlap);
        row = overlap_table_add(&a->table, &overlap);
    } else {
        timing_measure(&a->endpoint, &a->options->timing, t, cycle);
        int failed = job_agree(a->job, allreduce_write_iterations(&a->results, t, cycle, a->origin_ns));
        if (failed || cycle + 1 < a->options->timing.cycles)
            return failed;
        timing_finish(a->job, a->options->timing.time, t);
        timing_figures(&a->figures, t);
        a->wrong += t->wrong > 0 ? t->wrong : 0;
        a->busbw += t->busbw;
        if (t->in_place)
            row = timing_table_add(&a->table, t);
    }
    a->finished = i + 1;
    return job_agree(a->job, a->job->rank ? 0 : show_row(a, row));
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
    cJSON *summary = make_summary(a);
    results_print_heading(stdout, summary);
    const char *title = json_string(a->table.json, "title");
    printf("\n%s%s", title, *title ? "\n" : "");
    table_print_headings(stdout, a->table.json);
    fflush(stdout);
    cJSON_Delete(summary);
}

/* What stands behind them: the table's note, the other tables, the notes. */
static void print_foot(const cJSON *summary)
{
    const cJSON *table = cJSON_GetObjectItemCaseSensitive(summary, "tables")->child, *line;
    fputs(json_string(table, "note"), stdout);
    while ((table = table->next))
        table_print(stdout, table);
    cJSON_ArrayForEach(line, cJSON_GetObjectItemCaseSensitive(summary, "notes"))
    {
        puts(line->valuestring);
    }
}

/* Rank 0, once all is measured or measuring has failed: writes what there is; prints the rest of the table if `print`.
 */
static int finish(struct allreduce *a, int print)
{
    cJSON *summary = make_summary(a);
    int status = a->finished ? write_summary(a, summary) : 0;
    if (!status && *a->options->output_file && a->finished) {
        char *text = cJSON_Print(summary);
        if (!text)
            FATAL("no memory to print %s", a->options->output_file);
        status = files_replace_path("output-file", a->options->output_file, text);
        cJSON_free(text);
    }
    if (print) {
        print_foot(summary);
        status = flush_stdout() ? -1 : status;
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
    int failed = a->job->rank ? 0 : finish(a, !status);
    if (status)
        error_clear(); /* the first failure has been reported, and this one follows from it */
    else
        status = job_agree(a->job, failed);
    if (job_agree(a->job, results_close(&a->results)) || status)
        return -1;
    if (a->job->rank == 0)
        fprintf(stderr, "Results: %s\n", a->results.directory);
    return a->wrong > 0 ? -1 : 0;
}
