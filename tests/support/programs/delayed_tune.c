/* delayed_tune.c - `ddpbench tune` with a known best bucket size: after each backward every rank spins, longer the more
 * the implementation's bucket size differs from that size. Used by tests/cli/tune.sh, on the CPU. */
#include "benchmark/tune.h"
#include "ddp/job.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct strategy delayed[MAX_IMPLEMENTATIONS];
static const struct strategy *original[MAX_IMPLEMENTATIONS];
static int64_t delay_ns[MAX_IMPLEMENTATIONS];

/* Spins, because a sleep is not exact. */
static void finish(struct reducer *reducer)
{
    size_t i = (size_t)(reducer->strategy - delayed);
    int64_t start = clock_now_ns();
    while (clock_now_ns() - start < delay_ns[i])
        ;
    original[i]->finish(reducer);
}

/* Delays implementations with buckets by us * |log2(bucket size / mb MiB)| microseconds, other strategies by 5 * us. */
static void delay(struct tune_options *options, double us, double mb)
{
    struct implementation *row = options->run.training.implementation;
    for (int i = 0; i < options->run.training.n; i++) {
        double size = (double)row[i].size.caps.cap[0] / 1048576;
        if (!row[i].strategy->reduces)
            continue;
        original[i] = row[i].strategy;
        delayed[i] = *row[i].strategy;
        delayed[i].finish = finish;
        delay_ns[i] = (int64_t)(1e3 * us * (size > 0 ? fabs(log2(size / mb)) : 5));
        row[i].strategy = &delayed[i];
    }
}

int main(int argc, char *argv[])
{
    struct job job;
    static struct tune_options options;
    static struct option_table table;
    if (argc < 3 || job_begin(&job, 0, NULL)) {
        fprintf(stderr,
                "Usage: mpirun -n RANKS delayed_tune MICROSECONDS MIB [OPTION VALUE]..., as of ddpbench tune\n");
        return 2;
    }
    tune_options_add(&table, &options);
    int status = job_agree(
        &job,
        option_table_parse(&table, argc - 2, argv + 2) || tune_options_check(&options, &table, job.size, 0) ? -1 : 0);
    if (!status) {
        delay(&options, strtod(argv[1], NULL), strtod(argv[2], NULL));
        status = tune_search(&options, &job, &(struct command){argc - 2, argv + 2, &table});
    }
    job_end(&job);
    return status ? 1 : 0;
}
