/* collectives.c - every collective as all ranks saw it. */
#include "base/stats.h"
#include "kernels/error.h"
#include "spans/spans.h"

#include <stdlib.h>
#include <string.h>

static int by_ticket(const void *a, const void *b)
{
    const struct timed_collective *x = a, *y = b;
    return (x->ticket > y->ticket) - (x->ticket < y->ticket);
}

void collectives_create(struct collectives *collectives, const struct timeline *timeline,
                        const struct alignment *alignment, int ranks)
{
    const struct lane *lane = &timeline->lane[LANE_COMMUNICATION];
    *collectives = (struct collectives){.n = lane->n,
                                        .item = allocate(lane->n + 1, sizeof *collectives->item),
                                        .residual_ns = alignment_residual_ns(alignment),
                                        .ranks = ranks,
                                        .straggler = allocate((size_t)ranks, sizeof *collectives->straggler)};
    for (size_t i = 0; i < lane->n; i++) {
        const struct span *s = &lane->span[i];
        collectives->item[i] = (struct timed_collective){.queued_ns = alignment_apply(alignment, s->queued_ns),
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
    qsort(collectives->item, collectives->n, sizeof *collectives->item, by_ticket);
}

void collectives_destroy(struct collectives *collectives)
{
    free(collectives->item);
    free(collectives->straggler);
    memset(collectives, 0, sizeof *collectives);
}

int64_t collective_wait(const struct timed_collective *c, int rank, int64_t residual_ns)
{
    int64_t wait = c->last_posted_ns - c->posted_ns;
    if (c->last_rank == rank)
        return 0;
    return wait >= 2 * residual_ns && wait > 0 ? wait : -1;
}

int64_t collective_transfer(const struct timed_collective *c, int rank, int64_t residual_ns)
{
    return collective_wait(c, rank, residual_ns) < 0 ? -1 : c->completed_ns - c->last_posted_ns;
}

void collectives_find_last(struct collectives *collectives, size_t from, size_t count, const int64_t *posted)
{
    for (size_t i = 0; i < count; i++) {
        struct timed_collective *c = &collectives->item[from + i];
        int64_t last = INT64_MIN, next = INT64_MIN;
        int rank = -1;
        for (int q = 0; q < collectives->ranks; q++) {
            int64_t at = posted[(size_t)q * count + i];
            if (at > last) {
                next = last;
                last = at;
                rank = q;
            } else if (at > next)
                next = at;
        }
        int known = collectives->ranks > 1 && last > next && last - next >= 2 * collectives->residual_ns;
        c->last_posted_ns = last;
        c->late_ns = collectives->ranks > 1 ? last - next : 0;
        c->last_rank = known ? rank : -1;
        collectives->considered += c->step >= collectives->first;
        collectives->attributed += known && c->step >= collectives->first;
    }
}

/* A rank's cost is the stall time of the others in gradient_sync while they wait for it to post. */
static void find_stragglers(struct collectives *collectives, const struct job *job, const struct timeline *timeline,
                            const struct alignment *alignment)
{
    const struct lane *host = &timeline->lane[LANE_HOST];
    size_t ranks = (size_t)collectives->ranks, syncs = 0;
    struct interval *sync = allocate(host->n + 1, sizeof *sync), *wait = allocate(collectives->n + 1, sizeof *wait);
    double *late = allocate(collectives->n + 1, sizeof *late);
    double *mine = allocate(ranks, sizeof *mine), *all = allocate(ranks * ranks, sizeof *all);
    for (const struct span *s = host->span; s < host->span + host->n; s++)
        if (step_phase_of(s) == PHASE_GRADIENT_SYNC)
            sync[syncs++] =
                (struct interval){alignment_apply(alignment, s->start_ns), alignment_apply(alignment, s->end_ns)};
    syncs = intervals_unite(sync, syncs, 0);
    for (size_t r = 0; r < ranks; r++) {
        struct straggler *straggler = &collectives->straggler[r];
        straggler->rank = (int)r;
        for (const struct timed_collective *c = collectives->item; c < collectives->item + collectives->n; c++)
            if (c->last_rank == (int)r && c->step >= collectives->first) {
                wait[straggler->last] = (struct interval){c->posted_ns, c->last_posted_ns}; /* empty on rank r */
                late[straggler->last++] = 1e-9 * (double)c->late_ns;
            }
        mine[r] = 1e-9 * (double)intervals_common(wait, intervals_unite(wait, straggler->last, 0), sync, syncs);
        if (straggler->last) {
            straggler->share = (double)straggler->last / (double)collectives->attributed;
            straggler->late = stats_median(late, straggler->last);
            straggler->most = stats_quantile(late, straggler->last, 1);
        }
    }
    job_gather(job, mine, ranks * sizeof *mine, all);
    for (size_t i = 0; i < ranks * ranks && ranks > 1; i++)
        collectives->straggler[i % ranks].cost += all[i] / (double)(ranks - 1) / collectives->steps;
    free(sync);
    free(wait);
    free(late);
    free(mine);
    free(all);
}

void collectives_exchange(struct collectives *collectives, const struct job *job, const struct timeline *timeline,
                          const struct alignment *alignment, int first, int steps)
{
    enum { AT_ONCE = 4096 }; /* what all ranks posted at a time: memory does not grow with the length of the capture */
    int64_t *mine = allocate(AT_ONCE, sizeof *mine), *all = allocate((size_t)AT_ONCE * (size_t)job->size, sizeof *all);
    collectives->first = first;
    collectives->steps = steps;
    collectives->residual_ns = (int64_t)job_max(job, (double)collectives->residual_ns);
    for (size_t from = 0; from < collectives->n; from += AT_ONCE) {
        size_t count = collectives->n - from < AT_ONCE ? collectives->n - from : AT_ONCE;
        for (size_t i = 0; i < count; i++)
            mine[i] = collectives->item[from + i].posted_ns;
        job_gather(job, mine, count * sizeof *mine, all);
        collectives_find_last(collectives, from, count, all);
    }
    find_stragglers(collectives, job, timeline, alignment);
    free(mine);
    free(all);
}
