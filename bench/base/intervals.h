/* intervals.h - differences with intervals, in rows on one scale, as text; chart/chart.h draws the same. */
#ifndef BENCH_BASE_INTERVALS_H
#define BENCH_BASE_INTERVALS_H

#include "base/stats.h"

#include <stdio.h>

/* mark: * best or improved, = tie or ok, x slower or regressed, o undecided or unseen, ? ambiguous, + any other. */
struct interval_row {
    char name[300], mark;
    const char *word;      /* the verdict, which the mark stands for; not owned */
    struct measured ratio; /* 1: no difference */
};

/* Rows; zeroed but for what, band and within: none. */
struct intervals {
    char what[300], band[40]; /* what the differences, in %, are; name of the band */
    double within;            /* the band has ratios from 1 / (1 + within) to 1 + within */
    struct interval_row *row; /* [n], which the caller frees */
    size_t n;
    int known;        /* 1: a row has an interval */
    double low, high; /* ends of the scale in % */
};

#define INTERVALS_PERCENT(ratio) (100 * ((ratio)-1))

/* Appends a row, unless the ratio is not finite. */
void intervals_add(struct intervals *all, const char *name, const char *word, char mark, struct measured ratio);

/* Chooses the scale: it has the band and all rows, but ends at 10 times the band or, if that is more, at 3 times the
 * median of the rows' farthest ends. */
void intervals_scale(struct intervals *all);

/* Writes, and returns, which rows have which word, but for the mark +: "a is the best; b and c are undecided; d (+13.0
 * %) is slower". At most `most` names have a word. */
const char *intervals_finding(char *text, size_t size, const struct intervals *all, size_t most);

/* Prints an empty line, the scale of the first `most` rows, and these rows in HELP_COLUMNS columns: name, interval with
 * the mark at the ratio (< or >: it goes on beyond the scale), word. Prints nothing if no row has an interval. */
void intervals_print(FILE *out, struct intervals *all, size_t most);

#endif
