/* spans.h - from the spans of a timeline to figures: times of steps, overlap of computation and communication, totals
 * by name, and each collective as all ranks saw it. Steps are counted by slot: the number of a step in its timeline. */
#ifndef BENCH_MEASURE_SPANS_SPANS_H
#define BENCH_MEASURE_SPANS_SPANS_H

#include "ddp/alignment.h"
#include "ddp/job.h"
#include "ddp/step.h"

/* ---- steps ---- */

struct step_times {
    int64_t start_ns, end_ns;     /* of the step; phases cover it without gaps */
    int64_t phase_ns[PHASES];     /* summed over micro-batches; 0 for a phase that did not occur */
    int64_t core_wait_ns[PHASES]; /* of it, without a core for the training thread; 0 where that is not watched */
    int64_t backward_end_ns;      /* of the last micro-batch */
};

/* Fills steps[n] from the phases that the host lane has of slots [0, n). */
void steps_from_timeline(const struct timeline *timeline, struct step_times *steps, int n);

/* Adds to ready_seconds[tensors] the time from a step's start until each tensor's gradient was final, divided by
 * `divisor`, for the steps in slots [first, n). */
void steps_add_ready(const struct timeline *timeline, const struct step_times *steps, int first, int n, double divisor,
                     double *ready_seconds);

/* ---- overlap of computation and communication ---- */

/* Of one step of one rank. Communication is the union of its collectives: on the device, from its begin to its end
 * there; by a host library, from post to completion, so waiting for other ranks and for the library's thread is
 * included. Compute is the union of the operations of a traced step, on a GPU of their kernels, copies and fills. It
 * and what follows from it are NAN where that is unknown. */
struct overlap {
    double step, communication, compute, overlap; /* seconds */
    double exposed;                               /* communication without computation at the same time */
    double exposed_tail;                          /* max(0, end of the last collective - end of backward) */
    double collectives;                           /* how many */
    double span, coverage, utilisation; /* overlap / communication, overlap / compute, compute / step; NAN where
                                           the divisor is 0 or unknown; coverage also without communication */
};

/* Fills overlap[n] for the steps in slots [0, n) of a timeline. computing: a lane of spans in which the rank computed;
 * NULL: unknown. */
void overlap_of_steps(const struct timeline *timeline, const struct step_times *steps, int n,
                      const struct lane *computing, struct overlap *overlap);

/* The mean over `count` of these from `first` on, with the ratios of the means. */
struct overlap overlap_mean(const struct overlap *overlap, int first, int count);

/* The key of overlap.span in results: "hidden_ratio" where communication is the device's own work, else "span_overlap",
 * an upper bound of it. */
const char *overlap_span_name(int on_device);

/* ---- intervals of time, in whole nanoseconds ---- */

struct interval {
    int64_t start, end; /* [start, end) */
};

/* Replaces v[n] by its union: sorted and disjoint, with intervals joined that are at most gap_ns apart (0: that touch)
 * and empty ones removed. Returns how many are left. */
size_t intervals_unite(struct interval *v, size_t n, int64_t gap_ns);

/* Total length of what two unions have in common; of a union with itself: its length. */
int64_t intervals_common(const struct interval *a, size_t na, const struct interval *b, size_t nb);

/* Fills v with the union of the spans that a lane has of one step, gap_ns as above; v has room for all spans of the
 * step. *at is the position in the lane, 0 at first, for calls with rising steps. Returns the number of intervals. */
size_t intervals_of_lane(const struct lane *lane, int step, int64_t gap_ns, size_t *at, struct interval *v);

/* ---- collectives, as all ranks saw them ---- */

/* One collective on this rank; times are on rank 0's clock. */
struct timed_collective {
    int64_t queued_ns, posted_ns, completed_ns;
    int64_t returned_ns;            /* when the training thread went on; before queued_ns if unknown */
    size_t bytes, elements, ticket; /* bytes and elements of the larger buffer */
    enum comm_kind kind;            /* its operation */
    int step, index;                /* slot of the step; its bucket, or -1 */
    int impossible;                 /* it ended on a rank before the last one had posted it: the clocks are wrong */
    int last_rank;                  /* the rank that posted it last; -1 if unknown: the clocks are not precise enough */
    int64_t last_posted_ns;         /* when that was */
    int64_t late_ns;                /* how long after the last but one */
};

/* wait = last_posted - posted (0 for the rank known to be last), transfer = completed - last_posted. -1 (n/a) where the
 * wait is shorter than twice the residual of the clocks, and so not known to differ from 0, and where it is impossible.
 */
