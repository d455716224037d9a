/* controls.h - compares a captured implementation, in interleaved rounds, with itself without tracing, with its
 * collectives after backward, and with `none`; and whether communication was hidden behind computation. */
#ifndef BENCH_MEASURE_PROFILE_CONTROLS_H
#define BENCH_MEASURE_PROFILE_CONTROLS_H

#include "base/figures.h"
#include "profile/profile.h"

/* What was profiled, and on what. */
struct profile_facts {
    const char *label, *bucket_words; /* of the implementation */
    const struct strategy *strategy;
    int buckets;                     /* of its plan */
    int ranks, hosts, machine_ranks; /* machine_ranks: those on rank 0's machine */
    int on_gpu, comm_on_device;      /* ranks compute on GPUs; communication is the device's own work (struct comm) */
    int has_synthetic_data;
    int threads; /* of a rank */
    double cores_per_rank;
    double tokens, flops; /* of a step: tokens of all ranks; of the model */
    size_t block_steps;   /* timed steps of a block */
    size_t memory_bytes;  /* of rank 0's GPU or machine; 0 if unknown */
    size_t peak_bytes;    /* the largest open_device_memory of a rank so far */
};

/* Indices of a captured row and of its controls among the rows of a run; -1: it has none of that kind. */
struct profile_rows {
    int captured, untraced, after_backward, none;
};

/* Of n rows that profile_rows_make has made. A row that reduces nothing is not compared with `none`. */
struct profile_rows profile_rows_find(const struct implementation *row, int n, int captured);

struct controls {
    struct profile_rows rows;
    int communicates;                       /* more than one rank, and the captured row reduces */
    const struct attainable *attainable_of; /* of all rows of the run */
    size_t others_staged; /* bytes that only other rows use, of all ranks on a GPU, or of a rank on the CPU */

    /* Series with an element for each round, of a step of the captured row: seconds, mean over ranks */
    double *all_series;             /* owned: all of them, one after the other */
    double *compute, *compute_none; /* while operations ran; and in a step of `none` */
    double *exposed, *overlap;      /* as in struct overlap */
    double *alone;                  /* its collectives one after the other, on the slowest rank */
    double *slowdown;               /* duration of a collective / its duration alone */
    double *peak;                   /* bytes in use without others_staged, on the rank with the most */

    /* Results over `rounds` rounds, in seconds and ratios; control_results gives their meaning. A result that does not
     * apply (one rank, nothing to reduce, nothing that overlaps) has n = 0 and NAN. */
    size_t rounds;
    struct estimate step, step_untraced, step_after_backward, step_none, backward_none;
    struct estimate forward, backward, exposed_of_rounds, overlap_of_rounds, peak_bytes;
    struct estimate comm_alone, saved, sync_cost, attainable;
    struct estimate overlap_efficiency; /* saved / min(comm_alone, backward_none), not clamped */
    struct estimate comm_slowdown;      /* waiting for a straggler is included */
    struct estimate profiling_overhead, step_to_none, compute_slowdown, step_to_attainable; /* geometric means */
};

/* Makes room for that many rounds. `attainable` must outlive the controls. Release with controls_destroy. */
void controls_create(struct controls *controls, const struct profile_rows *rows, int communicates,
                     const struct attainable *attainable, size_t others_staged, size_t room);
void controls_destroy(struct controls *controls); /* zeroed ones are fine */

/* Whether a row is the captured one or one of its controls. */
int controls_include(const struct controls *controls, int row);

/* Whether attainable_measure follows the blocks of a row: gradients' ready times, and its collectives alone. */
int controls_measure_alone(const struct controls *controls, int row);

/* Adds a block of an included row with `timed` timed steps, whose spans are still in the timeline and whose collectives
 * have been measured alone. All ranks call. */
void controls_add_block(struct controls *controls, const struct job *job, const struct timeline *timeline,
                        const struct block *block, int timed);

/* Computes the results from the complete rounds. All ranks call. */
void controls_compute(struct controls *controls, const struct job *job, const struct measurements *measurements);

/* The overlap efficiency over n rounds, from seconds: step[n], after_backward[n], alone[n] and the backward pass of
 * none[n]. */
struct estimate controls_efficiency(const double *step, const double *after_backward, const double *alone,
                                    const double *backward, size_t n);

/* A result as a figure and as a row of a table. */
struct control_result {
    const char *subject, *figure; /* subject NULL: the profiled implementation */
    const char *name, *meaning;   /* name NULL: its label; meaning NULL: no table shows it */
    const char *unit;
    size_t offset; /* in struct controls */
    enum better better;
};
enum { CONTROL_RESULTS = 15 };
extern const struct control_result control_results[CONTROL_RESULTS];
static inline const struct estimate *control_estimate(const struct controls *controls, const struct control_result *r)
{
    return (const struct estimate *)((const char *)controls + r->offset);
}

/* Writes whether overlap happened, by its efficiency and interval, and the reason if it did not, in a sentence or two.
 * exposed_tail: of a captured step of rank 0, in seconds. The controls may have no round yet. */
enum { OVERLAP_VERDICT = 640 };
void overlap_verdict_write(char text[OVERLAP_VERDICT], const struct profile_facts *facts, double exposed_tail,
                           const struct controls *controls);

#endif
