/* spans.h - computes figures from the spans of a timeline: times of steps, overlap of computation and communication,
 * totals by name, and each collective as seen by all ranks. A slot is the number of a step in its timeline. */
#ifndef BENCH_MEASURE_SPANS_SPANS_H
#define BENCH_MEASURE_SPANS_SPANS_H

#include "ddp/alignment.h"
#include "ddp/job.h"
#include "ddp/step.h"

/* ---- steps ---- */

struct step_times {
    int64_t start_ns, end_ns;     /* the phases cover the step without gaps */
    int64_t phase_ns[PHASES];     /* summed over micro-batches; 0 for a phase that did not occur */
    int64_t core_wait_ns[PHASES]; /* the part in which the training thread waited for a core; 0 if not watched */
    int64_t backward_end_ns;      /* of the last micro-batch */
};

/* Fills steps[n] from the phases of slots [0, n) in the host lane. */
void steps_from_timeline(const struct timeline *timeline, struct step_times *steps, int n);

/* Adds to ready_seconds[tensors] the time from a step's start until each tensor's gradient was final, divided by
 * `divisor`, for the steps in slots [first, n). */
void steps_add_ready(const struct timeline *timeline, const struct step_times *steps, int first, int n, double divisor,
                     double *ready_seconds);

/* ---- overlap of computation and communication ---- */

/* Overlap in one step of one rank. Communication is the union of its collectives: on the device from start to end; by a
 * host library from post to completion, which includes waiting for other ranks and for the library's thread. Compute is
 * the union of the operations of a traced step (on a GPU: of their kernels, copies and fills). Compute, and the
 * figures derived from it, are NAN if unknown. */
struct overlap {
    double step, communication, compute, overlap; /* seconds */
    double exposed;                               /* communication without simultaneous computation */
    double exposed_tail;                          /* max(0, end of the last collective - end of backward) */
    double collectives;                           /* their number */
    double span, coverage, utilisation; /* overlap / communication, overlap / compute, compute / step; NAN where
                                           the divisor is 0 or unknown; coverage also without communication */
};

/* Fills overlap[n] for slots [0, n). computing: a lane of spans in which the rank computed; NULL: unknown. */
void overlap_of_steps(const struct timeline *timeline, const struct step_times *steps, int n,
                      const struct lane *computing, struct overlap *overlap);

/* The mean over `count` steps from `first` on, with the ratios of the means. */
struct overlap overlap_mean(const struct overlap *overlap, int first, int count);

/* The key of overlap.span in results: "hidden_ratio" if the device communicates itself, else "span_overlap", which is
 * an upper bound of the hidden ratio. */
const char *overlap_span_name(int on_device);

/* ---- intervals of time, in whole nanoseconds ---- */

struct interval {
    int64_t start, end; /* [start, end) */
};

/* Replaces v[n] by its union, sorted and disjoint. Joins intervals that touch and removes empty ones.
 * Returns the number left. */
size_t intervals_unite(struct interval *v, size_t n);

/* The length of the intersection of two unions; of a union with itself: its length. */
int64_t intervals_common(const struct interval *a, size_t na, const struct interval *b, size_t nb);

/* Fills v, which has room for all spans of the step, with the union of the spans of a step in a lane. *at is the
 * position in the lane, 0 at first; call with rising steps. Returns the number of intervals. */
size_t intervals_of_lane(const struct lane *lane, int step, size_t *at, struct interval *v);

/* ---- collectives as seen by all ranks ---- */

/* One collective on this rank; times are on rank 0's clock. */
struct timed_collective {
    int64_t queued_ns, posted_ns, completed_ns;
    int64_t returned_ns;            /* when the training thread continued; before queued_ns if unknown */
    size_t bytes, elements, ticket; /* bytes and elements of the larger buffer */
    enum comm_kind kind;            /* its operation */
    int step, index;                /* slot of the step; its bucket, or -1 */
    int impossible;                 /* it ended on a rank before the last rank posted it: the clocks are wrong */
    int last_rank;                  /* the rank that posted last; -1 if the clocks are too imprecise to know */
    int64_t last_posted_ns;         /* the time of that post */
    int64_t late_ns;                /* from the last but one post to the last */
};

