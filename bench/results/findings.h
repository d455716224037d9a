/* findings.h - findings (losses of time in a step): a profile writes them to summary.json, `report` reads them back. */
#ifndef BENCH_RESULTS_FINDINGS_H
#define BENCH_RESULTS_FINDINGS_H

#include "base/stats.h"

#include <cJSON.h>

enum level { LEVEL_NOTE, LEVEL_WARNING, LEVEL_HIGH };
extern const char *const level_name[]; /* note, warning, high */

struct finding {
    char name[32]; /* such as "straggler" */
    enum level level;
    double percent, threshold; /* the measured percentage, and the limit it was compared with; NAN: none */
    struct measured loss;      /* seconds that the step loses, with a 95 % interval; NAN: unknown */
    double share;              /* loss / step; NAN: unknown */
    char text[900];            /* what was measured, on which ranks: a sentence without its full stop */
    char advice[900];          /* what to try: a sentence without its full stop */
};

/* Whether the whole interval of the loss is above 0; true if the loss has no interval. */
int finding_is_significant(const struct finding *finding);

/* Makes a finding from times on a busy machine (busy.h) a note, whose only advice is to measure again. */
void finding_lower(struct finding *finding);

/* For qsort: significant losses first, then those that are not, in each group notes last and else the largest first;
 * unknown losses come last, the highest level first. */
int finding_compare(const void *a, const void *b);

/* Appends to the finding's text; formatted as by printf. */
void finding_append(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* finding_write appends an object to a JSON array; finding_read reads it back, with texts cut to their members. */
void finding_write(cJSON *list, const struct finding *finding);
void finding_read(struct finding *finding, const cJSON *json);

#endif
