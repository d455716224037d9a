/* summary.c - a ranking as the figures, tables and notes of summary.json. */
#include "benchmark/summary.h"

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "kernels/error.h"
#include "results/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures ---- */

static const struct estimate none = {NAN, NAN, NAN, NAN, NAN, 0};

static void add_row(struct figure_list *figures, const char *label, const struct row *row)
{
    const struct estimate *step = &row->seconds[FIGURE_STEP];
    struct estimate cost = none;
    cost.median = row->sync_cost;
    cost.ci_low = row->sync_cost_low;
    cost.ci_high = row->sync_cost_high;
    cost.n = row->against_none.n;
    figures_add_estimate(figures, label, "step", "s", step, BETTER_LOWER, 1);
    figures_add_value(figures, label, "step_p5", "s", step->p5, step->n, BETTER_NONE);
    figures_add_value(figures, label, "step_p95", "s", step->p95, step->n, BETTER_NONE);
    for (int p = 0; p < PHASES; p++)
        figures_add_estimate(figures, label, phase_name[p], "s", &row->seconds[p], BETTER_LOWER, 0);
    figures_add_estimate(figures, label, "tokens_per_second", "1/s", &row->tokens_per_second, BETTER_HIGHER, 0);
    figures_add_estimate(figures, label, "communication_ratio", "1",
                         row->communication_ratio.n ? &row->communication_ratio : &none, BETTER_LOWER, 0);
    figures_add_estimate(figures, label, "sync_cost", "s", &cost, BETTER_LOWER, 0);
    figures_add_value(figures, label, "attainable", "s", row->attainable, step->n, BETTER_NONE);
}

void ranking_add_figures(const struct ranking *c, const struct implementation *row, struct figure_list *figures)
{
    for (int i = 0; i < c->n; i++)
        add_row(figures, row[i].label, &c->row[i]);
    for (int i = 0; i < c->pairs; i++) {
        const struct pair *pair = &c->pair[i];
        struct estimate ratio = none;
        char subject[2 * IMPLEMENTATION_LABEL + 4];
        snprintf(subject, sizeof subject, "%s / %s", row[pair->a].label, row[pair->b].label);
        ratio.median = pair->paired.ratio;
        ratio.ci_low = pair->paired.ci_low;
        ratio.ci_high = pair->paired.ci_high;
        ratio.n = pair->paired.n;
        figures_add_estimate(figures, subject, "step_ratio", "1", &ratio, BETTER_NONE, 0);
    }
}

/* ---- tables ---- */

/* A row of the comparison, as it is shown. */
struct line {
    const char *label;
    double forward, backward, sync, optimizer, step;
    double ratio, tokens, cost, interval[2], attainable, to_attainable;
};

#define FIELD(field) offsetof(struct line, field)
/* Medians in ms: two decimals. */
#define MS(name, title, field)                                                                                         \
    {                                                                                                                  \
        .key = (name), .heading = (title), .kind = COLUMN_REAL, .offset = FIELD(field), .unit = "s", .scale = 1e3,     \
        .width = 9, .decimals = 2                                                                                      \
    }

/* clang-format off */
static const struct column columns[] = {
    {.key = "implementation", .heading = "implementation", .kind = COLUMN_NAME, .offset = FIELD(label), .width = -14},
    MS("forward_pass", "forward\nms", forward),
    MS("backward_pass", "backward\nms", backward),
    MS("gradient_sync", "sync\nms", sync),
    MS("optimizer_step", "optimizer\nms", optimizer),
    MS("step", "step\nms", step),
    {.key = "communication_ratio", .heading = "comm\nratio", .kind = COLUMN_REAL, .offset = FIELD(ratio), .unit = "1",
     .width = 6, .decimals = 3},
    {.key = "tokens_per_second", .heading = "tokens\nper s", .kind = COLUMN_REAL, .offset = FIELD(tokens),
     .unit = "1/s", .width = 9},
    MS("sync_cost", "sync cost\nms", cost),
    {.key = "sync_cost_95", .heading = "95 %\ninterval", .kind = COLUMN_INTERVAL, .offset = FIELD(interval),
     .unit = "s", .scale = 1e3, .width = -16, .decimals = 2},
    /* with --attainable only: */
    MS("attainable", "attain-\nable ms", attainable),
    {.key = "step_to_attainable", .heading = "step /\nattainable", .kind = COLUMN_REAL,
     .offset = FIELD(to_attainable), .unit = "1", .width = 6, .decimals = 2},
};
/* clang-format on */