int64_t collective_wait(const struct timed_collective *collective, int rank, int64_t residual_ns);
int64_t collective_transfer(const struct timed_collective *collective, int rank, int64_t residual_ns);

/* What one rank cost the others; times in seconds. */
struct straggler {
    size_t last;  /* collectives that it posted last */
    double share; /* of those whose last rank is known */
    double late;  /* median delay of those that it posted last behind the last but one */
    double most;  /* largest delay */
    double cost;  /* stall time of another rank in gradient_sync because of it: a step, mean over the other ranks */
};

struct collectives {
    size_t n;
    struct timed_collective *item; /* [n], in the order of tickets */
    int64_t residual_ns;           /* of the clocks: the largest of all ranks, once exchanged */
    int ranks;
    int first, steps;              /* what is counted: so many slots from there on, the last ones */
    size_t considered, attributed; /* collectives from then on; those of them whose last rank is known */
    size_t impossible;             /* those of all that are */
    int64_t impossible_ns;         /* the longest time by which one is */
    struct straggler *straggler;   /* [ranks] */
    double *stall; /* [ranks, ranks] seconds a step that a rank stalls in gradient_sync until another one posts */
};

/* Takes the collectives of a timeline, without knowledge of the other ranks. Release with destroy; a zeroed one is
 * fine. */
void collectives_create(struct collectives *collectives, const struct timeline *timeline,
                        const struct alignment *alignment, int ranks);
void collectives_destroy(struct collectives *collectives);

/* Corrects the alignment of a rank that does not read rank 0's clock, and the times of its collectives: none ends on it
 * before rank 0 has posted it, nor the other way round; two clocks that are both not rank 0's are not bounded against
 * each other. What ranks of one clock saw counts for all of them. All ranks call, with the same number of
 * collectives. */
void collectives_bound_clocks(struct collectives *collectives, const struct job *job, struct alignment *alignment);

/* Finds, with all ranks, who was last, and the stragglers in the last `steps` slots, from `first` on. All ranks call,
 * with the same number of collectives. */
void collectives_exchange(struct collectives *collectives, const struct job *job, const struct timeline *timeline,
                          const struct alignment *alignment, int first, int steps);

/* When a rank posted and completed a collective, on rank 0's clock. */
struct moments {
    int64_t posted_ns, completed_ns;
};

/* The part of it without messages: from moments[ranks, count] fills impossible, last_rank, last_posted_ns and late_ns
 * of `count` collectives from number `from` on. */
void collectives_find_last(struct collectives *collectives, size_t from, size_t count, const struct moments *moments);

/* ---- totals by name: what PyTorch's profiler calls key_averages ---- */

enum { TOTALS_MOST = 64 };

enum total_kind { KIND_OPERATION, KIND_PART, KIND_PHASE, KIND_COLLECTIVE }; /* a part is one of the model */

/* Of one name, over all ranks together. */
struct name_total {
    char name[48];
    enum total_kind kind;
    double calls;
    double total; /* seconds */
    double self;  /* the same without the named spans inside; NAN for collectives, which overlap with those of the
                     training thread */
    double flops, bytes; /* of its own; 0 if unknown */
    /* Seconds of a call: the shortest of all, the median over ranks of their medians, the largest of their 95 %
     * quantiles, the longest of all. */
    double least, median, p95, most;

    /* filled by totals_sort */
    const char *kind_name;
    double mean, share;                        /* seconds a call; self / the steps */
    double flops_per_second, bytes_per_second; /* NAN if unknown */
    double key;                                /* the rows are in decreasing order of it */
};

struct totals {
    int n;
    struct name_total row[TOTALS_MOST];
    double step; /* seconds of the steps counted, of all ranks together: 100 % of the shares */
};

/* Adds up the steps in slots [first, first + count) of every rank's timeline; all ranks call. Collectives last from
 * post to completion and have no parent, so shares may sum to more than 1. compute_bytes: of a number of the device's
 * compute type. */
void totals_create(struct totals *totals, const struct job *job, const struct timeline *timeline, size_t compute_bytes,
                   int first, int count);

enum sort { SORT_SELF, SORT_TOTAL, SORT_MEAN, SORT_CALLS, SORT_NAME, SORT_GFLOPS, SORT_GBS, SORTS };
extern const char *const sort_name[SORTS + 1]; /* self, total, mean, calls, name, gflops, gbs; then NULL */

/* Works out means, shares and rates, and sorts the rows in decreasing order; names from a to z. */
void totals_sort(struct totals *totals, enum sort by);

#endif
