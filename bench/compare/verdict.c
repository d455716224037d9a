/* verdict.c - whether candidate runs are slower than baseline runs. */
#include "compare/verdict.h"

#include "base/stats.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

const char *const verdict_name[VERDICTS] = {"ok", "new", "improved", "missing", "ambiguous", "regressed"};

/* A row, and the runs behind it, turned so that more is worse. */
struct hypothesis {
    struct verdict_row *row;
    int wrong;
    double *baseline, *candidate; /* [n_baseline], [n_candidate] of the row */
    double p_regressed, p_improved;
    struct unpaired difference;
};

/* The figures above 0 among value[runs], turned; the caller frees kept. Returns how many there are. */
static size_t keep_positive(const double *value, size_t runs, int higher_is_better, double **kept)
{
    size_t n = 0;
    *kept = allocate(runs, sizeof **kept);
    for (size_t i = 0; i < runs; i++)
        if (value[i] > 0 && isfinite(value[i]))
            (*kept)[n++] = higher_is_better ? 1 / value[i] : value[i];
    return n;
}

static int has_all(const struct verdict_row *row, size_t size_group, size_t baselines, size_t candidates)
{
    return row->size_group == size_group && row->n_baseline == baselines && row->n_candidate == candidates;
}

/* The mean over the sizes of a group that all runs have: geometric means, one for each run. Returns 0, with nothing
 * taken, if there are not two such sizes. */
static int take_sizes(struct hypothesis *h, size_t size_group, const struct hypothesis *single, size_t figures,
                      size_t baselines, size_t candidates)
{
    size_t sizes = 0;
    for (size_t g = 0; g < figures; g++)
        sizes += (size_t)has_all(single[g].row, size_group, baselines, candidates);
    if (sizes < 2)
        return 0;
    *h->row = (struct verdict_row){
        .size_group = size_group, .sizes = sizes, .n_baseline = baselines, .n_candidate = candidates};
    h->baseline = allocate(baselines, sizeof *h->baseline);
    h->candidate = allocate(candidates, sizeof *h->candidate);
    for (size_t g = 0; g < figures; g++) {
        int has = has_all(single[g].row, size_group, baselines, candidates);
        for (size_t i = 0; has && i < baselines; i++)
            h->baseline[i] += log(single[g].baseline[i]) / (double)sizes;
        for (size_t i = 0; has && i < candidates; i++)
            h->candidate[i] += log(single[g].candidate[i]) / (double)sizes;
    }
    for (size_t i = 0; i < baselines; i++)
        h->baseline[i] = exp(h->baseline[i]);
    for (size_t i = 0; i < candidates; i++)
        h->candidate[i] = exp(h->candidate[i]);
    return 1;
}

/* ---- few runs: only what is far beyond every run ---- */

static enum figure_verdict judge_extremes(const struct hypothesis *h, const struct verdict_rules *rules)
{
    const struct verdict_row *row = h->row;
    double far = (1 + rules->tolerance) * (1 + rules->floor), end[2]; /* least and most that the ratio of two runs is */
    for (int i = 0; i < 2; i++)
        end[i] =
            stats_quantile(h->candidate, row->n_candidate, i) / stats_quantile(h->baseline, row->n_baseline, 1 - i);
    if (end[0] > far)
        return VERDICT_REGRESSED;
    if (end[1] < 1 / far)
        return VERDICT_IMPROVED;
    return row->ratio > 1 + rules->tolerance ? VERDICT_AMBIGUOUS : VERDICT_OK;
}

/* ---- enough runs: the spread tells ---- */

/* What is not proven may still be so: if the typical run is slower than the tolerance, or their mean by tolerance and
 * floor. A late run now and then, which the spread explains, is neither. */
static int may_be_worse(const struct hypothesis *h, const struct verdict_rules *rules)
{
    const struct verdict_row *row = h->row;
    double typical = stats_median(h->candidate, row->n_candidate) / stats_median(h->baseline, row->n_baseline);
    return row->ratio > (1 + rules->tolerance) * (1 + rules->floor) ||
           (row->ratio > 1 + rules->tolerance && typical > 1 + rules->tolerance);
}

/* One-sided: of a ratio up to 1 + tolerance, and of one down to 1 / (1 + tolerance). */
static void test(struct hypothesis *h, const struct verdict_rules *rules)
{
    struct unpaired *d = &h->difference;
    double edge = log1p(rules->tolerance);
    *d = stats_unpaired(h->candidate, h->row->n_candidate, h->baseline, h->row->n_baseline, VERDICT_LEAST_SD);
    h->p_regressed = stats_t_cdf((edge - d->difference) / d->error, d->df);
    h->p_improved = stats_t_cdf((d->difference + edge) / d->error, d->df);
}

/* The weights of m hypotheses: those of several sizes share their part alike, and the single ones the rest. */
static void weigh(double *weight, const struct hypothesis *h, size_t m)
{
    size_t means = 0;
    for (size_t i = 0; i < m; i++)
        means += h[i].row->sizes > 1;
    double part = means ? VERDICT_SIZES_PART : 0;
    for (size_t i = 0; i < m; i++)
        weight[i] = h[i].row->sizes > 1 ? part / (double)means : (1 - part) / (double)(m - means);
}

