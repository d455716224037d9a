/* by_name.h - where the training thread's time went, by name: what PyTorch's profiler calls key_averages. */
#ifndef BENCH_SPANS_BY_NAME_H
#define BENCH_SPANS_BY_NAME_H

#include "ddp/job.h"
#include "kernels/timeline.h"

enum { TOTALS_MOST = 64 };

/* Orders of the rows: the largest first, names from a to z. */
enum sort { SORT_SELF, SORT_TOTAL, SORT_MEAN, SORT_CALLS, SORT_NAME, SORT_GFLOPS, SORT_GBS, SORTS };
extern const char *const sort_name[SORTS + 1]; /* self, total, ...; then NULL */

enum total_kind { KIND_OPERATION, KIND_PART, KIND_PHASE, KIND_COLLECTIVE, KINDS };
extern const char *const total_kind_name[KINDS];

/* One name: an operation, a part of the model, a phase, or the collectives. */
struct name_total {
    char name[48];
    enum total_kind kind;
    double calls;        /* of all ranks together, as all that follows */
    double total_ns;     /* between its beginnings and ends */
    double self_ns;      /* without what happened inside it under a name of its own; NAN for collectives, which are no
                            part of the training thread's time */
    double flops, bytes; /* of its own; 0 if unknown */
};

struct totals {
    int n;
    struct name_total row[TOTALS_MOST];
    double step_ns;       /* of the steps that were counted, of all ranks together: what shares are of */
    size_t compute_bytes; /* of a number of the device's compute type */
};

/* Adds up the steps in slots [first, first + count) of every rank's timeline; all ranks call. A collective's time is
 * from post to completion, beside the training thread, so it is nobody's child and shares may sum to more than 1. */
void totals_create(struct totals *totals, const struct job *job, const struct timeline *timeline, size_t compute_bytes,
                   int first, int count);

/* Sorts the rows: the largest first, names from a to z. */
void totals_sort(struct totals *totals, enum sort by);

#endif
