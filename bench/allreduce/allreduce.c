/* allreduce.c - `ddpbench allreduce`: measures a collective size by size, prints and keeps what came of it. */
#include "allreduce/allreduce.h"

#include "allreduce/overlap.h"
#include "allreduce/results.h"
#include "allreduce/table.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/version.h"
#include "kernels/clock.h"
#include "kernels/error.h"
#include "monitor/monitor.h"
#include "training/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct allreduce {
    struct sweep sweep;
    struct results results;
    struct host_facts host;
    int threads;
    int64_t origin_ns;
    struct monitor *monitor; /* NULL: none */
    struct progress progress;
    size_t done;     /* units of progress */
    size_t finished; /* rows whose figures are made */
    int64_t written_ns;
};

static int check_memory(const struct sweep *s)
{
    char need[CELL], have[CELL];
    double needed = job_sum_machine(s->job, (double)sweep_memory(s->options, s->job->size));
    size_t available = host_memory_available();
    if (needed <= (double)available)
        return 0;
    return error_report("the %d rank%s of this machine need %s of memory for the largest message and it has %s; use a "
                        "smaller --max-bytes",
                        s->job->machine_size, s->job->machine_size == 1 ? "" : "s",
                        text_memory(need, (size_t)fmin(needed, 1e19)), text_memory(have, available));
}

static int check_gpu_memory(const struct allreduce *a)
{
    char need[CELL], have[CELL];
    const struct sweep_options *o = a->sweep.options;
    const struct open_device *opened = &a->sweep.opened;
    double needed = 2.0 * (double)o->size[o->sizes - 1] * opened->sharing;
    if (!opened->on_gpu || needed <= (double)opened->gpu.free_memory)
        return 0;
    return error_report(
        "%s has %s free and %d rank%s on it need%s %s for the largest message; use a smaller --max-bytes",
        opened->gpu.name, text_memory(have, opened->gpu.free_memory), opened->sharing, opened->sharing == 1 ? "" : "s",
        opened->sharing == 1 ? "s" : "", text_memory(need, (size_t)fmin(needed, 1e19)));
}

/* Before anything is measured: whether --output-file can be written. Rank 0 only. */
static int check_output_file(const struct sweep_options *o)
{
    struct new_file file;
    if (!*o->output_file)
        return 0;
    if (new_file_open(&file, o->output_file, 0))
        return -1;
    new_file_abandon(&file);
    return 0;
}

static int set_up(struct allreduce *a, const struct job *job, const struct sweep_options *o, int argc,
                  char *const argv[])
{
    struct sweep *s = &a->sweep;
    a->origin_ns = clock_now_ns();
    double cores = host_cores_per_rank(job);
    a->threads = host_threads(o->model.threads, cores);
    host_facts(&a->host);
    s->job = job;
    s->options = o;
    if (open_device(&s->opened, job, &o->model.device, a->threads))
        return -1;
    s->device = s->opened.device;
    if (job_agree(job, check_memory(s)) || job_agree(job, check_gpu_memory(a)) ||
        job_agree(job, job->rank ? 0 : check_output_file(o)) ||
        job_agree(job, monitor_create(&a->monitor, job, o->monitor_cpu, o->monitor_gpu)))
        return -1;
    struct results_target place = {"output", o->output, o->label, ""};
    if (job_agree(job, results_open(&a->results, job, &place)))
        return -1;
    if (sweep_create(s, cores >= a->threads + 1))
        return -1;
    if (cores < 1 && !o->nonblocking && job->rank == 0)
        fprintf(stderr,
                "ddpbench: %d ranks share the cores: a blocking call may hold one for a time slice of the "
                "scheduler; --call nonblocking yields instead\n",
                job->machine_size);
    if (job_agree(job, sweep_write_run(&a->results, s, &a->host, a->threads, argc, argv)))
        return -1;
    open_device_explain(&s->opened);
    return job_agree(job, monitor_start(a->monitor, a->results.directory, a->origin_ns));
}

static void tear_down(struct allreduce *a)
{
    monitor_destroy(a->monitor);
    sweep_destroy(&a->sweep);
}

/* The length of a row in units of progress, roughly. */
static size_t units(const struct measured *row)
{
    return 1 + row->bytes / 1048576;
}

/* Rows up to this one are finished: now and then writes the summary. Rank 0 only. */
static int keep_summary(struct allreduce *a, size_t i)
{
    if (clock_now_ns() - a->written_ns < 1000000000)
        return 0;
    int status = sweep_write_summary(&a->results, &a->sweep, i + 1);
    a->written_ns = clock_now_ns();
    return status;
}

