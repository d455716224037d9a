/* summary.h - a ranking as the figures, tables and notes of summary.json. */
#ifndef BENCH_BENCHMARK_SUMMARY_H
#define BENCH_BENCHMARK_SUMMARY_H

#include "base/figures.h"
#include "benchmark/ranking.h"
#include "ddp/plan.h"

/* Every figure of every row, and the ratio of every pair. */
void ranking_add_figures(const struct ranking *ranking, const struct implementation *row, struct figure_list *figures);

/* The table of the comparison; block_steps are the timed steps behind a sample. */
void ranking_add_table(const struct ranking *ranking, const struct implementation *row, size_t block_steps,
                       cJSON *summary);

/* The pairs with their p-values, the fastest, and those that do not differ significantly from it; and the verdict in
 * words, for so many ranks. */
void ranking_add_verdict(const struct ranking *ranking, const struct implementation *row, int ranks, cJSON *summary);

/* The buckets of those rows that have some, in the order of their reduction; reducer[n] as the rows. */
void buckets_add_table(const struct implementation *row, const struct reducer *reducer, int n, cJSON *summary);

#endif
