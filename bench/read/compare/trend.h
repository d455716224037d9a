/* trend.h - what `ddpbench trend` finds, and how it is printed. */
#ifndef BENCH_READ_COMPARE_TREND_H
#define BENCH_READ_COMPARE_TREND_H

#include "compare/regimes.h"
#include "document/document.h"

#include <stdio.h>

enum trend_status { TREND_OK, TREND_FAILED, TREND_USAGE, TREND_SLOWER, TREND_DEPENDENT };
enum { TREND_JSON, TREND_CSV, TREND_JUNIT, TREND_HTML, TREND_FORMS };

enum { SLOWER, FASTER, WAYS, TREND_WITHIN = 20 };
#define TREND_POWER 0.8

/* The command line, and what is printed. */
struct trend {
    cJSON *document;        /* text and page; NULL: not made yet */
    const char **directory; /* [n]: paths in argv */
    size_t n;
    const char *control, *accept;
    int night;                     /* enum night_rule */
    const char *form[TREND_FORMS]; /* file to write in each format; "": none, "-": standard output */

    struct nights nights;
    struct regimes of[WAYS]; /* the figures that got slower, and those that got faster */
    double dependence;       /* the greatest significant correlation of neighbouring nights; 0: none */
    size_t dependent;        /* the figure that has it */
    double power;            /* evidence_power of the figure with the least weight, within TREND_WITHIN nights */
    size_t level;            /* nights of the level of this figure */
    size_t more;             /* nights from which on it is TREND_POWER */
    cJSON *json;             /* holds "warnings", sentences */
    enum trend_status status;
};

/* What was found, as a document, which the caller deletes; and the forms of a struct trend. The form TREND_CSV has a
 * line for each night and a column for each figure, as Apache Otava reads it: the ratio to the control or, without one,
 * the value. */
extern const struct form trend_forms[TREND_FORMS];
cJSON *trend_document(const struct trend *trend);

#endif
