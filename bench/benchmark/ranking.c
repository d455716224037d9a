/* ranking.c - from samples to figures. */
#include "benchmark/ranking.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

static struct paired compare(const struct ranking *c, const struct measurements *m, int a, int b, double level)
{
    const double *of_a = measurements_of(m, a, FIGURE_STEP), *of_b = measurements_of(m, b, FIGURE_STEP);
    return (c->resolve > 0 ? stats_paired_anytime : stats_paired)(of_a, of_b, m->rounds, level);
}

static void fill_row(struct ranking *c, const struct measurements *m, int i, int none, int communicates, double tokens)
{
    struct row *row = &c->row[i];
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

static int within(const struct paired *paired, double resolve)
{
    return paired->ci_high <= 1 + resolve && paired->ci_low >= 1 / (1 + resolve);
}

/* Until this interval neither reaches 1 nor beyond what was asked for, whichever comes first. */
static double rounds_needed(const struct ranking *c, const struct paired *paired)
{
    double distance = fabs(log(paired->ratio)), made = (double)c->rounds;
    double reach = fmax(log(paired->ci_high / paired->ratio), log(paired->ratio / paired->ci_low));
    double of_reach = fmax(distance, log1p(c->resolve) - distance) / reach;
    return of_reach > 0 ? fmax(made + 1, ceil(made / (of_reach * of_reach))) : INFINITY;
}

static void compare_pairs(struct ranking *c, const struct measurements *m)
{
    size_t n = (size_t)c->pairs, at = 0;
    c->pair = allocate(n, sizeof *c->pair);
    double *p = allocate(n, sizeof *p);
    for (int a = 0; a < c->n; a++)
        for (int b = a + 1; b < c->n; b++)
            if (c->row[a].reduces && c->row[b].reduces) {
                struct paired paired = compare(c, m, a, b, c->level);
                p[at] = paired.p;
                c->pair[at++] = (struct pair){.a = a, .b = b, .paired = paired};
            }
    stats_holm(p, n);
    for (struct pair *pair = c->pair; pair < c->pair + c->pairs; pair++) {
        pair->p = p[pair - c->pair];
        if (pair->a != c->fastest && pair->b != c->fastest)
            continue;
        int i = pair->a == c->fastest ? pair->b : pair->a;
        struct row *other = &c->row[i];
        other->to_fastest = compare(c, m, i, c->fastest, c->level);
        other->slower = pair->p < 0.05 && other->to_fastest.ratio > 1; /* medians of ratios may go in circles */
        other->open = c->resolve > 0 && !other->slower && !within(&other->to_fastest, c->resolve);
        if (other->open)
            c->rounds_needed = fmax(c->rounds_needed, rounds_needed(c, &other->to_fastest));
    }
    free(p);
}

/* All of a ranking but what is a row's alone. */
static void compare_rows(struct ranking *c, const struct measurements *m, const struct implementation *implementation,
                         double resolve)
{
    *c = (struct ranking){.n = m->n, .rounds = m->rounds, .resolve = resolve, .fastest = -1};
    c->rounds_needed = (double)m->rounds;
    for (int i = 0, reduce = 0; i < m->n; i++) {
        struct row *row = &c->row[i];
        row->label = implementation[i].label;
        row->reduces = implementation[i].strategy->reduces;
        c->pairs += row->reduces ? reduce++ : 0;
        /* by what the pairs compare too, so that the table does not contradict the verdict */
        if (row->reduces && m->rounds && (c->fastest < 0 || compare(c, m, i, c->fastest, 0.95).ratio < 1))
            c->fastest = i;
    }
    c->level = resolve > 0 ? 1 - 0.05 / c->pairs : 0.95;
    compare_pairs(c, m);
}

void ranking_create(struct ranking *c, const struct measurements *m, const struct implementation *implementation,
                    int ranks, double tokens, const double *attainable, double resolve)
{
    int none = -1;
    compare_rows(c, m, implementation, resolve);
    for (int i = m->n - 1; i >= 0; i--)
        if (implementation[i].strategy == &strategy_none)
            none = i;
    for (int i = 0; i < m->n; i++) {
        struct row *row = &c->row[i];
        fill_row(c, m, i, none, row->reduces && ranks > 1, tokens);
        size_t bounded = attainable && row->reduces ? m->rounds : 0;
        const double *step = measurements_of(m, i, FIGURE_STEP);
        const double *bound = bounded ? attainable + (size_t)i * m->rounds : step; /* of no rounds otherwise */
        row->attainable = stats_estimate(bound, bounded);
        row->step_to_attainable = stats_paired(step, bound, bounded, 0.95);
    }
}

void ranking_destroy(struct ranking *c)
{
    free(c->pair);
    c->pair = NULL;
}

double ranking_rounds_needed(const struct measurements *m, const struct implementation *implementation, double resolve)
{
    struct ranking c;
    compare_rows(&c, m, implementation, resolve);
    ranking_destroy(&c);
    return c.rounds_needed;
}
