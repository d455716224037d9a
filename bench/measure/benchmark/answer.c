/* answer.c - what a search found, in words and figures. */
#include "benchmark/answer.h"

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures ---- */

static double high_of(const struct estimate *cost)
{
    return fmax(0, isfinite(cost->ci_high) ? cost->ci_high : cost->median);
}

/* # up to the interval, = for it; > where the cost goes beyond the top. */
static void draw_bar(char *bar, size_t size, const struct estimate *cost, double top)
{
    double width = (double)size - 2, low = isfinite(cost->ci_low) ? cost->ci_low : cost->median;
    int sure = (int)lround(fmax(0, fmin(1, low / top)) * width);
    int end = (int)lround(fmin(1, high_of(cost) / top) * width);
    memset(bar, '#', (size_t)sure);
    memset(bar + sure, '=', (size_t)(end - sure));
    snprintf(bar + end, 2, "%s", high_of(cost) > top ? ">" : "");
}

static const char *verdict_of(const struct search *search, int i)
{
    if (i == search->best)
        return "best";
    switch (search->row[i].state) {
    case SEARCH_CONTROL:
        return "control";
    case SEARCH_SLOWER:
        return "slower";
    case SEARCH_DROPPED:
        return "dropped";
    default:
        return search->end == SEARCH_WITHIN ? "as good" : "undecided";
    }
}

void answer_make(struct answer *a, const struct search *s, const struct measurements *m,
                 const struct implementation *implementation, const struct candidate *candidate,
                 const struct reducer *reducer)
{
    const double *all[SEARCH_ROWS];
    int control = 0;
    *a = (struct answer){.best = -1};
    for (int i = 0; i < s->n; i++)
        if (s->row[i].state == SEARCH_CONTROL)
            control = i;
    for (int i = 0; i < s->n; i++)
        all[i] = measurements_of(m, i, FIGURE_STEP);
    double *levels = search_levels(s, all);
    for (int i = 0; i < s->n; i++) {
        const struct search_row *searched = &s->row[i];
        size_t n = searched->to - searched->from;
        struct answer_row *row = &a->row[a->n];
        if (!n)
            continue;
        double *step = search_steady(all[i], levels, searched->from, searched->to);
        double *of_none = search_steady(all[control], levels, searched->from, searched->to);
        *row = (struct answer_row){.label = implementation[i].label,
                                   .size = implementation[i].bucket_words,
                                   .bucket_mb = candidate[i].bucket_mb,
                                   .buckets = i == control ? 0 : reducer[i].plan.n,
                                   .step = stats_estimate(step, n),
                                   .cost = stats_differences(step, of_none, i == control ? 0 : n),
                                   .searched = searched,
                                   .verdict = verdict_of(s, i)};
        a->best = i == s->best ? a->n : a->best;
        if (row->bucket_mb > 0 || i == s->best) /* but no wide interval of a few rounds makes the others small */
            a->top = fmax(a->top, fmin(high_of(&row->cost), 1.5 * row->cost.median));
        a->n++;
        free(step);
        free(of_none);
    }
    free(levels);
    for (struct answer_row *row = a->row; row < a->row + a->n && a->top > 0; row++)
        if (row->cost.n)
            draw_bar(row->bar, sizeof row->bar, &row->cost, a->top);
}

void answer_add_figures(const struct answer *a, struct figure_list *figures)
{
    for (const struct answer_row *row = a->row; row < a->row + a->n; row++) {
        figures_add_estimate(figures, row->label, "step", "s", &row->step, BETTER_LOWER, 0);
        figures_add_estimate(figures, row->label, "sync_cost", "s", &row->cost, BETTER_LOWER, 0);
    }
    if (a->best >= 0) /* what every search has, whatever it dropped */
        figures_add_estimate(figures, "best", "step", "s", &a->row[a->best].step, BETTER_LOWER, 1);
}

/* ---- words ---- */

static int in_final(const struct answer_row *row)
{
    return row->searched->state == SEARCH_IN || row->searched->state == SEARCH_SLOWER;
}

/* Whether others may be as good, for all that is known. */
static int is_undecided(const struct search *s)
{
    return s->end != SEARCH_WITHIN && search_count(s, SEARCH_IN) > 1;
}

/* How those that were in until the end stand to the best, and those that were slower in the final. */
static void add_groups(const struct answer *a, const struct search *s, cJSON *summary)
{
    struct verdict_row other[MAX_IMPLEMENTATIONS];
    enum verdict_group left = s->end == SEARCH_WITHIN ? VERDICT_AS_GOOD : VERDICT_UNDECIDED;
    cJSON *labels = cJSON_AddArrayToObject(summary, left == VERDICT_UNDECIDED ? "undecided" : "as_good");
    int n = 0;
    for (const struct answer_row *row = a->row; row < a->row + a->n; row++) {
        int slower = row->searched->state == SEARCH_SLOWER;
        if (!in_final(row) || row == &a->row[a->best])
            continue;
        other[n++] = (struct verdict_row){row->label, row->step.median, &row->searched->against.paired,
                                          slower ? VERDICT_SLOWER : left};
        if (!slower)
            cJSON_AddItemToArray(labels, json_text(row->label));
    }
    verdict_add_groups(other, n, (const char *[VERDICT_GROUPS]){"Tie (within 1 %)", "Undecided", "Slower"}, s->looks,
                       "answers", summary);
}