/* wait = last_posted - posted (0 on the rank known to be last), transfer = completed - last_posted. -1 (n/a) if the
 * collective is impossible, or the wait is below twice the residual of the clocks and so indistinguishable from 0. */
int64_t collective_wait(const struct timed_collective *collective, int rank, int64_t residual_ns);
int64_t collective_transfer(const struct timed_collective *collective, int rank, int64_t residual_ns);

/* The delays that one rank caused; times in seconds. */
struct straggler {
    size_t last;  /* number of collectives that it posted last */
    double share; /* last / collectives with a known last rank */
    double late;  /* median of late_ns over the collectives that it posted last */
    double most;  /* the largest of them */
    double cost;  /* stall time in gradient_sync that it causes: per step, mean over the other ranks */
};

struct collectives {
    size_t n;
    struct timed_collective *item; /* [n], in the order of tickets */
    int64_t residual_ns;           /* of the clocks; after the exchange the largest of all ranks */
    int ranks;
    int first, steps;              /* the counted slots: the last `steps`, from `first` on */
    size_t considered, attributed; /* counted collectives; the ones with a known last rank */
    size_t impossible;             /* impossible ones, of all */
    int64_t impossible_ns;         /* the largest time by which one ends too early */
    struct straggler *straggler;   /* [ranks] */
    double *stall; /* [ranks, ranks] seconds per step that a rank waits in gradient_sync for another to post */
};

/* Reads the collectives of this rank's timeline. Release with collectives_destroy; a zeroed struct is fine. */
void collectives_create(struct collectives *collectives, const struct timeline *timeline,
                        const struct alignment *alignment, int ranks);
void collectives_destroy(struct collectives *collectives);

/* Corrects the alignment of a rank that does not read rank 0's clock, and the times of its collectives, since none ends
 * on one rank before another posts it. Bounds each clock against rank 0's only, by the collectives of all ranks that
 * read that clock. All ranks call, with the same number of collectives. */
void collectives_bound_clocks(struct collectives *collectives, const struct job *job, struct alignment *alignment);

/* Finds the last rank of each collective, and the stragglers in the last `steps` slots, from `first` on. All ranks
 * call, with the same number of collectives. */
void collectives_exchange(struct collectives *collectives, const struct job *job, const struct timeline *timeline,
                          const struct alignment *alignment, int first, int steps);

/* When a rank posted and completed a collective, on rank 0's clock. */
struct moments {
    int64_t posted_ns, completed_ns;
};

/* The part of collectives_exchange without messages: from moments[ranks, count] fills impossible, last_rank,
 * last_posted_ns and late_ns of `count` collectives from number `from` on. */
void collectives_find_last(struct collectives *collectives, size_t from, size_t count, const struct moments *moments);

/* ---- totals by name, like key_averages of PyTorch's profiler ---- */

enum { TOTALS_MOST = 64 };

/* Kinds of spans, from the outer to the inner ones; a part is a layer or another range of the model. */
enum total_kind { KIND_PHASE, KIND_PART, KIND_OPERATION, KIND_COLLECTIVE };

/* The spans of one name on all ranks. */
struct name_total {
    char name[48];
    enum total_kind kind;
    double calls;
    double total; /* seconds */
    double self;  /* total without the spans inside; NAN for collectives, which overlap the training thread's spans */
    double flops, bytes; /* without the spans inside; 0 if unknown */
    const char *kind_name;
    double mean, share;                        /* seconds per call; self / the time of the steps */
    double flops_per_second, bytes_per_second; /* NAN if unknown */
};

struct totals {
    int n;
    struct name_total row[TOTALS_MOST];
    double step; /* seconds of the counted steps of all ranks: 100 % of the shares */
};

/* Adds up slots [first, first + count) of every rank's timeline, in rows by decreasing self time. Collectives count
 * from post to completion. compute_bytes: size of the device's compute type. All ranks call. */
void totals_create(struct totals *totals, const struct job *job, const struct timeline *timeline, size_t compute_bytes,
                   int first, int count);

#endif
