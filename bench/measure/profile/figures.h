/* figures.h - phases, overlap and collectives of the captured steps of every rank. */
#ifndef BENCH_MEASURE_PROFILE_FIGURES_H
#define BENCH_MEASURE_PROFILE_FIGURES_H

#include "profile/buckets.h"
#include "profile/layers.h"
#include "profile/memory.h"

/* In seconds a step. */
struct phase_figure {
    const char *name;    /* of the phase, or "step" */
    char usual[32];      /* share of a well-tuned step, in words, and whether this is outside; "": none is usual */
    double mean, median; /* over the steps of all ranks (n = ranks x steps) */
    double least, most;  /* medians over the steps of the rank where that is so */
    double p95_steps;    /* over the steps of the rank where that is most */
    int least_rank, most_rank, p95_rank;
    double share; /* of the steps' time */
};

/* Collectives of one payload, over all ranks and steps. Times are medians in seconds over the calls for which they are
 * known; NAN where they are for none. */
struct collective_figure {
    enum comm_kind kind;      /* the operation */
    size_t bytes, parameters; /* of one; parameters of the largest */
    size_t calls, waited;     /* of all ranks; those that are known to have waited */
    double queued, duration;  /* from the request to the post; from post to completion */
    double wait, transfer;    /* until the last rank posts, of ranks that are not the last; from then to completion */
    double algbw, busbw;      /* bytes/s of the median duration */
};

struct rank_figure {
    int rank;
    struct overlap mean;                         /* of its steps */
    double offset, drift, drift_error, residual; /* of its clock: seconds; drifts in seconds a second */

    /* Its work: the phases of a step without gradient_sync and checkpoint, which wait for others; medians over its
     * steps. The fast ranks are those up to the lower quartile, of four or fewer ranks the fastest. */
    double late;            /* work beyond that of the fast ranks */
    double core_wait;       /* in which its training thread had no core; 0 on GPUs, where that is not watched */
    double late_in[PHASES]; /* of each phase without that wait: its lower quartile beyond that of the ranks that are
                               fast in it; 0 of those two */
    double saves; /* work of the latest rank beyond that of the next after this one: what a step would be shorter
                     if this rank, and those that are later, were as fast as the next; 0 of a fast rank */
};

/* The phase that a rank is latest in. */
enum step_phase rank_latest_in(const struct rank_figure *rank);

struct profile_figures {
    int first, steps;   /* slots that the figures are about, as in capture.collectives */
    const char *epochs; /* these are "active" or "warm-up" ones */
    int ranks;
    struct phase_figure phase[PHASES + 1]; /* the last: the step */
    struct rank_figure *rank;              /* [ranks] */
    struct overlap mean;                   /* of the steps of all ranks */
    struct collective_figure *collective;  /* [collectives], the largest payload first */
    int collectives;
    struct bucket_figure *bucket; /* [buckets]; none where nothing is reduced, as on one rank */
    int buckets;
    struct layer_figure *layer; /* [layers] in the order of forward: the embedding, the layers, the output */
    int layers;
    struct memory_figure *memory; /* [layers + 1] the largest first; one is of what all parts share */
};

/* All ranks call and know the same afterwards. Release with profile_figures_destroy. */
void profile_figures_create(struct profile_figures *figures, const struct job *job, const struct capture *capture);
void profile_figures_destroy(struct profile_figures *figures); /* zeroed ones are fine */

#endif
