/* section_grid.c - a sweep: a table, a picture and a verdict for each number of ranks and model. */
#include "report/sections.h"

#include "base/text.h"
#include "kernels/error.h"
#include "report/grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

/* A point, and the cells of its row that are text. */
struct grid_row {
    struct grid_point point;
    const char *implementation, *mark;
    char bucket[24], ratio[CELL];
};

#define FIELD(field) offsetof(struct grid_row, field)
/* clang-format off */
static const struct column columns[] = {
    {"mark", " ", COLUMN_NAME, FIELD(mark), NULL, 0, -2, 0},
    {"implementation", "implementation", COLUMN_NAME, FIELD(implementation), NULL, 0, -18, 0},
    {"bucket", "bucket MiB", COLUMN_CHARS, FIELD(bucket), NULL, 0, 10, 0},
    {"step", "step ms", COLUMN_REAL, FIELD(point.mean_s), "s", 1e3, 10, -4},
    {"step_95", "[95 % interval]", COLUMN_INTERVAL, FIELD(point.interval_s), "s", 1e3, -19, 2},
    {"n", "n", COLUMN_COUNT, FIELD(point.n), "1", 0, 3, 0},
    {"to_best", "/ best", COLUMN_CHARS, FIELD(ratio), NULL, 0, 7, 0},
    {"to_best_95", "[95 %]", COLUMN_INTERVAL, COLUMN_ENDS(struct grid_row, point.to_best.ci_low, point.to_best.ci_high), "1", 0, -14, 3},
    {"tokens_per_second", "tokens/s", COLUMN_REAL, FIELD(point.tokens_mean_s), "1/s", 0, 9, 0},
    /* only if there are several numbers of ranks: */
    {"efficiency", "efficiency", COLUMN_REAL, FIELD(point.efficiency), "1", 0, 10, 3},
};
/* clang-format on */
#undef FIELD

static int is_best(const struct grid_point *p)
{
    return p->verdict == GRID_BEST || p->verdict == GRID_ONLY;
}

static struct grid_row row_of(const struct grid_point *p)
{
    struct grid_row row = {.point = *p,
                           .implementation = p->of->subject,
                           .mark = p->verdict == GRID_TIED ? "="
                                   : is_best(p)            ? "*"
                                                           : ""};
    snprintf(row.bucket, sizeof row.bucket, isfinite(p->of->mb) ? "%.10g" : "-", p->of->mb);
    if (is_best(p)) {
        strcpy(row.ratio, p->verdict == GRID_BEST ? "best" : "only");
        row.point.to_best.ci_low = row.point.to_best.ci_high = NAN;
    } else
        text_ratio(row.ratio, p->to_best.ratio);
    return row;
}

static void add_table(cJSON *document, const struct grid_point *point, size_t n, int scales)
{
    struct grid_row *row = allocate(n, sizeof *row);
    for (size_t i = 0; i < n; i++)
        row[i] = row_of(&point[i]);
    cJSON *table = table_json(&(struct table){
        .key = "grid", .column = columns, .columns = sizeof columns / sizeof *columns - !scales, TABLE_ROWS(row, n)});
    document_add_saved_table(document, table); /* with its empty columns, so that all groups have the same */
    cJSON_Delete(table);
    free(row);
}

/* ---- the picture ---- */

static int by_x(const void *a, const void *b)
{
    double x = ((const struct chart_point *)a)->x, y = ((const struct chart_point *)b)->x;
    return (x > y) - (x < y);
}

/* Fills points with the bucket sizes of an implementation, in order. Returns how many. */
static size_t take_sizes(struct chart_point *out, const struct grid_point *point, size_t n, const char *subject)
{
    size_t taken = 0;
    for (const struct grid_point *p = point; p < point + n; p++)
        if (isfinite(p->of->mb) && !strcmp(p->of->subject, subject))
            out[taken++] =
                (struct chart_point){p->of->mb, 1e3 * p->mean_s, 1e3 * p->interval_s[0], 1e3 * p->interval_s[1],
                                     is_best(p)                ? CHART_BEST
                                     : p->verdict == GRID_TIED ? CHART_AS_GOOD
                                                               : CHART_PLAIN};
    qsort(out, taken, sizeof *out, by_x);
    return taken;
}

/* Draws the step over the bucket size: a line for each implementation with buckets, a horizontal line for each other;
 * nothing if none has buckets. */
static void draw_group(cJSON *document, const struct grid_point *point, size_t n, const char *of, const char *finding)
{
    struct chart_point *taken = allocate(n, sizeof *taken);
    struct chart_series *series = allocate(n, sizeof *series);
    struct chart_reference *reference = allocate(n, sizeof *reference);
    size_t points = 0, lines = 0, references = 0;
    char name[200];
    for (const struct grid_point *p = point; p < point + n; p++) {
        const char *subject = p->of->subject;
        if (!isfinite(p->of->mb)) {
            reference[references++] = (struct chart_reference){subject, 1e3 * p->mean_s};
        } else {
            size_t before = 0;
            while (strcmp(point[before].of->subject, subject) != 0 || !isfinite(point[before].of->mb))
                before++;
            if (&point[before] < p) /* the implementation has its line already */
                continue;
            size_t sizes = take_sizes(&taken[points], point, n, subject);
            series[lines] = (struct chart_series){subject, &taken[points], sizes, (int)(lines % SVG_COLOURS), 0};
            points += sizes;
            lines++;
        }
    }
    snprintf(name, sizeof name, "sweep_%s_%zu-rank%s", point->model, point->ranks, text_plural(point->ranks));
    if (lines)
        document_add_picture(document, name, finding,
                             chart_xy(finding, of,
                                      &(struct chart_xy){.x = {.title = "bucket size, MiB", .is_log = 1},
                                                         .y = {.title = "ms a step"},
                                                         .series = series,
                                                         .n_series = lines,
                                                         .reference = reference,
                                                         .n_references = references}));
    free(taken);
    free(series);
    free(reference);
}

