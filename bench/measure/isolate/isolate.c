/* isolate.c - `ddpbench isolate`: its options, its set-up, and the course of a run. Rank 0 leads it by the diagnosis:
 * in each round it sends each rank its partner, and gathers what the members measured. */
#include "isolate/isolate.h"

#include "base/progress.h"
#include "base/text.h"
#include "ddp/comm_create.h"
#include "ddp/comm_nccl.h"
#include "ddp/links.h"
#include "ddp/watchdog.h"
#include "isolate/measure.h"
#include "isolate/output.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the command line ---- */

enum { PER_HOST, PER_RANK };

struct isolate_options {
    double resolve; /* percent */
    double max_minutes;
    int per; /* PER_HOST or PER_RANK */
    size_t bytes;
    struct nominal nominal; /* rate 0: none was given */
    const char *junit;
    struct harness_options harness;
    const struct job *job;
};
#define FIELD(field) offsetof(struct isolate_options, field)

static const char *const per_name[] = {"host", "rank", NULL};

/* clang-format off */
static const struct option rows[] = {
    {.name = "resolve", .common = 1, .kind = &option_percent, .offset = FIELD(resolve), .initial = "5", .low = 0.1, .high = 50,
     .help = "measure until each member is known to be slower than its peers, or not by this many percent"},
    {.name = "max-minutes", .common = 1, .kind = &option_real, .offset = FIELD(max_minutes), .initial = "2",
     .low = 0.001, .high = 1e6, .help = "the longest time for that; what is open then is undecided"},
    {.name = "per", .common = 1, .kind = &option_choice, .offset = FIELD(per), .initial = "host", .choices = per_name,
     .help = "the members: host, the first rank of each host, while its other ranks wait; rank, every rank"},
    {.name = "bytes", .common = 1, .kind = &option_bytes, .offset = FIELD(bytes), .initial = "0", .high = 1 << 30,
     .help = "size of the messages; 0: 64M by NCCL, otherwise 1M"},
    {.name = "nominal", .common = 1, .kind = &option_nominal, .offset = FIELD(nominal),
     .help = "rate of the link each way, such as 100gbit, nvlink4, pcie4x16 or bytes/s (12.5G/s): prints what share of "
             "it the median message reaches, and whether that is normal"},
    {.name = "junit", .common = 1, .kind = &option_path, .offset = FIELD(junit), .initial = "",
     .help = "file to write the members to as JUnit's XML, for CI: a test case for each"},
};
/* clang-format on */

/* Checks the number of members, and that the nominal link can carry the messages. With --dry-run the hosts are not
 * known: each rank may be on its own host. */
static int check(void *line, const struct option_table *table, int ranks, int on_gpus)
{
    struct isolate_options *o = line;
    int hosts = o->harness.results.dry_run_ranks ? ranks : o->job->hosts;
    int on_device = on_gpus && o->harness.comm.library != COMM_MPI;
    int by_nccl = on_device && (o->harness.comm.library == COMM_NCCL || !o->harness.device.share_gpu) &&
                  (o->harness.results.dry_run_ranks || comm_nccl_version());
    const char *unused = o->nominal.rate > 0 ? nominal_unused(&o->nominal, hosts, on_device) : NULL;
    (void)table;
    if (!o->bytes)
        o->bytes = by_nccl ? 64 << 20 : 1 << 20;
    if (o->bytes < LINKS_LEAST)
        return error_report("--bytes %zu: expected 0, or %d and more", o->bytes, LINKS_LEAST);
    if (o->per == PER_RANK && ranks < DIAGNOSIS_LEAST)
        return error_report("isolate compares %d members or more with each other, and --per rank has %d: start %d "
                            "ranks or more",
                            DIAGNOSIS_LEAST, ranks, DIAGNOSIS_LEAST);
    if (o->per == PER_HOST && hosts < DIAGNOSIS_LEAST)
        return error_report(
            "isolate compares %d members or more with each other, and this job has %d host%s: --per rank compares "
            "ranks, if there are %d or more; ddpbench allreduce measures the link between two",
            DIAGNOSIS_LEAST, hosts, text_plural((size_t)hosts), DIAGNOSIS_LEAST);
    return unused ? error_report("--nominal %s: %s", o->nominal.name, unused) : 0;
}

/* Returns the bytes that a rank needs: a message, which all-reduces use, too, two buffers of a copy, three matrices. */
static size_t memory_of_rank(const struct isolate_options *o, struct measure_work work)
{
    return o->bytes + 2 * work.copy_bytes + 3 * work.edge * work.edge * sizeof(float);
}

static int dry_run(const void *line, int ranks, int on_gpus, cJSON *summary)
{
    const struct isolate_options *o = line;
    char size[CELL], of_rank[CELL], limit[CELL];
    (void)ranks;
    results_add_sentence(summary, "heading", "Memory: %s on each rank (estimated)",
                         text_memory(of_rank, memory_of_rank(o, measure_work_for(on_gpus, 0))));
    results_add_sentence(summary, "heading",
                         "Work: messages of %s between pairs of members, repeated until each is decided within %g %%, "
                         "for at most %s (--max-minutes)",
                         text_bytes(size, (double)o->bytes), o->resolve, text_duration(limit, 60 * o->max_minutes));
    return 0;
}

