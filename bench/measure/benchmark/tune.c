/* tune.c - `ddpbench tune`: its options, and the rounds of the search. */
#include "benchmark/tune.h"

#include "base/progress.h"
#include "base/text.h"
#include "benchmark/answer.h"
#include "benchmark/benchmark.h"
#include "ddp/transformer.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)SEARCH_ROWS >= (int)MAX_IMPLEMENTATIONS, "a search has room for every row");

/* ---- the command line ---- */

/* clang-format off */
static const struct option rows[] = {
    {.name = "max-minutes", .common = 1, .kind = &option_real, .offset = offsetof(struct tune_options, max_minutes),
     .initial = "5", .low = 0.001, .high = 1e6, .help = "time for all rounds; the search leaves out candidates for which it is too short"},
};
/* clang-format on */

/* Makes the candidates; call it once the sizes of the model are known. */
static void make_rows(struct training_options *o, char *kind, int ranks)
{
    struct model_sizes sizes = workload_sizes(&o->workload, 1);
    struct model model;
    sizes.shards = (size_t)ranks; /* some rows shard */
    transformer_plan(&model, &sizes, sizeof(float));
    o->n = candidates_make(o->implementation, kind, model.tensor, model.tensors);
    for (int i = 0; i < o->n; i++)
        if (o->workload.wire_dtypes & 1u << COMM_BF16 && o->implementation[i].strategy->traits[VARIANT_BF16])
            o->implementation[i].variant = VARIANT_BF16;
    model_destroy(&model);
}

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
    training_options_use_preset(o, table, on_gpus);
    if (training_options_check(o, table, BLOCK_STEPS, 0) || training_options_fit(o, ranks))
        return -1;
    make_rows(o, options->kind, ranks);
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
    const struct command *command;
    struct training training;
    struct search search; /* used on rank 0 */
    struct progress progress;
    int failed; /* 1: run.json could not be written */
};

/* Begins a search over the candidates; a block takes about block_s seconds. */
static void begin_search(struct search *search, const struct tune_options *options, double block_s)
{
    const struct training_options *o = &options->run.training;
    search->n = o->n;
    for (int i = 0; i < search->n; i++) {
        struct search_row *row = &search->row[i];
        const struct implementation *made = &o->implementation[i];
        if (isdigit((unsigned char)*made->size.words))
            row->series = i && !strcmp(made[-1].strategy->name, made->strategy->name) ? row[-1].series : i + 1;
        row->is_plan = options->kind[i] == CANDIDATE_PLAN;
        row->state = !implementation_traits(made)->reduces ? SEARCH_CONTROL
                     : options->kind[i] == CANDIDATE       ? SEARCH_IN
                                                           : SEARCH_RESERVE;
    }
    search_begin(search, 60 * options->max_minutes, block_s);
}

static void print_plan(const struct search *s)
{
    char limit[CELL];
    int left_out = search_count(s, SEARCH_LEFT_OUT), in = search_count(s, SEARCH_IN);
    fprintf(stderr, "Searching among %d candidates for %s at most (--max-minutes)", in, text_duration(limit, s->limit));
    if (left_out)
        fprintf(stderr, "; judging by the first steps, there is no time for %d more bucket sizes", left_out);
    fprintf(stderr, ".\n");
}

/* Makes the plans of the best row's strategy anew, around that row, when they enter the final. A plan that repeats
 * another one rests. */
static void remake_plans(struct tune *t, int best)
{
    struct training_options *o = &t->options->run.training;
    const struct engine *engine = &t->training.engine;
    char is_new[CANDIDATE_PLANS];
    int first = best;
    while (t->options->kind[first] != CANDIDATE_PLAN)
        first++;
    candidates_plan(&o->implementation[first], is_new, &o->implementation[best], engine->model.tensor,
                    engine->model.tensors);
    for (int p = 0; p < CANDIDATE_PLANS; p++) {
        const struct implementation *row = &o->implementation[first + p];
        reducer_destroy(&engine->reducer[first + p]);
        reducer_create(&engine->reducer[first + p], row->strategy, row->variant, &engine->model, engine->comm,
                       &row->size.caps, row->number);
        if (is_new[p])
            continue;
        t->search.row[first + p].state = SEARCH_RESERVE; /* used on rank 0 */
        t->training.run.resting[first + p] = 1;
    }
    if (training_write_run_json(&t->training, "tune", t->command, &t->training.harness.results))
        t->failed = 1;
}

