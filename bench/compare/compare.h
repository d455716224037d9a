/* compare.h - `ddpbench compare`: tells by its exit status whether runs got slower. */
#ifndef BENCH_COMPARE_COMPARE_H
#define BENCH_COMPARE_COMPARE_H

#include "compare/match.h"
#include "compare/options.h"
#include "compare/verdict.h"

/* Exit statuses; of the last four, incomparable comes first, then regressed, missing, ambiguous. */
enum compare_status {
    COMPARE_OK,
    COMPARE_FAILED, /* something cannot be read or written */
    COMPARE_USAGE,
    COMPARE_REGRESSED,
    COMPARE_AMBIGUOUS,
    COMPARE_MISSING,
    COMPARE_INCOMPARABLE
};

/* What a comparison found. */
struct compare {
    const struct compare_options *options;
    struct compare_run *baseline, *candidate; /* [baselines], [candidates] of the options */
    struct differences differences;
    struct verdict_rules rules;
    struct compare_lines lines; /* none if the runs are incomparable */
    size_t *judged;             /* [of verdicts] number of each row's line; for a family's row, of its first */
    struct verdicts verdicts;
    enum compare_status status;
    char schema[16]; /* that this program knows */
};

/* Does what the words after argv[0] say and prints the outcome; needs no MPI. Returns the exit status. */
int compare_main(int argc, char *argv[]);

#endif
