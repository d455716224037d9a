/* verdict.c - judges whether candidate runs are slower than baseline runs. */
#include "compare/verdict.h"

#include "kernels/error.h"
#include "results/busy.h"

#include <math.h>
#include <stdlib.h>

const char *const verdict_name[VERDICTS] = {"ok", "new", "improved", "unseen", "missing", "ambiguous", "regressed"};

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

static int all_have(const struct figure_verdict_row *row, const size_t runs[2])
{
    return row->n[0] == runs[0] && row->n[1] == runs[1];
}

/* Makes the row of the geometric mean over those of n sizes that all runs have. Returns 1; or 0, with nothing
 * allocated, if there are fewer than two of these sizes. */
static int take_sizes(struct figure_verdict_row *mean, const struct figure_verdict_row *size, size_t n,
                      const size_t runs[2])
{
    size_t sizes = 0;
    for (size_t k = 0; k < n; k++)
        sizes += (size_t)all_have(&size[k], runs);
    if (sizes < 2)
        return 0;
    *mean = (struct figure_verdict_row){.figure = size->figure, .sizes = sizes, .n = {runs[0], runs[1]}, .summary = 1};
    for (int side = 0; side < 2; side++) {
        mean->run[side] = allocate(runs[side], sizeof *mean->run[side]);
        for (size_t i = 0; i < runs[side]; i++) {
            for (size_t k = 0; k < n; k++)
                mean->run[side][i] += all_have(&size[k], runs) ? log(size[k].run[side][i]) : 0;
            mean->run[side][i] = exp(mean->run[side][i] / (double)sizes);
        }
    }
    return 1;
}

/* Returns quantile q of the candidates / quantile 1 - q of the baselines; q = 0: best candidate / worst baseline. */
static double ratio_at(const struct figure_verdict_row *row, double q)
{
    return stats_quantile(row->run[1], row->n[1], q) / stats_quantile(row->run[0], row->n[0], 1 - q);
}

/* ---- few runs: a difference must be large, and every run must show it ---- */

int verdict_is_possible(size_t baselines, size_t candidates, double level)
{
    double orders = 1;
    for (size_t i = 1; i <= baselines; i++)
        orders *= (double)(candidates + i) / (double)i;
    return orders * level > 1 - 1e-9;
}

static void judge_extremes(struct figure_verdict_row *row, const struct verdict_rules *rules)
{
    double far = (1 + rules->tolerance) * (1 + rules->floor);
    int possible = verdict_is_possible(row->n[0], row->n[1], rules->level);
    row->seen_from = possible ? far * row->ratio / ratio_at(row, 0) : NAN;
    row->verdict = possible && ratio_at(row, 0) > far                     ? VERDICT_REGRESSED
                   : possible && ratio_at(row, 1) < 1 / far               ? VERDICT_IMPROVED
                   : row->ratio > (possible ? 1 + rules->tolerance : far) ? VERDICT_AMBIGUOUS
                                                                          : VERDICT_UNSEEN;
}

/* ---- enough runs: tests that use the variance of the runs ---- */

/* Whether a figure whose change is not significant may still be slower: both mean and median are worse by more than the
 * tolerance, or the mean is worse by more than tolerance and floor together. */
static int may_be_worse(const struct figure_verdict_row *row, const struct verdict_rules *rules)
{
    double ratio = row->ratio, edge = 1 + rules->tolerance;
    return ratio > edge * (1 + rules->floor) || (ratio > edge && ratio_at(row, 0.5) > edge);
}

static int is_paired(const struct figure_verdict_row *row, size_t pairs)
{
    return pairs && row->n[0] == pairs && row->n[1] == pairs;
}

/* Returns how much worse candidates are, from paired differences if all runs have the figure and were made in turn. */
static struct unpaired difference_of(const struct figure_verdict_row *row, size_t pairs)
{
    if (!is_paired(row, pairs))
        return stats_unpaired(row->run[1], row->n[1], row->run[0], row->n[0], VERDICT_LEAST_SD);
    struct unpaired difference = stats_log_ratio(row->run[1], row->run[0], pairs);
    difference.error = fmax(difference.error, VERDICT_LEAST_SD * sqrt(2 / (double)pairs));
    return difference;
}

/* Whether the upper end of the interval would be at most 1 + tolerance with `more` runs of each side. */
static int would_do(const struct figure_verdict_row *row, double more, const struct verdict_rules *rules)
{
    double a = (double)row->n[0], b = (double)row->n[1];
    double error = row->difference.error * sqrt((1 / (a + more) + 1 / (b + more)) / (1 / a + 1 / b));
    double df = row->difference.df + (is_paired(row, rules->pairs) ? 1 : 2) * more;
    return stats_t_cdf((row->difference.difference - log1p(rules->tolerance)) / error, df) <= row->level;
}

static double more_runs(const struct figure_verdict_row *row, const struct verdict_rules *rules)
{
    size_t least = row->n[0] < VERDICT_RUNS ? VERDICT_RUNS - row->n[0] : 1, low = least - 1, high = 10000;
    if (!(row->difference.df > 0))
        return (double)least;
    if (!would_do(row, (double)high, rules))
        return NAN;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (would_do(row, (double)middle, rules))
            high = middle;
        else
            low = middle;
    }
    return (double)high;
}