/* Called before the first round and after each round: rank 0 plans the next round and sends the plan to the others. */
static void plan_round(void *context, double seconds)
{
    struct tune *t = context;
    struct run *run = &t->training.run;
    const struct job *job = t->training.harness.job;
    struct {
        char resting[MAX_IMPLEMENTATIONS];
        int ended, plans_around; /* plans_around: the best row, if its plans enter the final now; else -1 */
    } mine = {{0}, 0, -1}, *all = allocate((size_t)job->size, sizeof *all);
    size_t rounds = run->measurements.rounds;
    if (job->rank == 0) {
        const double *step[MAX_IMPLEMENTATIONS];
        double block_s = run->warm_step * (double)(DISCARDED_STEPS + run->block_steps);
        for (int i = 0; i < run->options->n; i++)
            step[i] = measurements_of(&run->measurements, i, FIGURE_STEP);
        if (rounds) {
            int is_final = t->search.final;
            search_round(&t->search, step, rounds, seconds);
            if (t->search.final && !is_final && search_has_plans(&t->search))
                mine.plans_around = t->search.best;
        } else {
            begin_search(&t->search, t->options, block_s);
            print_plan(&t->search);
            progress_begin(&t->progress, (size_t)(1e3 * t->search.limit) + 1);
        }
        for (int i = 0; i < run->options->n; i++)
            mine.resting[i] = t->search.row[i].state != SEARCH_CONTROL && t->search.row[i].state != SEARCH_IN;
        mine.ended = t->search.end != SEARCH_GOES_ON;
    }
    job_gather(job, &mine, sizeof mine, all);
    memcpy(run->resting, all[0].resting, sizeof run->resting);
    run->planned = rounds + !all[0].ended;
    if (all[0].plans_around >= 0)
        remake_plans(t, all[0].plans_around);
    free(all);
}

static void show_progress(struct progress *progress, const struct search *s,
                          const struct implementation *implementation)
{
    char words[200], stage[40] = "final";
    size_t done = (size_t)(1e-6 * (double)(clock_now_ns() - progress->start_ns)) + 1; /* ms */
    if (!s->final)
        snprintf(stage, sizeof stage, "stage %d of %d", s->stage + 1, s->stages + 1);
    snprintf(words, sizeof words, "%s, %d left, best %s", stage, search_count(s, SEARCH_IN),
             s->best < 0 ? "unknown" : implementation[s->best].label);
    progress_show(progress, done < progress->total ? done : progress->total, words);
}

static int take_block(void *context, const struct block *block)
{
    struct tune *t = context;
    if (t->failed)
        return -1;
    show_progress(&t->progress, &t->search, t->training.run.options->implementation);
    return telemetry_write_block(&t->training.harness.results, &t->training, block);
}

/* ---- results ---- */

/* Rank 0 writes the answer so far, and prints it below the heading once the search is over. Returns 0; or -1,
 * reported. */
static int write_summary(void *context)
{
    struct tune *t = context;
    struct run *run = &t->training.run;
    const struct training_options *o = run->options;
    struct figure_list figures = {0};
    if (run->complete)
        progress_end(&t->progress);
    if (t->training.harness.job->rank || !run->measurements.rounds)
        return 0;
    cJSON *summary = training_create_summary(&t->training, "tune", NULL);
    answer_add(&t->search, &run->measurements, o->implementation, t->training.engine.reducer,
               busy_is(harness_busy(&t->training.harness)), summary, &figures);
    training_add_notes(&t->training, summary);
    return harness_write_summary(&t->training.harness.results, summary, &figures, run->complete);
}

int tune_search(void *line, const struct job *job, const struct command *command)
{
    struct tune_options *options = line;
    struct tune tune = {.options = options, .command = command};
    const struct run_hooks hooks = {
        .context = &tune, .block = take_block, .summary = write_summary, .plan = plan_round};
    return training_run(&tune.training, "tune", job, &options->run, command, &hooks);
}

enum exit_status tune_main(const struct job *job, int argc, char *const argv[])
{
    struct tune_options options = {0};
    struct option_table table = {0};
    tune_options_add(&table, &options);
    const struct harness_command command = {
        &options,    &table, &options.run.harness, tune_options_check, print_help, "the run failed", dry_run,
        tune_search, ""};
    return harness_main(&command, job, argc, argv);
}
