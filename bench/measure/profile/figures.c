/* figures.c - phases, lateness and collectives of the captured steps of all ranks. */
#include "profile/figures.h"

#include "base/stats.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- phases ---- */

/* Sets of_rank[ranks] to the quantile q of each rank's steps, from seconds[ranks, steps]. */
static void find_quantiles(double *of_rank, const double *seconds, int ranks, size_t steps, double q)
{
    for (int r = 0; r < ranks; r++)
        of_rank[r] = stats_quantile(seconds + (size_t)r * steps, steps, q);
}

/* Returns the first rank with the largest value; if sign is -1, with the smallest. */
static int rank_of_most(const double *of_rank, int ranks, int sign)
{
    int most = 0;
    for (int r = 1; r < ranks; r++)
        most = sign * of_rank[r] > sign * of_rank[most] ? r : most;
    return most;
}

/* Returns the time of the fast ranks: the lower quartile over ranks; for four or fewer ranks the minimum. */
static double pace_of(const double *of_rank, int ranks)
{
    int quarter = (ranks - 1) / 4;
    return stats_quantile(of_rank, (size_t)ranks, ranks > 1 ? (double)quarter / (ranks - 1) : 0);
}

/* Sets `late` and `saves` of each rank (struct rank_figure) from work[ranks], the median work of each rank in s. */
static void find_late(struct profile_figures *figures, const double *work)
{
    double pace = pace_of(work, figures->ranks), most = work[rank_of_most(work, figures->ranks, 1)];
    for (int r = 0; r < figures->ranks; r++) {
        double next = pace;
        for (int q = 0; q < figures->ranks; q++)
            if (work[q] < work[r] || (q > r && work[q] == work[r]))
                next = fmax(next, work[q]);
        figures->rank[r].late = fmax(work[r] - pace, 0);
        figures->rank[r].saves = work[r] > pace ? most - next : 0;
    }
}

enum step_phase rank_latest_in(const struct rank_figure *rank)
{
    return (enum step_phase)rank_of_most(rank->late_in, PHASES, 1);
}

static struct pooled pool(const double *all, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += all[i];
    return (struct pooled){sum / (double)n, isnan(sum) ? NAN : stats_median(all, n)};
}

struct pooled pool_steps(const struct job *job, const double *seconds, size_t steps)
{
    size_t n = (size_t)job->size * steps;
    double *all = allocate(n + 1, sizeof *all);
    job_gather(job, seconds, steps * sizeof *seconds, all);
    struct pooled pooled = pool(all, n);
    free(all);
    return pooled;
}

/* Fills a phase's figures from seconds[ranks, steps], for PHASES first. of_rank[ranks] becomes the ranks' medians. */
static void describe_phase(struct profile_figures *f, int phase, const double *seconds, double *of_rank)
{
    struct phase_figure *p = &f->phase[phase];
    struct pooled pooled = pool(seconds, (size_t)f->ranks * (size_t)f->steps);
    p->name = phase == PHASES ? "step" : phase_name[phase];
    p->mean = pooled.mean;
    p->median = pooled.median;
    p->share = p->mean / f->phase[PHASES].mean;
    find_quantiles(of_rank, seconds, f->ranks, (size_t)f->steps, 0.95);
    p->p95_rank = rank_of_most(of_rank, f->ranks, 1);
    p->p95_steps = of_rank[p->p95_rank];
    find_quantiles(of_rank, seconds, f->ranks, (size_t)f->steps, 0.5);
    p->least_rank = rank_of_most(of_rank, f->ranks, -1);
    p->least = of_rank[p->least_rank];
    p->most_rank = rank_of_most(of_rank, f->ranks, 1);
    p->most = of_rank[p->most_rank];
}

/* Fills the figures of the phases and the step, and how late each rank is. How late a rank is in a phase is measured
 * by the lower quartile of the time with a core, which hardly changes if other processes use the cores. */
static void find_phases(struct profile_figures *f, const struct job *job, const struct capture *capture)
{
    size_t steps = (size_t)f->steps, n = steps * (size_t)f->ranks;
    double *room = allocate(4 * n + 2 * steps + (size_t)f->ranks, sizeof *room), *seconds = room, *waits = room + n;
    double *work = room + 2 * n, *work_waits = room + 3 * n; /* sums over phases; zeroed by allocate */
    double *mine = room + 4 * n, *my_waits = mine + steps, *of_rank = my_waits + steps;
    for (int p = PHASES; p >= 0; p--) { /* the step comes first, since the shares divide by its time */
        for (int i = 0; i < f->steps; i++) {
            const struct step_times *t = &capture->trace.times[f->first + i];
            mine[i] = 1e-9 * (double)(p == PHASES ? t->end_ns - t->start_ns : t->phase_ns[p]);
            my_waits[i] = p == PHASES ? 0 : 1e-9 * (double)t->core_wait_ns[p]; /* the part without a core */
        }
        job_gather(job, mine, steps * sizeof *mine, seconds);
        job_gather(job, my_waits, steps * sizeof *mine, waits);
        describe_phase(f, p, seconds, of_rank);
        for (int r = 0; r < f->ranks && p == PHASES; r++)
            f->rank[r].step = of_rank[r];
        for (int r = 0; r < f->ranks && p == PHASE_BACKWARD; r++)
            f->rank[r].backward = pool(seconds + (size_t)r * steps, steps).mean;
        if (p == PHASES || p == PHASE_CHECKPOINT || phase_is_wait((enum step_phase)p)) /* waits for other ranks */
            continue;
        for (size_t i = 0; i < n; i++) {
            work[i] += seconds[i];
            work_waits[i] += waits[i];
            seconds[i] -= waits[i];
        }
        find_quantiles(of_rank, seconds, f->ranks, steps, 0.25);
        for (int r = 0; r < f->ranks; r++)
            f->rank[r].late_in[p] = fmax(of_rank[r] - pace_of(of_rank, f->ranks), 0);
    }
    find_quantiles(of_rank, work_waits, f->ranks, steps, 0.5);
    for (int r = 0; r < f->ranks; r++)
        f->rank[r].core_wait = of_rank[r];
    find_quantiles(of_rank, work, f->ranks, steps, 0.5);
    find_late(f, of_rank);
    f->communication_ratio = f->phase[PHASE_GRADIENT_SYNC].share + f->phase[PHASE_PARAMETER_GATHER].share;
    free(room);
}

