/* figures.c - what the captured steps say, of every rank. */
#include "profile/figures.h"

#include "base/stats.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the fast ranks need: the value at the lower quartile, of four or fewer the least. */
static double pace_of(const double *median, int ranks)
{
    int quarter = (ranks - 1) / 4;
    return stats_quantile(median, (size_t)ranks, ranks > 1 ? (double)quarter / (ranks - 1) : 0);
}

/* From the median work of each rank: how late it is, and what that costs. */
static void find_late(struct profile_figures *figures, const double *work)
{
    double pace = pace_of(work, figures->ranks), most = pace;
    for (int r = 0; r < figures->ranks; r++)
        most = fmax(most, work[r]);
    for (int r = 0; r < figures->ranks; r++) {
        double next = pace;
        for (int q = 0; q < figures->ranks; q++)
            if (work[q] < work[r] || (q > r && work[q] == work[r]))
                next = fmax(next, work[q]);
        figures->rank[r].late = fmax(work[r] - pace, 0);
        figures->rank[r].saves = work[r] > pace ? most - next : 0;
    }
}

/* From the median of a phase on each rank: where it is extreme. */
static void find_extremes(struct phase_figure *f, const double *median, int ranks)
{
    f->least = f->most = median[0];
    f->least_rank = f->most_rank = 0;
    for (int r = 1; r < ranks; r++) {
        if (median[r] < f->least) {
            f->least = median[r];
            f->least_rank = r;
        }
        if (median[r] > f->most) {
            f->most = median[r];
            f->most_rank = r;
        }
    }
}

/* By how much each rank is late in a phase, of seconds[ranks, steps]: from the lower quartile of its time on each rank
 * without waiting for a core, which other work on these cores hardly moves. Adds that wait to core_wait[ranks, steps].
 */
static void find_late_in(struct profile_figures *figures, const struct job *job, const struct capture *capture,
                         int phase, const double *seconds, double *core_wait)
{
    size_t steps = (size_t)figures->steps, ranks = (size_t)figures->ranks;
    double *mine = allocate(steps + 1, sizeof *mine), *all = allocate(steps * ranks + 1, sizeof *all);
    double *quartile = allocate(ranks, sizeof *quartile);
    for (size_t i = 0; i < steps; i++)
        mine[i] = 1e-9 * (double)capture->times[(size_t)figures->first + i].core_wait_ns[phase];
    job_gather(job, mine, steps * sizeof *mine, all);
    for (size_t i = 0; i < steps * ranks; i++) {
        core_wait[i] += all[i];
        all[i] = seconds[i] - all[i];
    }
    for (size_t r = 0; r < ranks; r++)
        quartile[r] = stats_quantile(all + r * steps, steps, 0.25);
    double pace = pace_of(quartile, figures->ranks);
    for (size_t r = 0; r < ranks; r++)
        figures->rank[r].late_in[phase] = fmax(quartile[r] - pace, 0);
    free(mine);
    free(all);
    free(quartile);
}

enum step_phase rank_latest_in(const struct rank_figure *rank)
{
    int latest = 0;
    for (int p = 1; p < PHASES; p++)
        latest = rank->late_in[p] > rank->late_in[latest] ? p : latest;
    return (enum step_phase)latest;
}

/* The share of a well-tuned step, where one is usual, and whether this is outside; a backward pass takes about twice as
 * long as the forward pass. */
static void compare_with_usual(struct phase_figure *f, int phase)
{
    static const double usual[PHASES + 1][2] = {[PHASE_DATA_LOADING] = {0, 10},
                                                [PHASE_FORWARD] = {25, 40},
                                                [PHASE_BACKWARD] = {40, 70},
                                                [PHASE_GRADIENT_SYNC] = {0, 20},
                                                [PHASE_OPTIMIZER] = {0, 10}};
    double low = usual[phase][0], high = usual[phase][1], share = 100 * f->share;
    if (high > 0)
        snprintf(f->usual, sizeof f->usual, "%2.0f-%2.0f %%%s", low, high,
                 share < low    ? ", less here"
                 : share > high ? ", more here"
                                : "");
}

