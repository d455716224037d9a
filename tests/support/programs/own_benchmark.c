/* own_benchmark.c - the benchmark with own_strategy in place of the strategy of its last implementation. Used by
 * tests/cli/benchmark.sh, on the CPU. */
#include "benchmark/benchmark.h"
#include "ddp/job.h"
#include "tests/support/own_strategy.h"

int main(int argc, char *argv[])
{
    struct job job;
    struct run_options run = {0};
    struct option_table table = {0};
    if (job_begin(&job, 0, NULL, NULL))
        return 1;
    run_options_add(&table, &run);
    struct training_options *o = &run.training;
    int status = job_agree(&job, option_table_parse(&table, argc, argv) || benchmark_options_check(o, &table) ||
                                         training_options_fit(o, job.size)
                                     ? -1
                                     : 0);
    if (!status) {
        o->implementation[o->n - 1].strategy = &own_strategy;
        status = benchmark_run(&job, &run, &(struct command){argc, argv, &table});
    }
    return job_end(&job, status ? 1 : 0);
}
