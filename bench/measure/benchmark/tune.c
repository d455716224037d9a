/* tune.c - `ddpbench tune`: its options, and the rounds of the search. */
#include "benchmark/benchmark.h"

#include "base/progress.h"
#include "base/text.h"
#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the command line ---- */

/* clang-format off */
static const struct option rows[] = {
    {.name = "max-minutes", .common = 1, .kind = &option_real, .offset = offsetof(struct tune_options, max_minutes),
     .initial = "5", .low = 0.001, .high = 1e6, .help = "time for all rounds; the search leaves out candidates for which it is too short"},
};
/* clang-format on */

void tune_options_add(struct option_table *table, struct tune_options *options)
{
    /* options that a search must not have: the search chooses their values itself, or they mean nothing to it */
    static const char *const others[] = {"implementations", "bucket-size-mb", "shard",
                                         "rounds",          "resolve",        "max-minutes",
                                         "attainable",      "forward-only",   "update-in-backward"};
    run_options_add(table, &options->run);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        option_table_remove(table, others[i]);
    option_table_add(table, (struct option_section){.title = "Search", OPTION_ROWS(rows), .base = options});
}

int tune_options_check(void *line, const struct option_table *table, int ranks, int on_gpus)
{
    enum { BLOCK_STEPS = 3 };
    struct tune_options *options = line;
    struct training_options *o = &options->run.training;
    o->rounds = 1; /* initial room for samples, in rounds; the room grows */
    if (ranks == 1)
        return error_report(
            "tune compares costs of communication, which a single rank does not have: use mpirun -n 2 or more");
    if (o->workload.wire_dtypes == (1u << COMM_FLOAT32 | 1u << COMM_BF16))
        return error_report("tune searches with one --wire-dtype: fp32 or bf16");
    if (training_options_use_preset(o, table, on_gpus) || training_options_check(o, table, BLOCK_STEPS, 0) ||
        training_options_fit(o, ranks))
        return -1;
    struct model model;
    workload_plan(&model, &o->workload, 1, (size_t)ranks, sizeof(float), 0); /* some rows shard */
    o->n = options->search.n = candidates_make(o->implementation, options->search.row, model.tensor, model.tensors);
    model_destroy(&model);
    for (struct implementation *row = o->implementation; row < o->implementation + o->n; row++)
        if (o->workload.wire_dtypes & 1u << COMM_BF16 && row->strategy->traits[VARIANT_BF16])
            row->variant = VARIANT_BF16;
    return 0;
}

static void print_help(const struct option_table *table)
{
    option_help_text(
        stdout, "Usage: " TUNE_SYNOPSIS " [OPTION VALUE]...\n\n"
                "Finds the strategy and the bucket size with the shortest step, in a given time, by successive "
                "halving: the strategies that reduce on any hosts, each with buckets from two tensors to the whole "
                "gradient, are measured in interleaved rounds, and the slower ones dropped. Buckets of several "
                "sizes around the best size are tried too. Prints the options to use and what each size costs.\n");
    option_table_help(stdout, table, table->help);
    workload_help_presets(stdout);
}

static int dry_run(const void *line, int ranks, int on_gpus, cJSON *summary)
{
    const struct tune_options *options = line;
    return training_dry_run(&options->run, &(struct recording){0}, ranks, on_gpus, 0, options->max_minutes, summary);
}

/* ---- the search ---- */

struct tune {
    struct tune_options *options;
    struct training training;
    struct progress progress;
    int failed; /* 1: run.json could not be written */
};

static void print_plan(const struct search *s)
{
    char limit[CELL];
    int left_out = search_count(s, SEARCH_LEFT_OUT), in = search_count(s, SEARCH_IN);
    fprintf(stderr, "Searching among %d candidates for %s at most (--max-minutes)", in, text_duration(limit, s->limit));
    if (left_out)
        fprintf(stderr, "; judging by the first steps, there is no time for %d more bucket sizes", left_out);
    fprintf(stderr, ".\n");
}

/* Makes the plans of the best row's strategy anew, around that row, as they enter the final. A repeated plan rests. */
static void remake_plans(struct tune *t, int best)
{
    struct implementation *row = t->options->run.training.implementation;
    struct search_row *searched = t->options->search.row;
    const struct engine *engine = &t->training.engine;
    char is_new[CANDIDATE_PLANS];
    int first = best;
    while (!searched[first].is_plan)
        first++;
    candidates_plan(&row[first], is_new, &row[best], engine->model.tensor, engine->model.tensors);
    for (int p = first; p < first + CANDIDATE_PLANS; p++) {
        reducer_destroy(&engine->reducer[p]);
        reducer_create(&engine->reducer[p], row[p].strategy, row[p].variant, &engine->model, engine->comm,
                       &row[p].size.caps, row[p].number);
        if (is_new[p - first])
            continue;
        searched[p].state = SEARCH_RESERVE; /* used on rank 0 */
        t->training.run.resting[p] = 1;
    }
    t->failed = training_write_run_json(&t->training, &t->training.harness.results) != 0;
}

