/* verdict.c - judges whether candidate runs are slower than baseline runs. */
#include "compare/verdict.h"

#include "base/stats.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

const char *const verdict_name[VERDICTS] = {"ok", "new", "improved", "missing", "ambiguous", "regressed"};

/* A row, and the values of its runs. Values are inverted if higher is better, so that greater is always worse. */
struct hypothesis {
    struct figure_verdict_row *row;
    double *run[2]; /* run[0]: [row->n[0]] values of the baselines; run[1]: of the candidates */
    struct unpaired difference;
};

/* Copies the values above 0, inverted if higher is better, to *kept, which the caller frees. Returns their number. */
static size_t keep_positive(const double *value, size_t runs, int higher_is_better, double **kept)
{
    size_t n = 0;
    *kept = allocate(runs, sizeof **kept);
    for (size_t i = 0; i < runs; i++)
        if (value[i] > 0 && isfinite(value[i]))
            (*kept)[n++] = higher_is_better ? 1 / value[i] : value[i];
    return n;
}

/* Computes for each run the geometric mean over those sizes of a group that all runs have. Returns 1; or 0, with
 * nothing allocated, if there are fewer than two of these sizes. */
static int take_sizes(struct hypothesis *mean, size_t size_group, const struct hypothesis *single, size_t figures,
                      const size_t runs[2])
{
    *mean->row = (struct figure_verdict_row){.n = {runs[0], runs[1]}};
    for (int side = 0; side < 2; side++)
        mean->run[side] = allocate(runs[side], sizeof *mean->run[side]);
    for (const struct hypothesis *h = single; h < single + figures; h++) {
        if (h->row->figure->size_group != size_group || h->row->n[0] != runs[0] || h->row->n[1] != runs[1])
            continue;
        mean->row->figure = h->row->figure;
        mean->row->sizes++;
        for (int side = 0; side < 2; side++)
            for (size_t i = 0; i < runs[side]; i++)
                mean->run[side][i] += log(h->run[side][i]);
    }
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < runs[side]; i++)
            mean->run[side][i] = exp(mean->run[side][i] / (double)mean->row->sizes);
    if (mean->row->sizes >= 2)
        return 1;
    free(mean->run[0]);
    free(mean->run[1]);
    return 0;
}

/* Returns quantile q of the candidates / quantile 1 - q of the baselines; q = 0: best candidate / worst baseline. */
static double ratio_at(const struct hypothesis *h, double q)
{
    return stats_quantile(h->run[1], h->row->n[1], q) / stats_quantile(h->run[0], h->row->n[0], 1 - q);
}

/* ---- few runs: a difference must be large, and every run must show it ---- */

int verdict_is_possible(size_t baselines, size_t candidates, double level)
{
    double orders = 1;
    for (size_t i = 1; i <= baselines; i++)
        orders *= (double)(candidates + i) / (double)i;
    return orders * level > 1 - 1e-9;
}

static enum figure_verdict judge_extremes(const struct hypothesis *h, const struct verdict_rules *rules)
{
    double far = (1 + rules->tolerance) * (1 + rules->floor);
    int possible = verdict_is_possible(h->row->n[0], h->row->n[1], rules->level);
    return possible && ratio_at(h, 0) > far                          ? VERDICT_REGRESSED
           : possible && ratio_at(h, 1) < 1 / far                    ? VERDICT_IMPROVED
           : h->row->ratio > (possible ? 1 + rules->tolerance : far) ? VERDICT_AMBIGUOUS
                                                                     : VERDICT_OK;
}

/* ---- enough runs: tests that use the variance of the runs ---- */

/* Whether a figure whose change is not significant may still be slower: both mean and median are worse by more than the
 * tolerance, or the mean is worse by more than tolerance and floor together. */
static int may_be_worse(const struct hypothesis *h, const struct verdict_rules *rules)
{
    double ratio = h->row->ratio, edge = 1 + rules->tolerance;
    return ratio > edge * (1 + rules->floor) || (ratio > edge && ratio_at(h, 0.5) > edge);
}

/* Returns how much worse candidates are: by paired differences if all runs have the figure and were made in turn. */
static struct unpaired difference_of(const struct hypothesis *h, size_t pairs)
{
    const size_t *n = h->row->n;
    if (!pairs || n[0] != pairs || n[1] != pairs)
        return stats_unpaired(h->run[1], n[1], h->run[0], n[0], VERDICT_LEAST_SD);
    struct unpaired difference = stats_log_ratio(h->run[1], h->run[0], pairs);
    difference.error = fmax(difference.error, VERDICT_LEAST_SD * sqrt(2 / (double)pairs));
    return difference;
}

/* Judges each row by two one-sided tests: is the ratio above 1 + tolerance, and is it below 1 / (1 + tolerance)? Rows
 * that are means over sizes evenly share VERDICT_SIZES_PART of the weight in Holm's test; all others share the rest. */
