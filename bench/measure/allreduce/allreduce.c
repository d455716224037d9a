/* allreduce.c - `ddpbench allreduce`: times a collective for each message size, prints and stores the figures. */
#include "allreduce/allreduce.h"

#include "base/json.h"
#include "base/progress.h"
#include "base/text.h"
#include "ddp/comm_create.h"
#include "kernels/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct allreduce {
    struct harness harness;
    const struct allreduce_options *options;
    struct endpoint endpoint;
    enum blocking blocking;           /* how iterations follow one another; not BLOCKING_AUTO */
    struct collective_timing *timing; /* [timings]; with --overlap only the collectives in them are used */
    size_t timings, finished;         /* finished: number of timings whose figures are known */
    double wrong;                     /* number of wrong elements so far */
    double busbw;                     /* sum of the busbw of the finished timings */
    struct figure_list figures;
    struct growing_table table;
    struct progress progress;
    int64_t written_ns; /* when the summary was last written */
};

/* ---- set-up ---- */

/* Returns the bytes of the largest message: it has at least one whole element for each rank. */
static size_t largest_message(const struct allreduce_options *o, int ranks)
{
    enum { LONGEST_ELEMENT = 8 }; /* in bytes */
    return o->messages.bytes[o->messages.n - 1] + LONGEST_ELEMENT * (size_t)ranks;
}

/* Returns the bytes of host memory that a rank needs: two buffers (stages 1: and their copies), and samples: this
 * rank's times of all sizes, all ranks' times of one size. */
static size_t host_memory(const struct allreduce_options *o, int ranks, int stages)
{
    size_t most_iterations = o->timing.iters ? o->timing.iters : TIMING_MOST_ITERATIONS;
    size_t samples = most_iterations * sizeof(double) * (2 * o->messages.n + (size_t)ranks);
    return 2 * largest_message(o, ranks) * (stages ? 2 : 1) + samples;
}

static int set_up(struct allreduce *a, const struct job *job, const struct command *command)
{
    const struct allreduce_options *o = a->options;
    struct harness *h = &a->harness;
    size_t largest = largest_message(o, job->size);
    if (harness_open(h, job, &o->harness))
        return -1;
    size_t of_host = host_memory(o, job->size, comm_stages(job, h->opened.device, &h->comm));
    if (harness_check_memory(h, (double)of_host, 2 * (double)largest, "max-bytes"))
        return -1;
    a->timing = timing_create(&o->choice, o->messages.bytes, o->messages.n, job->size, o->overlap, &a->timings);
    if (endpoint_create(&a->endpoint, job, h->opened.device, &h->comm, largest) ||
        harness_open_results(h, "output", o->harness.results.output, "", (struct named_path){0}))
        return -1;
    a->blocking = o->overlap ? BLOCKING_YIELDS : timing_blocking(&a->endpoint, o->timing.blocking);
    if (o->overlap)
        overlap_table_create(&a->table, a->endpoint.device, a->endpoint.comm);
    else
        timing_table_create(&a->table, o->show_cpu_time != 0, o->nominal.rate > 0, o->show_iterations != 0,
                            comm_bus_factor(o->choice.kind, job->size));
    if (job->cores < 1 && a->blocking != BLOCKING_YIELDS && job->rank == 0)
        fprintf(stderr,
                "ddpbench: %d ranks share the cores: a blocking call may hold a core for a time slice of "
                "the scheduler; --blocking yield does not\n",
                job->machine_size);
    cJSON *json = harness_run_json(h, "allreduce", a->endpoint.comm, command);
    if (!o->overlap)
        json_add_text(cJSON_GetObjectItemCaseSensitive(json, "derived"), "blocking", blocking_name[a->blocking]);
    return harness_write_run_json(h, &h->results, json) ? -1
                                                        : monitor_start(h->monitor, h->results.directory, h->origin_ns);
}

/* ---- the summary ---- */