static void find_phases(struct profile_figures *figures, const struct job *job, const struct capture *capture)
{
    size_t steps = (size_t)figures->steps, n = steps * (size_t)job->size;
    double *mine = allocate(steps + 1, sizeof *mine), *all = allocate(n + 1, sizeof *all);
    double *core_wait = allocate(n + 1, sizeof *core_wait);
    double *work = allocate(n + 1, sizeof *work), *of_rank = allocate((size_t)job->size, sizeof *of_rank);
    for (int p = PHASES; p >= 0; p--) { /* the step first: shares are of it */
        int is_work = p < PHASES && p != PHASE_GRADIENT_SYNC && p != PHASE_CHECKPOINT; /* in these ranks wait */
        double sum = 0;
        for (size_t i = 0; i < steps; i++) {
            const struct step_times *t = &capture->times[(size_t)figures->first + i];
            mine[i] = 1e-9 * (double)(p == PHASES ? t->end_ns - t->start_ns : t->phase_ns[p]);
        }
        job_gather(job, mine, steps * sizeof *mine, all);
        for (size_t i = 0; i < n; i++) {
            sum += all[i];
            work[i] += is_work ? all[i] : 0;
        }
        struct phase_figure *f = &figures->phase[p];
        f->name = p == PHASES ? "step" : phase_name[p];
        f->mean = sum / (double)n;
        f->median = stats_median(all, n);
        for (int r = 0; r < figures->ranks; r++) {
            double p95 = stats_quantile(all + (size_t)r * steps, steps, 0.95);
            of_rank[r] = stats_median(all + (size_t)r * steps, steps);
            if (r && !(p95 > f->p95_steps))
                continue;
            f->p95_steps = p95;
            f->p95_rank = r;
        }
        find_extremes(f, of_rank, figures->ranks);
        f->share = f->mean / figures->phase[PHASES].mean;
        compare_with_usual(f, p);
        if (is_work)
            find_late_in(figures, job, capture, p, all, core_wait);
    }
    for (int r = 0; r < figures->ranks; r++) {
        of_rank[r] = stats_median(work + (size_t)r * steps, steps);
        figures->rank[r].core_wait = stats_median(core_wait + (size_t)r * steps, steps);
    }
    find_late(figures, of_rank);
    free(mine);
    free(all);
    free(work);
    free(core_wait);
    free(of_rank);
}

/* ---- collectives ---- */

/* One figure for each payload that occurs, the largest first. Returns the most calls of one, of this rank; all ranks
 * have as many. */
static size_t list_payloads(struct profile_figures *figures, const struct capture *capture)
{
    const struct collectives *r = &capture->collectives;
    struct collective_figure *list = figures->collective = allocate(r->n + 1, sizeof *list);
    size_t most = 0;
    for (const struct timed_collective *one = r->item; one < r->item + r->n; one++) {
        int c = 0;
        while (c < figures->collectives && list[c].bytes > one->bytes)
            c++;
        if (c == figures->collectives || list[c].bytes != one->bytes) {
            memmove(&list[c + 1], &list[c], (size_t)(figures->collectives++ - c) * sizeof *list);
            list[c] = (struct collective_figure){.bytes = one->bytes};
        }
        list[c].calls += one->step >= figures->first;
        most = list[c].calls > most ? list[c].calls : most;
        if (capture->parameters[one->index] > list[c].parameters)
            list[c].parameters = capture->parameters[one->index];
    }
    return most;
}

/* Medians over the calls of all ranks for which a time is known: one time of one payload is gathered at once, so that
 * this stays small. */
