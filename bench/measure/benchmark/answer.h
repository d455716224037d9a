/* answer.h - the result of a search, in words and figures. */
#ifndef BENCH_MEASURE_BENCHMARK_ANSWER_H
#define BENCH_MEASURE_BENCHMARK_ANSWER_H

#include "benchmark/search.h"
#include "training/training.h"

/* Adds the figures of all candidates that ran, each over the rounds [from, to) of its search_row. Once the search has
 * compared candidates, adds to the summary which one to use, its cost, how the others compare with it, why the search
 * ended, and a table of all candidates that ran. implementation[i] and reducer[i] belong to search->row[i]. */
void answer_add(const struct search *search, const struct measurements *measurements,
                const struct implementation *implementation, const struct reducer *reducer, int busy, cJSON *summary,
                struct figure_list *figures);

#endif
