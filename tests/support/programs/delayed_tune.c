/* delayed_tune.c - `ddpbench tune` with a known best bucket size. After each backward every rank sleeps: longer if the
 * bucket size differs more from the best size, and less long if only the last bucket has another size. Used by
 * tests/cli/tune.sh, on the CPU. */
#include "benchmark/benchmark.h"
#include "ddp/job.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct strategy delayed[MAX_IMPLEMENTATIONS];
static const struct strategy *original[MAX_IMPLEMENTATIONS];
static struct tune_options options;
static double delay_us, best_mb, gain;

/* Returns the delay of a row: delay_us * (gain + |log2(bucket size / best_mb)|), without gain if only the last bucket
 * has another size; delay_us * (gain + 5) without buckets. */
static int64_t delay_ns(const struct implementation *row)
{
    const struct bucket_caps *caps = &row->size.caps;
    double bytes = (double)bucket_cap(caps, BUCKET_CAPS),
           units = bytes > 0 ? fabs(log2(bytes / (best_mb * 0x1p20))) : 5;
    return (int64_t)(1e3 * delay_us * (units + (caps->last && !caps->cap[1] ? 0 : gain)));
}

static void finish(struct reducer *reducer)
{
    size_t i = (size_t)(reducer->strategy - delayed);
    int64_t ns = delay_ns(&options.run.training.implementation[i]);
    nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
    original[i]->finish(reducer);
}

static void delay(void)
{
    struct implementation *row = options.run.training.implementation;
    for (int i = 0; i < options.run.training.n; i++) {
        if (!implementation_traits(&row[i])->reduces)
            continue;
        original[i] = row[i].strategy;
        delayed[i] = *row[i].strategy;
        delayed[i].finish = finish;
        row[i].strategy = &delayed[i];
    }
}

int main(int argc, char *argv[])
{
    struct job job;
    static struct option_table table;
    if (argc < 4 || job_begin(&job, 0, NULL, NULL)) {
        fprintf(stderr,
                "Usage: mpirun -n RANKS delayed_tune MICROSECONDS MIB GAIN [OPTION VALUE]..., as of ddpbench tune\n");
        return 2;
    }
    tune_options_add(&table, &options);
    int status = job_agree(
        &job,
        option_table_parse(&table, argc - 3, argv + 3) || tune_options_check(&options, &table, job.size, 0) ? -1 : 0);
    if (!status) {
        delay_us = strtod(argv[1], NULL);
        best_mb = strtod(argv[2], NULL);
        gain = strtod(argv[3], NULL);
        delay();
        status = tune_search(&options, &job, &(struct command){argc - 3, argv + 3, &table});
    }
    return job_end(&job, status ? 1 : 0);
}
