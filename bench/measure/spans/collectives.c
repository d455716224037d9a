/* collectives.c - combines the times that all ranks recorded for each collective. */
#include "base/stats.h"
#include "kernels/error.h"
#include "spans/spans.h"

#include <math.h>
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
                                        .residual_ns = alignment->residual_ns,
                                        .ranks = ranks,
                                        .straggler = allocate((size_t)ranks, sizeof *collectives->straggler),
                                        .stall = allocate((size_t)ranks * (size_t)ranks, sizeof(double))};
    for (size_t i = 0; i < lane->n; i++) {
        const struct span *s = &lane->span[i];
        enum comm_kind kind = (enum comm_kind)s->size[SIZE_KIND];
        size_t parts = comm_parts(kind, span_ranks(s, ranks));
        collectives->item[i] = (struct timed_collective){.queued_ns = alignment_apply(alignment, s->queued_ns),
                                                         .posted_ns = alignment_apply(alignment, s->start_ns),
                                                         .completed_ns = alignment_apply(alignment, s->end_ns),
                                                         .returned_ns = alignment_apply(alignment, s->returned_ns),
                                                         .bytes = s->size[SIZE_BYTES] * parts,
                                                         .elements = s->size[SIZE_ELEMENTS] * parts,
                                                         .ticket = s->size[SIZE_TICKET],
                                                         .kind = kind,
                                                         .group = (enum comm_group)s->size[SIZE_GROUP],
                                                         .ranks = span_ranks(s, ranks),
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
    free(collectives->stall);
    memset(collectives, 0, sizeof *collectives);
}

int64_t collective_wait(const struct timed_collective *c, int rank, int64_t residual_ns)
{
    int64_t wait = c->last_posted_ns - c->posted_ns;
    if (c->impossible || c->group != COMM_ALL)
        return -1;
    if (c->last_rank == rank)
        return 0;
    return wait >= 2 * residual_ns && wait > 0 ? wait : -1;
}

void collectives_find_last(struct collectives *collectives, size_t from, size_t count, const struct moments *moments)
{
    for (size_t i = 0; i < count; i++) {
        struct timed_collective *c = &collectives->item[from + i];
        int64_t last = INT64_MIN, next = INT64_MIN, ended = INT64_MAX;
        int latest = -1;
        if (c->group != COMM_ALL) /* ranks of other groups are not waited for */
            continue;
        for (int q = 0; q < collectives->ranks; q++) {
            const struct moments *m = &moments[(size_t)q * count + i];
            ended = m->completed_ns < ended ? m->completed_ns : ended;
            if (m->posted_ns > last) {
                next = last;
                last = m->posted_ns;
                latest = q;
            } else if (m->posted_ns > next)
                next = m->posted_ns;
        }
        c->impossible = ended < last;
        int known = collectives->ranks > 1 && last > next && last - next >= 2 * collectives->residual_ns;
        known = known && !c->impossible;
        c->last_posted_ns = last;
        c->late_ns = collectives->ranks > 1 ? last - next : 0;
        c->last_rank = known ? latest : -1;
        collectives->considered += c->step >= collectives->first;
        collectives->attributed += known && c->step >= collectives->first;
        collectives->impossible += (size_t)c->impossible;
        if (c->impossible && last - ended > collectives->impossible_ns)
            collectives->impossible_ns = last - ended;
    }
}

/* Sets the p-values of the stragglers, from late[steps, ranks]: the seconds by which a rank is late in a step. */
static void test_stragglers(struct straggler *straggler, const double *late, size_t steps, size_t ranks)
{
    double *more = allocate(steps + 1, sizeof *more); /* seconds by which rank r is later than the latest other rank */
    for (size_t r = 0; r < ranks; r++) {
        for (size_t step = 0; step < steps; step++) {
            const double *of = late + step * ranks;
            double others = 0;
            for (size_t q = 0; q < ranks; q++)
                others = q == r ? others : fmax(others, of[q]);
            more[step] = of[r] - others;
        }
        struct unpaired mean = stats_mean(more, steps);
        straggler[r].p = steps < 2 ? 1 : stats_p_above(&mean);
    }
    free(more);
}

/* Fills straggler[] and stall[]: how late each rank posts, and how long others wait in the step until then. */
static void find_stragglers(struct collectives *collectives, const struct job *job, const struct timeline *timeline,
                            const struct alignment *alignment)
{
    const struct lane *host = &timeline->lane[LANE_HOST];
    size_t ranks = (size_t)collectives->ranks, syncs = 0;
    struct interval *sync = allocate(host->n + 1, sizeof *sync), *wait = allocate(collectives->n + 1, sizeof *wait);
    double *late = allocate(collectives->n + 1, sizeof *late);
    double *mine = allocate(ranks, sizeof *mine);
    for (const struct span *s = host->span; s < host->span + host->n; s++)
        if (phase_is_wait((enum step_phase)step_phase_of(s)))
            sync[syncs++] =
                (struct interval){alignment_apply(alignment, s->start_ns), alignment_apply(alignment, s->end_ns)};
    syncs = intervals_unite(sync, syncs);
    for (size_t r = 0; r < ranks; r++) {
        struct straggler *straggler = &collectives->straggler[r];
        for (const struct timed_collective *c = collectives->item; c < collectives->item + collectives->n; c++)
            if (c->last_rank == (int)r && c->step >= collectives->first) {
                wait[straggler->last] = (struct interval){c->posted_ns, c->last_posted_ns}; /* on rank r: empty */
                late[straggler->last++] = 1e-9 * (double)c->late_ns;
            }
        mine[r] = 1e-9 * (double)intervals_common(wait, intervals_unite(wait, straggler->last), sync, syncs);
        if (straggler->last) {
            straggler->share = (double)straggler->last / (double)collectives->attributed;
            straggler->late = stats_median(late, straggler->last);
            straggler->most = stats_quantile(late, straggler->last, 1);
        }
    }
    job_gather(job, mine, ranks * sizeof *mine, collectives->stall);
    for (size_t i = 0; i < ranks * ranks && ranks > 1; i++) {
        collectives->stall[i] /= collectives->steps;
        collectives->straggler[i % ranks].cost += collectives->stall[i] / (double)(ranks - 1);
    }
    free(late);
    late = allocate((size_t)collectives->steps * ranks + 1, sizeof *late);
    for (const struct timed_collective *c = collectives->item; c < collectives->item + collectives->n; c++)
        if (c->last_rank >= 0 && c->step >= collectives->first && c->step < collectives->first + collectives->steps)
            late[(size_t)(c->step - collectives->first) * ranks + (size_t)c->last_rank] += 1e-9 * (double)c->late_ns;
    test_stragglers(collectives->straggler, late, (size_t)collectives->steps, ranks);
    free(sync);
    free(wait);
    free(late);
    free(mine);
}

/* Returns how many collectives to gather at a time: few enough to bound the memory, however many steps and ranks. */
static size_t chunk_size(const struct job *job)
{
    return 1 + (1 << 18) / (size_t)job->size;
}

/* Gathers the moments of the next collectives, starting at number `from`, into all[ranks, count]. Returns count; 0
 * after the last collective. */
static size_t gather_moments(const struct collectives *collectives, const struct job *job, size_t from,
                             struct moments *mine, struct moments *all)
{
    size_t count = collectives->n - from < chunk_size(job) ? collectives->n - from : chunk_size(job);
    for (size_t i = 0; i < count; i++)
        mine[i] = (struct moments){collectives->item[from + i].posted_ns, collectives->item[from + i].completed_ns};
    if (count)
        job_gather(job, mine, count * sizeof *mine, all);
    return count;
}

/* Corrects the clock alignment of ranks that do not read rank 0's clock, and the times of their collectives. No rank
 * can complete a collective before every rank has posted it; so rank 0's times bound the offset of each other clock,
 * over the collectives of all ranks that read that clock. mine[chunk_size], all[ranks, chunk_size]: work space. */
static void bound_clocks(struct collectives *collectives, const struct job *job, struct alignment *alignment,
                         struct moments *mine, struct moments *all)
{
    struct bounds {
        int64_t least, most; /* the correction of this rank's clock is between them, in ns */
        int clock;
    } bounds = {INT64_MIN, INT64_MAX, job->clock}, *each;
    if (job_max(job, job->clock) == 0) /* all ranks share rank 0's clock */
        return;
    each = allocate((size_t)job->size, sizeof *each);
    for (size_t from = 0, n; (n = gather_moments(collectives, job, from, mine, all)) > 0; from += n)
        for (size_t i = 0; i < n; i++) { /* all[0] to all[n - 1] are the moments of rank 0 */
            int64_t least = all[i].posted_ns - mine[i].completed_ns, most = all[i].completed_ns - mine[i].posted_ns;
            if (collectives->item[from + i].group != COMM_ALL)
                continue;
            bounds.least = least > bounds.least ? least : bounds.least;
            bounds.most = most < bounds.most ? most : bounds.most;
        }
    job_gather(job, &bounds, sizeof bounds, each);
    for (int r = 0; r < job->size; r++) {
        if (each[r].clock != job->clock)
            continue;
        bounds.least = each[r].least > bounds.least ? each[r].least : bounds.least;
        bounds.most = each[r].most < bounds.most ? each[r].most : bounds.most;
    }
    if (job->clock) {
        int64_t before = alignment->offset_ns;
        alignment_bound(alignment, bounds.least, bounds.most);
        for (struct timed_collective *c = collectives->item; c < collectives->item + collectives->n; c++) {
            int64_t *const times[] = {&c->queued_ns, &c->posted_ns, &c->completed_ns, &c->returned_ns};
            for (size_t t = 0; t < sizeof times / sizeof *times; t++)
                *times[t] += alignment->offset_ns - before;
        }
        collectives->residual_ns = alignment->residual_ns;
    }
    free(each);
}

void collectives_exchange(struct collectives *collectives, const struct job *job, const struct timeline *timeline,
                          struct alignment *alignment, int first, int steps)
{
    struct moments *mine = allocate(chunk_size(job), sizeof *mine);
    struct moments *all = allocate(chunk_size(job) * (size_t)job->size, sizeof *all);
    bound_clocks(collectives, job, alignment, mine, all);
    collectives->first = first;
    collectives->steps = steps;
    collectives->residual_ns = (int64_t)job_max(job, (double)collectives->residual_ns);
    for (size_t from = 0, n; (n = gather_moments(collectives, job, from, mine, all)) > 0; from += n)
        collectives_find_last(collectives, from, n, all);
    find_stragglers(collectives, job, timeline, alignment);
    free(mine);
    free(all);
}
