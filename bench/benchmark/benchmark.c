/* benchmark.c - benchmark mode: measures the rounds, compares, prints the table. */
#include "benchmark/benchmark.h"

#include "benchmark/summary.h"
#include "benchmark/table.h"
#include "kernels/error.h"
#include "results/results.h"
#include "training/attainable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Compares what there is so far and writes it, on rank 0; attainable_s[n] or NULL. With `print`, the table goes to
 * stdout too, where the configuration is already. Returns 0, or -1, reported. */
static int write_summary(const struct run *run, const struct results *results, const double *attainable_s, int print)
{
    struct ranking comparison;
    char *text = NULL;
    size_t length = 0;
    if (run->job->rank)
        return 0;
    ranking_create(&comparison, &run->measurements, run->options->implementation, run->job->size,
                   (double)(run->options->batch_size * run->options->context_length), attainable_s);
    FILE *out = open_memstream(&text, &length);
    if (!out)
        FATAL("no memory for the summary");
    heading_print(out, run);
    fflush(out);
    size_t table = length;
    ranking_print(out, run, &comparison);
    fclose(out);
    int status = summary_write(results, run, &comparison, text);
    if (print && (fputs(text + table, stdout) < 0 || fflush(stdout)))
        status = error_report("cannot write the table to the standard output: %s", strerror(errno));
    free(text);
    ranking_destroy(&comparison);
    return status;
}

static void measure_bound(void *context, struct run *run, const struct step_times *times, const struct overlap *overlap,
                          int implementation, size_t round)
{
    (void)overlap;
    attainable_measure(context, run, times, implementation, round);
}

static int write_so_far(void *context, struct run *run, const struct results *results)
{
    (void)context;
    return write_summary(run, results, NULL, 0);
}

static int measure(struct run *run, struct results *results)
{
    struct attainable *attainable = run->options->attainable ? attainable_create(run) : NULL;
    double attainable_s[MAX_IMPLEMENTATIONS];
    if (run->job->rank == 0) {
        heading_print(stdout, run);
        fflush(stdout);
    }
    struct run_hooks hooks = {attainable, attainable ? measure_bound : NULL, write_so_far};
    int status = run_rounds(run, results, &hooks);
    if (attainable && run->measurements.rounds)
        attainable_compute(attainable, run, attainable_s);
    if (run_stop_monitor(run))
        status = -1;
    /* also when a block could not be written: what was measured is shown, and kept if it still can be */
    if (run->measurements.rounds) {
        int wrote = write_summary(run, results, attainable ? attainable_s : NULL, 1);
        if (status)
            error_clear(); /* the first failure has been told, and this one follows from it */
        else
            status = job_agree(run->job, wrote);
    }
    run_tell_losses(run);
    attainable_destroy(attainable, run);
    return status || losses_are_wrong(&run->losses) ? -1 : 0;
}

int run_benchmark(const struct job *job, const struct options *options, int argc, char *const argv[])
{
    struct run run = {.job = job, .options = options, .argc = argc, .argv = argv};
    struct results results = {.telemetry_file = -1};
    int status = run_set_up(&run, &results);
    if (!status)
        status = measure(&run, &results);
    if (!status)
        status = job_agree(job, results_close(&results));
    else
        results_close(&results);
    if (!status && job->rank == 0)
        fprintf(stderr, "Results: %s\n", results.directory);
    run_tear_down(&run);
    return status;
}
