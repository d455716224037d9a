/* ranking.c - from samples to figures. */
#include "benchmark/ranking.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

static void fill_row(struct row *row, const struct measurements *m, int i, int none, int communicates, double tokens)
{
    const double *sync = measurements_of(m, i, PHASE_GRADIENT_SYNC), *step = measurements_of(m, i, FIGURE_STEP);
    double *rate = allocate(m->rounds, sizeof *rate), *share = allocate(m->rounds, sizeof *share);
    for (size_t r = 0; r < m->rounds; r++) {
        rate[r] = tokens / step[r];
        share[r] = sync[r] / step[r];
    }
    row->tokens_per_second = stats_estimate(rate, m->rounds);
    row->communication_ratio = stats_estimate(share, communicates ? m->rounds : 0);
    free(rate);
    free(share);
    for (int figure = 0; figure < FIGURES; figure++)
        row->seconds[figure] = stats_estimate(measurements_of(m, i, figure), m->rounds);
    row->sync_cost = stats_estimate(step, 0);
    if (none < 0 || none == i || !m->rounds)
        return;
    const double *of_none = measurements_of(m, none, FIGURE_STEP), base = stats_median(of_none, m->rounds);
    struct paired to = stats_paired(step, of_none, m->rounds, 0.95);
    row->sync_cost =
        (struct estimate){base * (to.ratio - 1), base * (to.ci_low - 1), base * (to.ci_high - 1), NAN, NAN, to.n};
}

static struct paired compare(const struct measurements *m, int a, int b)
{
    return stats_paired(measurements_of(m, a, FIGURE_STEP), measurements_of(m, b, FIGURE_STEP), m->rounds, 0.95);
}

static void compare_pairs(struct ranking *c, const struct measurements *m)
{
    size_t n = (size_t)c->n;
    c->pair = allocate(n * (n - 1) / 2, sizeof *c->pair);
    double *p = allocate(n * (n - 1) / 2, sizeof *p);
    for (int a = 0; a < c->n; a++)
        for (int b = a + 1; b < c->n; b++)
            if (c->row[a].reduces && c->row[b].reduces) {
                struct paired paired = compare(m, a, b);
                p[c->pairs] = paired.p;
                c->pair[c->pairs++] = (struct pair){.a = a, .b = b, .paired = paired};
            }
    stats_holm(p, (size_t)c->pairs);
    for (struct pair *pair = c->pair; pair < c->pair + c->pairs; pair++) {
        pair->p = p[pair - c->pair];
        if (pair->a != c->fastest && pair->b != c->fastest)
            continue;
        int other = pair->a == c->fastest ? pair->b : pair->a;
        c->row[other].to_fastest = compare(m, other, c->fastest);
        c->row[other].slower = pair->p < 0.05;
    }
    free(p);
}

void ranking_create(struct ranking *c, const struct measurements *m, const struct implementation *implementation,
                    int ranks, double tokens, const double *attainable_seconds)
{
    *c = (struct ranking){.n = m->n, .rounds = m->rounds, .fastest = -1};
    int none = -1;
    for (int i = m->n - 1; i >= 0; i--)
        if (implementation[i].strategy == &strategy_none)
            none = i;
    for (int i = 0; i < m->n; i++) {
        struct row *row = &c->row[i];
        row->label = implementation[i].label;
        row->reduces = implementation[i].strategy->reduces;
        fill_row(row, m, i, none, row->reduces && ranks > 1, tokens);
        row->attainable = attainable_seconds ? attainable_seconds[i] : NAN;
        row->step_to_attainable = row->seconds[FIGURE_STEP].median / row->attainable;
        /* by what the pairs compare too, so that no row can be both the fastest and slower than another */
        const double *step = measurements_of(m, i, FIGURE_STEP);
        if (row->reduces && m->rounds &&
            (c->fastest < 0 ||
             stats_paired(step, measurements_of(m, c->fastest, FIGURE_STEP), m->rounds, 0.95).ratio < 1))
            c->fastest = i;
    }
    compare_pairs(c, m);
}

void ranking_destroy(struct ranking *c)
{
    free(c->pair);
    c->pair = NULL;
}