/* ---- collectives ---- */

/* Orders sizes and operations of collectives, the largest size first; 0: they are the same. */
static int compare(const struct collective_figure *c, const struct timed_collective *one)
{
    if (c->bytes != one->bytes)
        return c->bytes > one->bytes ? -1 : 1;
    return c->kind != one->kind ? (int)c->kind - (int)one->kind : (int)c->group - (int)one->group;
}

/* Lists each pair of message size and operation that occurs, largest size first. Returns the largest number of calls of
 * a pair, which is the same on every rank. */
static size_t list_payloads(struct profile_figures *figures, const struct capture *capture)
{
    const struct collectives *r = &capture->collectives;
    struct collective_figure *list = figures->collective = allocate(r->n + 1, sizeof *list);
    size_t most = 0;
    for (const struct timed_collective *one = r->item; one < r->item + r->n; one++) {
        int c = 0;
        if (one->step < figures->first) /* some sizes occur in warm-up steps only, such as the norms of shards */
            continue;
        while (c < figures->collectives && compare(&list[c], one) < 0)
            c++;
        if (c == figures->collectives || compare(&list[c], one)) {
            memmove(&list[c + 1], &list[c], (size_t)(figures->collectives++ - c) * sizeof *list);
            list[c] = (struct collective_figure){.kind = one->kind,
                                                 .group = one->group,
                                                 .kind_name = comm_kind_name[one->kind],
                                                 .ranks = one->ranks,
                                                 .bytes = one->bytes};
        }
        list[c].calls++;
        most = list[c].calls > most ? list[c].calls : most;
        if (one->index >= 0 && capture->trace.parameters[one->index] > list[c].parameters)
            list[c].parameters = capture->trace.parameters[one->index];
    }
    return most;
}

/* Sets, for each size and operation, the median of each time over the calls of all ranks for which the time is known.
 * Gathers one kind of time for one size after another, to save memory. */
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
                int64_t duration = one->completed_ns - one->posted_ns, wait;
                wait = collective_wait(one, job->rank, r->residual_ns);
                if (wait < 0 && !one->impossible && one->group == COMM_ALL)
                    wait = 0; /* shorter than the clocks can tell */
                const int64_t ns[TIMES] = {one->posted_ns - one->queued_ns, duration, wait,
                                           wait < 0 ? -1 : duration - wait};
                if (!compare(c, one) && one->step >= figures->first)
                    mine[n++] = 1e-9 * (double)ns[time];
            }
            job_gather(job, mine, n * sizeof *mine, all);
            for (size_t i = 0; i < n * (size_t)job->size; i++)
                if (all[i] >= 0)
                    all[known[time]++] = all[i];
            *median[time] = stats_median(all, known[time]);
        }
        figures->several_kinds |= c->kind != figures->collective->kind;
        c->calls = known[DURATION];
        c->known = known[WAIT];
        c->algbw = c->duration > 0 ? (double)c->bytes / c->duration : NAN;
        c->busbw = c->algbw * comm_bus_factor(c->kind, c->ranks);
    }
    free(mine);
    free(all);
}

/* Returns the time that the GPU copies from and to the host, in s a counted step; NAN without records of its work. */
static double find_copies(const struct trace *trace, int first, int steps)
{
    const struct activities *all = trace->activities;
    struct interval *copy = allocate(all ? all->n + 1 : 1, sizeof *copy);
    size_t n = 0;
    for (const struct activity *a = all ? all->of : NULL; all && a < all->of + all->n; a++)
        if (a->kind == ACTIVITY_COPY && (strstr(a->name, "HtoD") || strstr(a->name, "DtoH")) &&
            a->start_ns >= trace->times[first].start_ns)
            copy[n++] = (struct interval){a->start_ns, a->end_ns};
    n = intervals_unite(copy, n);
    double seconds = all ? 1e-9 * (double)intervals_common(copy, n, copy, n) / steps : NAN;
    free(copy);
    return seconds;
}

void profile_figures_create(struct profile_figures *figures, const struct job *job, const struct capture *capture)
{
    int first = capture->collectives.first;
    *figures = (struct profile_figures){.first = first,
                                        .steps = capture->collectives.steps,
                                        .epochs = capture->trace.step[first].warmup ? "warm-up" : "active",
                                        .ranks = job->size};
    const struct alignment *a = &capture->alignment;
    const struct rank_figure mine = {.rank = job->rank,
                                     .mean = overlap_mean(capture->overlap, figures->first, figures->steps),
                                     .copies = find_copies(&capture->trace, figures->first, figures->steps),
                                     .offset = 1e-9 * (double)a->offset_ns,
                                     .drift = 1e-9 * a->drift,
                                     .drift_error = 1e-9 * a->drift_error,
                                     .residual = 1e-9 * (double)a->residual_ns};
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
    memset(figures, 0, sizeof *figures);
}