static void judge_spread(struct hypothesis *h, size_t m, const struct verdict_rules *rules)
{
    double *weight = allocate(5 * m, sizeof *weight), edge = log1p(rules->tolerance);
    double *p[2] = {weight + m, weight + 2 * m};         /* p-values of the hypotheses "not worse" and "not better" */
    double *level[2] = {weight + 3 * m, weight + 4 * m}; /* levels of the tests of p[0] and p[1] */
    size_t means = 0;
    for (size_t i = 0; i < m; i++)
        means += h[i].row->sizes > 1;
    double part = means ? VERDICT_SIZES_PART : 0;
    for (size_t i = 0; i < m; i++) {
        struct unpaired *d = &h[i].difference;
        *d = difference_of(&h[i], rules->pairs);
        weight[i] = h[i].row->sizes > 1 ? part / (double)means : (1 - part) / (double)(m - means);
        p[0][i] = stats_t_cdf((edge - d->difference) / d->error, d->df);
        p[1][i] = stats_t_cdf((edge + d->difference) / d->error, d->df);
    }
    for (int side = 0; side < 2; side++)
        stats_holm(p[side], weight, m, rules->level, level[side]);
    for (size_t i = 0; i < m; i++) {
        struct figure_verdict_row *row = h[i].row;
        const struct unpaired *d = &h[i].difference;
        row->low = exp(d->difference + stats_t_quantile(level[0][i], d->df) * d->error);
        row->high = exp(d->difference - stats_t_quantile(level[1][i], d->df) * d->error);
        row->verdict = p[0][i] <= level[0][i]       ? VERDICT_REGRESSED
                       : p[1][i] <= level[1][i]     ? VERDICT_IMPROVED
                       : may_be_worse(&h[i], rules) ? VERDICT_AMBIGUOUS
                                                    : VERDICT_OK;
    }
    free(weight);
}

/* ---- all figures ---- */

/* Replaces a verdict that other processes may explain. Returns 1 if it was regressed, -1 if improved, 0 if neither. */
static int doubt(struct figure_verdict_row *row, const double other_cores[2])
{
    double more = other_cores[1] - other_cores[0];
    int regressed = row->verdict == VERDICT_REGRESSED && more >= VERDICT_BUSIER_CORES;
    int improved = row->verdict == VERDICT_IMPROVED && more <= -VERDICT_BUSIER_CORES;
    row->verdict = regressed ? VERDICT_AMBIGUOUS : improved ? VERDICT_OK : row->verdict;
    return regressed - improved;
}

static void judge(struct verdicts *verdicts, struct hypothesis *h, const struct verdict_rules *rules, size_t candidates)
{
    struct hypothesis *spread = allocate(verdicts->n, sizeof *spread);
    size_t m = 0;
    for (size_t i = 0; i < verdicts->n; i++) {
        struct figure_verdict_row *row = h[i].row;
        row->low = row->high = row->ratio = NAN;
        if (row->n[0] && row->n[1])
            row->ratio = exp(stats_unpaired(h[i].run[1], row->n[1], h[i].run[0], row->n[0], 0).difference);
        if (!row->n[0])
            row->verdict = VERDICT_NEW;
        else if (row->n[1] < candidates)
            row->verdict = VERDICT_MISSING;
        else if (row->n[0] >= VERDICT_RUNS && isfinite(row->ratio))
            spread[m++] = h[i];
        else
            row->verdict = judge_extremes(&h[i], rules);
    }
    judge_spread(spread, m, rules);
    free(spread);
}

void verdicts_create(struct verdicts *verdicts, const struct verdict_rules *rules, const struct verdict_figure *figure,
                     size_t figures, size_t baselines, size_t candidates)
{
    const size_t runs[2] = {baselines, candidates};
    size_t size_groups = 0;
    for (size_t g = 0; g < figures; g++)
        size_groups = figure[g].size_group >= size_groups ? figure[g].size_group + 1 : size_groups;
    struct hypothesis *h = allocate(figures + size_groups, sizeof *h);
    size_t *sizes = allocate(size_groups + 1, sizeof *sizes); /* number of figures in each group */
    *verdicts = (struct verdicts){.row = allocate(figures + size_groups, sizeof *verdicts->row), .n = figures};
    for (size_t g = 0; g < figures; g++) {
        const struct verdict_figure *f = &figure[g];
        sizes[f->size_group]++;
        h[g].row = &verdicts->row[g];
        *h[g].row = (struct figure_verdict_row){
            .figure = f,
            .sizes = 1,
            .n = {keep_positive(f->baseline, baselines, f->higher_is_better, &h[g].run[0]),
                  keep_positive(f->candidate, candidates, f->higher_is_better, &h[g].run[1])}};
    }
    for (size_t group = 0; group < size_groups; group++) {
        if (sizes[group] < 2)
            continue;
        h[verdicts->n].row = &verdicts->row[verdicts->n];
        verdicts->n += (size_t)take_sizes(&h[verdicts->n], group, h, figures, runs);
    }
    judge(verdicts, h, rules, candidates);
    for (size_t i = 0; i < verdicts->n; i++) {
        struct figure_verdict_row *row = h[i].row;
        int doubtful = doubt(row, rules->other_cores);
        verdicts->doubtful = doubtful ? doubtful : verdicts->doubtful;
        if (row->sizes == 1 && row->figure->wrong)
            row->verdict = VERDICT_REGRESSED;
        verdicts->count[row->verdict]++;
        free(h[i].run[0]);
        free(h[i].run[1]);
    }
    free(sizes);
    free(h);
}

void verdicts_destroy(struct verdicts *verdicts)
{
    free(verdicts->row);
    *verdicts = (struct verdicts){0};
}