/* ---- set-up ---- */

struct isolate {
    struct harness harness;
    const struct isolate_options *options;
    struct measure measure;
    /* on rank 0 only */
    struct member *member;
    struct diagnosis *diagnosis;
    struct progress progress;
    int64_t begin_ns, write_ns; /* when the first round began; when the summary is written next */
    double spent_s;             /* before the next round */
    struct load load;
    int complete; /* 1: no further round follows */
    int status;   /* -1: a file could not be written */
    enum isolate_status verdict;
};

/* Rank 0: names the members, and keeps their ranks. All ranks call it. */
static void find_members(struct isolate *a, const struct job *job)
{
    struct measure *m = &a->measure;
    struct member mine = {.rank = m->member < 0 ? -1 : job->rank, .host = job->host};
    if (job->rank == 0)
        a->member = allocate((size_t)job->size, sizeof *a->member);
    snprintf(mine.host_name, sizeof mine.host_name, "%s", a->harness.host.name);
    if (a->options->per == PER_RANK)
        snprintf(mine.name, sizeof mine.name, "rank %d on %s", job->rank, mine.host_name);
    else
        snprintf(mine.name, sizeof mine.name, "host %s", mine.host_name);
    job_gather_first(job, &mine, sizeof mine, a->member);
    for (int r = 0, n = 0; r < job->size && a->member; r++)
        if (a->member[r].rank >= 0) {
            m->rank[n] = a->member[r].rank;
            a->member[n++] = a->member[r];
        }
}

static int set_up_measure(struct isolate *a, const struct job *job)
{
    struct harness *h = &a->harness;
    int per_rank = a->options->per == PER_RANK;
    a->measure = (struct measure){.job = job,
                                  .device = h->opened.device,
                                  .bytes = a->options->bytes,
                                  .work = measure_work_for(h->opened.on_gpu, h->opened.gpu.cache_bytes),
                                  .part = "search",
                                  .results = &h->results,
                                  .members = per_rank ? job->size : job->hosts,
                                  .member = per_rank               ? job->rank
                                            : job->local_rank == 0 ? job->host
                                                                   : -1};
    size_t bytes = memory_of_rank(a->options, a->measure.work);
    double of_host = (double)(h->opened.on_gpu ? a->options->bytes : bytes);
    if (harness_check_memory(h, of_host, (double)bytes, "bytes"))
        return -1;
    a->measure.comm = comm_create(job, h->opened.device, NULL, 1, &h->comm);
    if (!a->measure.comm)
        return -1;
    measure_create(&a->measure);
    find_members(a, job);
    if (job->rank == 0)
        a->diagnosis = diagnosis_create(a->measure.members, a->options->resolve / 100);
    return 0;
}

static int set_up(struct isolate *a, const struct job *job, const struct command *command)
{
    const struct isolate_options *o = a->options;
    struct harness *h = &a->harness;
    const struct named_path junit = {"junit", o->junit, OUTCOME_JUNIT_MARK};
    if (harness_open(h, job, &o->harness) || set_up_measure(a, job) ||
        harness_open_results(h, "output", o->harness.results.output, "", junit))
        return -1;
    cJSON *json = harness_run_json(h, "isolate", a->measure.comm, command);
    return harness_write_run_json(h, &h->results, json) ? -1
                                                        : monitor_start(h->monitor, h->results.directory, h->origin_ns);
}

/* ---- the summary ---- */

static void add_heading(const struct isolate *a, cJSON *summary)
{
    char size[CELL], copy[CELL];
    const struct measure *m = &a->measure;
    harness_add_heading(&a->harness, " isolate", NULL, m->comm, "messages between pairs", summary);
    results_add_sentence(summary, "heading",
                         "%d members, one a %s; messages of %s, products of %zu x %zu, copies of %s; resolution %g %%",
                         m->members, per_name[a->options->per], text_bytes(size, (double)m->bytes), m->work.edge,
                         m->work.edge, text_bytes(copy, (double)m->work.copy_bytes), a->options->resolve);
}

