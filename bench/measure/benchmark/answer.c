/* answer.c - the result of a search, in words and figures. */
#include "benchmark/benchmark.h"

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* A candidate that ran. */
struct answer_row {
    const char *label;
    const char *size;           /* bucket size as --bucket-size-mb takes it; "" without buckets */
    int buckets;                /* number of collectives in a step */
    struct estimate step, cost; /* in seconds; cost: (to_none - 1) x none */
    double to_none, none; /* step / step of `none` in the same round; the step of `none` in these rounds, in seconds */
    const struct search_row *searched;
    const char *verdict; /* the word shown, as verdict_of returns it */
};

struct answer {
    int n, best; /* n rows; best: index of the best row, -1 before the search has compared rows */
    struct answer_row row[MAX_IMPLEMENTATIONS];
};

/* Returns 1 if figures are medians with intervals that hold at any round: in stages, and a final that may end early. */
static int is_anytime(const struct search *search)
{
    return search->looks || !search->final;
}

static int in_final(const struct search_row *row)
{
    return row->state == SEARCH_SLOWER || row->state == SEARCH_IN;
}

/* Returns "control" or "dropped"; until the final has compared, "shortest" or "not yet"; then the verdict's kind. */
static const char *verdict_of(const struct search *s, int i)
{
    const struct search_row *row = &s->row[i];
    if (row->state == SEARCH_CONTROL)
        return "control";
    if (!in_final(row))
        return "dropped";
    if (!s->final || !row->against.ratio.n)
        return i == s->best ? "shortest" : "not yet";
    if (i == s->best)
        return verdict_kind_name[VERDICT_BEST];
    return verdict_kind_name[verdict_judge(&row->against, VERDICT_WITHIN)];
}

/* Makes the rows, and adds their figures to the list. */
static void make_rows(struct answer *a, const struct search *s, const struct measurements *m,
                      const struct implementation *implementation, const struct reducer *reducer,
                      struct figure_list *figures)
{
    int control = 0, anytime = is_anytime(s);
    while (s->row[control].state != SEARCH_CONTROL)
        control++;
    for (int i = 0; i < s->n; i++) {
        const struct search_row *searched = &s->row[i];
        size_t from = searched->from, n = searched->to - from;
        if (!n)
            continue;
        const double *step = measurements_of(m, i, FIGURE_STEP) + from;
        const double *of_none = measurements_of(m, control, FIGURE_STEP) + from;
        size_t with_cost = i == control ? 0 : n;
        a->best = i == s->best ? a->n : a->best;
        struct answer_row *row = &a->row[a->n++];
        *row = (struct answer_row){.label = implementation[i].label,
                                   .size = implementation[i].size.words,
                                   .buckets = i == control ? 0 : reducer[i].plan.n,
                                   .step = stats_typical(step, n, anytime),
                                   .cost = stats_excess(step, of_none, with_cost, anytime),
                                   .to_none = stats_ratios(step, of_none, with_cost, anytime).median,
                                   .none = stats_typical(of_none, n, anytime).median,
                                   .searched = searched,
                                   .verdict = verdict_of(s, i)};
        figures_add_estimate(figures, row->label, "step", "s", &row->step, BETTER_LOWER, 0);
        for (int p = 0; p < PHASES; p++) {
            const struct estimate phase = stats_typical(measurements_of(m, i, p) + from, n, anytime);
            if (phase.median > 0) /* the phase ran */
                figures_add_estimate(figures, row->label, phase_name[p], "s", &phase, BETTER_LOWER, 0);
        }
        figures_add_estimate(figures, row->label, "sync_cost", "s", &row->cost, BETTER_LOWER, 0);
    }
}

/* Returns step / step of the best, for a candidate of the final other than the best. */
static double to_best(const struct answer_row *row)
{
    return row->searched->against.ratio.median;
}

