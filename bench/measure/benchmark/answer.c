/* answer.c - the result of a search, in words and figures. */
#include "benchmark/answer.h"

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "results/results.h"

#include <math.h>
#include <stdlib.h>

/* A candidate that ran. */
struct answer_row {
    const char *label;
    const char *size;                          /* bucket size as --bucket-size-mb takes it; "" without buckets */
    int buckets;                               /* number of collectives in a step */
    struct estimate step, cost, phase[PHASES]; /* in seconds; cost: step - step of `none` */
    const struct search_row *searched;
    const char *verdict; /* the word shown: best, tie, undecided, slower, dropped, control */
};

struct answer {
    int n, best; /* n rows; best: index of the best row, -1 before the search has compared rows */
    struct answer_row row[MAX_IMPLEMENTATIONS];
};

/* Whether figures are medians: the stages rank by medians, and a final that may end at any round compares medians. */
static int medians_of(const struct search *search)
{
    return search->looks || !search->final;
}

static int in_final(const struct search_row *row)
{
    return row->state == SEARCH_SLOWER || row->state == SEARCH_IN;
}

static void make_rows(struct answer *a, const struct search *s, const struct measurements *m,
                      const struct implementation *implementation, const struct reducer *reducer)
{
    const double *all[SEARCH_ROWS];
    int control = 0;
    for (int i = 0; i < s->n; i++) {
        all[i] = measurements_of(m, i, FIGURE_STEP);
        control = s->row[i].state == SEARCH_CONTROL ? i : control;
    }
    double *levels = search_levels(s, all);
    for (int i = 0; i < s->n; i++) {
        const struct search_row *searched = &s->row[i];
        size_t n = searched->to - searched->from;
        if (!n)
            continue;
        double *step = stats_steady(all[i], levels, searched->from, searched->to);
        double *of_none = stats_steady(all[control], levels, searched->from, searched->to);
        a->best = i == s->best ? a->n : a->best;
        a->row[a->n++] = (struct answer_row){
            .label = implementation[i].label,
            .size = implementation[i].size.words,
            .buckets = i == control ? 0 : reducer[i].plan.n,
            .step = stats_typical(step, n, medians_of(s)),
            .cost = stats_excess(step, of_none, i == control ? 0 : n, medians_of(s)),
            .searched = searched,
            .verdict = i == control ? "control"
                       : !in_final(searched)
                           ? "dropped"
                           : verdict_kind_name[i == s->best ? VERDICT_BEST
                                                            : verdict_judge(&searched->against, VERDICT_WITHIN)]};
        if (!s->final && i == s->best)
            a->row[a->n - 1].verdict = "shortest";
        for (int p = 0; p < PHASES; p++) {
            double *seconds = stats_steady(measurements_of(m, i, p), levels, searched->from, searched->to);
            a->row[a->n - 1].phase[p] = stats_typical(seconds, n, medians_of(s));
            free(seconds);
        }
        free(step);
        free(of_none);
    }
    free(levels);
}

/* Adds which candidate to use, and how the other candidates of the final compare with it. */
static void add_verdict(const struct answer *a, const struct search *s, const struct strategy *strategy, cJSON *summary)
{
    struct verdict_item other[MAX_IMPLEMENTATIONS];
    const struct answer_row *best = &a->row[a->best], *sized = NULL;
    struct verdict verdict = {.ranks = 2, /* stands for two or more: tune refuses one rank */
                              .candidates = s->n,
                              .label = best->label,
                              .strategy = strategy->name,
                              .size = best->size,
                              .step = best->step,
                              .cost = best->cost,
                              .within = VERDICT_WITHIN,
                              .anytime = medians_of(s),
                              .sample = "round",
                              .option = "by a longer --max-minutes",
                              .explain = 1,
                              .item = other};
    implementation_form(strategy, &verdict.form_options, &verdict.form_words);
    for (const struct answer_row *row = a->row; row < a->row + a->n; row++) {
        if (*row->size && (!sized || row->step.median < sized->step.median))
            sized = row;
        if (in_final(row->searched) && row != best)
            other[verdict.n++] = (struct verdict_item){row->label, row->step.median, row->searched->against};
        if (row->searched->state == SEARCH_DROPPED)
            verdict.is_open |= row->step.median < best->step.median;
    }
    verdict.best_size = sized ? sized->size : "";
    verdict_add(&verdict, "answers", summary);
}

/* Adds whether buckets of several sizes gain over equal buckets: compares the best row with the shortest of the other
 * kind and the same strategy. */
static void add_plans(const struct answer *a, cJSON *summary)
{
    const struct answer_row *best = &a->row[a->best], *other = NULL;
    char change[CELL];
    for (const struct answer_row *row = a->row; row < a->row + a->n; row++)
        if (in_final(row->searched) && row->searched->series == best->searched->series &&
            row->searched->is_plan != best->searched->is_plan && (!other || row->step.median < other->step.median))
            other = row;
    if (!other || !isfinite(other->searched->against.paired.ci_low))
        return;
    const struct paired *ratio = &other->searched->against.paired;
    results_add_sentence(summary, "answers", "Buckets of several sizes %s: with %s a step is %s longer than with %s.",
                         !other->searched->against.slower ? "are not significantly different from equal buckets"
                         : best->searched->is_plan        ? "gain"
                                                          : "do not gain",
                         other->label, text_change(change, ratio->ratio, ratio->ci_low, ratio->ci_high), best->label);
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

static void add_table(const struct answer *a, int medians, cJSON *summary)
{
    char note[480];
    snprintf(
        note, sizeof note,
        "%s over the rounds, with intervals from 6 rounds on. cost: step - step of `none`. "
        "dropped: was in the slower half of a stage, so its rounds are of the stages, and those of the other rows of "
        "the final. All steps are divided by the level of their round, which "
        "removes what slowed the machine during a whole round.",
        medians ? "Medians" : "Geometric means");
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
                const struct reducer *reducer, cJSON *summary, struct figure_list *figures)
{
    struct answer a = {.best = -1};
    make_rows(&a, s, m, implementation, reducer);
    for (const struct answer_row *row = a.row; row < a.row + a.n; row++) {
        figures_add_estimate(figures, row->label, "step", "s", &row->step, BETTER_LOWER, 0);
        for (int p = 0; p < PHASES; p++)
            if (row->phase[p].median > 0) /* the phase ran */
                figures_add_estimate(figures, row->label, phase_name[p], "s", &row->phase[p], BETTER_LOWER, 0);
        figures_add_estimate(figures, row->label, "sync_cost", "s", &row->cost, BETTER_LOWER, 0);
    }
    if (a.best < 0)
        return;
    /* a figure of every search, for `compare`: other figures depend on which candidates were dropped */
    figures_add_estimate(figures, "best", "step", "s", &a.row[a.best].step, BETTER_LOWER, 1);
    if (s->final) {
        add_verdict(&a, s, implementation[s->best].strategy, summary);
        add_plans(&a, summary);
    }
    add_end(s, summary);
    add_table(&a, medians_of(s), summary);
}