static void judge_spread(struct figure_verdict_row *row, const struct verdict_rules *rules)
{
    double reach = -stats_t_quantile(row->level, row->difference.df) * row->difference.error,
           edge = 1 + rules->tolerance;
    row->low = exp(row->difference.difference - reach);
    row->seen_from = row->high = exp(row->difference.difference + reach);
    row->verdict = row->low > edge            ? VERDICT_REGRESSED
                   : row->high < 1 / edge     ? VERDICT_IMPROVED
                   : may_be_worse(row, rules) ? VERDICT_AMBIGUOUS
                   : row->high <= edge        ? VERDICT_OK
                                              : VERDICT_UNSEEN;
}

/* ---- all figures ---- */

int verdict_is_slowed(const struct verdict_rules *rules, int side)
{
    double share = rules->other[side];
    return share > BUSY_SHARE && !(rules->in_turn && share - rules->other[!side] < BUSY_SHARE);
}

/* Judges a row that baselines and candidates have. */
static void judge(struct figure_verdict_row *row, const struct verdict_rules *rules)
{
    row->difference = difference_of(row, rules->pairs);
    row->ratio = exp(row->difference.difference);
    if (row->n[0] >= VERDICT_RUNS && isfinite(row->ratio))
        judge_spread(row, rules);
    else
        judge_extremes(row, rules);
    int is_good = row->verdict == VERDICT_IMPROVED || row->verdict == VERDICT_OK;
    if (row->verdict == VERDICT_UNSEEN)
        row->more_runs = more_runs(row, rules);
    if (row->verdict == VERDICT_REGRESSED && verdict_is_slowed(rules, 1))
        row->verdict = VERDICT_AMBIGUOUS;
    if (is_good && verdict_is_slowed(rules, 0))
        row->verdict = VERDICT_UNSEEN;
    if (row->verdict != VERDICT_OK && (row->verdict != VERDICT_UNSEEN || is_good))
        row->seen_from = NAN;
}

/* Judges all rows. Means over sizes evenly share VERDICT_SIZES_PART of the level, all other judged rows the rest. */
static void judge_all(struct verdicts *verdicts, const struct verdict_rules *rules, size_t candidates)
{
    struct figure_verdict_row *const end = verdicts->row + verdicts->n;
    size_t judged[2] = {0, 0}; /* single figures, means over sizes */
    for (struct figure_verdict_row *row = verdicts->row; row < end; row++) {
        row->low = row->high = row->ratio = row->level = row->seen_from = row->more_runs = NAN;
        row->verdict = !row->n[0] ? VERDICT_NEW : row->n[1] < candidates ? VERDICT_MISSING : VERDICT_OK;
        if (row->n[0] && row->n[1])
            row->ratio = exp(stats_unpaired(row->run[1], row->n[1], row->run[0], row->n[0], 0).difference);
        judged[row->sizes > 1] += row->verdict == VERDICT_OK;
    }
    const double means = judged[1] ? VERDICT_SIZES_PART : 0, part[2] = {1 - means, means};
    for (struct figure_verdict_row *row = verdicts->row; row < end; row++) {
        if (row->verdict != VERDICT_OK)
            continue;
        row->level = rules->level * part[row->sizes > 1] / (double)judged[row->sizes > 1];
        judge(row, rules);
    }
}

void verdicts_create(struct verdicts *verdicts, const struct verdict_rules *rules, struct verdict_figure *const *figure,
                     size_t figures, size_t baselines, size_t candidates)
{
    const size_t runs[2] = {baselines, candidates};
    struct figure_verdict_row *row = allocate(figures + figures / 2 + 1, sizeof *row);
    *verdicts = (struct verdicts){.row = row, .n = figures};
    for (size_t i = 0; i < figures; i++) {
        const struct verdict_figure *f = figure[i];
        const int is_rate = f->figure.better == BETTER_HIGHER;
        row[i] = (struct figure_verdict_row){.figure = f, .sizes = 1, .wrong = f->wrong, .summary = 1};
        row[i].n[0] = keep_positive(f->baseline, baselines, is_rate, &row[i].run[0]);
        row[i].n[1] = keep_positive(f->candidate, candidates, is_rate, &row[i].run[1]);
    }
    for (size_t first = 0, end; first < figures; first = end) {
        for (end = first; end < figures && figure[end]->size_group == figure[first]->size_group;)
            end++;
        if (!take_sizes(&row[verdicts->n], &row[first], end - first, runs))
            continue;
        verdicts->n++;
        for (size_t i = first; i < end; i++)
            row[i].summary = 0;
    }
    judge_all(verdicts, rules, candidates);
    for (; row < verdicts->row + verdicts->n; row++) {
        verdicts->by_spread |= isfinite(row->low) != 0;
        if (row->wrong) {
            row->verdict = VERDICT_REGRESSED;
            row->seen_from = row->more_runs = NAN;
        }
        verdicts->count[row->verdict]++;
        verdicts->summary[row->verdict] += (size_t)row->summary;
    }
}

void verdicts_destroy(struct verdicts *verdicts)
{
    for (size_t i = 0; i < verdicts->n; i++) {
        free(verdicts->row[i].run[0]);
        free(verdicts->row[i].run[1]);
    }
    free(verdicts->row);
    *verdicts = (struct verdicts){0};
}
