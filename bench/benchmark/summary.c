/* summary.c - a ranking as the figures, tables and notes of summary.json. */
#include "benchmark/ranking.h"

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "results/results.h"

#include <math.h>
#include <string.h>

/* ---- figures ---- */

void ranking_add_figures(const struct ranking *c, struct figure_list *figures)
{
    for (const struct row *row = c->row; row < c->row + c->n; row++) {
        const struct estimate *step = &row->seconds[FIGURE_STEP];
        const char *label = row->label;
        figures_add_estimate(figures, label, "step", "s", step, BETTER_LOWER, 1);
        figures_add_value(figures, label, "step_p5", "s", step->p5, step->n, BETTER_NONE);
        figures_add_value(figures, label, "step_p95", "s", step->p95, step->n, BETTER_NONE);
        for (int p = 0; p < PHASES; p++)
            if (row->seconds[p].median > 0) /* it ran */
                figures_add_estimate(figures, label, phase_name[p], "s", &row->seconds[p], BETTER_LOWER, 0);
        figures_add_estimate(figures, label, "tokens_per_second", "1/s", &row->tokens_per_second, BETTER_HIGHER, 0);
        figures_add_estimate(figures, label, "communication_ratio", "1", &row->communication_ratio, BETTER_LOWER, 0);
        figures_add_estimate(figures, label, "sync_cost", "s", &row->sync_cost, BETTER_LOWER, 0);
        const struct estimate to_bound = stats_of_paired(&row->step_to_attainable);
        figures_add_estimate(figures, label, "attainable", "s", &row->attainable, BETTER_NONE, 0);
        figures_add_estimate(figures, label, "step_to_attainable", "1", &to_bound, BETTER_LOWER, 0);
    }
    for (const struct pair *pair = c->pair; pair < c->pair + c->pairs; pair++) {
        const struct estimate ratio = stats_of_paired(&pair->paired);
        char subject[2 * IMPLEMENTATION_LABEL + 4];
        snprintf(subject, sizeof subject, "%s / %s", c->row[pair->a].label, c->row[pair->b].label);
        figures_add_estimate(figures, subject, "step_ratio", "1", &ratio, BETTER_NONE, 0);
    }
}

/* ---- tables ---- */

#define FIELD(field) offsetof(struct row, field)

/* clang-format off */
static const struct column row_columns[] = {
    {"implementation", "implementation", COLUMN_NAME, FIELD(label), NULL, 1, -14, 0},
    {"forward_pass", "forward\nms", COLUMN_REAL, FIELD(seconds[PHASE_FORWARD].median), "s", 1e3, 9, 2},
    {"backward_pass", "backward\nms", COLUMN_REAL, FIELD(seconds[PHASE_BACKWARD].median), "s", 1e3, 9, 2},
    {"gradient_sync", "sync\nms", COLUMN_REAL, FIELD(seconds[PHASE_GRADIENT_SYNC].median), "s", 1e3, 9, 2},
    {"optimizer_step", "optimizer\nms", COLUMN_REAL, FIELD(seconds[PHASE_OPTIMIZER].median), "s", 1e3, 9, 2},
    {"step", "step\nms", COLUMN_REAL, FIELD(seconds[FIGURE_STEP].median), "s", 1e3, 9, 2},
    {"communication_ratio", "comm\nratio", COLUMN_REAL, FIELD(communication_ratio.median), "1", 1, 6, 3},
    {"tokens_per_second", "tokens\nper s", COLUMN_REAL, FIELD(tokens_per_second.median), "1/s", 1, 9, 0},
    {"sync_cost", "sync cost\nms", COLUMN_REAL, FIELD(sync_cost.median), "s", 1e3, 9, 2},
    {"sync_cost_95", "95 %\ninterval", COLUMN_INTERVAL, FIELD(sync_cost.ci_low), "s", 1e3, -16, 2},
    /* with the options of these names only: */
    {"checkpoint", "check-\npoint ms", COLUMN_REAL, FIELD(seconds[PHASE_CHECKPOINT].median), "s", 1e3, 9, 2},
    {"attainable", "attain-\nable ms", COLUMN_REAL, FIELD(attainable.median), "s", 1e3, 9, 2},
    {"step_to_attainable", "step /\nattainable", COLUMN_REAL, FIELD(step_to_attainable.ratio), "1", 1, 6, 2},
};
/* clang-format on */