static void add_choice(const struct allreduce_options *o, cJSON *summary)
{
    const struct timing_options *t = &o->timing;
    char iters[64] = "as many as fit into 0.2 s at the fastest call's pace, 5 to 2000";
    if (o->sizes_from_model)
        workload_describe(&o->workload, o->parameters, summary);
    if (o->overlap) {
        results_add_sentence(summary, "heading", "%s", comm_kind_name[o->choice.kind]);
        return;
    }
    if (t->iters)
        snprintf(iters, sizeof iters, "%zu", t->iters);
    results_add_sentence(
        summary, "heading", "%s; iterations: %s; warm-up %zu; cycles %zu; check %zu; time of an iteration: %s",
        comm_kind_name[o->choice.kind], iters, t->warmup_iters, t->cycles, t->check, rank_time_name[t->time]);
}

static int dry_run(const void *line, int ranks, int on_gpus, cJSON *summary)
{
    const struct allreduce_options *o = line;
    const struct message_sizes *m = &o->messages;
    size_t timings, bytes = host_memory(o, ranks, 0);
    char low[CELL], high[CELL], of_rank[CELL], of_all[CELL];
    (void)on_gpus;
    timing_destroy(timing_create(&o->choice, m->bytes, m->n, ranks, o->overlap, &timings), 0);
    add_choice(o, summary);
    results_add_sentence(summary, "heading", "Memory: %s on each rank (estimated), %s on all %d ranks",
                         text_memory(of_rank, bytes), text_memory(of_all, bytes * (size_t)ranks), ranks);
    results_add_sentence(summary, "heading", "Work: %zu timing%s of messages from %s to %s", timings,
                         text_plural(timings), text_bytes(low, (double)m->bytes[0]),
                         text_bytes(high, (double)m->bytes[m->n - 1]));
    return 0;
}

/* For each type, operation and placement, adds a note on the largest message's share of the nominal rate. */
static void add_nominal(const struct allreduce *a, cJSON *summary, const struct fitted_link *link, size_t links)
{
    const struct nominal *nominal = &a->options->nominal;
    char size[CELL], words[NOMINAL_WORDS];
    const char *unused = nominal_unused(nominal, a->harness.job->hosts, a->endpoint.comm->on_device);
    results_add_sentence(summary, "notes", "%s", nominal_describe(words, nominal));
    if (unused)
        results_add_sentence(summary, "notes", "But %s: a share of its rate is meaningless.", unused);
    for (const struct fitted_link *l = link; l < link + links && !unused; l++) {
        const struct collective_timing *t = l->largest;
        double latency = l->regimes ? l->regime[l->regimes - 1].latency : NAN; /* of the regime with the largest size */
        nominal_words(words, nominal, t->nominal_share, nominal_attainable(nominal, latency, l->bus_bytes));
        results_add_sentence(summary, "notes", "%s %s %s, %s on %d rank%s: %s.", t->dtype, t->op, t->placement,
                             text_bytes(size, (double)t->bytes), a->harness.job->size,
                             text_plural((size_t)a->harness.job->size), words);
    }
}

/* Adds notes on the widest interval, and on rows that were timed anew, never became stable, or exceed --nominal. */
static void add_stability(const struct allreduce *a, cJSON *summary)
{
    const struct nominal *nominal = &a->options->nominal;
    int unused = !nominal->rate || nominal_unused(nominal, a->harness.job->hosts, a->endpoint.comm->on_device);
    size_t discarded = 0, unstable = 0, beyond = 0;
    double widest = 0;
    for (const struct collective_timing *t = a->timing; t < a->timing + a->finished; t++) {
        discarded += t->discarded > 0 && !t->is_unstable;
        unstable += (size_t)t->is_unstable;
        beyond += t->nominal_share > 1 && !unused;
        widest = fmax(widest, t->half_width);
    }
    if (widest > 0)
        results_add_sentence(summary, "notes", "The widest 95 %% interval of time is +- %.1f %%.", 100 * widest);
    if (discarded)
        results_add_sentence(
            summary, "notes",
            "In %zu of %zu timings the first calls took over 25 %% more or less time than the next ones, as "
            "on a link that lets a burst pass; these calls are not counted.",
            discarded, a->finished);
    if (unstable)
        results_add_sentence(summary, "notes",
                             "Warning: in %zu of %zu timings the times were still changing at the end.", unstable,
                             a->finished);
    if (beyond)
        results_add_sentence(
            summary, "notes",
            "Warning: %zu of %zu timings exceed the nominal rate: the link is faster than --nominal, or a "
            "burst or the network's own reduction carried the data.",
            beyond, a->finished);
}

