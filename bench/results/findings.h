/* findings.h - losses of time in a step: a profile writes them into its summary.json, and `report` reads them back. */
#ifndef BENCH_RESULTS_FINDINGS_H
#define BENCH_RESULTS_FINDINGS_H

#include "base/stats.h"

#include <cJSON.h>

enum level { LEVEL_NOTE, LEVEL_WARNING, LEVEL_HIGH };
extern const char *const level_name[]; /* note, warning, high */

struct finding {
    char name[32]; /* such as "straggler" */
    enum level level;
    double percent, threshold; /* the figure that was compared, and its limit; NAN: it was compared with none */
    struct measured loss; /* seconds by which a step is longer because of it, with its 95 % interval; NAN: unknown */
    double share;         /* of the step; NAN: unknown */
    char text[900];       /* what was measured, on which ranks; one sentence without its full stop */
    char advice[320];     /* what to try; likewise */
};

/* Whether the interval of the loss excludes 0; also true without an interval. */
int finding_is_significant(const struct finding *finding);

/* Sorts the costliest first, as qsort's comparison: first the known losses, those that are not significant behind the
 * others, then the unknown ones, by level. */
int finding_compare(const void *a, const void *b);

/* Appends to the text, in printf's format. */
void finding_append(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a finding as an object to a JSON array; and reads it back from there, texts cut to their fields. */
void finding_write(cJSON *list, const struct finding *finding);
void finding_read(struct finding *finding, const cJSON *json);

#endif
