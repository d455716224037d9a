/* verdict.h - the verdict: which of several compared implementations to use, and how the others compare with it. Every
 * command that compares writes a verdict to summary.json, as a member and as sentences; reports read it back. */
#ifndef BENCH_RESULTS_VERDICT_H
#define BENCH_RESULTS_VERDICT_H

#include "base/best.h"
#include "base/intervals.h"
#include "base/text.h"

#include <cJSON.h>

enum verdict_kind {
    VERDICT_BEST,      /* has the shortest step so far */
    VERDICT_TIE,       /* known to be within the margin of the best */
    VERDICT_UNDECIDED, /* neither known to be slower nor to be within the margin; or without an interval */
    VERDICT_SLOWER,    /* significantly slower */
    VERDICT_KINDS
};
extern const char *const verdict_kind_name[VERDICT_KINDS];

#define VERDICT_WITHIN 0.02 /* margin of a tie, unless --resolve gives another */

/* Returns how an implementation other than the best compares with it: slower, a tie or undecided. */
enum verdict_kind verdict_judge(const struct against_best *against, double within);

/* An implementation other than the best. */
struct verdict_item {
    const char *label;
    struct against_best against; /* its step / the step of the best, by which verdict_add sorts the items */
};

/* A comparison. The caller owns the strings and the array. */
struct verdict {
    int ranks, candidates;               /* number of ranks; number of implementations that are compared */
    const char *label, *strategy, *size; /* of the best; label NULL: not known; size: --bucket-size-mb or "" */
    /* For the best: options for its form, such as " --wire-dtype bf16", and words for it, such as ", bf16"; or "" */
    const char *form_options, *form_words;
    struct estimate step, cost; /* of the best, in seconds; cost: against `none`; cost.n 0: not known */
    double none;                /* the step of `none` in seconds, if the cost is known */
    const char *best_size;      /* fastest bucket size in MiB, if the best has no buckets; otherwise "" */
    double within;              /* margin of a tie, 0.01 is 1 % */
    int anytime;                /* 1: medians, whose intervals hold at whichever round sampling stops (best_of) */
    const char *sample;         /* what one sample comes from, as a word: "round" or "repeat" */
    double sample_seconds;      /* how long a sample takes; NAN: not known */
    const char *option;         /* how to get more samples, such as --rounds */
    int explain;                /* 1: verdict_add adds a last sentence that explains the ratios */
    struct verdict_item *item;  /* [n], all implementations but the best; verdict_add sorts them */
    int n;
    int busy;    /* 1: the machine was busy (busy.h), so no choice is recommended, and more samples would not help */
    int is_open; /* 1: implementations that were left out may be shorter, so no choice is recommended yet */
};

/* Writes a bucket size, as --bucket-size-mb takes it, for a sentence: "0.25 MiB", or "block". Returns text. */
const char *verdict_bucket_size(char text[CELL], const char *size);

/* Writes how PyTorch's DDP is given a bucket size: "bucket_cap_mb=8", or "bucket_cap_mb not given" for 1+25; "" if it
 * cannot be. Returns text. */
const char *verdict_pytorch(char text[CELL], const char *size);

/* Adds to a summary the member "verdict": {best, strategy, bucket_size_mb, options, within, decided, others}: `options`
 * are the command-line options that select the best; decided: whether to use it (null: there is no verdict); `others`
 * is an array of {implementation, verdict, ratio, low, high}. Also
 * adds sentences to the summary's list named `list`: what to use, or, if others are undecided, what is the shortest so
 * far; its cost, the options, which others tie, are undecided or are slower, with their ratios, and how much longer
 * measuring would have to go on to decide; or why there is no choice. */
void verdict_add(struct verdict *verdict, const char *list, cJSON *summary);

/* ---- functions that read the member "verdict" back; saved: this member, or NULL ---- */

const char *verdict_best(const cJSON *saved); /* label of the best; "": none */

/* Adds the best and all others as rows, the shortest first; sets what, band and within. If others may be as good, or
 * the machine was busy, the word of the best is "shortest so far". */
void verdict_intervals(struct intervals *all, const cJSON *saved);

/* Prints these rows, if there is a verdict with intervals. */
void verdict_print(FILE *out, const cJSON *saved);

/* Returns step / step of the best of implementation `label`: 1 of the best; INFINITY if it was not compared. */
double verdict_ratio_of(const cJSON *saved, const char *label);

/* Returns the verdict on the implementation `label`; VERDICT_KINDS if it was not compared. */
enum verdict_kind verdict_kind_of(const cJSON *saved, const char *label);

#endif