/* ---- the verdict ---- */

/* The verdict on a group (results/verdict.h) as an object with the sentences as "answers"; the caller deletes it. */
static cJSON *verdict_on(const struct grid_point *point, size_t n)
{
    enum { NAME = 240 };
    char(*name)[NAME] = allocate(n, sizeof *name), size[24] = "";
    struct verdict_item *other = allocate(n, sizeof *other);
    struct verdict verdict = {.ranks = (int)point->ranks, .best_size = "", .sample = "repeat", .item = other};
    for (const struct grid_point *p = point; p < point + n; p++) {
        verdict.candidates += p->verdict != GRID_CONTROL;
        if (is_best(p)) {
            verdict.label = p->of->subject;
            verdict.strategy = p->of->strategy;
            verdict.size = size;
            verdict.step = (struct estimate){p->mean_s, p->interval_s[0], p->interval_s[1], NAN, NAN, p->n};
            snprintf(size, sizeof size, isfinite(p->of->mb) ? "%.10g" : "", p->of->mb);
        } else if (p->verdict == GRID_TIED || p->verdict == GRID_SLOWER) {
            snprintf(name[verdict.n], NAME, isfinite(p->of->mb) ? "%s at %.10g MiB" : "%s", p->of->subject, p->of->mb);
            other[verdict.n] = (struct verdict_item){name[verdict.n], p->mean_s, p->to_best,
                                                     p->verdict == GRID_TIED ? VERDICT_TIE : VERDICT_SLOWER};
            verdict.n++;
        }
    }
    cJSON *result = cJSON_CreateObject();
    cJSON_AddArrayToObject(result, "answers");
    verdict_add(&verdict, "answers", result);
    const char *advice = grid_edge_advice(point, n);
    if (advice)
        results_add_sentence(result, "answers", "%s is best at %s.", grid_best_bucket(point, n)->of->subject, advice);
    free(name);
    free(other);
    return result;
}

/* ---- all groups ---- */

/* A text of the runs of a group, such as their link; `several` where they differ. */
static const char *common_text(const struct grid_point *point, size_t n, size_t offset, const char *several)
{
    const char *first = (const char *)point->sample->run + offset;
    for (const struct grid_point *p = point; p < point + n; p++)
        for (size_t i = 0; i < p->n; i++)
            if (strcmp((const char *)p->sample[i].run + offset, first) != 0)
                return several;
    return first;
}

static void add_group(cJSON *document, const struct grid_point *point, size_t n, int scales)
{
    const char *link = common_text(point, n, offsetof(struct report_run, link), "several links");
    const char *machine = common_text(point, n, offsetof(struct report_run, machine), "several machines");
    char title[600], finding[600];
    cJSON *verdict = verdict_on(point, n);
    const cJSON *first = cJSON_GetObjectItemCaseSensitive(verdict, "answers")->child, *last = first->prev;
    int has_advice = grid_edge_advice(point, n) != NULL;
    snprintf(finding, sizeof finding, "%s%s%s", first->valuestring, has_advice ? " " : "",
             has_advice ? last->valuestring : "");
    snprintf(title, sizeof title, "%zu rank%s, model %s%s%s%s%s", point->ranks, text_plural(point->ranks), point->model,
             *link ? ", link: " : "", link, *machine ? ", machine: " : "", machine);
    document_add_heading(document, "%s", title);
    draw_group(document, point, n, title, finding);
    add_table(document, point, n, scales);
    for (; first; first = first->next)
        document_add_paragraph(document, "%s", first->valuestring);
    cJSON_Delete(verdict);
}

void section_add_grid(cJSON *document, const struct grid *grid)
{
    int scales = grid->point[0].ranks != grid->point[grid->n - 1].ranks;
    for (size_t first = 0, end; first < grid->n; first = end) {
        end = grid_group_end(grid, first);
        add_group(document, &grid->point[first], end - first, scales);
    }
    document_add_heading(document, "How to read the tables");
    document_add_item(document, "step: mean over the runs (n) of a run's median step, with Student's 95 %% interval.");
    document_add_item(document, "/ best: geometric mean of the ratios to the best (*) in the same repeat, with 95 %% "
                                "intervals that hold together for all points with the same ranks and model.");
    document_add_item(document,
                      "=: not significantly slower: the interval reaches down to 1. More --repeats narrow it.");
    document_add_item(document, "An interval over the runs needs %d repeats.", GRID_REPEATS);
    if (scales)
        document_add_item(document,
                          "efficiency: tokens per second and rank / those of the same row on the fewest ranks.");
}