void ranking_add_table(const struct ranking *c, size_t block_steps, cJSON *summary)
{
    enum { ALWAYS = sizeof row_columns / sizeof *row_columns - 3 };
    struct column column[ALWAYS + 3];
    char note[1024];
    size_t columns = ALWAYS;
    int saves = 0, attainable = 0, below = 0;
    for (int i = 0; i < c->n; i++) {
        saves |= c->row[i].seconds[PHASE_CHECKPOINT].median > 0;
        attainable |= isfinite(c->row[i].attainable.median);
        below |= c->row[i].step_to_attainable.ratio < 0.95;
    }
    memcpy(column, row_columns, ALWAYS * sizeof *column);
    for (size_t i = ALWAYS; i < ALWAYS + 3; i++)
        if (i == ALWAYS ? saves : attainable)
            column[columns++] = row_columns[i];
    snprintf(note, sizeof note,
             "Medians over %zu round%s; a sample is the mean of %zu timed step%s.\n"
             "sync: time spent waiting for communication after backward. sync cost: (geometric mean, over the\n"
             "rounds, of the step time over that of `none` in the same round - 1) x the median step of `none`.\n%s",
             c->rounds, text_plural(c->rounds), block_steps, text_plural(block_steps),
             below
                 ? "attainable counts the collectives one after the other, each as long as it took alone. A step below "
                   "it\nhad several in flight at once, which hides the latency of each, or ran while the machine was "
                   "less busy.\n"
                 : "");
    results_add_table(summary, &(struct table){"implementations", NULL, column, columns, c->row, (size_t)c->n,
                                               sizeof *c->row, 0, .note = note});
}

/* ---- buckets ---- */

struct bucket_row {
    const char *label;
    int buckets;
    char sizes[256];
};

void buckets_add_table(const struct implementation *row, const struct reducer *reducer, int n, cJSON *summary)
{
    enum { SHOWN = 8 };
    static const struct column columns[] = {
        {"implementation", "implementation", COLUMN_NAME, offsetof(struct bucket_row, label), NULL, 1, -14, 0},
        {"buckets", "buckets", COLUMN_INT, offsetof(struct bucket_row, buckets), "1", 1, 7, 0},
        {"sizes", "size (number of parameter tensors)", COLUMN_CHARS, offsetof(struct bucket_row, sizes), NULL, 1, -20,
         0},
    };
    struct bucket_row line[MAX_IMPLEMENTATIONS];
    size_t lines = 0;
    int single = 0;
    char words[CELL];
    for (int i = 0; i < n; i++) {
        const struct plan *plan = &reducer[i].plan;
        if (!row[i].strategy->buckets)
            continue;
        struct bucket_row *b = &line[lines++];
        *b = (struct bucket_row){.label = row[i].label, .buckets = plan->n};
        size_t at = 0;
        for (int s = 0; s < plan->n && s < SHOWN; s++)
            at += (size_t)snprintf(b->sizes + at, sizeof b->sizes - at, "%s%s (%d)", s ? ", " : "",
                                   text_memory(words, plan->bucket[s].count * sizeof(float)), plan->bucket[s].tensors);
        if (plan->n > SHOWN)
            snprintf(b->sizes + at, sizeof b->sizes - at, ", ... (all in run.json)");
        single |= plan->n == 1;
    }
    if (lines)
        results_add_table(
            summary,
            &(struct table){
                "buckets", "Buckets, in the order of their reduction", TABLE_COLUMNS(columns), line, lines,
                sizeof *line, 0,
                .note = single ? "One bucket cannot overlap with backward; use a smaller --bucket-size-mb.\n" : NULL});
}

/* ---- the verdict ---- */

