/* answer.h - what a search found, in words and figures. */
#ifndef BENCH_MEASURE_BENCHMARK_ANSWER_H
#define BENCH_MEASURE_BENCHMARK_ANSWER_H

#include "benchmark/search.h"
#include "training/training.h"

/* A row that ran. Its figures are of the rounds of the search's row. */
struct answer_row {
    const char *label;
    const char *size;           /* --bucket-size-mb; "" */
    int buckets;                /* collectives of a step */
    struct estimate step, cost; /* seconds; cost: of the paired differences to `none` */
    const struct search_row *searched;
    const char *verdict; /* best, tie, undecided, slower, dropped, control */
};

struct answer {
    int n;
    struct answer_row row[MAX_IMPLEMENTATIONS];
    int best; /* of row; -1: no round yet */
};

/* From the samples of the rows of the search; implementation[n] and reducer[n] are the same rows. These and the search
 * must outlive it. */
void answer_make(struct answer *answer, const struct search *search, const struct measurements *measurements,
                 const struct implementation *implementation, const struct reducer *reducer);

/* Adds to a summary: what to use and what it costs, what ties, and why the search ended, as its answers; and the table.
 * And the figures. */
void answer_add_words(const struct answer *answer, const struct search *search,
                      const struct implementation *implementation, cJSON *summary);
void answer_add_figures(const struct answer *answer, struct figure_list *figures);

#endif
