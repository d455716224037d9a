/* answer.h - what a search found, in words and figures. */
#ifndef BENCH_MEASURE_BENCHMARK_ANSWER_H
#define BENCH_MEASURE_BENCHMARK_ANSWER_H

#include "benchmark/search.h"
#include "training/training.h"

/* Adds the figures of all candidates that ran, each over the rounds of its row in the search; and once the search has
 * compared them, to the summary: what to use and what it costs, what ties, why the search ended, and a table of the
 * candidates. implementation[n] and reducer[n] are the rows of the search. */
void answer_add(const struct search *search, const struct measurements *measurements,
                const struct implementation *implementation, const struct reducer *reducer, cJSON *summary,
                struct figure_list *figures);

#endif