/* Rank 0: makes the summary so far, without its figures: heading, growing table, notes, and once all timings are
 * finished the fitted link. The caller owns the summary; the growing table, to which it refers, must outlive it. */
static cJSON *create_summary(const struct allreduce *a)
{
    const struct allreduce_options *o = a->options;
    const char *label = o->harness.results.label;
    struct fitted_link link[FITTED_LINKS];
    size_t links = 0;
    cJSON *json = results_summary_create("allreduce", label, (double)a->finished, (double)a->timings, "rows");
    cJSON *tables = cJSON_GetObjectItemCaseSensitive(json, "tables");
    harness_add_heading(&a->harness, " allreduce", NULL, a->endpoint.comm, blocking_name[a->blocking], json);
    add_choice(o, json);
    cJSON_AddItemReferenceToArray(tables, a->table.json);
    if (!o->overlap && a->finished == a->timings)
        links = links_fit(link, a->timing, a->timings, a->harness.job->size);
    cJSON_AddItemToArray(tables, link_table(link, links));
    if (!o->overlap && o->timing.check)
        results_add_sentence(json, "notes", "Out of bounds values : %.0f %s", a->wrong, a->wrong > 0 ? "FAILED" : "OK");
    if (!o->overlap && a->finished) /* for programs that read nccl-tests' line: the number is the last word */
        results_add_sentence(json, "notes", "Avg bus bandwidth    : %g", 1e-9 * a->busbw / (double)a->finished);
    if (o->nominal.rate > 0 && links)
        add_nominal(a, json, link, links);
    add_stability(a, json);
    if (a->harness.job->size == 1)
        results_add_sentence(json, "notes", "One rank: nothing is sent, so there is no bus bandwidth.");
    harness_add_findings(&a->harness, "notes", json);
    return json;
}

/* Rank 0: writes the summary if a timing is finished; if print is 1, prints all that follows the rows. */
static int write_summary(struct allreduce *a, int print)
{
    cJSON *summary = create_summary(a);
    int status = a->finished ? results_write_summary(&a->harness.results, summary, &a->figures) : 0;
    if (print) {
        table_print_notes(stdout, "# ", a->table.json);
        cJSON_DeleteItemFromArray(cJSON_GetObjectItemCaseSensitive(summary, "tables"), 0); /* table 0 was printed */
        results_print_body(stdout, summary);
    }
    cJSON_Delete(summary);
    return status;
}

/* ---- measuring ---- */

/* Rank 0: prints a row of the table as soon as it is complete; updates the summary file at most once a second. */
static int show_row(struct allreduce *a, const cJSON *row)
{
    progress_end(&a->progress);
    table_print_row(stdout, a->table.json, row);
    fflush(stdout);
    if (clock_now_ns() - a->written_ns < 1000000000)
        return 0;
    a->written_ns = clock_now_ns();
    return write_summary(a, 0);
}

/* Appends the iterations of a timing's last cycle to this rank's metrics. */
static int write_iterations(struct allreduce *a, const struct collective_timing *t, size_t cycle)
{
    size_t first = t->n - t->last_n;
    FILE *out = results_begin(&a->harness.results);
    fprintf(out,
            "{\"rank\":%d,\"collective\":\"%s\",\"dtype\":\"%s\",\"op\":\"%s\",\"root\":%d,\"placement\":\"%s\","
            "\"bytes\":%zu,\"cycle\":%zu,\"start\":%.6f,\"seconds\":[",
            a->harness.job->rank, comm_kind_name[t->collective.kind], t->dtype, t->op, t->root, t->placement, t->bytes,
            cycle, 1e-9 * (double)(t->start_ns - a->harness.origin_ns));
    for (size_t i = first; i < t->n; i++)
        fprintf(out, "%s%.9f", i > first ? "," : "", t->seconds[i]);
    fprintf(out, "]}\n");
    return results_end(&a->harness.results);
}

