/* ranking.c - computes medians, costs and significant differences from the samples. */
#include "benchmark/ranking.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* Estimates the median of a[i] / b[i]. */
static struct estimate ratios(const double *a, const double *b, size_t n)
{
    double *ratio = allocate(n + 1, sizeof *ratio);
    for (size_t i = 0; i < n; i++)
        ratio[i] = a[i] / b[i];
    struct estimate estimate = stats_estimate(ratio, n);
    free(ratio);
    return estimate;
}

/* Fills the figures of row i. none, ddp: rows of `none` and `ddp`, or -1. */
static void fill_row(struct ranking *c, const struct measurements *m, int i, int none, int ddp, int communicates,
                     double tokens)
{
    struct ranking_row *row = &c->row[i];
    const double *sync = measurements_of(m, i, PHASE_GRADIENT_SYNC), *step = measurements_of(m, i, FIGURE_STEP);
    double *rate = allocate(m->rounds, sizeof *rate);
    for (size_t r = 0; r < m->rounds; r++)
        rate[r] = tokens / step[r];
    row->tokens_per_second = stats_estimate(rate, m->rounds);
    free(rate);
    row->communication_ratio = ratios(sync, step, communicates ? m->rounds : 0);
    for (int figure = 0; figure < FIGURES; figure++)
        row->seconds[figure] = stats_estimate(measurements_of(m, i, figure), m->rounds);
    /* without `none` or `ddp` the estimate has n = 0, and row i, given in their place, is not read */
    row->sync_cost = stats_differences(step, measurements_of(m, none < 0 ? i : none, FIGURE_STEP),
                                       none < 0 || !communicates ? 0 : m->rounds);
    row->to_ddp = ratios(step, measurements_of(m, ddp < 0 ? i : ddp, FIGURE_STEP), ddp < 0 ? 0 : m->rounds);
}

/* Estimates after how many rounds in all a ratio's interval will exclude 1, or lie within c->resolve of 1. */
static double rounds_needed(const struct ranking *c, const struct paired *paired)
{
    double distance = fabs(log(paired->ratio)), made = (double)c->rounds;
    double reach = fmax(log(paired->ci_high / paired->ratio), log(paired->ratio / paired->ci_low));
    double of_reach = fmax(distance, log1p(c->resolve) - distance) / reach;
    return of_reach > 0 ? fmax(made + 1, ceil(made / (of_reach * of_reach))) : INFINITY;
}

/* Compares the rows that reduce: finds the fastest, and the ratio of each other row to the fastest. */
static void compare_rows(struct ranking *c, const struct measurements *m, const struct implementation *implementation,
                         double resolve)
{
    const double *step[MAX_IMPLEMENTATIONS];
    struct against_best against[MAX_IMPLEMENTATIONS];
    int row_of[MAX_IMPLEMENTATIONS];
    *c = (struct ranking){.n = m->n, .rounds = m->rounds, .resolve = resolve, .fastest = -1};
    c->rounds_needed = (double)m->rounds;
    for (int i = 0; i < m->n; i++) {
        const struct implementation *of = &implementation[i];
        c->row[i] = (struct ranking_row){of->label, of, of->strategy->reduces, .mark = ""};
        if (!c->row[i].reduces)
            continue;
        step[c->compared] = measurements_of(m, i, FIGURE_STEP);
        row_of[c->compared++] = i;
    }
    if (!c->compared || !m->rounds)
        return;
    c->fastest = row_of[best_of(step, c->compared, m->rounds, resolve > 0, against)];
    for (int j = 0; j < c->compared; j++) {
        struct ranking_row *row = &c->row[row_of[j]];
        row->to_fastest = against[j];
        if (row == &c->row[c->fastest])
            continue;
        row->undecided = resolve > 0 && !against[j].slower && !best_within(&against[j].paired, resolve);
        if (row->undecided)
            c->rounds_needed = fmax(c->rounds_needed, rounds_needed(c, &against[j].paired));
        row->mark = against[j].slower || row->undecided || m->rounds < STATS_LEAST_PAIRS ? "" : "=";
    }
    c->row[c->fastest].mark = c->compared > 1 ? "*" : "";
}

void ranking_create(struct ranking *c, const struct measurements *m, const struct implementation *implementation,
                    int ranks, double tokens, const double *attainable, double resolve)
{
    int none = -1, ddp = -1;
    compare_rows(c, m, implementation, resolve);
    for (int i = m->n - 1; i >= 0; i--) {
        none = implementation[i].strategy == &strategy_none ? i : none;
        ddp = implementation[i].strategy == &strategy_ddp ? i : ddp;
    }
    for (int i = 0; i < m->n; i++) {
        struct ranking_row *row = &c->row[i];
        fill_row(c, m, i, none, ddp, row->reduces && ranks > 1, tokens);
        size_t bounded = attainable && row->reduces ? m->rounds : 0;
        const double *step = measurements_of(m, i, FIGURE_STEP);
        const double *bound = bounded ? attainable + (size_t)i * m->rounds : step; /* not read if `bounded` is 0 */
        row->attainable = stats_estimate(bound, bounded);
        row->step_to_attainable = stats_paired(step, bound, bounded, 0.95);
    }
}

double ranking_rounds_needed(const struct measurements *m, const struct implementation *implementation, double resolve)
{
    struct ranking c;
    compare_rows(&c, m, implementation, resolve);
    return c.rounds_needed;
}