/* Rank 0: writes what was found so far (and --junit), and prints it once complete. Returns 0; or -1, reported. */
static int write_outcome(struct isolate *a)
{
    const struct isolate_options *o = a->options;
    struct results *results = &a->harness.results;
    struct figure_list figures = {0};
    struct outcome outcome = {.diagnosis = a->diagnosis,
                              .busy = busy_is(harness_busy(&a->harness)),
                              .member = a->member,
                              .members = a->measure.members,
                              .resolve = o->resolve / 100,
                              .bytes = o->bytes,
                              .copy_bytes = a->measure.work.copy_bytes,
                              .load = &a->load,
                              .seconds = a->spent_s,
                              .complete = a->complete,
                              .crowded = a->harness.comm.progress.crowded};
    outcome_create(&outcome);
    a->verdict = outcome_status(&outcome);
    cJSON *summary = results_summary_create("isolate", o->harness.results.label, (double)outcome.progress.rounds,
                                            (double)outcome.progress.rounds + !a->complete, "rounds");
    add_heading(a, summary);
    outcome_add(&outcome, summary, &figures);
    matrix_add_share(&outcome, &o->nominal, summary, &figures);
    harness_add_findings(&a->harness, "answers", summary);
    int status = harness_write_summary(results, summary, &figures, a->complete);
    if (outcome_write_files(&outcome, results->directory) || outcome_write_junit(&outcome, o->junit))
        status = -1;
    outcome_destroy(&outcome);
    return status;
}

/* ---- the course ---- */

/* Rank 0: shows the progress, and writes what was found so far each second, but for at most a tenth of the time. */
static void show_progress(struct isolate *a)
{
    char words[120];
    int64_t now = clock_now_ns();
    struct diagnosis_progress p = diagnosis_progress(a->diagnosis);
    snprintf(words, sizeof words, "%zu rounds, %zu of %zu series undecided", p.rounds, p.undecided, p.series);
    progress_show(&a->progress, 1, words);
    if (now < a->write_ns)
        return;
    a->status = write_outcome(a);
    a->write_ns = now + 1000000000 + 10 * (clock_now_ns() - now);
}

/* Rank 0: returns the partners of the next round; NULL: the search or its time is over, or a file cannot be written. */
static const int *next_round(struct isolate *a)
{
    a->spent_s = clock_seconds_since(a->begin_ns);
    double share = a->spent_s / (60 * a->options->max_minutes);
    return a->status || share > 1 ? NULL : diagnosis_next(a->diagnosis, share > 0.5);
}

/* Measures rounds until the search ends. All ranks call it. A pairing's first round is slow, since ranks connect. */
static void search(struct isolate *a)
{
    struct member_times *times = allocate((size_t)a->measure.members, sizeof *times);
    while (measure_round(&a->measure, a->diagnosis ? next_round(a) : NULL, times)) {
        (void)other_processes_watch(&a->harness.other_processes, a->harness.job);
        if (a->diagnosis) {
            diagnosis_add(a->diagnosis, times);
            show_progress(a);
        }
    }
    free(times);
}

static int run(struct isolate *a)
{
    const double load_share = 0.25; /* share of --max-minutes for each of the two parts of load_measure */
    const struct job *job = a->harness.job;
    const struct isolate_options *o = a->options;
    int leads = job->rank == 0;
    if (leads) {
        cJSON *heading = results_summary_create("isolate", "", 0, 0, "");
        add_heading(a, heading);
        harness_show_heading(&a->harness, heading);
        progress_begin(&a->progress, 1, 60 * o->max_minutes * (1 + 2 * load_share));
    }
    watchdog_doing(job->watchdog, "the search");
    a->begin_ns = a->write_ns = clock_now_ns();
    search(a);
    progress_end(&a->progress);
    if (leads && !a->status)
        a->status = write_outcome(a);
    load_measure(&a->load, &a->measure, a->diagnosis, o->resolve / 100, load_share * 60 * o->max_minutes);
    a->complete = 1;
    int status = monitor_stop(a->harness.monitor) || a->measure.status ? -1 : 0;
    return job_agree_after(job, status, leads && (write_outcome(a) || a->status) ? -1 : 0);
}

static int isolate_run(void *line, const struct job *job, const struct command *command)
{
    struct isolate a = {.options = line};
    int status = set_up(&a, job, command);
    if (!status)
        status = run(&a);
    status = harness_close(&a.harness, status, 1);
    if (!status)
        status = job_from_first(job, (int)a.verdict, 0);
    measure_destroy(&a.measure);
    diagnosis_destroy(a.diagnosis);
    load_destroy(&a.load);
    free(a.member);
    return status;
}

static void print_help(const struct option_table *table)
{
    option_help_text(stdout,
                     "Usage: " ISOLATE_SYNOPSIS " [OPTION VALUE]...\n\n"
                     "Finds which host, link or direction is slow: pairs of hosts exchange messages, all at once, and "
                     "each host times the same matrix products and the same copy in memory, until every host is known "
                     "to be slower than its peers or not. Suspects are paired anew with hosts that are known to be "
                     "healthy.\n");
    option_table_help(stdout, table, table->help);
}

enum exit_status isolate_main(const struct job *job, int argc, char *const argv[])
{
    struct isolate_options options = {.job = job};
    struct option_table table = {0};
    const struct harness_command command = {
        &options, &table,      &options.harness,
        check,    print_help,  "the run failed",
        dry_run,  isolate_run, ", 3 a host, link or direction is slow, 4 undecided"};
    option_table_add(&table, (struct option_section){.title = "Search", OPTION_ROWS(rows), .base = &options});
    harness_options_add(&table, &options.harness);
    return harness_main(&command, job, argc, argv);
}