static void find_collectives(struct profile_figures *figures, const struct job *job, const struct capture *capture)
{
    const struct collectives *r = &capture->collectives;
    size_t most = list_payloads(figures, capture);
    double *mine = allocate(most + 1, sizeof *mine), *all = allocate((most + 1) * (size_t)job->size, sizeof *all);
    for (struct collective_figure *c = figures->collective; c < figures->collective + figures->collectives; c++) {
        enum { QUEUED, DURATION, WAIT, TRANSFER, TIMES };
        double *const median[TIMES] = {&c->queued, &c->duration, &c->wait, &c->transfer};
        size_t known[TIMES] = {0};
        for (int time = 0; time < TIMES; time++) {
            size_t n = 0;
            for (const struct timed_collective *one = r->item; one < r->item + r->n; one++) {
                int waits = one->last_rank != job->rank; /* the last rank does not */
                const int64_t ns[TIMES] = {one->posted_ns - one->queued_ns, one->completed_ns - one->posted_ns,
                                           waits ? collective_wait(one, job->rank, r->residual_ns) : -1,
                                           collective_transfer(one, job->rank, r->residual_ns)};
                if (one->bytes == c->bytes && one->step >= figures->first)
                    mine[n++] = 1e-9 * (double)ns[time];
            }
            job_gather(job, mine, n * sizeof *mine, all);
            for (size_t i = 0; i < n * (size_t)job->size; i++)
                if (all[i] >= 0)
                    all[known[time]++] = all[i];
            *median[time] = stats_median(all, known[time]);
        }
        c->calls = known[DURATION];
        c->waited = known[WAIT];
        c->algbw = c->duration > 0 ? (double)c->bytes / c->duration : NAN;
        c->busbw = c->algbw * comm_bus_factor(COMM_ALL_REDUCE, figures->ranks);
    }
    free(mine);
    free(all);
}

/* Of the counted collectives that are at least a quarter as large as the largest: latency says nothing of a link. */
static double find_ahead(const struct collectives *all)
{
    size_t n = 0, most = 0;
    double *ahead = allocate(all->n + 1, sizeof *ahead);
    for (const struct timed_collective *c = all->item; c < all->item + all->n; c++)
        most = c->bytes > most ? c->bytes : most;
    for (const struct timed_collective *c = all->item; c < all->item + all->n; c++)
        if (c->step >= all->first && c->bytes >= most / 4 && !c->impossible)
            ahead[n++] = 1e-9 * (double)c->ahead_ns;
    double median = stats_median(ahead, n);
    free(ahead);
    return fabs(median) < 2e-9 * (double)all->residual_ns ? NAN : median;
}

void profile_figures_create(struct profile_figures *figures, const struct job *job, const struct capture *capture)
{
    *figures =
        (struct profile_figures){.first = capture->collectives.first,
                                 .steps = capture->collectives.steps,
                                 .epochs = capture->step[capture->collectives.first].warmup ? "warm-up" : "active",
                                 .ranks = job->size};
    const struct alignment *a = &capture->alignment;
    const struct rank_figure mine = {.rank = job->rank,
                                     .mean = overlap_mean(capture->overlap, figures->first, figures->steps),
                                     .offset = 1e-9 * (double)a->offset_ns,
                                     .drift = 1e-9 * a->drift,
                                     .drift_error = 1e-9 * a->drift_error,
                                     .residual = 1e-9 * (double)a->residual_ns,
                                     .ahead = find_ahead(&capture->collectives)};
    struct overlap *all = allocate((size_t)job->size, sizeof *all);
    figures->rank = allocate((size_t)job->size, sizeof *figures->rank);
    job_gather(job, &mine, sizeof mine, figures->rank);
    for (int r = 0; r < figures->ranks; r++)
        all[r] = figures->rank[r].mean;
    figures->mean = overlap_mean(all, 0, figures->ranks);
    free(all);
    find_phases(figures, job, capture);
    find_collectives(figures, job, capture);
}

void profile_figures_destroy(struct profile_figures *figures)
{
    free(figures->rank);
    free(figures->collective);
    free(figures->bucket);
    free(figures->layer);
    free(figures->memory_of_part);
    free(figures->memory_of_operation);
    memset(figures, 0, sizeof *figures);
}