/* Adds which candidate to use, and how the other candidates of the final compare with it. */
static void add_verdict(const struct answer *a, const struct search *s, const struct implementation *made, int busy,
                        cJSON *summary)
{
    struct verdict_item other[MAX_IMPLEMENTATIONS];
    const struct answer_row *best = &a->row[a->best], *sized = NULL;
    struct verdict verdict =
        implementations_verdict(made, (s->seconds - s->stage_seconds) / (double)(s->rounds - s->stage_from));
    verdict.ranks = 2; /* stands for two or more: tune refuses one rank */
    verdict.candidates = s->n;
    verdict.step = best->step;
    verdict.cost = best->cost;
    verdict.within = VERDICT_WITHIN;
    verdict.anytime = is_anytime(s);
    verdict.none = best->none;
    verdict.option = "by a longer --max-minutes";
    verdict.busy = busy;
    verdict.item = other;
    for (const struct answer_row *row = a->row; row < a->row + a->n; row++) {
        if (in_final(row->searched) && row != best && *row->size && (!sized || to_best(row) < to_best(sized)))
            sized = row;
        if (in_final(row->searched) && row != best)
            other[verdict.n++] = (struct verdict_item){row->label, row->searched->against};
        if (row->searched->state == SEARCH_DROPPED)
            verdict.is_open |= row->to_none < best->to_none;
    }
    verdict.best_size = sized ? sized->size : "";
    verdict_add(&verdict, "answers", summary);
}

/* Adds whether buckets of several sizes gain: compares the best row with its strategy's shortest of the other kind. */
static void add_plans(const struct answer *a, cJSON *summary)
{
    const struct answer_row *best = &a->row[a->best], *other = NULL;
    char change[CELL];
    for (const struct answer_row *row = a->row; row < a->row + a->n; row++)
        if (in_final(row->searched) && row->searched->series == best->searched->series &&
            row->searched->is_plan != best->searched->is_plan && (!other || to_best(row) < to_best(other)))
            other = row;
    if (!other || !isfinite(other->searched->against.ratio.ci_low))
        return;
    const struct estimate *ratio = &other->searched->against.ratio;
    results_add_sentence(summary, "answers", "Buckets of several sizes %s: with %s a step is %s longer than with %s.",
                         !other->searched->against.slower ? "are not significantly different from equal buckets"
                         : best->searched->is_plan        ? "gain"
                                                          : "do not gain",
                         other->label, text_change(change, ratio->median, ratio->ci_low, ratio->ci_high), best->label);
}

/* Adds how PyTorch's default buckets compare with the best size that PyTorch can be given, in the rounds of the final
 * that both ran in; if they did not, says how to compare them. */
static void add_pytorch(const struct answer *a, const struct search *s, const struct measurements *m, cJSON *summary)
{
    const struct answer_row *given = NULL, *best = NULL;
    char size[CELL], change[CELL];
    for (const struct answer_row *row = a->row; row < a->row + a->n; row++) {
        int is_bucketed = !strncmp(row->label, strategy_ddp_bucketed.name, strlen(strategy_ddp_bucketed.name));
        if (!is_bucketed || !*verdict_pytorch(size, row->size))
            continue;
        if (!strcmp(row->size, "1+25"))
            given = row;
        else if (!best || (in_final(row->searched) > in_final(best->searched)) ||
                 (in_final(row->searched) == in_final(best->searched) && row->to_none < best->to_none))
            best = row;
    }
    if (!given || !best)
        return;
    const struct search_row *x = given->searched, *y = best->searched;
    size_t from = x->from > y->from ? x->from : y->from, to = x->to < y->to ? x->to : y->to;
    if (!in_final(x) || !in_final(y) || from + STATS_LEAST > to) {
        results_add_sentence(summary, "answers",
                             "PyTorch's default buckets (1 MiB, then 25) and a bucket_cap_mb were not compared: the "
                             "search dropped one of them early. The benchmark compares them: `--implementations "
                             "none,ddp_bucketed --bucket-size-mb 1+25,%s --resolve 2%%`",
                             best->size);
        return;
    }
    const double *ours = measurements_of(m, (int)(y - s->row), FIGURE_STEP) + from,
                 *theirs = measurements_of(m, (int)(x - s->row), FIGURE_STEP) + from;
    struct estimate ratio = stats_ratios(ours, theirs, to - from, is_anytime(s));
    int is_known = ratio.ci_low > 1 || ratio.ci_high < 1;
    results_add_sentence(
        summary, "answers", "PyTorch: with %s a step is %s longer than with the default buckets (1 MiB, then 25)%s",
        verdict_pytorch(size, best->size), text_change(change, ratio.median, ratio.ci_low, ratio.ci_high),
        !is_known          ? ", which is not significant."
        : ratio.median > 1 ? ": leave bucket_cap_mb out."
                           : ".");
}

