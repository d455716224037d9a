/* implementations.h - the rows of a comparison, and the options that they are made from. */
#ifndef BENCH_MEASURE_TRAINING_IMPLEMENTATIONS_H
#define BENCH_MEASURE_TRAINING_IMPLEMENTATIONS_H

#include "base/option_table.h"
#include "ddp/comm.h"
#include "ddp/step.h"

enum { MAX_IMPLEMENTATIONS = 64, IMPLEMENTATION_LABEL = 80 };

/* One row of the comparison: a strategy under a label, with its bucket size if it has one. */
struct implementation {
    char label[IMPLEMENTATION_LABEL];
    const struct strategy *strategy;
    size_t bucket_bytes;   /* 0 for a strategy without buckets */
    char bucket_words[21]; /* the same, as --bucket-size-mb takes it; "" */
    int traced;            /* its operations are recorded */
    int after_backward;    /* its collectives wait for the end of backward: the control for overlap */
    int captured;          /* a profile captures its steps; the rows up to the next captured row are its controls */
};

/* --implementations: names, each NAME or LABEL=NAME; or all, each strategy under its name. */
struct strategy_list {
    int n;
    struct {
        char label[41];
        const struct strategy *strategy;
    } item[MAX_IMPLEMENTATIONS];
};
extern const struct option_kind option_strategies;

/* --bucket-size-mb: sizes as they were given; or automatic: a single size, which workload_check sets. */
struct bucket_sizes {
    int n, automatic;
    struct {
        char words[21];
        size_t bytes;
    } item[MAX_IMPLEMENTATIONS];
};
extern const struct option_kind option_buckets;

/* --inject-delay: ranks that sleep at the start of a phase. */
struct delays {
    int n;
    struct delay {
        int rank;
        double ms;
        enum step_phase phase;
    } item[16];
};
extern const struct option_kind option_delay;

/* Makes the rows of a comparison: a row for each strategy, or for each bucket size of a strategy with buckets; several
 * sizes become part of the label. Returns the number of rows; or -1, reported: too many rows, or no strategy that uses
 * the given sizes or grad_dtype. */
int implementations_make(struct implementation row[MAX_IMPLEMENTATIONS], const struct strategy_list *strategies,
                         const struct bucket_sizes *sizes, enum comm_dtype grad_dtype);

/* Prints the strategies as part of a help. */
void implementations_help(FILE *out);

#endif
