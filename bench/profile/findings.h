/* findings.h - what a profile's figures mean: whether communication was hidden, and where time could be saved. */
#ifndef BENCH_PROFILE_FINDINGS_H
#define BENCH_PROFILE_FINDINGS_H

#include "profile/controls.h"
#include "profile/figures.h"

enum level { LEVEL_NOTE, LEVEL_WARNING, LEVEL_HIGH };
extern const char *const level_name[];

struct finding {
    const char *name;
    enum level level;
    double value, threshold; /* percent */
    char text[320];          /* the figure in words: of what, which ranks */
    const char *advice;
};

/* Whether overlap happened, in one line, and why if not. */
struct verdict {
    const char *overlap; /* "yes", "no", "unclear" or "n/a" */
    char text[640];
};

enum { FINDINGS_MOST = 12 };

struct findings {
    struct verdict verdict;
    int n;
    struct finding finding[FINDINGS_MOST];
};

/* Compares the figures with the thresholds of the options. controls may have no round yet. peak_bytes is the largest
 * open_device_memory of a rank. */
void findings_create(struct findings *findings, const struct run *run, const struct capture *capture,
                     const struct profile_figures *figures, const struct controls *controls, size_t peak_bytes);

#endif
