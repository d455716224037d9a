/* findings.h - whether communication was hidden, and where time could be saved. */
#ifndef BENCH_MEASURE_PROFILE_FINDINGS_H
#define BENCH_MEASURE_PROFILE_FINDINGS_H

#include "ddp/links.h"
#include "profile/controls.h"
#include "profile/facts.h"
#include "profile/figures.h"

enum level { LEVEL_NOTE, LEVEL_WARNING, LEVEL_HIGH };
extern const char *const level_name[];

struct finding {
    const char *name;
    enum level level;
    double value, threshold; /* percent */
    double gain;             /* seconds that a step would be shorter without it, at most; NAN if unknown */
    char text[640];          /* the figure in words: of what, which ranks */
    const char *advice;
};

struct findings {
    const char *overlap; /* whether it happened: "yes", "no", "unclear" or "n/a" */
    char verdict[640];   /* the same in one line, and why if not */
    int n;
    struct finding finding[9]; /* of each name at most one; by level, then by gain */
};

/* Compares the figures with the thresholds. controls may have no round yet; links[facts->hosts] or NULL. */
void findings_create(struct findings *findings, const struct profile_facts *facts, const struct thresholds *thresholds,
                     const struct profile_figures *figures, const struct collectives *collectives,
                     const struct link_rates *links, const struct controls *controls);

#endif
