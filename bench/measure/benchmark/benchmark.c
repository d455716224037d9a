/* benchmark.c - the benchmark: measures rounds, compares the implementations, prints the table. */
#include "benchmark/benchmark.h"

#include "base/json.h"
#include "benchmark/ranking.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* Checks that block_steps and checkpoints suit the rows that average weights: a block must have a whole number of
 * intervals. Returns 0; or -1, reported. */
static int check_averaging(struct training_options *o)
{
    for (const struct implementation *row = o->implementation; row < o->implementation + o->n; row++) {
        if (!implementation_traits(row)->averages)
            continue;
        size_t n = row->number;
        if (o->block_steps % n)
            return error_report("%s: %zu timed steps are not a multiple of %zu, so blocks would differ in "
                                "communication; use a multiple, such as --steps-per-block %zu",
                                row->label, o->block_steps, n, n * (1 + o->block_steps / n));
        if (o->checkpoint_every)
            return error_report("--checkpoint-every does not go with %s: a checkpoint has the weights of one rank, but "
                                "ranks have different weights",
                                row->strategy->name);
        o->keep_block_steps = 1;
    }
    return 0;
}

int benchmark_options_check(struct training_options *o, const struct option_table *table)
{
    int reduce = 0, compared = 0;
    if (!o->rounds)
        return error_report("--rounds 0: expected a whole number from 1 to 1000000 (0 is for --profile)");
    if (training_options_check(o, table, 0, 0))
        return -1;
    o->n = implementations_make(o->implementation, &o->workload, o->update_in_backward);
    if (o->n < 0 || check_averaging(o))
        return -1;
    for (int i = 0; i < o->n; i++) {
        reduce += implementation_traits(&o->implementation[i])->reduces;
        compared += implementation_traits(&o->implementation[i])->exact;
    }
    if (o->forward_only && reduce)
        return error_report("--forward-only has no gradients to reduce: use --implementations none");
    if (o->resolve > 0 && compared < 2)
        return error_report("--resolve compares strategies that reduce the sum of all gradients; name two or more "
                            "(none, ddp_powersgd and ddp_local are controls)");
    if (o->attainable && reduce == o->n) /* only blocks of `none` measure when gradients become final */
        return error_report("--attainable needs the strategy 'none' among the --implementations");
    return 0;
}

struct benchmark {
    struct training training;
    struct attainable *attainable; /* NULL without --attainable, and before the rounds */
    struct gradient_errors error[MAX_IMPLEMENTATIONS];
};

/* Returns the attainable step times [n, rounds] in seconds, filled for the implementations that reduce; the caller
 * frees them. NULL without --attainable, or before all rounds have run. All ranks call. */
static double *find_attainable(const struct benchmark *benchmark)
{
    const struct run *run = &benchmark->training.run;
    const struct training_options *o = run->options;
    size_t rounds = run->measurements.rounds;
    if (!run->complete || !benchmark->attainable)
        return NULL;
    double *seconds = allocate((size_t)o->n * rounds, sizeof *seconds);
    for (int i = 0; i < o->n; i++)
        if (implementation_traits(&o->implementation[i])->reduces)
            attainable_rounds(benchmark->attainable, benchmark->training.harness.job, i, rounds,
                              seconds + (size_t)i * rounds);
    return seconds;
}

/* Rank 0 writes the comparison so far, and prints it once it is complete. Returns 0; or -1, reported. */
static int write_summary(void *context)
{
    struct benchmark *benchmark = context;
    struct training *t = &benchmark->training;
    const struct run *run = &t->run;
    const struct training_options *o = run->options;
    int ranks = t->harness.job->size;
    double least = 1; /* step / attainable */
    struct ranking ranking;
    struct figure_list figures = {0};
    if (!run->measurements.rounds)
        return 0;
    double *attainable = find_attainable(benchmark);
    if (t->harness.job->rank) {
        free(attainable);
        return 0;
    }
    ranking_create(&ranking, &run->measurements, o->implementation, ranks, training_tokens(o), attainable,
                   o->resolve / 100);
    free(attainable);
    for (int i = 0; i < o->n; i++) {
        ranking.row[i].error = benchmark->error[i];
        ranking.row[i].final_loss = run->final_loss[i];
        if (ranking.row[i].step_to_attainable.n)
            least = fmin(least, ranking.row[i].step_to_attainable.median);
    }
    cJSON *summary = training_create_summary(t, NULL);
    ranking_add_figures(&ranking, &figures);
    ranking_add_table(&ranking, run->block_steps, summary);
    ranking_add_verdict(&ranking, ranks, run->planned, run->seconds / (double)run->measurements.rounds,
                        busy_is(harness_busy(&t->harness)), summary);
    training_add_notes(t, summary);
    const char *note = attainable_note(ranks, t->engine.comm->on_device, least);
    if (benchmark->attainable && note)
        results_add_sentence(summary, "notes", "%s", note);
    json_add_text(summary, "sample",
                  "one block of a round; its step is the slowest rank's, its phases the mean over ranks");
    json_add_number(summary, "communication_thread_cores", run->comm_cpu_seconds / run->comm_seconds);
    return harness_write_summary(&t->harness.results, summary, &figures, run->complete);
}

static void begin_rounds(void *context)
{
    struct benchmark *benchmark = context;
    struct training *t = &benchmark->training;
    const struct training_options *o = t->run.options;
    block_gradient_errors(t, benchmark->error);
    if (o->attainable)
        benchmark->attainable =
            attainable_create(t->engine.reducer, o->n, t->engine.model.tensors, (int)t->run.block_steps, o->rounds);
}

static int take_block(void *context, const struct block *b)
{
    struct benchmark *benchmark = context;
    struct training *t = &benchmark->training;
    struct timeline *timeline = &t->engine.recorder.timeline;
    const char *label = t->run.options->implementation[b->implementation].label;
    if (!benchmark->attainable)
        return 0;
    attainable_measure(benchmark->attainable, t->harness.job, timeline, b);
    return attainable_write(benchmark->attainable, &t->harness.results, label, timeline, b);
}

int benchmark_run(const struct job *job, const struct run_options *options, const struct command *command)
{
    struct benchmark benchmark = {.training.run = {.mode = "benchmark", .command = command}};
    const struct run_hooks hooks = {.context = &benchmark,
                                    .begin = begin_rounds,
                                    .block = take_block,
                                    .summary = write_summary,
                                    .rounds_needed = ranking_rounds_needed};
    int status = training_run(&benchmark.training, job, options, &hooks);
    attainable_destroy(benchmark.attainable);
    return status;
}