static struct line line_of(const char *label, const struct row *row)
{
    double step = row->seconds[FIGURE_STEP].median;
    return (struct line){.label = label,
                         .forward = row->seconds[PHASE_FORWARD].median,
                         .backward = row->seconds[PHASE_BACKWARD].median,
                         .sync = row->seconds[PHASE_GRADIENT_SYNC].median,
                         .optimizer = row->seconds[PHASE_OPTIMIZER].median,
                         .step = step,
                         .ratio = row->communication_ratio.n ? row->communication_ratio.median : NAN,
                         .tokens = row->tokens_per_second.median,
                         .cost = row->sync_cost,
                         .interval = {row->sync_cost_low, row->sync_cost_high},
                         .attainable = row->attainable,
                         .to_attainable = step / row->attainable};
}

void ranking_add_table(const struct ranking *c, const struct implementation *row, size_t block_steps, cJSON *summary)
{
    enum { WITH_ATTAINABLE = sizeof columns / sizeof *columns };
    struct line line[MAX_IMPLEMENTATIONS];
    char note[1024];
    int attainable = 0, below = 0;
    for (int i = 0; i < c->n; i++) {
        line[i] = line_of(row[i].label, &c->row[i]);
        attainable |= isfinite(c->row[i].attainable);
        below |= line[i].to_attainable < 0.95;
    }
    int at =
        snprintf(note, sizeof note,
                 "Medians over %zu round%s; a sample is the mean of %zu timed step%s.\n"
                 "sync: time spent waiting for communication after backward. sync cost: (geometric mean, over the\n"
                 "rounds, of the step time over that of `none` in the same round - 1) x the median step of `none`.\n",
                 c->rounds, text_plural(c->rounds), block_steps, text_plural(block_steps));
    if (below)
        snprintf(
            note + at, sizeof note - (size_t)at,
            "attainable counts the collectives one after the other, each as long as it took alone. A step below it\n"
            "had several in flight at once, which hides the latency of each, or ran while the machine was less "
            "busy.\n");
    struct table table = {.key = "implementations",
                          .column = columns,
                          .columns = attainable ? WITH_ATTAINABLE : WITH_ATTAINABLE - 2,
                          .row = line,
                          .rows = (size_t)c->n,
                          .row_bytes = sizeof *line,
                          .note = note};
    cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(summary, "tables"), table_json(&table));
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
    /* clang-format off */
    static const struct column bucket_columns[] = {
        {.key = "implementation", .heading = "implementation", .kind = COLUMN_NAME,
         .offset = offsetof(struct bucket_row, label), .width = -14},
        {.key = "buckets", .heading = "buckets", .kind = COLUMN_INT, .offset = offsetof(struct bucket_row, buckets),
         .unit = "1", .width = 7},
        {.key = "sizes", .heading = "size (number of parameter tensors)", .kind = COLUMN_CHARS,
         .offset = offsetof(struct bucket_row, sizes), .width = -20},
    };
    /* clang-format on */
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
    struct table table = {.key = "buckets",
                          .title = "Buckets, in the order of their reduction",
                          .column = bucket_columns,
                          .columns = sizeof bucket_columns / sizeof *bucket_columns,
                          .row = line,
                          .rows = lines,
                          .row_bytes = sizeof *line,
                          .note = single ? "One bucket cannot overlap with backward; use a smaller --bucket-size-mb.\n"
                                         : NULL};
    if (lines)
        cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(summary, "tables"), table_json(&table));
}

