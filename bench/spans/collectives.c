/* collectives.c - every collective as all ranks saw it. */
#include "spans/collectives.h"

#include "base/stats.h"
#include "ddp/step.h"
#include "kernels/error.h"
#include "spans/intervals.h"

#include <stdlib.h>
#include <string.h>

static int by_ticket(const void *a, const void *b)
{
    const struct reduction *x = a, *y = b;
    return (x->ticket > y->ticket) - (x->ticket < y->ticket);
}

void reductions_create(struct reductions *reductions, const struct timeline *timeline,
                       const struct alignment *alignment, int ranks)
{
    const struct lane *lane = &timeline->lane[LANE_COMMUNICATION];
    *reductions = (struct reductions){.n = lane->n,
                                      .of = allocate(lane->n + 1, sizeof *reductions->of),
                                      .residual_ns = alignment_residual_ns(alignment),
                                      .ranks = ranks,
                                      .straggler = allocate((size_t)ranks, sizeof *reductions->straggler)};
    for (size_t i = 0; i < lane->n; i++) {
        const struct span *s = &lane->span[i];
        reductions->of[i] = (struct reduction){.queued_ns = alignment_apply(alignment, s->queued_ns),
                                               .posted_ns = alignment_apply(alignment, s->start_ns),
                                               .completed_ns = alignment_apply(alignment, s->end_ns),
                                               .returned_ns = alignment_apply(alignment, s->returned_ns),
                                               .bytes = s->size[SIZE_BYTES],
                                               .elements = s->size[SIZE_ELEMENTS],
                                               .ticket = s->size[SIZE_TICKET],
                                               .step = s->step,
                                               .index = s->index,
                                               .last_rank = -1};
    }
    qsort(reductions->of, reductions->n, sizeof *reductions->of, by_ticket);
}

void reductions_destroy(struct reductions *reductions)
{
    free(reductions->of);
    free(reductions->straggler);
    memset(reductions, 0, sizeof *reductions);
}

int64_t reduction_wait(const struct reduction *r, int rank, int64_t residual_ns)
{
    int64_t wait = r->last_posted_ns - r->posted_ns;
    if (r->last_rank == rank)
        return 0;
    return wait >= 2 * residual_ns && wait > 0 ? wait : -1;
}

int64_t reduction_transfer(const struct reduction *r, int rank, int64_t residual_ns)
{
    return reduction_wait(r, rank, residual_ns) < 0 ? -1 : r->completed_ns - r->last_posted_ns;
}

/* For `count` collectives from number `from` on; posted[ranks, count]. */
static void find_last(struct reductions *reductions, size_t from, size_t count, const int64_t *posted)
{
    for (size_t i = 0; i < count; i++) {
        struct reduction *r = &reductions->of[from + i];
        int64_t last = INT64_MIN, next = INT64_MIN;
        int rank = -1;
        for (int q = 0; q < reductions->ranks; q++) {
            int64_t at = posted[(size_t)q * count + i];
            if (at > last) {
                next = last;
                last = at;
                rank = q;
            } else if (at > next)
                next = at;
        }
        int known = reductions->ranks > 1 && last > next && last - next >= 2 * reductions->residual_ns;
        r->last_posted_ns = last;
        r->late_ns = reductions->ranks > 1 ? last - next : 0;
        r->last_rank = known ? rank : -1;
        reductions->counted += r->step >= reductions->first;
        reductions->told += known && r->step >= reductions->first;
    }
}

void reductions_find_last(struct reductions *reductions, const int64_t *posted)
{
    find_last(reductions, 0, reductions->n, posted);
}

/* How long this rank stood still in gradient_sync because the given rank had not posted yet. */
static int64_t blocked_by(const struct reductions *reductions, int rank, const struct interval *sync, size_t syncs,
                          struct interval *wait, struct interval *common)
{
    size_t n = 0;
    for (size_t i = 0; i < reductions->n; i++) {
        const struct reduction *r = &reductions->of[i];
        if (r->last_rank == rank && r->step >= reductions->first)
            wait[n++] = (struct interval){r->posted_ns, r->last_posted_ns};
    }
    n = intervals_unite(wait, n);
    return intervals_length(common, intervals_intersect(wait, n, sync, syncs, common));
}

static void find_stragglers(struct reductions *reductions, const struct job *job, const struct timeline *timeline,
                            const struct alignment *alignment)
{
    size_t ranks = (size_t)reductions->ranks, n = 0, room = reductions->n + timeline->lane[LANE_HOST].n + 1;
    struct interval *sync = allocate(room, sizeof *sync), *wait = allocate(room, sizeof *wait);
    struct interval *common = allocate(2 * room, sizeof *common);
    double *late = allocate(reductions->n + 1, sizeof *late);
    double *mine = allocate(ranks, sizeof *mine), *all = allocate(ranks * ranks, sizeof *all);
    for (size_t i = 0; i < timeline->lane[LANE_HOST].n; i++) {
        const struct span *s = &timeline->lane[LANE_HOST].span[i];
        if (step_phase_of(s) == PHASE_GRADIENT_SYNC)
            sync[n++] =
                (struct interval){alignment_apply(alignment, s->start_ns), alignment_apply(alignment, s->end_ns)};
    }
    n = intervals_unite(sync, n);
    for (int r = 0; r < reductions->ranks; r++)
        mine[r] = r == job->rank ? 0 : (double)blocked_by(reductions, r, sync, n, wait, common);
    job_gather(job, mine, ranks * sizeof *mine, all);
    for (size_t r = 0; r < ranks; r++) {
        struct straggler *straggler = &reductions->straggler[r];
        for (size_t i = 0; i < reductions->n; i++)
            if (reductions->of[i].last_rank == (int)r && reductions->of[i].step >= reductions->first)
                late[straggler->last++] = (double)reductions->of[i].late_ns;
        straggler->late_ns = straggler->last ? stats_median(late, straggler->last) : 0;
        straggler->most_ns = straggler->last ? stats_quantile(late, straggler->last, 1) : 0;
        for (size_t q = 0; q < ranks && ranks > 1; q++)
            straggler->cost_ns += all[q * ranks + r] / (double)(ranks - 1);
    }
    free(sync);
    free(wait);
    free(common);
    free(late);
    free(mine);
    free(all);
}

void reductions_exchange(struct reductions *reductions, const struct job *job, const struct timeline *timeline,
                         const struct alignment *alignment)
{
    enum { AT_ONCE = 4096 }; /* what all ranks posted at a time: memory does not grow with the length of the capture */
    int64_t *mine = allocate(AT_ONCE, sizeof *mine), *all = allocate((size_t)AT_ONCE * (size_t)job->size, sizeof *all);
    reductions->residual_ns = (int64_t)job_max(job, (double)reductions->residual_ns);
    for (size_t from = 0; from < reductions->n; from += AT_ONCE) {
        size_t count = reductions->n - from < AT_ONCE ? reductions->n - from : AT_ONCE;
        for (size_t i = 0; i < count; i++)
            mine[i] = reductions->of[from + i].posted_ns;
        job_gather(job, mine, count * sizeof *mine, all);
        find_last(reductions, from, count, all);
    }
    find_stragglers(reductions, job, timeline, alignment);
    free(mine);
    free(all);
}
