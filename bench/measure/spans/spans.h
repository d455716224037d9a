/* spans.h - computes figures from the spans of a timeline: times of steps, overlap of computation and communication,
 * totals by name, and each collective as seen by all ranks. A slot is the number of a step within its timeline. */
#ifndef BENCH_MEASURE_SPANS_SPANS_H
#define BENCH_MEASURE_SPANS_SPANS_H

#include "ddp/alignment.h"
#include "ddp/job.h"
#include "ddp/step.h"

/* ---- steps ---- */

struct step_times {
    int64_t start_ns, end_ns;     /* start and end of the step, which its phases cover without gaps */
    int64_t phase_ns[PHASES];     /* summed over micro-batches; 0 if the phase did not occur */
    int64_t core_wait_ns[PHASES]; /* time in the phase that the training thread waited for a core; 0 if not watched */
    int64_t forward_end_ns;  /* end of forward's first span: of the first micro-batch's forward, unless it waited */
    int64_t backward_end_ns; /* when backward of the last micro-batch ended */
};

/* Fills steps[n] from the phase spans of slots [0, n) in the host lane. */
void steps_from_timeline(const struct timeline *timeline, struct step_times *steps, int n);

/* For each step in slots [first, n), adds to ready_seconds[tensors] the time from the step's start until each
 * tensor's gradient was final, divided by `divisor`. */
void steps_add_ready(const struct timeline *timeline, const struct step_times *steps, int first, int n, double divisor,
                     double *ready_seconds);

/* ---- overlap of computation and communication ---- */

/* Overlap in one step of one rank. `communication` is the time in which a collective was in flight: with NCCL from
 * its start to its end; with MPI from post to completion, which includes waits for other ranks and the comm's thread.
 * `compute` is the time in which an operation (on a GPU: a kernel, copy or fill) ran, known only in traced steps; in
 * other steps compute and the figures derived from it are NAN. */
struct overlap {
    double step, communication, compute, overlap; /* seconds */
    double exposed;                               /* communication without concurrent computation */
    double exposed_tail;                          /* max(0, end of the last reduction - end of backward) */
    double alone, idle; /* computation without communication; neither: alone + exposed + overlap + idle = step */
    double collectives; /* number of collectives */
    struct {
        double communication, overlap; /* seconds, of the collectives of one kind */
    } kind[COMM_KINDS];
    double span, coverage, utilisation; /* overlap / communication, overlap / compute, compute / step; NAN if the
                                           divisor is 0 or unknown; coverage is NAN also without communication */
};

/* Fills overlap[n] for slots [0, n). computing: a lane of spans in which the rank computed; NULL if unknown. shards 1:
 * the strategy shards, so its all-gathers gather weights. */
void overlap_of_steps(const struct timeline *timeline, const struct step_times *steps, int n,
                      const struct lane *computing, int shards, struct overlap *overlap);

/* Returns the means over steps [first, first + count); ratios are the ratios of these means. */
struct overlap overlap_mean(const struct overlap *overlap, int first, int count);

/* Returns the name of overlap.span in results: "hidden_ratio" if the device itself communicates; else "span_overlap",
 * which is an upper bound of the hidden ratio. */
const char *overlap_span_name(int on_device);

/* ---- sets of time intervals, in whole nanoseconds ---- */

struct interval {
    int64_t start, end; /* [start, end) */
};

/* Replaces v[n] by its union, sorted and disjoint: joins intervals that touch, and removes empty ones. Returns how many
 * are left. */
size_t intervals_unite(struct interval *v, size_t n);

/* Returns the length of the intersection of two unions a and b; if a is b, this is the length of a. */
int64_t intervals_common(const struct interval *a, size_t na, const struct interval *b, size_t nb);

/* Fills v with the union of a step's spans in a lane; v must have room for all of them. *at is the position in the
 * lane: set it to 0, then call with increasing steps. Returns the number of intervals. */
size_t intervals_of_lane(const struct lane *lane, int step, size_t *at, struct interval *v);

/* As intervals_of_lane, for the times in which collectives of a kind (COMM_KINDS: of any) were in flight during a step.
 * The previous step may have started them: weights are gathered during the next forward. times: of all steps. */
size_t intervals_in_flight(const struct lane *communication, int kind, const struct step_times *times, int step,
                           size_t *at, struct interval *v);

/* ---- collectives as seen by all ranks ---- */

