/* implementations.h - the rows of a comparison, and the kinds of option that they are made from. */
#ifndef BENCH_TRAINING_IMPLEMENTATIONS_H
#define BENCH_TRAINING_IMPLEMENTATIONS_H

#include "base/option_table.h"
#include "ddp/step.h"
#include "ddp/strategy.h"

enum { MAX_IMPLEMENTATIONS = 64, IMPLEMENTATION_LABEL = 64 };

/* One row of the comparison: a strategy under a label, with its bucket size if it has one. */
struct implementation {
    char label[IMPLEMENTATION_LABEL];
    const struct strategy *strategy;
    size_t bucket_bytes; /* 0 for a strategy without buckets */
    int traced;          /* its operations are recorded */
    int after_backward;  /* its collectives are put off until backward is over: the control for overlap */
};

/* --implementations: names, each NAME or LABEL=NAME. */
struct strategy_list {
    int n;
    struct {
        char label[41];
        const struct strategy *strategy;
    } item[MAX_IMPLEMENTATIONS];
};
extern const struct option_kind option_strategies;

/* One strategy by its name: const struct strategy *. */
extern const struct option_kind option_strategy;

/* --bucket-size-mb: sizes, with the words that they were given in. The row's bounds are in MiB. */
struct bucket_sizes {
    int n;
    struct {
        char words[21];
        size_t bytes;
    } item[MAX_IMPLEMENTATIONS];
};
extern const struct option_kind option_buckets;

/* One rank sleeps at the start of a phase of each of its steps; ms 0: none does. */
struct delay {
    int rank;
    double ms;
    enum phase phase;
};
extern const struct option_kind option_delay;

/* The rows of a comparison: each strategy once, one with buckets once for each size; only several sizes add theirs to
 * the label. Returns how many, or -1, reported: too many, or two of one label. */
int implementations_make(struct implementation row[MAX_IMPLEMENTATIONS], const struct strategy_list *strategies,
                         const struct bucket_sizes *sizes);

#endif
