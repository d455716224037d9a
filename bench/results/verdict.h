/* verdict.h - which of the compared implementations to use, and how the others stand to it: written by every command
 * that compares, as a member of summary.json and as sentences, and read back by reports. */
#ifndef BENCH_RESULTS_VERDICT_H
#define BENCH_RESULTS_VERDICT_H

#include "base/stats.h"

#include <cJSON.h>

enum verdict_kind {
    VERDICT_BEST,      /* the shortest step */
    VERDICT_TIE,       /* not significantly slower; or within what was asked for, where something was */
    VERDICT_UNDECIDED, /* not significantly slower, and perhaps not within what was asked for; or without an interval */
    VERDICT_SLOWER,    /* significantly */
    VERDICT_KINDS
};
extern const char *const verdict_kind_name[VERDICT_KINDS];

/* One of the others. */
struct verdict_item {
    const char *label;
    double step;           /* seconds: items are sorted by it */
    struct paired to_best; /* its step / that of the best */
    enum verdict_kind kind;
};

/* The strings are the caller's, and so is the array. */
struct verdict {
    int ranks, candidates;               /* of the run; how many implementations reduce */
    const char *label, *strategy, *size; /* of the best, with its --bucket-size-mb, or ""; label NULL: none is known */
    struct estimate step, cost;          /* of the best, seconds; cost: beyond a step of `none`, n is 0: not known */
    const char *best_size;               /* the bucket size with the shortest step, where the best has none; "" */
    double within;                       /* what a tie is: 0.01: within 1 %; 0: not significantly slower */
    int anytime;                         /* the intervals hold whenever the rounds end (best_compare) */
    const char *sample;                  /* one of those that are compared in pairs: "round" or "repeat" */
    int explain;                         /* a last sentence tells what the ratios are */
    struct verdict_item *item;           /* [n]; sorted here */
    int n;
};

/* Adds to a summary the member "verdict": {best, strategy, bucket_size_mb, options, within, others}, where options are
 * those of the command line that choose the best, and others are {implementation, verdict, ratio, low, high}. And to
 * that list of it the sentences: what to use and what it costs, the options, which others tie, are undecided or slower,
 * with their ratios; or why there is nothing to choose. */
void verdict_add(struct verdict *verdict, const char *list, cJSON *summary);

/* ---- read back, from that member; NULL is one without a best ---- */

const char *verdict_best(const cJSON *saved); /* its label; "": none */

/* Those of a kind as a sentence behind a blank, such as " Tie (within 1 %): a, b."; "" where there are none. Labels
 * that do not fit are left out. */
const char *verdict_labels(char *text, size_t size, const cJSON *saved, enum verdict_kind kind);

/* How an implementation stands to the best; VERDICT_KINDS: it was not compared. */
enum verdict_kind verdict_kind_of(const cJSON *saved, const char *label);

#endif