/* ---- the verdict ---- */

static const struct pair *pair_of(const struct ranking *c, int a, int b)
{
    for (int i = 0; i < c->pairs; i++)
        if ((c->pair[i].a == a && c->pair[i].b == b) || (c->pair[i].a == b && c->pair[i].b == a))
            return &c->pair[i];
    return NULL;
}

/* Appends "label +3.2 % [+2.1, +4.4]": how much longer a step takes than that of the fastest. */
static void append_slower(char *text, size_t size, const struct ranking *c, const char *label, int i)
{
    const struct pair *pair = pair_of(c, i, c->fastest);
    double ratio = pair->paired.ratio, low = pair->paired.ci_low, high = pair->paired.ci_high;
    size_t at = strlen(text);
    if (pair->a != i) {
        double upper = 1 / low;
        low = 1 / high;
        high = upper;
        ratio = 1 / ratio;
    }
    snprintf(text + at, size - at, "%s%s %+.1f %% [%+.1f, %+.1f]", at ? "; " : "", label, 100 * (ratio - 1),
             100 * (low - 1), 100 * (high - 1));
}

static void add_fastest(const struct ranking *c, const struct implementation *row, cJSON *summary)
{
    char tied[4096] = "", slower[4096] = "";
    for (int i = 0; i < c->n; i++)
        if (row[i].strategy->reduces && i != c->fastest)
            append_slower(ranking_slower(c, i) ? slower : tied, sizeof tied, c, row[i].label, i);
    results_add_line(summary, "notes", "Verdict: %s has the shortest step (geometric mean of %zu rounds).",
                     row[c->fastest].label, c->rounds);
    if (*tied)
        results_add_line(summary, "notes", "Not significantly different from it: %s.", tied);
    if (*slower)
        results_add_line(summary, "notes", "Slower: %s.", slower);
    results_add_line(
        summary, "notes",
        "(step time against the shortest, paired by round, with a 95 %% interval each; slower: at the 5 %% "
        "level over all %d pair%s together)",
        c->pairs, text_plural((size_t)c->pairs));
}

static void add_pairs(const struct ranking *c, const struct implementation *row, cJSON *summary)
{
    cJSON *pairs = cJSON_AddArrayToObject(summary, "comparisons");
    for (int i = 0; i < c->pairs; i++) {
        const struct pair *pair = &c->pair[i];
        cJSON *item = json_add_row(pairs);
        json_add_text(item, "a", row[pair->a].label);
        json_add_text(item, "b", row[pair->b].label);
        json_add_number(item, "step_ratio", pair->paired.ratio);
        json_add_number(item, "low", pair->paired.ci_low);
        json_add_number(item, "high", pair->paired.ci_high);
        json_add_number(item, "p_holm", pair->p);
    }
    if (c->fastest < 0)
        return;
    json_add_text(summary, "fastest", row[c->fastest].label);
    cJSON *tied = cJSON_AddArrayToObject(summary, "tied_with_fastest");
    for (int i = 0; i < c->n; i++)
        if (row[i].strategy->reduces && i != c->fastest && !ranking_slower(c, i))
            cJSON_AddItemToArray(tied, json_text(row[i].label));
}

void ranking_add_verdict(const struct ranking *c, const struct implementation *row, int ranks, cJSON *summary)
{
    int reducing = 0;
    for (int i = 0; i < c->n; i++)
        reducing += row[i].strategy->reduces;
    add_pairs(c, row, summary);
    results_add_line(summary, "notes", "%s", "");
    if (ranks == 1)
        results_add_line(summary, "notes", "One rank has nothing to reduce; differences are the strategies' own work.");
    if (reducing < 2)
        results_add_line(summary, "notes", "Verdict: fewer than two strategies that reduce, so nothing to compare.");
    else if (c->rounds < 2)
        results_add_line(summary, "notes", "Verdict: one round decides nothing; use --rounds 6 or more.");
    else
        add_fastest(c, row, summary);
}
