/* controls.h - what a profile is compared with in interleaved rounds: the same without tracing, the same with its
 * collectives after backward, and `none`. */
#ifndef BENCH_MEASURE_PROFILE_CONTROLS_H
#define BENCH_MEASURE_PROFILE_CONTROLS_H

#include "base/figures.h"
#include "profile/rows.h"

struct controls {
    struct profile_rows rows;
    int communicates;                       /* more than one rank, and the profiled row reduces */
    const struct attainable *attainable_of; /* the times of all rows' collectives alone, and of gradients */
    size_t others_staged; /* bytes that only other rows use, of all ranks on a GPU, or of a rank on the CPU */

    /* Series with an element for each round; without a unit: seconds a step of the captured row, mean over ranks */
    double *all_series;             /* owned: all of them, one after the other */
    double *compute, *compute_none; /* in which operations ran; and in a step of `none` */
    double *exposed, *overlap;      /* as of struct overlap */
    double *alone;                  /* of its collectives one after the other, slowest rank */
    double *slowdown;               /* duration of a collective during its steps / alone */
    double *peak;                   /* bytes in use meanwhile without others_staged, the rank where that is most */

    double comm_cpu_seconds, comm_seconds; /* of its blocks, as of struct block */

    /* What controls_compute finds, over `rounds` rounds, in seconds and ratios. What does not apply (one rank, nothing
     * to reduce, nothing that overlaps) has n = 0 and NAN. */
    size_t rounds;
    struct estimate step, step_untraced, step_after_backward, step_none, backward_none;
    struct estimate forward, backward, exposed_of_rounds, overlap_of_rounds, peak_bytes;
    struct estimate comm_thread_cores; /* used by rank 0's communication thread, without an interval */
    struct estimate comm_alone;
    struct estimate comm_slowdown;      /* duration of a collective / alone; waiting for a straggler is included */
    struct estimate saved;              /* step_after_backward - step */
    struct estimate overlap_efficiency; /* saved / min(comm_alone, backward_none), not clamped */
    struct estimate sync_cost;          /* step - step_none */
    struct estimate profiling_overhead; /* step traced / untraced; this and what follows are geometric means */
    struct estimate step_to_none;       /* step / step of none */
    struct estimate compute_slowdown;   /* compute / compute of none */
    struct estimate attainable, step_to_attainable;
};

/* Makes room for that many rounds. `attainable` is of the run's rows, and must outlive the controls. Release with
 * controls_destroy. */
void controls_create(struct controls *controls, const struct profile_rows *rows, int communicates,
                     const struct attainable *attainable, size_t others_staged, size_t room);
void controls_destroy(struct controls *controls); /* zeroed ones are fine */

/* Whether a row is the profiled one or one of its controls; and whether it is one whose blocks say when gradients are
 * ready, or are followed by its collectives alone (attainable_measure). */
int controls_include(const struct controls *controls, int row);
int controls_measure_alone(const struct controls *controls, int row);

/* Takes a block of an included row with so many timed steps, its spans still in the timeline and its collectives
 * measured alone. All ranks call. */
void controls_add_block(struct controls *controls, const struct job *job, const struct timeline *timeline,
                        const struct block *block, int timed);

/* From the rounds that are complete. All ranks call. */
void controls_compute(struct controls *controls, const struct job *job, const struct measurements *measurements);

/* An estimate as a figure and as a row of a table. */
struct control_result {
    const char *subject, *figure; /* subject NULL: the profiled implementation */
    const char *name, *meaning;   /* name NULL: its label; meaning NULL: no table shows it */
    const char *unit;
    size_t offset; /* in struct controls */
    enum better better;
};
enum { CONTROL_RESULTS = 16 };
extern const struct control_result control_results[CONTROL_RESULTS];
static inline const struct estimate *control_estimate(const struct controls *controls, const struct control_result *r)
{
    return (const struct estimate *)((const char *)controls + r->offset);
}

/* The part of it without ranks: efficiency over n rounds, of seconds step[n], after_backward[n], alone[n] and backward
 * of none[n]. */
struct estimate controls_efficiency(const double *step, const double *after_backward, const double *alone,
                                    const double *backward, size_t n);

#endif
