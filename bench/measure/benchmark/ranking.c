/* ranking.c - computes mean times, costs and significant differences from the samples. */
#include "benchmark/ranking.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The phases that the table shows. */
static const int shown[] = {PHASE_DATA_LOADING,  PHASE_FORWARD,   PHASE_PARAMETER_GATHER, PHASE_BACKWARD,
                            PHASE_GRADIENT_SYNC, PHASE_OPTIMIZER, PHASE_CHECKPOINT};

/* Fills the figures of row i. none, ddp: rows of `none` and `ddp`, or -1. */
static void fill_row(struct ranking *c, const struct measurements *m, int i, int none, int ddp, int communicates,
                     double tokens)
{
    struct ranking_row *row = &c->row[i];
    const double *sync = measurements_of(m, i, PHASE_GRADIENT_SYNC), *step = measurements_of(m, i, FIGURE_STEP);
    const double *gather = measurements_of(m, i, PHASE_PARAMETER_GATHER);
    double *wait = allocate(m->rounds + 1, sizeof *wait);
    int anytime = c->resolve > 0;
    for (size_t r = 0; r < m->rounds; r++)
        wait[r] = sync[r] + gather[r];
    for (int figure = 0; figure < FIGURES; figure++)
        row->seconds[figure] = stats_typical(measurements_of(m, i, figure), m->rounds, anytime);
    const struct estimate *s = &row->seconds[FIGURE_STEP];
    row->tokens_per_second =
        (struct estimate){tokens / s->median, tokens / s->ci_high, tokens / s->ci_low, NAN, NAN, s->n};
    row->other = s->median;
    for (size_t p = 0; p < sizeof shown / sizeof *shown; p++)
        row->other -= row->seconds[shown[p]].median;
    /* a figure that does not apply has n = 0 rounds; the row given for `none` or `ddp` is then not read */
    int synchronises = communicates && row->seconds[PHASE_GRADIENT_SYNC].median > 0;
    row->communication_ratio = stats_ratios(wait, step, synchronises ? m->rounds : 0, anytime);
    row->to_ddp =
        stats_ratios(step, measurements_of(m, ddp < 0 ? i : ddp, FIGURE_STEP), ddp < 0 ? 0 : m->rounds, anytime);
    row->sync_cost = stats_excess(step, measurements_of(m, none < 0 ? i : none, FIGURE_STEP),
                                  none < 0 || !communicates ? 0 : m->rounds, anytime);
    free(wait);
}

/* Compares the rows that are not controls: finds the fastest, and the ratio of each other row to the fastest. */
static void compare_rows(struct ranking *c, const struct measurements *m, const struct implementation *implementation,
                         double resolve)
{
    const double *step[MAX_IMPLEMENTATIONS];
    struct against_best against[MAX_IMPLEMENTATIONS];
    int row_of[MAX_IMPLEMENTATIONS];
    *c = (struct ranking){.n = m->n, .rounds = m->rounds, .resolve = resolve, .fastest = -1};
    c->within = resolve > 0 ? resolve : VERDICT_WITHIN;
    c->rounds_needed = (double)m->rounds;
    for (int i = 0; i < m->n; i++) {
        const struct implementation *of = &implementation[i];
        c->row[i] = (struct ranking_row){.label = of->label,
                                         .implementation = of,
                                         .reduces = implementation_traits(of)->reduces,
                                         .compared = implementation_is_compared(of),
                                         .error = {NAN, NAN},
                                         .mark = ""};
        if (!c->row[i].compared)
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
        c->rounds_needed = fmax(c->rounds_needed, best_rounds_needed(&against[j], c->within));
        row->mark = verdict_judge(&against[j], c->within) == VERDICT_TIE ? "=" : "";
    }
    c->row[c->fastest].mark = c->compared > 1 ? "*" : "";
}

void ranking_create(struct ranking *c, const struct measurements *m, const struct implementation *implementation,
                    int ranks, double tokens, const double *attainable, double resolve)
{
    int none = -1, ddp = -1, anytime = resolve > 0;
    compare_rows(c, m, implementation, resolve);
    for (int i = m->n - 1; i >= 0; i--) {
        none = implementation[i].strategy == &strategy_none ? i : none;
        if (implementation[i].strategy == &strategy_ddp && (ddp < 0 || strcmp(implementation[ddp].label, "ddp") != 0))
            ddp = i; /* the row of that name, or else the first with another label */
    }
    for (int i = 0; i < m->n; i++) {
        struct ranking_row *row = &c->row[i];
        row->mark = ranks > 1 ? row->mark : ""; /* one rank has nothing to choose */
        fill_row(c, m, i, none, ddp, row->reduces && ranks > 1, tokens);
        size_t bounded = attainable && row->reduces ? m->rounds : 0;
        const double *step = measurements_of(m, i, FIGURE_STEP);
        const double *bound = bounded ? attainable + (size_t)i * m->rounds : step; /* not read if `bounded` is 0 */
        row->attainable = stats_typical(bound, bounded, anytime);
        row->step_to_attainable = stats_ratios(step, bound, bounded, anytime);
    }
}

double ranking_rounds_needed(const struct measurements *m, const struct implementation *implementation, double resolve)
{
    struct ranking c;
    compare_rows(&c, m, implementation, resolve);
    return c.rounds_needed;
}
