/* figures.c - what the captured steps say, of every rank. */
#include "figures.h"

#include "error.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The steps of active epochs follow those of the warm-up; without any, the warm-up is all there is. */
static void choose_steps(struct figures *figures, const struct capture *capture)
{
    int first = 0;
    while (first < capture->n && capture->step[first].warmup)
        first++;
    figures->first = first < capture->n ? first : 0;
    figures->steps = capture->n - figures->first;
}

static void find_phases(struct figures *figures, const struct job *job, const struct capture *capture)
{
    size_t steps = (size_t)figures->steps, n = steps * (size_t)job->size;
    double *mine = allocate(steps + 1, sizeof *mine), *all = allocate(n + 1, sizeof *all), step_mean = 0;
    for (int p = PHASES; p >= 0; p--) { /* the step first: shares are of it */
        double sum = 0;
        for (size_t i = 0; i < steps; i++) {
            const struct step_times *t = &capture->times[(size_t)figures->first + i];
            mine[i] = 1e-9 * (double)(p == PHASES ? t->end_ns - t->start_ns : t->phase_ns[p]);
        }
        job_gather(job, mine, steps * sizeof *mine, all);
        for (size_t i = 0; i < n; i++)
            sum += all[i];
        double mean = n ? sum / (double)n : NAN;
        step_mean = p == PHASES ? mean : step_mean;
        figures->phase[p] =
            (struct phase_figure){mean, stats_median(all, n), stats_quantile(all, n, 0.95), mean / step_mean};
    }
    free(mine);
    free(all);
}

static void find_ranks(struct figures *figures, const struct job *job, const struct capture *capture)
{
    struct rank_figure mine = {overlap_sum(capture->overlap, figures->first, figures->steps), capture->alignment};
    figures->rank = allocate((size_t)job->size, sizeof *figures->rank);
    job_gather(job, &mine, sizeof mine, figures->rank);
}

/* ---- collectives ---- */

struct sample {
    int64_t queued, duration, wait, transfer;
};

static int larger_first(const void *a, const void *b)
{
    const struct collective_figure *x = a, *y = b;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* One figure for each payload that occurs. */
static void list_payloads(struct figures *figures, const struct capture *capture)
{
    const struct reductions *r = &capture->reductions;
    figures->collective = allocate(r->n + 1, sizeof *figures->collective);
    for (size_t i = 0; i < r->n; i++) {
        int c = 0;
        while (c < figures->collectives && figures->collective[c].bytes != r->of[i].bytes)
            c++;
        figures->collectives += c == figures->collectives;
        figures->collective[c].bytes = r->of[i].bytes;
        if (capture->parameters[r->of[i].index] > figures->collective[c].parameters)
            figures->collective[c].parameters = capture->parameters[r->of[i].index];
    }
    qsort(figures->collective, (size_t)figures->collectives, sizeof *figures->collective, larger_first);
}

static void measure_payload(struct collective_figure *c, const struct figures *figures, const struct reductions *r,
                            const struct sample *all, double *value)
{
    double figure[4] = {NAN, NAN, NAN, NAN};
    for (int f = 0; f < 4; f++) {
        size_t n = 0;
        for (size_t i = 0; i < r->n; i++)
            for (int q = 0; q < figures->ranks; q++) {
                const struct sample *s = &all[(size_t)q * r->n + i];
                int64_t ns = f == 0 ? s->queued : f == 1 ? s->duration : f == 2 ? s->wait : s->transfer;
                if (r->of[i].bytes == c->bytes && r->of[i].step >= figures->first && ns >= 0)
                    value[n++] = 1e-9 * (double)ns;
            }
        figure[f] = stats_median(value, n);
        c->calls = f == 1 ? n : c->calls;
        c->told = f == 2 ? n : c->told;
    }
    c->queued = figure[0];
    c->duration = figure[1];
    c->wait = figure[2];
    c->transfer = figure[3];
    c->algbw = c->duration > 0 ? 1e-9 * (double)c->bytes / c->duration : NAN;
    c->busbw = c->algbw * trace_bus_factor(figures->ranks);
}

static void find_collectives(struct figures *figures, const struct job *job, const struct capture *capture)
{
    const struct reductions *r = &capture->reductions;
    struct sample *mine = allocate(r->n + 1, sizeof *mine);
    struct sample *all = allocate((r->n + 1) * (size_t)job->size, sizeof *all);
    double *value = allocate((r->n + 1) * (size_t)job->size, sizeof *value);
    for (size_t i = 0; i < r->n; i++)
        mine[i] = (struct sample){r->of[i].posted_ns - r->of[i].queued_ns, r->of[i].completed_ns - r->of[i].posted_ns,
                                  reduction_wait(&r->of[i], job->rank, r->residual_ns),
                                  reduction_transfer(&r->of[i], job->rank, r->residual_ns)};
    job_gather(job, mine, r->n * sizeof *mine, all);
    list_payloads(figures, capture);
    for (int c = 0; c < figures->collectives; c++)
        measure_payload(&figures->collective[c], figures, r, all, value);
    free(mine);
    free(all);
    free(value);
}

void figures_create(struct figures *figures, const struct job *job, const struct capture *capture)
{
    *figures = (struct figures){.ranks = job->size};
    choose_steps(figures, capture);
    find_phases(figures, job, capture);
    find_ranks(figures, job, capture);
    find_collectives(figures, job, capture);
}

void figures_destroy(struct figures *figures)
{
    free(figures->rank);
    free(figures->collective);
    memset(figures, 0, sizeof *figures);
}
