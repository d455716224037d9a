/* tune.c - `ddpbench tune`: the command line, and the rounds of the search. */
#include "benchmark/tune.h"

#include "base/json.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/version.h"
#include "benchmark/answer.h"
#include "benchmark/benchmark.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, FAILED = 1, USAGE = 2 };
_Static_assert((int)SEARCH_ROWS >= (int)MAX_IMPLEMENTATIONS, "a search has room for every row");

/* ---- the command line ---- */

/* clang-format off */
static const struct option rows[] = {
    {.name = "max-minutes", .common = 1, .kind = &option_real, .offset = offsetof(struct tune_options, max_minutes),
     .initial = "5", .low = 0.001, .high = 1e6, .help = "the time for all rounds; what does not fit is left out"},
};
/* clang-format on */

/* The sizes of the model are known now, and with them its tensors. */
static void make_rows(struct training_options *o, struct candidate *candidate)
{
    struct model_sizes sizes = workload_sizes(&o->workload, 1);
    struct model model;
    model_plan(&model, &sizes, sizeof(float));
    o->n = candidates_make(o->implementation, candidate, model.tensor, model.tensors);
    model_destroy(&model);
}

int tune_options_parse(struct tune_options *options, struct option_table *table, int argc, char *const argv[])
{
    /* what the search decides itself, and what has no meaning in it */
    static const char *const others[] = {"implementations", "bucket-size-mb", "rounds",      "resolve",
                                         "max-minutes",     "attainable",     "forward-only"};
    *options = (struct tune_options){0};
    *table = (struct option_table){0};
    run_options_add(table, &options->run);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        option_table_remove(table, others[i]);
    option_table_add(table, (struct option_section){.title = "Search", OPTION_ROWS(rows), .base = options});
    return option_table_parse(table, argc, argv);
}

int tune_options_check(struct tune_options *options, const struct option_table *table, int ranks, int on_gpus)
{
    enum { BLOCK_STEPS = 3 };
    struct training_options *o = &options->run.training;
    o->rounds = 1; /* that there is room for; it grows */
    if (ranks == 1)
        return error_report("tune compares what communication costs, and one rank has none: mpirun -n 2 or more");
    training_options_use_preset(o, table, on_gpus);
    if (training_options_check(o, table, BLOCK_STEPS, 0) || training_options_fit(o, ranks) ||
        training_options_check_saved(o, (size_t)(o->block_start + DISCARDED_STEPS), o->block_steps))
        return -1;
    make_rows(o, options->candidate);
    return 0;
}

static void print_help(const struct option_table *table)
{
    fputs(
        "Usage: " TUNE_SYNOPSIS " [OPTION VALUE]...\n\n"
        "Finds the strategy and the bucket size with the shortest step, in a given time, by successive halving:\n"
        "all strategies, and ddp_bucketed with buckets from two tensors to the whole gradient, are measured in\n"
        "interleaved rounds, and the slower ones dropped. Prints the options to use, what they cost, and the curve.\n",
        stdout);
    option_table_help(stdout, table, table->help);
    workload_help_presets(stdout);
    printf("\nExit status: 0 fine, 1 the run failed, 2 the command line is wrong.\n");
}

/* ---- the search ---- */

struct tune {
    const struct tune_options *options;
    struct results *results;
    struct search search; /* of rank 0 */
    struct progress progress;
};

/* The rows as candidates, and the search over them. */
static void begin(struct tune *t, const struct run *run)
{
    const struct training_options *o = run->options;
    const struct candidate *candidate = t->options->candidate;
    t->search.n = o->n;
    for (int i = 0; i < t->search.n; i++) {
        struct search_row *row = &t->search.row[i];
        row->has_size = candidate[i].bucket_mb > 0;
        row->state = !o->implementation[i].strategy->reduces ? SEARCH_CONTROL
                     : candidate[i].between                  ? SEARCH_RESERVE
                                                             : SEARCH_IN;
    }
    double block = run->warm_step * (double)(DISCARDED_STEPS + o->block_steps);
    search_begin(&t->search, 60 * t->options->max_minutes, block);
}

static void say_plan(const struct tune *t, const struct run *run)
{
    const struct search *s = &t->search;
    char limit[CELL], round[CELL];
    int left_out = search_count(s, SEARCH_LEFT_OUT), in = search_count(s, SEARCH_IN);
    double seconds = run->warm_step * (double)(DISCARDED_STEPS + run->options->block_steps) * search_running(s);
    fprintf(stderr, "Searching among %d candidates for %s at most (--max-minutes)", in, text_duration(limit, s->limit));
    if (left_out)
        fprintf(stderr, "; by the first steps there is no time for %d more bucket sizes", left_out);
    fprintf(stderr, ".\n");
    if (seconds > s->limit)
        fprintf(stderr, "A round of them takes about %s already: use a larger --max-minutes, or a smaller model.\n",
                text_duration(round, seconds));
}