static void add_tables(const struct answer *a, cJSON *summary)
{
    char heading[80], top[CELL];
    snprintf(heading, sizeof heading, "cost from 0 to %s\n#, and = its interval",
             text_value_like(top, a->top, "s", a->top));
#define FIELD(field) offsetof(struct answer_row, field)
    const struct column columns[] = {
        {"implementation", NULL, COLUMN_NAME, FIELD(label), NULL, 1, -14, 0},
        {"bucket_mb", "bucket\nMiB", COLUMN_NAME, FIELD(size), NULL, 1, 7, 0},
        {"buckets", "buckets", COLUMN_INT, FIELD(buckets), "1", 1, 7, 0},
        {"rounds", "rounds", COLUMN_COUNT, FIELD(step.n), "1", 1, 6, 0},
        {"step", "step\nms", COLUMN_REAL, FIELD(step.median), "s", 1e3, 9, 2},
        {"sync_cost", "cost\nms", COLUMN_REAL, FIELD(cost.median), "s", 1e3, 9, 2},
        {"sync_cost_95", "95 %\ninterval", COLUMN_INTERVAL, FIELD(cost.ci_low), "s", 1e3, -16, 2},
        {"verdict", "", COLUMN_NAME, FIELD(verdict), NULL, 1, -9, 0},
        {"bar", heading, COLUMN_CHARS, FIELD(bar), NULL, 1, -20, 0},
    };
    struct column others[sizeof columns / sizeof *columns];
#undef FIELD
    memcpy(others, columns, sizeof columns);
    others[0].heading = "strategy";
    others[1].heading = NULL;
    int sizes = 0; /* they stand at the end */
    while (sizes < a->n && a->row[a->n - 1 - sizes].bucket_mb > 0)
        sizes++;
    const struct answer_row *first = a->row + a->n - sizes;
    results_add_table(summary, &(struct table){"bucket_sizes", "Bucket sizes of ddp_bucketed", TABLE_COLUMNS(columns),
                                               first, (size_t)sizes, sizeof *first});
    results_add_table(
        summary,
        &(struct table){
            "strategies", "The other strategies", TABLE_COLUMNS(others), a->row, (size_t)(a->n - sizes), sizeof *first,
            0,
            .note = {"cost: the median of the differences of its steps and those of `none` in the same rounds, with "
                     "an interval from 6 rounds on. dropped: in the slower half of its last stage; slower: "
                     "significantly so; undecided: not significantly slower. Of all steps, what the machine did to a "
                     "whole round is taken off."}});
}

static void add_end(const struct search *s, cJSON *summary)
{
    static const char *const ended[] = {"unfinished", "best", "within", "max_minutes"};
    static const char *const words[] = {
        "The search goes on; so far", "All others are slower, or were dropped before:",
        "All others are within 1 %, slower, or were dropped before:", "Time limit reached:"};
    char took[CELL];
    json_add_text(summary, "ended", ended[s->end]);
    results_add_sentence(summary, "answers", "%s %s, %zu round%s%s.", words[s->end], text_duration(took, s->seconds),
                         s->rounds, text_plural(s->rounds), s->final ? "" : ", before the final rounds; no verdict");
}

void answer_add_words(const struct answer *a, const struct search *s, const struct implementation *implementation,
                      cJSON *summary)
{
    if (a->best < 0)
        return;
    const struct answer_row *best = &a->row[a->best], *sized = NULL;
    int shortest = -1; /* of those with a size, the candidate */
    for (const struct answer_row *row = a->row; row < a->row + a->n; row++)
        if (*row->size && (!sized || row->step.median < sized->step.median)) {
            sized = row;
            shortest = (int)(row->searched - s->row);
        }
    json_add_text(summary, "best", best->label);
    json_add_number(summary, "bucket_size_mb", *best->size ? best->bucket_mb : NAN);
    verdict_add_choice(&implementation[s->best], is_undecided(s), &best->cost, &best->step, "answers", summary);
    results_add_sentence(summary, "answers", "That is %.1f %% of a step of %.2f ms (%zu round%s%s).",
                         100 * best->cost.median / best->step.median, 1e3 * best->step.median, best->step.n,
                         text_plural(best->step.n), isfinite(best->cost.ci_low) ? "" : "; an interval takes 6");
    if (shortest >= 0 && !*best->size)
        verdict_add_bucket(&implementation[shortest], "answers", summary);
    add_groups(a, s, summary);
    add_end(s, summary);
    add_tables(a, summary);
}