/* One collective on this rank: when it was requested (queued), posted and complete. Times are on rank 0's clock. */
struct timed_collective {
    int64_t queued_ns, posted_ns, completed_ns;
    int64_t returned_ns;            /* when the training thread continued; less than queued_ns: unknown */
    size_t bytes, elements, ticket; /* bytes, elements: of the larger buffer; ticket: number of the collective */
    enum comm_kind kind;            /* the operation */
    enum comm_group group;          /* which ranks take part; only if all do, the members from last_rank on are known */
    int ranks;                      /* number of ranks that take part */
    int step, index;                /* step: slot of the step; index: number of the bucket, or -1 */
    int impossible;                 /* 1: a rank completed it before another rank posted it, so the clocks are wrong */
    int last_rank;                  /* rank that posted last; -1 if the clocks are too imprecise to tell */
    int64_t last_posted_ns;         /* when the last of the posts took place */
    int64_t late_ns;                /* ns from the second-to-last post to the last */
};

/* Returns how many ns a rank waited: last_posted - posted (0 on last_rank); -1 (N/A) if the collective is impossible,
 * or if the wait is below twice the residual of the clocks and so cannot be told from 0. */
int64_t collective_wait(const struct timed_collective *collective, int rank, int64_t residual_ns);

/* The delays that one rank caused; times are in seconds. */
struct straggler {
    size_t last;  /* number of collectives that it posted last */
    double share; /* last / number of collectives with a known last rank */
    double late;  /* median of late_ns over the collectives that it posted last */
    double most;  /* largest late_ns over the collectives that it posted last */
    double p;     /* one-sided p-value, by Student's t over the steps: that it is later than all others by chance */
    double cost;  /* mean seconds per step that the other ranks wait because this rank posts last */
};

struct collectives {
    size_t n;
    struct timed_collective *item; /* [n], in order of tickets */
    int64_t residual_ns;           /* largest error of this rank's clock; after collectives_exchange, of any rank's */
    int ranks;
    int first, steps;              /* stragglers are found in `steps` slots from `first` on */
    size_t considered, attributed; /* collectives from slot `first` on; attributed: those with a known last rank */
    size_t impossible;             /* number of impossible collectives in all slots */
    int64_t impossible_ns;         /* most ns by which a collective completed before its last post */
    struct straggler *straggler;   /* [ranks] */
    double *stall;                 /* [rank, other] seconds per step that `rank` waits because `other` posts last */
};

/* Fills the struct with this rank's collectives. Release with collectives_destroy, which also takes a zeroed struct. */
void collectives_create(struct collectives *collectives, const struct timeline *timeline,
                        const struct alignment *alignment, int ranks);
void collectives_destroy(struct collectives *collectives);

/* Bounds the clocks of ranks that do not read rank 0's by these collectives, and corrects *alignment and the times;
 * then finds the rank that posted each collective last, and the stragglers in `steps` slots from `first` on. All ranks
 * call it, with the same number of collectives. */
void collectives_exchange(struct collectives *collectives, const struct job *job, const struct timeline *timeline,
                          struct alignment *alignment, int first, int steps);

/* When one rank posted and completed a collective, on rank 0's clock. */
struct moments {
    int64_t posted_ns, completed_ns;
};

/* The part of collectives_exchange that sends nothing: fills impossible, last_rank, last_posted_ns and late_ns of
 * `count` collectives, starting at number `from`, from moments[ranks, count]. */
void collectives_find_last(struct collectives *collectives, size_t from, size_t count, const struct moments *moments);

/* ---- totals by name, like key_averages of PyTorch's profiler ---- */

enum { TOTALS_MOST = 64 };

/* Kinds of spans, outermost first; a part is a layer or another range of the model. */
enum total_kind { KIND_PHASE, KIND_PART, KIND_OPERATION, KIND_COLLECTIVE };

/* Sums over all spans of one name and kind, on all ranks. */
struct name_total {
    char name[48];
    enum total_kind kind;
    double calls;
    double total;        /* seconds */
    double self;         /* total minus the times of spans inside; NAN for collectives, which run in parallel */
    double flops, bytes; /* FLOP and bytes of these spans, without the spans inside them; 0: unknown */
    double memory;       /* bytes of an operation's results that are kept (operations.h), per rank; otherwise NAN */
    const char *kind_name;
    double mean, share;                        /* mean: seconds per call; share: self / totals.step */
    double flops_per_second, bytes_per_second; /* NAN: unknown */
};

struct totals {
    int n;
    struct name_total row[TOTALS_MOST];
    double step; /* seconds of the counted steps, summed over ranks; shares are fractions of this sum */
};

/* Sums the spans of slots [first, first + count) of all ranks into rows, largest self time first. A collective counts
 * from post to completion. compute_bytes: bytes of a number of the device's compute type. A micro-batch overwrites what
 * the previous one kept, so memory is a mean over the micro_batches of each step. All ranks call. */
void totals_create(struct totals *totals, const struct job *job, const struct timeline *timeline, size_t compute_bytes,
                   size_t micro_batches, int first, int count);
/* Sorts rows by the double at this offset of struct name_total, the largest first, NAN last, and equal ones by name. */
void totals_sort(struct totals *totals, size_t member);

#endif
