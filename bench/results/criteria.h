/* criteria.h - shares of a step and their limits, from which a profile's findings and the table of criteria are made.
 */
#ifndef BENCH_RESULTS_CRITERIA_H
#define BENCH_RESULTS_CRITERIA_H

#include "base/table.h"
#include "results/findings.h"

/* clang-format off */
enum { CRITERION_BUSY, CRITERION_DATA, CRITERION_EXPOSED, CRITERION_TO_BACKWARD, CRITERION_COLLECTIVES, CRITERION_COPIES,
       CRITERION_MEMORY, CRITERION_OCCUPANCY, CRITERION_FORWARD, CRITERION_BACKWARD, CRITERION_OPTIMIZER, CRITERION_ALONE,
       CRITERION_BOTH, CRITERION_COMM_ALONE, CRITERION_IDLE, CRITERIA };
/* clang-format on */

struct criterion {
    const char *name;             /* a figure, and the whole of which it is a percentage */
    int is_floor;                 /* 1: beyond a limit means below it */
    double limit[LEVEL_HIGH + 1]; /* [level] percent, beyond which the figure has that level; NAN: no such limit */
    double usual[2];              /* least and most percent in a well-tuned step; NAN: not known */
    const char *missing;          /* why there is no value: a few words */
    double percent;               /* the value; NAN: missing */
    char good[16], bad[32], crossed[64]; /* cells, which criteria_table fills */
};
extern const struct criterion criteria[CRITERIA]; /* the defaults, without values */

/* Returns the highest level whose limit the value is beyond; -1: none, or no value. */
int criterion_level(const struct criterion *criterion);

/* Fills the cells of row[n], and returns their table "criteria". basis: a note on what the values are. */
struct table criteria_table(struct criterion *row, size_t n, const char *basis);

#endif
