/* table.h - the comparison in words and columns, for people. */
#ifndef BENCH_BENCHMARK_TABLE_H
#define BENCH_BENCHMARK_TABLE_H

#include "benchmark/ranking.h"
#include "training/rounds.h"

#include <stdio.h>

/* What runs: model, data, ranks, memory by part. */
void heading_print(FILE *out, const struct run *run);

/* The table, the buckets, and the verdict. */
void ranking_print(FILE *out, const struct run *run, const struct ranking *comparison);

#endif