#define FIELD(field) offsetof(struct answer_row, field)
/* clang-format off */
static const struct column columns[] = {
    {"implementation", "implementation", COLUMN_NAME, FIELD(label), NULL, 1, -14, 0},
    {"bucket_mb", NULL, COLUMN_NAME, FIELD(size), NULL, 1, 7, 0},
    {"buckets", "buckets", COLUMN_INT, FIELD(buckets), "1", 1, 7, 0},
    {"rounds", "rounds", COLUMN_COUNT, FIELD(step.n), "1", 1, 6, 0},
    {"step", "step\nms", COLUMN_REAL, FIELD(step.median), "s", 1e3, 9, 2},
    {"sync_cost", "cost\nms", COLUMN_REAL, FIELD(cost.median), "s", 1e3, 9, 2},
    {"sync_cost_95", "95 %\ninterval", COLUMN_INTERVAL, COLUMN_ENDS(struct answer_row, cost.ci_low, cost.ci_high), "s", 1e3, -16, 2},
    {"verdict", "", COLUMN_NAME, FIELD(verdict), NULL, 1, -9, 0},
};
/* clang-format on */

static void add_table(const struct answer *a, int anytime, cJSON *summary)
{
    char note[480];
    snprintf(
        note, sizeof note,
        "%s over the rounds, with 95 %% intervals%s. cost: (step / step of `none` in the same round - 1) x step of "
        "`none` in these rounds; its interval is the ratio's. dropped: was in the slower half of a stage; its rounds "
        "are "
        "rounds of the stages, and the other rows' rounds are of the final.%s",
        anytime ? "Medians" : "Geometric means", anytime ? " from 8 rounds on" : " from 6 rounds on",
        anytime ? " Medians of ratios are not ratios of medians." : "");
    results_add_table(summary, &(struct table){"candidates", NULL, TABLE_COLUMNS(columns),
                                               TABLE_ROWS(a->row, (size_t)a->n), .note = {note}});
}

static void add_end(const struct search *s, cJSON *summary)
{
    static const char *const ended[] = {"unfinished", "best", "within", "max_minutes"};
    static const char *const words[] = {
        "The search goes on; so far", "The search ended because all others are slower or were dropped, after",
        "The search ended because all others are within 2 %, slower, or were dropped, after",
        "Time limit reached, after"};
    char took[CELL];
    json_add_text(summary, "ended", ended[s->end]);
    results_add_sentence(summary, "answers", "%s %s, %zu round%s%s.", words[s->end], text_duration(took, s->seconds),
                         s->rounds, text_plural(s->rounds), s->final ? "" : ", before the final rounds; no verdict");
}

void answer_add(const struct search *s, const struct measurements *m, const struct implementation *implementation,
                const struct reducer *reducer, int busy, cJSON *summary, struct figure_list *figures)
{
    struct answer a = {.best = -1};
    make_rows(&a, s, m, implementation, reducer, figures);
    if (a.best < 0)
        return;
    /* a figure of every search, for `compare`: other figures depend on which candidates were dropped */
    figures_add_estimate(figures, "best", "step", "s", &a.row[a.best].step, BETTER_LOWER, 1);
    if (s->final && s->row[s->best].against.ratio.n) {
        add_verdict(&a, s, &implementation[s->best], busy, summary);
        add_plans(&a, summary);
    }
    add_pytorch(&a, s, m, summary);
    add_end(s, summary);
    add_table(&a, is_anytime(s), summary);
}
