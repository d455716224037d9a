/* figures.c - what the captured steps say, of every rank. */
#include "profile/figures.h"

#include "base/stats.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void find_phases(struct profile_figures *figures, const struct job *job, const struct capture *capture)
{
    size_t steps = (size_t)figures->steps, n = steps * (size_t)job->size;
    double *mine = allocate(steps + 1, sizeof *mine), *all = allocate(n + 1, sizeof *all), step_mean = 0;
    for (int r = 1; r < figures->ranks; r++)
        if (figures->rank[r].sum.step_ns > figures->rank[figures->slowest].sum.step_ns)
            figures->slowest = r;
    for (int p = PHASES; p >= 0; p--) { /* the step first: shares are of it */
        double sum = 0;
        for (size_t i = 0; i < steps; i++) {
            const struct step_times *t = &capture->times[(size_t)figures->first + i];
            mine[i] = 1e-9 * (double)(p == PHASES ? t->end_ns - t->start_ns : t->phase_ns[p]);
        }
        job_gather(job, mine, steps * sizeof *mine, all);
        for (size_t i = 0; i < n; i++)
            sum += all[i];
        double mean = sum / (double)n;
        step_mean = p == PHASES ? mean : step_mean;
        figures->phase[p] = (struct phase_figure){p == PHASES ? "step" : phase_name[p], mean, stats_median(all, n),
                                                  stats_quantile(all + (size_t)figures->slowest * steps, steps, 0.95),
                                                  mean / step_mean};
    }
    free(mine);
    free(all);
}

static void find_ranks(struct profile_figures *figures, const struct job *job, const struct capture *capture)
{
    struct rank_figure mine = {overlap_sum(capture->overlap, figures->first, figures->steps), capture->alignment};
    figures->rank = allocate((size_t)job->size, sizeof *figures->rank);
    job_gather(job, &mine, sizeof mine, figures->rank);
}

/* ---- collectives ---- */

/* What is known of each collective; all times of a rank's own. */
enum { QUEUED, DURATION, WAIT, TRANSFER, TIMES };

static int64_t time_of(const struct collectives *all, const struct timed_collective *r, int rank, int time)
{
    switch (time) {
    case QUEUED:
        return r->posted_ns - r->queued_ns;
    case DURATION:
        return r->completed_ns - r->posted_ns;
    case WAIT: /* the last rank does not wait */
        return r->last_rank == rank ? -1 : collective_wait(r, rank, all->residual_ns);
    default:
        return collective_transfer(r, rank, all->residual_ns);
    }
}

static int larger_first(const void *a, const void *b)
{
    const struct collective_figure *x = a, *y = b;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* One figure for each payload that occurs. */
static void list_payloads(struct profile_figures *figures, const struct capture *capture)
{
    const struct collectives *r = &capture->collectives;
    figures->collective = allocate(r->n + 1, sizeof *figures->collective);
    for (size_t i = 0; i < r->n; i++) {
        int c = 0;
        while (c < figures->collectives && figures->collective[c].bytes != r->item[i].bytes)
            c++;
        figures->collectives += c == figures->collectives;
        figures->collective[c].bytes = r->item[i].bytes;
        figures->collective[c].calls += r->item[i].step >= capture->first; /* of this rank: all have as many */
        if (capture->parameters[r->item[i].index] > figures->collective[c].parameters)
            figures->collective[c].parameters = capture->parameters[r->item[i].index];
    }
    qsort(figures->collective, (size_t)figures->collectives, sizeof *figures->collective, larger_first);
}

/* The median over the calls of all ranks, and how many are known: one time of one payload at once, so that what is
 * gathered stays small. mine has room for all collectives, all for those of all ranks. */
static double median_of(const struct collective_figure *c, const struct profile_figures *figures, const struct job *job,
                        const struct collectives *r, int time, double *mine, double *all, size_t *known)
{
    size_t n = 0;
    *known = 0;
    for (size_t i = 0; i < r->n; i++)
        if (r->item[i].bytes == c->bytes && r->item[i].step >= figures->first)
            mine[n++] = 1e-9 * (double)time_of(r, &r->item[i], job->rank, time);
    job_gather(job, mine, n * sizeof *mine, all);
    for (size_t i = 0; i < n * (size_t)job->size; i++)
        if (all[i] >= 0)
            all[(*known)++] = all[i];
    return stats_median(all, *known);
}

static void find_collectives(struct profile_figures *figures, const struct job *job, const struct capture *capture)
{
    const struct collectives *r = &capture->collectives;
    size_t most = 0;
    list_payloads(figures, capture);
    for (int c = 0; c < figures->collectives; c++)
        most = figures->collective[c].calls > most ? figures->collective[c].calls : most;
    double *mine = allocate(most + 1, sizeof *mine), *all = allocate((most + 1) * (size_t)job->size, sizeof *all);
    for (int i = 0; i < figures->collectives; i++) {
        struct collective_figure *c = &figures->collective[i];
        size_t known;
        c->queued = median_of(c, figures, job, r, QUEUED, mine, all, &known);
        c->wait = median_of(c, figures, job, r, WAIT, mine, all, &c->waited);
        c->transfer = median_of(c, figures, job, r, TRANSFER, mine, all, &known);
        c->duration = median_of(c, figures, job, r, DURATION, mine, all, &c->calls);
        c->algbw = c->duration > 0 ? (double)c->bytes / c->duration : NAN;
        c->busbw = c->algbw * comm_bus_factor(COMM_ALL_REDUCE, figures->ranks);
    }
    free(mine);
    free(all);
}

void profile_figures_create(struct profile_figures *figures, const struct job *job, const struct capture *capture)
{
    *figures =
        (struct profile_figures){.first = capture->first, .steps = capture->n - capture->first, .ranks = job->size};
    find_ranks(figures, job, capture);
    find_phases(figures, job, capture);
    find_collectives(figures, job, capture);
}

void profile_figures_destroy(struct profile_figures *figures)
{
    free(figures->rank);
    free(figures->collective);
    memset(figures, 0, sizeof *figures);
}
