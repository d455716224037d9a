/* benchmark.c - benchmark mode: measures the rounds, compares, prints the table. */
#include "benchmark/benchmark.h"

#include "base/json.h"
#include "benchmark/ranking.h"
#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>

int benchmark_options_check(struct training_options *o, const struct option_table *table)
{
    int reduce = 0;
    if (!o->rounds)
        return error_report("--rounds 0: expected a whole number from 1 to 1000000 (0 is for --profile)");
    if (training_options_check(o, table, 0, 0))
        return -1;
    o->n = implementations_make(o->implementation, &o->workload.strategies, &o->workload);
    for (int i = 0; i < o->n; i++)
        reduce += o->implementation[i].strategy->reduces; /* all but none */
    if (o->forward_only && reduce)
        return error_report("--forward-only reduces nothing: use --implementations none");
    if (o->n > 0 && o->resolve > 0 && reduce < 2)
        return error_report("--resolve compares those --implementations that reduce; name two or more of them");
    if (o->n > 0 && o->attainable &&
        reduce == o->n) /* the bound is made from when gradients are final without communication */
        return error_report("--attainable needs none among the --implementations");
    if (o->n < 0)
        return -1;
    return training_options_check_saved(o, (size_t)(o->block_start + DISCARDED_STEPS), o->block_steps);
}

static cJSON *create_summary(const struct run *run, const struct results *results)
{
    cJSON *summary = results_summary_create("benchmark", results->label, (double)run->measurements.rounds,
                                            (double)run->planned, "rounds");
    run_add_heading(run, NULL, summary);
    return summary;
}

/* Compares what there is so far and writes it, on rank 0; attainable_s[n, rounds] or NULL. With `print`, tables and
 * notes go to stdout too, where the heading is already. Returns 0, or -1, reported. */
static int write_summary(const struct run *run, struct results *results, const double *attainable_s, int print)
{
    const struct training_options *o = run->options;
    const struct block_counts *counts = &run->counts;
    struct ranking ranking;
    struct figure_list figures = {0};
    if (run->job->rank)
        return 0;
    ranking_create(&ranking, &run->measurements, o->implementation, run->job->size,
                   (double)(o->batch_size * o->workload.context_length), attainable_s, o->resolve / 100);
    cJSON *summary = create_summary(run, results);
    ranking_add_figures(&ranking, &figures);
    ranking_add_table(&ranking, o->block_steps, summary);
    buckets_add_table(o->implementation, run->reducer, o->n, summary);
    ranking_add_verdict(&ranking, run->job->size, run->planned, summary);
    run_add_notes(run, summary);
    json_add_text(summary, "sample",
                  "one block of a round; its step is the slowest rank's, its phases the mean over ranks");
    json_add_number(summary, "largest_loss_difference", run->losses.difference);
    json_add_number(summary, "communication_thread_cores", counts->comm_cpu_seconds / counts->comm_seconds);
    int status = results_write_summary(results, summary, &figures);
    if (print)
        results_print_body(stdout, summary);
    cJSON_Delete(summary);
    figures_destroy(&figures);
    return status;
}

struct benchmark {
    struct results *results;
    struct attainable *attainable; /* NULL: not asked for */
};

static int take_block(void *context, struct run *run, const struct block *b)
{
    struct benchmark *benchmark = context;
    int steps = (int)run->options->block_steps, i = b->implementation;
    int failed = telemetry_write_block(benchmark->results, run, b);
    if (!benchmark->attainable)
        return failed;
    attainable_measure(benchmark->attainable, run->job, &run->timeline, b->times, steps, i, b->round);
    return attainable_write(benchmark->attainable, benchmark->results, run->options->implementation[i].label,
                            &run->timeline, steps, i, b->round) ||
                   failed
               ? -1
               : 0;
}

static int write_so_far(void *context, struct run *run)
{
    return write_summary(run, ((struct benchmark *)context)->results, NULL, 0);
}

static int measure(struct run *run, struct results *results)
{
    const struct training_options *o = run->options;
    struct attainable *attainable =
        o->attainable ? attainable_create(run->reducer, o->n, run->model.tensors, o->rounds) : NULL;
    struct benchmark benchmark = {results, attainable};
    double *attainable_s = NULL;
    const struct run_hooks hooks = {
        .context = &benchmark, .block = take_block, .summary = write_so_far, .rounds_needed = ranking_rounds_needed};
    int status = run_rounds(run, &hooks);
    size_t rounds = run->measurements.rounds;
    if (attainable && rounds) {
        attainable_s = allocate((size_t)o->n * rounds, sizeof *attainable_s);
        for (int i = 0; i < o->n; i++)
            if (o->implementation[i].strategy->reduces)
                attainable_rounds(attainable, run->job, i, rounds, attainable_s + (size_t)i * rounds);
    }
    if (run_stop_watching(run))
        status = -1;
    /* also when a block could not be written: what was measured is shown, and kept if it still can be */
    if (rounds)
        status = job_agree_after(run->job, status, write_summary(run, results, attainable_s, 1));
    attainable_destroy(attainable);
    free(attainable_s);
    return run_check_losses(run) ? -1 : status;
}

/* What a reader can know before anything is allocated. */
static void announce(const struct run *run, const struct results *results)
{
    const struct training_options *o = run->options;
    if (run->job->rank == 0) {
        cJSON *summary = create_summary(run, results);
        results_print_heading(stdout, summary);
        cJSON_Delete(summary);
    }
    run_estimate(run, 1 + o->rounds * (size_t)o->n * (DISCARDED_STEPS + o->block_steps),
                 o->resolve > 0 ? 60 * o->max_minutes : 0);
}

int run_benchmark(const struct job *job, const struct run_options *options, const struct command *command)
{
    struct run run = {.job = job};
    struct results results = {.telemetry.file = -1};
    struct results_target target = {"output", options->results.output, options->results.label, "",
                                    options->results.prometheus};
    int status = run_plan(&run, options, &target, &results);
    if (!status) {
        announce(&run, &results);
        status = run_set_up(&run, "benchmark", command, &results);
    }
    if (!status)
        status = measure(&run, &results);
    status = job_agree_after(job, status, results_close(&results));
    if (!status && job->rank == 0)
        fprintf(stderr, "Results: %s\n", results.directory);
    run_tear_down(&run);
    return status;
}
