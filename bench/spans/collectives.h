/* collectives.h - every collective of the captured steps as all ranks saw it: who came last, and who waited for whom.
 */
#ifndef BENCH_SPANS_COLLECTIVES_H
#define BENCH_SPANS_COLLECTIVES_H

#include "ddp/alignment.h"
#include "ddp/job.h"
#include "kernels/timeline.h"

/* One collective on this rank; times are rank 0's clock. */
struct timed_collective {
    int64_t queued_ns, posted_ns, completed_ns;
    int64_t returned_ns; /* when the training thread went on; before queued_ns where that is not known */
    size_t bytes, elements, ticket;
    int step, index;        /* slot of the step; place in the plan */
    int last_rank;          /* which posted it last; -1 when the clocks cannot tell */
    int64_t last_posted_ns; /* when that was */
    int64_t late_ns;        /* how much later than the last but one */
};

/* Waiting of this rank, and what was left of its time: wait = last_posted - posted (0 for a rank that is known to have
 * come last), transfer = completed - last_posted. Both are -1 (n/a) where the wait is below twice the clocks' residual,
 * so that the clocks cannot tell it from none; a transfer below 0 contradicts the clocks and counts as n/a too. */
int64_t collective_wait(const struct timed_collective *reduction, int rank, int64_t residual_ns);
int64_t collective_transfer(const struct timed_collective *reduction, int rank, int64_t residual_ns);

/* What one rank cost the others. */
struct straggler {
    size_t last;    /* collectives that it posted last */
    double late_ns; /* how late it then was, behind the last but one: median */
    double most_ns; /* and at most */
    double cost_ns; /* how long another rank stood still in gradient_sync because of it, mean over the other ranks, all
                       counted steps together */
};

struct collectives {
    size_t n;
    struct timed_collective *of; /* [n], in the order of tickets */
    int64_t residual_ns;         /* of the clocks of all ranks: the largest */
    int ranks;
    int first; /* stragglers are counted from this step on: 0, unless it is set before collectives_exchange */
    size_t counted, told;        /* collectives from then on, and those of them whose last rank is known */
    struct straggler *straggler; /* [ranks] */
};

/* Takes the collectives of a timeline, in this rank's time; then nothing is known of the other ranks. Release with
 * collectives_destroy; a zeroed one is fine. */
void collectives_create(struct collectives *collectives, const struct timeline *timeline,
                        const struct alignment *alignment, int ranks);
void collectives_destroy(struct collectives *collectives);

/* Finds out from all ranks who was last, and the stragglers. All ranks call, with the same number of collectives. */
void collectives_exchange(struct collectives *collectives, const struct job *job, const struct timeline *timeline,
                          const struct alignment *alignment);

/* The part without messages: posted[ranks, n] and all; fills last_rank, last_posted_ns, late_ns. */
void collectives_find_last(struct collectives *collectives, const int64_t *posted);

#endif