/* Runs one cycle of timing i; with --overlap, measures the overlap of its collective instead. */
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
        int failed = job_agree(a->harness.job, write_iterations(a, t, cycle));
        if (failed || cycle + 1 < a->options->timing.cycles)
            return failed;
        timing_finish(a->harness.job, a->options->timing.time, t);
        t->nominal_share = a->options->nominal.rate > 0 ? t->busbw / a->options->nominal.rate : NAN;
        timing_figures(&a->figures, t);
        a->wrong += t->wrong > 0 ? t->wrong : 0;
        a->busbw += t->busbw;
        if (t->in_place) /* an out-of-place timing of this size starts the row, if there is one */
            row = timing_table_add(table, i && !t[-1].in_place ? t - 1 : NULL, t);
    }
    a->finished = i + 1;
    return row ? job_agree(a->harness.job, a->harness.job->rank ? 0 : show_row(a, row)) : 0;
}

static int measure(struct allreduce *a)
{
    size_t total = 0, done = 0, cycles = a->options->overlap ? 1 : a->options->timing.cycles;
    char words[CELL];
    /* weight in the progress: 1, and 1 more per `unit` bytes; with a given time, larger messages have fewer iterations
     */
    const size_t unit = a->options->timing.iters ? 1 << 16 : 1 << 20;
    for (size_t i = 0; i < a->timings; i++)
        total += (1 + a->timing[i].bytes / unit) * cycles;
    progress_begin(&a->progress, a->harness.job->rank ? 0 : total, 0);
    (void)other_processes_watch(&a->harness.other_processes, a->harness.job);
    for (size_t cycle = 0; cycle < cycles; cycle++)
        for (size_t i = 0; i < a->timings; i++) {
            if (measure_one(a, i, cycle))
                return -1;
            (void)other_processes_watch(&a->harness.other_processes, a->harness.job);
            done += 1 + a->timing[i].bytes / unit;
            progress_show(&a->progress, done, text_memory(words, a->timing[i].bytes));
        }
    progress_end(&a->progress);
    return 0;
}

static int run(struct allreduce *a)
{
    const struct job *job = a->harness.job;
    if (job->rank == 0) {
        harness_show_heading(&a->harness, create_summary(a));
        table_print_head(stdout, "# ", a->table.json);
        fflush(stdout);
    }
    int status = measure(a);
    if (monitor_stop(a->harness.monitor))
        status = -1;
    /* even if a row could not be written, so that the figures measured so far are kept */
    return job_agree_after(job, status, job->rank ? 0 : write_summary(a, !status));
}

static int allreduce_run(void *line, const struct job *job, const struct command *command)
{
    struct allreduce a = {.options = line};
    int status = set_up(&a, job, command);
    if (!status)
        status = run(&a);
    status = harness_close(&a.harness, status, 1);
    endpoint_destroy(&a.endpoint);
    timing_destroy(a.timing, a.timings);
    figures_destroy(&a.figures);
    cJSON_Delete(a.table.json);
    return a.wrong > 0 ? -1 : status;
}

static void print_help(const struct option_table *table)
{
    option_help_text(
        stdout, "Usage: " ALLREDUCE_SYNOPSIS " [OPTION VALUE]...\n\n"
                "Times a collective over a range of sizes, out of place and in place, checks its results, and fits "
                "latency and bandwidth to the times. Options and columns have the names of nccl-tests where it has "
                "them.\n");
    option_table_help(stdout, table, table->help);
    if (table->help != HELP_COMMON) {
        workload_help_presets(stdout);
        implementations_help(stdout);
    }
}

enum exit_status allreduce_main(const struct job *job, int argc, char *const argv[])
{
    struct allreduce_options options = {0};
    struct option_table table = {0};
    static const char failures[] = "the run failed or a result was wrong";
    const struct harness_command command = {
        &options, &table, &options.harness, allreduce_options_check, print_help, failures, dry_run, allreduce_run, ""};
    allreduce_options_add(&table, &options);
    enum exit_status status = harness_main(&command, job, argc, argv);
    workload_release(&options.workload);
    free(options.messages.bytes);
    return status;
}