/* Called before the first round and after each round: rank 0 plans the next round and sends the plan to the others. */
static void plan_round(void *context, double seconds)
{
    struct tune *t = context;
    struct run *run = &t->training.run;
    struct search *s = &t->options->search;
    const struct job *job = t->training.harness.job;
    struct {
        char resting[MAX_IMPLEMENTATIONS];
        int ended, plans_around; /* plans_around: the best row, if its plans enter the final now; else -1 */
    } mine = {{0}, 0, -1}, *all = allocate((size_t)job->size, sizeof *all);
    size_t rounds = run->measurements.rounds;
    if (job->rank == 0) {
        const double *step[MAX_IMPLEMENTATIONS];
        double block_s = run->warm_step * (double)(DISCARDED_STEPS + run->block_steps);
        for (int i = 0; i < s->n; i++)
            step[i] = measurements_of(&run->measurements, i, FIGURE_STEP);
        if (rounds) {
            int was_final = s->final;
            search_round(s, step, rounds, seconds);
            if (s->final && !was_final && search_has_plans(s))
                mine.plans_around = s->best;
        } else {
            search_begin(s, 60 * t->options->max_minutes, block_s);
            print_plan(s);
            progress_begin(&t->progress, 1, s->limit);
        }
        for (int i = 0; i < s->n; i++)
            mine.resting[i] = s->row[i].state != SEARCH_CONTROL && s->row[i].state != SEARCH_IN;
        mine.ended = s->end != SEARCH_GOES_ON;
    }
    job_gather(job, &mine, sizeof mine, all);
    memcpy(run->resting, all[0].resting, sizeof run->resting);
    run->planned = rounds + !all[0].ended;
    if (all[0].plans_around >= 0)
        remake_plans(t, all[0].plans_around);
    free(all);
}

static int take_block(void *context, const struct block *block)
{
    struct tune *t = context;
    const struct search *s = &t->options->search;
    char words[200], stage[40] = "final";
    (void)block;
    if (!s->final)
        snprintf(stage, sizeof stage, "stage %d of %d", s->stage + 1, s->stages + 1);
    snprintf(words, sizeof words, "%s, %d left, best %s", stage, search_count(s, SEARCH_IN),
             s->best < 0 ? "unknown" : t->training.run.options->implementation[s->best].label);
    progress_show(&t->progress, 1, words);
    return t->failed ? -1 : 0;
}

/* ---- results ---- */

/* Rank 0 writes the answer so far, and prints it once the search is over. Returns 0; or -1, reported. */
static int write_summary(void *context)
{
    struct tune *t = context;
    struct run *run = &t->training.run;
    struct figure_list figures = {0};
    if (run->complete)
        progress_end(&t->progress);
    if (t->training.harness.job->rank || !run->measurements.rounds)
        return 0;
    cJSON *summary = training_create_summary(&t->training, NULL);
    answer_add(&t->options->search, &run->measurements, run->options->implementation, t->training.engine.reducer,
               busy_is(harness_busy(&t->training.harness)), summary, &figures);
    training_add_notes(&t->training, summary);
    return harness_write_summary(&t->training.harness.results, summary, &figures, run->complete);
}

int tune_search(void *line, const struct job *job, const struct command *command)
{
    struct tune_options *options = line;
    struct tune tune = {.options = options, .training.run = {.mode = "tune", .command = command}};
    const struct run_hooks hooks = {
        .context = &tune, .block = take_block, .summary = write_summary, .plan = plan_round};
    return training_run(&tune.training, job, &options->run, &hooks);
}

enum exit_status tune_main(const struct job *job, int argc, char *const argv[])
{
    struct tune_options options = {0};
    struct option_table table = {0};
    tune_options_add(&table, &options);
    const struct harness_command command = {
        &options,    &table, &options.run.harness, tune_options_check, print_help, "the run failed", dry_run,
        tune_search, ""};
    enum exit_status status = harness_main(&command, job, argc, argv);
    workload_release(&options.run.training.workload);
    return status;
}