/* Student's t beyond which lies `level`, kept while the level and the degrees of freedom stay as they are, as they do
 * from row to row. */
struct quantile {
    double level, df, t;
};

static double t_beyond(struct quantile *kept, double level, double df)
{
    if (level != kept->level || df != kept->df)
        *kept = (struct quantile){level, df, -stats_t_quantile(level, df)};
    return kept->t;
}

static void judge_spread(const struct hypothesis *h, size_t m, const struct verdict_rules *rules)
{
    double *p = allocate(m, sizeof *p), *weight = allocate(m, sizeof *weight);
    double *worse = allocate(m, sizeof *worse), *better = allocate(m, sizeof *better); /* levels */
    struct quantile of_worse = {0}, of_better = {0};
    weigh(weight, h, m);
    for (size_t i = 0; i < m; i++)
        p[i] = h[i].p_regressed;
    stats_holm_weighted(p, weight, m, rules->level, worse);
    for (size_t i = 0; i < m; i++)
        p[i] = h[i].p_improved;
    stats_holm_weighted(p, weight, m, rules->level, better);
    for (size_t i = 0; i < m; i++) {
        struct verdict_row *row = h[i].row;
        const struct unpaired *d = &h[i].difference;
        row->low = exp(d->difference - t_beyond(&of_worse, worse[i], d->df) * d->error);
        row->high = exp(d->difference + t_beyond(&of_better, better[i], d->df) * d->error);
        row->verdict = h[i].p_regressed <= worse[i]   ? VERDICT_REGRESSED
                       : h[i].p_improved <= better[i] ? VERDICT_IMPROVED
                       : may_be_worse(&h[i], rules)   ? VERDICT_AMBIGUOUS
                                                      : VERDICT_OK;
    }
    free(p);
    free(weight);
    free(worse);
    free(better);
}

/* ---- all together ---- */

static void judge(struct verdicts *verdicts, struct hypothesis *h, const struct verdict_rules *rules, size_t candidates)
{
    struct hypothesis *spread = allocate(verdicts->n, sizeof *spread);
    size_t m = 0;
    for (size_t i = 0; i < verdicts->n; i++) {
        struct verdict_row *row = h[i].row;
        row->low = row->high = row->ratio = NAN;
        if (row->n_baseline && row->n_candidate)
            row->ratio = exp(stats_log_ratio(h[i].candidate, row->n_candidate, h[i].baseline, row->n_baseline));
        if (!row->n_baseline)
            row->verdict = VERDICT_NEW;
        else if (row->n_candidate < candidates)
            row->verdict = VERDICT_MISSING;
        else if (row->n_baseline >= VERDICT_RUNS && isfinite(row->ratio)) {
            test(&h[i], rules);
            spread[m++] = h[i];
        } else {
            row->verdict = judge_extremes(&h[i], rules);
        }
    }
    judge_spread(spread, m, rules);
    free(spread);
}

void verdicts_create(struct verdicts *verdicts, const struct verdict_rules *rules, const struct verdict_figure *figure,
                     size_t figures, size_t baselines, size_t candidates)
{
    size_t size_groups = 0;
    for (size_t g = 0; g < figures; g++)
        size_groups = figure[g].size_group >= size_groups ? figure[g].size_group + 1 : size_groups;
    struct hypothesis *h = allocate(figures + size_groups, sizeof *h);
    *verdicts = (struct verdicts){.row = allocate(figures + size_groups, sizeof *verdicts->row), .n = figures};
    for (size_t g = 0; g < figures; g++) {
        const struct verdict_figure *f = &figure[g];
        h[g] = (struct hypothesis){.row = &verdicts->row[g], .wrong = f->wrong};
        *h[g].row = (struct verdict_row){
            .size_group = f->size_group,
            .sizes = 1,
            .n_baseline = keep_positive(f->baseline, baselines, f->higher_is_better, &h[g].baseline),
            .n_candidate = keep_positive(f->candidate, candidates, f->higher_is_better, &h[g].candidate)};
    }
    for (size_t group = 0; group < size_groups; group++) {
        h[verdicts->n].row = &verdicts->row[verdicts->n];
        verdicts->n += (size_t)take_sizes(&h[verdicts->n], group, h, figures, baselines, candidates);
    }
    judge(verdicts, h, rules, candidates);
    for (size_t i = 0; i < verdicts->n; i++) {
        verdicts->row[i].verdict = h[i].wrong ? VERDICT_REGRESSED : verdicts->row[i].verdict;
        verdicts->count[verdicts->row[i].verdict]++;
        free(h[i].baseline);
        free(h[i].candidate);
    }
    free(h);
}

void verdicts_destroy(struct verdicts *verdicts)
{
    free(verdicts->row);
    *verdicts = (struct verdicts){0};
}
