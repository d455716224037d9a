/* figures.h - what the captured steps say, of every rank: phases, overlap, collectives. Definitions are those of the
 * README's list of metrics; all from whole nanoseconds. */
#ifndef BENCH_PROFILE_FIGURES_H
#define BENCH_PROFILE_FIGURES_H

#include "profile/capture.h"

/* In seconds a step. */
struct phase_figure {
    const char *name;    /* of the phase, or "step" */
    const char *usual;   /* share when well tuned, in words; NULL: nothing is usual */
    double mean, median; /* over the steps of all ranks (n = ranks x steps) */
    double p95_steps;    /* over the steps of the slowest rank */
    double share;        /* of the steps' time */
};

/* Collectives of one payload, over all ranks and steps. Times are medians in seconds over the calls for which they are
 * known; NAN where they are for none. */
struct collective_figure {
    size_t bytes, parameters; /* of one; parameters of the largest */
    size_t calls, waited;     /* of all ranks; those that are known to have waited */
    double queued, duration;  /* from the request to the post; from post to completion */
    double wait, transfer;    /* until the last rank posts, of ranks that are not the last; from then to completion */
    double algbw, busbw;      /* bytes/s of the median duration */
};

struct rank_figure {
    struct overlap sum; /* of its steps */
    struct alignment alignment;
};

struct profile_figures {
    int first, steps;   /* slots that the figures are about: the steps of active epochs, or all if there are none */
    const char *epochs; /* these are "active" or "warm-up" ones */
    int ranks;
    int slowest;                           /* rank whose steps took longest together */
    struct phase_figure phase[PHASES + 1]; /* the last: the step */
    struct rank_figure *rank;              /* [ranks] */
    struct collective_figure *collective;  /* [collectives], the largest payload first */
    int collectives;
};

/* All ranks call and know the same afterwards. Release with profile_figures_destroy. */
void profile_figures_create(struct profile_figures *figures, const struct job *job, const struct capture *capture);
void profile_figures_destroy(struct profile_figures *figures); /* zeroed ones are fine */

#endif
