/* benchmark.h - benchmark mode: every implementation in turn on the same model, compared. */
#ifndef BENCH_BENCHMARK_BENCHMARK_H
#define BENCH_BENCHMARK_BENCHMARK_H

#include "ddp/job.h"
#include "training/options.h"

/* Runs the whole benchmark and writes its results. Returns 0; or -1 when something went wrong that rank 0 has said;
 * what was measured until then has been written and printed. All ranks call it and get the same answer. */
int run_benchmark(const struct job *job, const struct options *options, int argc, char *const argv[]);

#endif