/* Before the first round, and after each: what the others need to know of it goes from rank 0 to all. */
static void plan_round(void *context, struct run *run, double seconds)
{
    struct tune *t = context;
    struct {
        char resting[MAX_IMPLEMENTATIONS];
        int ended;
    } mine = {{0}, 0}, *all = allocate((size_t)run->job->size, sizeof *all);
    size_t rounds = run->measurements.rounds;
    if (run->job->rank == 0) {
        const double *step[MAX_IMPLEMENTATIONS];
        for (int i = 0; i < run->options->n; i++)
            step[i] = measurements_of(&run->measurements, i, FIGURE_STEP);
        if (rounds) {
            search_round(&t->search, step, rounds, seconds);
        } else {
            begin(t, run);
            say_plan(t, run);
            progress_begin(&t->progress, (size_t)(1e3 * t->search.limit) + 1);
        }
        for (int i = 0; i < run->options->n; i++)
            mine.resting[i] = t->search.row[i].state != SEARCH_CONTROL && t->search.row[i].state != SEARCH_IN;
        mine.ended = t->search.end != SEARCH_GOES_ON;
    }
    job_gather(run->job, &mine, sizeof mine, all);
    memcpy(run->resting, all[0].resting, sizeof run->resting);
    run->planned = rounds + !all[0].ended;
    if (all[0].ended)
        progress_end(&t->progress);
    free(all);
}

static int take_block(void *context, struct run *run, const struct block *block)
{
    struct tune *t = context;
    const struct search *s = &t->search;
    char words[160], stage[40] = "final";
    double passed = 1e-9 * (double)(clock_now_ns() - t->progress.start_ns);
    size_t done = (size_t)(1e3 * passed) + 1;
    if (!s->final)
        snprintf(stage, sizeof stage, "stage %d of %d", s->stage + 1, s->stages + 1);
    snprintf(words, sizeof words, "%s, %d left, best %s", stage, search_count(s, SEARCH_IN),
             s->best < 0 ? "unknown" : run->options->implementation[s->best].label);
    done = done < t->progress.total ? done : t->progress.total;
    progress_show(&t->progress, done, words);
    return telemetry_write_block(t->results, run, block);
}

/* ---- results ---- */

static cJSON *create_summary(const struct run *run, const struct results *results)
{
    cJSON *summary = results_summary_create("tune", results->label, (double)run->measurements.rounds,
                                            (double)run->planned, "rounds");
    run_add_heading(run, NULL, summary);
    return summary;
}

/* What is known so far, on rank 0; with `print`, on stdout too, where the heading is already. 0, or -1, reported. */
static int write_summary(const struct tune *t, const struct run *run, int print)
{
    const struct training_options *o = run->options;
    struct figure_list figures = {0};
    struct answer answer;
    if (run->job->rank)
        return 0;
    answer_make(&answer, &t->search, &run->measurements, o->implementation, t->options->candidate, run->reducer);
    cJSON *summary = create_summary(run, t->results);
    answer_add_words(&answer, &t->search, o->implementation, summary);
    answer_add_figures(&answer, &figures);
    run_add_notes(run, summary);
    json_add_number(summary, "largest_loss_difference", run->losses.difference);
    int status = results_write_summary(t->results, summary, &figures);
    if (print)
        results_print_body(stdout, summary);
    cJSON_Delete(summary);
    figures_destroy(&figures);
    return status;
}

static int write_so_far(void *context, struct run *run)
{
    return write_summary(context, run, 0);
}

static int measure(struct run *run, struct tune *t)
{
    const struct run_hooks hooks = {.context = t, .block = take_block, .summary = write_so_far, .plan = plan_round};
    int status = run_rounds(run, &hooks);
    progress_end(&t->progress);
    if (run_stop_watching(run))
        status = -1;
    if (run->measurements.rounds) /* also when a block could not be written */
        status = job_agree_after(run->job, status, write_summary(t, run, 1));
    return run_check_losses(run) ? -1 : status;
}

/* What a reader can know before anything is allocated. */
static void announce(const struct run *run, const struct results *results, double limit)
{
    if (run->job->rank == 0) {
        cJSON *summary = create_summary(run, results);
        results_print_heading(stdout, summary);
        cJSON_Delete(summary);
    }
    run_estimate(run, 0, limit);
}

int tune_search(const struct job *job, const struct tune_options *options, const struct command *command)
{
    struct run run = {.job = job};
    struct results results = {.telemetry.file = -1};
    struct results_target target = {"output", options->run.results.output, options->run.results.label, "",
                                    options->run.results.prometheus};
    struct tune tune = {.options = options, .results = &results};
    int status = run_plan(&run, &options->run, &target, &results);
    if (!status) {
        announce(&run, &results, 60 * options->max_minutes);
        status = run_set_up(&run, "tune", command, &results);
    }
    if (!status)
        status = measure(&run, &tune);
    status = job_agree_after(job, status, results_close(&results));
    if (!status && job->rank == 0)
        fprintf(stderr, "Results: %s\n", results.directory);
    run_tear_down(&run);
    return status;
}

int run_tune(const struct job *job, int argc, char *const argv[])
{
    struct tune_options options;
    struct option_table table;
    if (job_agree(job, tune_options_parse(&options, &table, argc, argv)))
        return USAGE;
    if (table.help || table.version) {
        if (job->rank == 0 && table.help)
            print_help(&table);
        else if (job->rank == 0)
            printf("ddpbench %s\n", version_text());
        return OK;
    }
    int dry_run_ranks = (int)options.run.results.dry_run_ranks;
    if (job_agree(job, tune_options_check(&options, &table, dry_run_ranks ? dry_run_ranks : job->size,
                                          open_device_wants_gpus(job, &options.run.device))))
        return USAGE;
    if (dry_run_ranks)
        return OK;
    return tune_search(job, &options, &(struct command){argc, argv, &table}) ? FAILED : OK;
}