static void add_fastest(const struct ranking *c, cJSON *summary)
{
    /* lists of "label +3.2 % [+2.1, +4.4]": how much longer a step takes */
    char tied[4096] = "", open[4096] = "", slower[4096] = "", interval[64];
    for (const struct row *row = c->row; row < c->row + c->n; row++) {
        char *list = row->slower ? slower : row->open ? open : tied;
        size_t at = strlen(list);
        if (isfinite(row->to_fastest.ci_low))
            snprintf(interval, sizeof interval, "[%+.1f, %+.1f]", 100 * (row->to_fastest.ci_low - 1),
                     100 * (row->to_fastest.ci_high - 1));
        else
            snprintf(interval, sizeof interval, "(too few rounds for an interval)");
        if (row->reduces && row != &c->row[c->fastest])
            snprintf(list + at, sizeof tied - at, "%s%s %+.1f %% %s", at ? "; " : "", row->label,
                     100 * (row->to_fastest.ratio - 1), interval);
    }
    results_add_line(summary, "notes",
                     *slower || *tied ? "Verdict: %s has the shortest step (by the %s of ratios, %zu rounds)."
                                      : "Verdict: undecided; %s has the shortest step so far (by the %s of ratios, %zu "
                                        "rounds).",
                     c->row[c->fastest].label, c->resolve > 0 ? "median" : "geometric mean", c->rounds);
    if (*tied && c->resolve > 0)
        results_add_line(summary, "notes", "Within %g %% of it: %s.", 100 * c->resolve, tied);
    else if (*tied)
        results_add_line(summary, "notes", "Not significantly different from it: %s.", tied);
    if (*open)
        results_add_line(summary, "notes", "Open: %s.", open);
    if (*slower)
        results_add_line(summary, "notes", "Slower: %s.", slower);
    results_add_line(
        summary, "notes",
        "(step time against the shortest, paired by round, %s; slower: significant at the 5 %% level with Holm's "
        "correction over all %d pair%s)",
        c->resolve > 0 ? "with 95 % intervals that hold for all of them together at any number of rounds"
                       : "each with its own 95 % interval",
        c->pairs, text_plural((size_t)c->pairs));
}

void ranking_add_verdict(const struct ranking *c, int ranks, size_t planned, cJSON *summary)
{
    cJSON *pairs = cJSON_AddArrayToObject(summary, "comparisons");
    for (const struct pair *pair = c->pair; pair < c->pair + c->pairs; pair++) {
        cJSON *item = json_add_row(pairs);
        json_add_text(item, "a", c->row[pair->a].label);
        json_add_text(item, "b", c->row[pair->b].label);
        json_add_number(item, "step_ratio", pair->paired.ratio);
        json_add_number(item, "low", pair->paired.ci_low);
        json_add_number(item, "high", pair->paired.ci_high);
        json_add_number(item, "p_holm", pair->p);
    }
    if (c->fastest >= 0) {
        json_add_text(summary, "fastest", c->row[c->fastest].label);
        cJSON *tied = cJSON_AddArrayToObject(summary, "tied_with_fastest");
        cJSON *open = cJSON_AddArrayToObject(summary, "open");
        for (int i = 0; i < c->n; i++)
            if (c->row[i].reduces && i != c->fastest && !c->row[i].slower)
                cJSON_AddItemToArray(c->row[i].open ? open : tied, json_text(c->row[i].label));
    }
    results_add_line(summary, "notes", "%s", "");
    if (ranks == 1)
        results_add_line(summary, "notes", "One rank has nothing to reduce; differences are the strategies' own work.");
    if (!c->pairs)
        results_add_line(summary, "notes", "Verdict: fewer than two strategies that reduce, so nothing to compare.");
    else if (c->rounds < 2)
        results_add_line(summary, "notes", "Verdict: one round decides nothing; let there be more.");
    else
        add_fastest(c, summary);
    if (c->resolve <= 0)
        return;
    int over = c->rounds >= planned, answered = c->rounds_needed <= (double)c->rounds;
    json_add_text(summary, "ended", !over ? "unfinished" : answered ? "resolved" : "max_minutes");
    results_add_line(summary, "notes", "%s to %g %%%s: %zu round%s.", answered ? "Resolved" : "Not resolved",
                     100 * c->resolve,
                     answered ? ""
                     : over   ? " within --max-minutes"
                              : " so far",
                     c->rounds, text_plural(c->rounds));
}
