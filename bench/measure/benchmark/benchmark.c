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
    o->n = implementations_make(o->implementation, &o->workload.strategies, &o->workload.bucket_sizes,
                                o->workload.grad_dtype);
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

struct benchmark {
    struct training training;
    struct attainable *attainable; /* NULL: not asked for */
    double *attainable_s;          /* [n, rounds] seconds, once all rounds are over; NULL */
    int complete;                  /* all rounds are over */
};

/* Writes the comparison so far, on rank 0; when it is complete, prints it too, below the heading. Returns 0; or -1,
 * reported. */
static int write_summary(void *context)
{
    struct benchmark *benchmark = context;
    struct training *t = &benchmark->training;
    const struct run *run = &t->run;
    const struct training_options *o = run->options;
    const struct block_counts *counts = &run->counts;
    int ranks = t->harness.job->size;
    struct ranking ranking;
    struct figure_list figures = {0};
    if (t->harness.job->rank)
        return 0;
    ranking_create(&ranking, &run->measurements, o->implementation, ranks,
                   (double)(o->batch_size * o->workload.context_length), benchmark->attainable_s, o->resolve / 100);
    cJSON *summary = training_create_summary(t, "benchmark", NULL);
    ranking_add_figures(&ranking, &figures);
    ranking_add_table(&ranking, o->block_steps, summary);
    buckets_add_table(o->implementation, t->engine.reducer, o->n, summary);
    ranking_add_verdict(&ranking, ranks, run->planned, summary);
    training_add_notes(t, summary);
    json_add_text(summary, "sample",
                  "one block of a round; its step is the slowest rank's, its phases the mean over ranks");
    json_add_number(summary, "communication_thread_cores", counts->comm_cpu_seconds / counts->comm_seconds);
    return harness_write_summary(&t->harness.results, summary, &figures, benchmark->complete);
}

static int take_block(void *context, const struct block *b)
{
    struct benchmark *benchmark = context;
    struct training *t = &benchmark->training;
    struct harness *h = &t->harness;
    const struct training_options *o = t->run.options;
    int failed = telemetry_write_block(&h->results, t, b);
    if (!benchmark->attainable)
        return failed;
    attainable_measure(benchmark->attainable, h->job, &t->engine.recorder.timeline, b);
    if (attainable_write(benchmark->attainable, &h->results, o->implementation[b->implementation].label,
                         &t->engine.recorder.timeline, b))
        failed = -1;
    return failed;
}

static int measure(struct benchmark *benchmark)
{
    struct training *t = &benchmark->training;
    struct run *run = &t->run;
    const struct training_options *o = run->options;
    const struct job *job = t->harness.job;
    struct attainable *attainable = benchmark->attainable =
        o->attainable
            ? attainable_create(t->engine.reducer, o->n, t->engine.model.tensors, (int)o->block_steps, o->rounds)
            : NULL;
    const struct run_hooks hooks = {.context = benchmark,
                                    .directory = t->harness.results.directory,
                                    .block = take_block,
                                    .summary = write_summary,
                                    .rounds_needed = ranking_rounds_needed};
    int status = run_rounds(run, &t->harness, &t->engine, &hooks);
    size_t rounds = run->measurements.rounds;
    if (attainable && rounds) {
        benchmark->attainable_s = allocate((size_t)o->n * rounds, sizeof *benchmark->attainable_s);
        for (int i = 0; i < o->n; i++)
            if (o->implementation[i].strategy->reduces)
                attainable_rounds(attainable, job, i, rounds, benchmark->attainable_s + (size_t)i * rounds);
    }
    if (harness_stop_monitors(&t->harness))
        status = -1;
    benchmark->complete = 1;
    if (rounds) /* also after a failure to write a block: what was measured is shown, and kept if it still can be */
        status = job_agree_after(job, status, write_summary(benchmark));
    attainable_destroy(attainable);
    free(benchmark->attainable_s);
    return losses_check(&run->losses, job) ? -1 : status;
}

int benchmark_run(const struct job *job, const struct run_options *options, const struct command *command)
{
    struct benchmark benchmark = {0};
    struct training *t = &benchmark.training;
    const struct training_options *o = &options->training;
    int status = training_plan(t, job, options, "output", options->harness.results.output, "");
    if (!status) {
        harness_show_heading(&t->harness, training_create_summary(t, "benchmark", NULL));
        training_print_estimate(t, 1 + o->rounds * (size_t)o->n * (DISCARDED_STEPS + o->block_steps),
                                o->resolve > 0 ? 60 * o->max_minutes : 0);
        status = training_set_up(t, "benchmark", command);
    }
    if (!status)
        status = measure(&benchmark);
    return training_close(t, status, 1);
}
