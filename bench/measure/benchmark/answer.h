/* answer.h - the result of a search, in words and figures. */
#ifndef BENCH_MEASURE_BENCHMARK_ANSWER_H
#define BENCH_MEASURE_BENCHMARK_ANSWER_H

#include "benchmark/search.h"
#include "training/training.h"

/* Adds the figures of all candidates that ran, each over its own rounds (search_row from, to). Once the search has
 * compared candidates, adds to the summary: which to use and its cost, ties, why the search ended, and a table of the
 * candidates. implementation[n] and reducer[n] match the rows of the search. */
void answer_add(const struct search *search, const struct measurements *measurements,
                const struct implementation *implementation, const struct reducer *reducer, cJSON *summary,
                struct figure_list *figures);

#endif
