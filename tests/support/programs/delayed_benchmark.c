/* delayed_benchmark.c - the benchmark with its last implementation slowed down: after each backward every rank spins
 * for some microseconds, by which the step is longer. Used by tests/long/resolve.sh, on the CPU. */
#include "benchmark/benchmark.h"
#include "ddp/job.h"
#include "kernels/clock.h"

#include <stdio.h>
#include <stdlib.h>

static struct strategy delayed;
static const struct strategy *original;
static int64_t delay_ns;

/* Spins, because a sleep is not exact. */
static void finish(struct reducer *reducer)
{
    int64_t start = clock_now_ns();
    while (clock_now_ns() - start < delay_ns)
        ;
    original->finish(reducer);
}

int main(int argc, char *argv[])
{
    struct job job;
    struct run_options run = {0};
    struct option_table table = {0};
    char *end = NULL;
    double microseconds = argc > 1 ? strtod(argv[1], &end) : 0;
    if (!end || end == argv[1] || *end || !(microseconds >= 0 && microseconds < 1e9)) {
        fprintf(stderr, "Usage: mpirun -n RANKS delayed_benchmark MICROSECONDS [OPTION VALUE]..., as of ddpbench\n");
        return 2;
    }
    if (job_begin(&job, 0, NULL, NULL))
        return 1;
    delay_ns = (int64_t)(1e3 * microseconds);
    run_options_add(&table, &run);
    struct training_options *o = &run.training;
    int status = job_agree(&job, option_table_parse(&table, argc - 1, argv + 1) || benchmark_options_check(o, &table) ||
                                         training_options_fit(o, job.size)
                                     ? -1
                                     : 0);
    if (!status) {
        original = o->implementation[o->n - 1].strategy;
        delayed = *original;
        delayed.finish = finish;
        o->implementation[o->n - 1].strategy = &delayed;
        status = benchmark_run(&job, &run, &(struct command){argc - 1, argv + 1, &table});
    }
    return job_end(&job, status ? 1 : 0);
}
