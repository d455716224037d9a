/* ranking.c - from samples to figures. */
#include "benchmark/ranking.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums up f(sync, step) over the rounds. */
static struct estimate summary_of(const struct measurements *m, int i, double (*f)(double, double, double),
                                  double tokens)
{
    double *value = allocate(m->rounds, sizeof *value);
    const double *sync = measurements_of(m, i, PHASE_GRADIENT_SYNC), *step = measurements_of(m, i, FIGURE_STEP);
    for (size_t r = 0; r < m->rounds; r++)
        value[r] = f(sync[r], step[r], tokens);
    struct estimate summary = stats_estimate(value, m->rounds);
    free(value);
    return summary;
}

static double rate(double sync, double step, double tokens)
{
    (void)sync;
    return tokens / step;
}

static double share(double sync, double step, double tokens)
{
    (void)tokens;
    return sync / step;
}

static void fill_row(struct row *row, const struct measurements *m, int i, int none, int communicates, double tokens)
{
    for (int metric = 0; metric < FIGURES; metric++)
        row->seconds[metric] = stats_estimate(measurements_of(m, i, metric), m->rounds);
    row->tokens_per_second = summary_of(m, i, rate, tokens);
    row->communication_ratio = communicates ? summary_of(m, i, share, tokens) : stats_estimate(NULL, 0);
    row->sync_cost = row->sync_cost_low = row->sync_cost_high = NAN;
    if (none < 0 || none == i || !m->rounds)
        return;
    double base = stats_median(measurements_of(m, none, FIGURE_STEP), m->rounds);
    row->against_none =
        stats_paired(measurements_of(m, i, FIGURE_STEP), measurements_of(m, none, FIGURE_STEP), m->rounds, 0.95);
    row->sync_cost = (row->against_none.ratio - 1) * base;
    row->sync_cost_low = (row->against_none.ci_low - 1) * base;
    row->sync_cost_high = (row->against_none.ci_high - 1) * base;
}

static void compare_pairs(struct ranking *c, const struct measurements *m, const struct implementation *implementation)
{
    size_t n = (size_t)c->n;
    c->pair = allocate(n * (n - 1) / 2, sizeof *c->pair);
    for (int a = 0; a < c->n; a++)
        for (int b = a + 1; b < c->n; b++)
            if (implementation[a].strategy->reduces && implementation[b].strategy->reduces)
                c->pair[c->pairs++] = (struct pair){.a = a, .b = b};
    double *p = allocate((size_t)c->pairs, sizeof *p);
    for (int i = 0; i < c->pairs; i++) {
        struct pair *pair = &c->pair[i];
        pair->paired = stats_paired(measurements_of(m, pair->a, FIGURE_STEP), measurements_of(m, pair->b, FIGURE_STEP),
                                    m->rounds, 0.95);
        p[i] = pair->paired.p;
    }
    stats_holm(p, (size_t)c->pairs);
    for (int i = 0; i < c->pairs; i++)
        c->pair[i].p = p[i];
    free(p);
}

/* What the pairs compare too, so that no row can be both the fastest and slower than another. */
static double mean_log_step(const struct measurements *m, int i)
{
    const double *step = measurements_of(m, i, FIGURE_STEP);
    double sum = 0;
    for (size_t r = 0; r < m->rounds; r++)
        sum += log(step[r]);
    return sum / (double)m->rounds;
}

void ranking_create(struct ranking *c, const struct measurements *m, const struct implementation *implementation,
                    int ranks, double tokens, const double *attainable_seconds)
{
    *c = (struct ranking){.n = m->n, .rounds = m->rounds, .fastest = -1};
    int none = -1;
    for (int i = 0; i < m->n; i++)
        if (implementation[i].strategy == &strategy_none && none < 0)
            none = i;
    for (int i = 0; i < m->n; i++) {
        int reduces = implementation[i].strategy->reduces;
        fill_row(&c->row[i], m, i, none, reduces && ranks > 1, tokens);
        c->row[i].attainable = attainable_seconds ? attainable_seconds[i] : NAN;
        if (reduces && m->rounds && (c->fastest < 0 || mean_log_step(m, i) < mean_log_step(m, c->fastest)))
            c->fastest = i;
    }
    compare_pairs(c, m, implementation);
}

void ranking_destroy(struct ranking *c)
{
    free(c->pair);
    c->pair = NULL;
}

int ranking_slower(const struct ranking *c, int implementation)
{
    for (int i = 0; i < c->pairs; i++) {
        const struct pair *pair = &c->pair[i];
        if ((pair->a == implementation && pair->b == c->fastest) ||
            (pair->b == implementation && pair->a == c->fastest))
            return pair->p < 0.05;
    }
    return 0;
}
