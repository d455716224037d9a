/* answer.h - what a search found, in words and figures. */
#ifndef BENCH_MEASURE_BENCHMARK_ANSWER_H
#define BENCH_MEASURE_BENCHMARK_ANSWER_H

#include "benchmark/search.h"
#include "training/training.h"

/* Adds to a summary, as its answers: what to use and what it costs, what ties, and why the search ended; a table of all
 * candidates that ran; and their figures, each over the rounds of its row in the search. implementation[n] and
 * reducer[n] are the rows of the search, which has compared them once at least (search.best). */
void answer_add(const struct search *search, const struct measurements *measurements,
                const struct implementation *implementation, const struct reducer *reducer, cJSON *summary,
                struct figure_list *figures);

#endif
