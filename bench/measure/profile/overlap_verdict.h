/* overlap_verdict.h - whether communication was hidden behind computation, and if not, why. */
#ifndef BENCH_MEASURE_PROFILE_OVERLAP_VERDICT_H
#define BENCH_MEASURE_PROFILE_OVERLAP_VERDICT_H

#include "profile/controls.h"
#include "profile/facts.h"

struct overlap_verdict {
    const char *happened; /* "yes", "no", "unclear" or "n/a" */
    char text[640];       /* the same as a sentence or two, with the reason if it did not */
};

/* Judges by the overlap efficiency and its interval. exposed_tail: of a captured step of rank 0, in seconds. The
 * controls may have no round yet. */
void overlap_verdict_create(struct overlap_verdict *verdict, const struct profile_facts *facts, double exposed_tail,
                            const struct controls *controls);

#endif