/* Prints the line of a size once it is complete. Rank 0 only. */
static int print_line(struct allreduce *a, const struct measured *row)
{
    const struct sweep *s = &a->sweep;
    if (!row->in_place)
        return 0;
    progress_end(&a->progress);
    if (s->options->overlap)
        sweep_overlap_row(stdout, row, row->overlapped);
    else
        sweep_report_rows(stdout, s, s->options->kind == COMM_BROADCAST ? row : row - 1);
    return sweep_report_flush(stdout);
}

/* Row i in one cycle. */
static int measure_row(struct allreduce *a, size_t i, size_t cycle)
{
    struct sweep *s = &a->sweep;
    struct measured *row = &s->row[i];
    int status = 0;
    if (s->options->overlap) {
        row->overlapped = allocate(1, sizeof *row->overlapped);
        *row->overlapped = sweep_overlap(s, row);
    } else {
        sweep_measure(s, row, cycle);
        status = sweep_write_iterations(&a->results, row, cycle, a->origin_ns);
        if (cycle + 1 < s->options->run_cycles)
            return job_agree(s->job, status);
        sweep_finish(s, row);
    }
    a->finished = i + 1;
    if (!status && s->job->rank == 0)
        status = keep_summary(a, i) || print_line(a, row) ? -1 : 0;
    return job_agree(s->job, status);
}

static int measure(struct allreduce *a)
{
    struct sweep *s = &a->sweep;
    size_t total = 0, cycles = s->options->overlap ? 1 : s->options->run_cycles;
    char words[CELL];
    for (size_t i = 0; i < s->rows; i++)
        total += units(&s->row[i]) * cycles;
    progress_begin(&a->progress, s->job->rank ? 0 : total);
    for (size_t cycle = 0; cycle < cycles; cycle++)
        for (size_t i = 0; i < s->rows; i++) {
            if (measure_row(a, i, cycle))
                return -1;
            a->done += units(&s->row[i]);
            progress_show(&a->progress, a->done, text_memory(words, s->row[i].bytes));
        }
    progress_end(&a->progress);
    return 0;
}

/* Everything that is known now, to the results and to --output-file. Rank 0 only. */
static int write_end(const struct allreduce *a)
{
    const struct sweep *s = &a->sweep;
    if (sweep_write_summary(&a->results, s, a->finished))
        return -1;
    if (!*s->options->output_file)
        return 0;
    cJSON *json = sweep_summary(s, a->finished);
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    if (!text)
        FATAL("no memory to print %s", s->options->output_file);
    int status = files_replace_path("output-file", s->options->output_file, text);
    free(text);
    return status;
}

static void print_foot(const struct sweep *s)
{
    (s->options->overlap ? sweep_overlap_foot : sweep_report_foot)(stdout, s);
    sweep_report_notes(stdout, s);
}

static int run(struct allreduce *a)
{
    struct sweep *s = &a->sweep;
    if (s->job->rank == 0) {
        sweep_report_head(stdout, s, &a->host, a->threads);
        (s->options->overlap ? sweep_overlap_head : sweep_report_columns)(stdout, s);
        fflush(stdout);
    }
    int status = measure(a);
    if (job_agree(s->job, monitor_stop(a->monitor, &s->monitored)))
        status = -1;
    if (!status && !s->options->overlap && s->job->size > 1)
        sweep_fit_links(s);
    /* also when a row could not be written: what was measured is kept if it still can be */
    int wrote = s->job->rank || !a->finished ? 0 : write_end(a);
    if (status)
        error_clear(); /* the first failure has been told, and this one follows from it */
    else {
        if (!s->job->rank)
            print_foot(s);
        status = job_agree(s->job, wrote || (!s->job->rank && sweep_report_flush(stdout)) ? -1 : 0);
    }
    if (job_agree(s->job, results_close(&a->results)) || status)
        return -1;
    if (s->job->rank == 0)
        fprintf(stderr, "Results: %s\n", a->results.directory);
    return sweep_wrong(s) ? -1 : 0;
}

int run_allreduce(const struct job *job, int argc, char *const argv[])
{
    enum { OK = 0, FAILED = 1, USAGE = 2 };
    struct sweep_options options;
    struct allreduce a = {.results = {.telemetry_file = -1}};
    int status = OK;
    if (job_agree(job, sweep_options_parse(&options, argc, argv)))
        status = USAGE;
    else if (options.help || options.version) {
        if (job->rank == 0 && options.help)
            sweep_options_help(stdout);
        else if (job->rank == 0)
            printf("ddpbench %s\n", version_text());
    } else if (job_agree(job, sweep_options_fit(&options, job->size)))
        status = USAGE;
    else if (set_up(&a, job, &options, argc, argv) || run(&a))
        status = FAILED;
    results_close(&a.results);
    tear_down(&a);
    sweep_options_destroy(&options);
    return status;
}
