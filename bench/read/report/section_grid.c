/* section_grid.c - writes the section on a sweep: table, picture and verdict for each number of ranks and model. */
#include "report/sections.h"

#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"
#include "results/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(field) offsetof(struct grid_point, field)
/* clang-format off */
static const struct column columns[] = {
    {"mark", " ", COLUMN_NAME, FIELD(mark), NULL, 0, -2, 0},
    {"implementation", "implementation", COLUMN_NAME, FIELD(implementation), NULL, 0, -18, 0},
    {"bucket", "bucket MiB", COLUMN_CHARS, FIELD(bucket), NULL, 0, 10, 0},
    {"step", "step ms", COLUMN_REAL, FIELD(step_s.median), "s", 1e3, 10, -4},
    {"step_95", "[95 % interval]", COLUMN_INTERVAL, COLUMN_ENDS(struct grid_point, step_s.ci_low, step_s.ci_high), "s", 1e3, -19, 2},
    {"n", "n", COLUMN_COUNT, FIELD(step_s.n), "1", 0, 3, 0},
    {"to_best", "/ best", COLUMN_REAL, FIELD(to_best.ratio.median), "1", 0, 7, 3},
    {"to_best_95", "[95 %]", COLUMN_INTERVAL, COLUMN_ENDS(struct grid_point, to_best.ratio.ci_low, to_best.ratio.ci_high), "1", 0, -14, 3},
    {"tokens_per_second", "tokens/s", COLUMN_REAL, FIELD(tokens_per_second), "1/s", 0, 9, 0},
    {"efficiency", "efficiency", COLUMN_REAL, FIELD(efficiency), "1", 0, 10, 3},
};
/* clang-format on */

/* ---- the picture ---- */

/* Fills `out` with the bucket sizes and steps of an implementation, sorted by size. Returns the number of points. */
static size_t take_sizes(struct chart_point *out, const struct grid_point *point, size_t n, const char *subject)
{
    size_t taken = 0;
    enum chart_mark best = CHART_BEST; /* in a ring only if all others are slower or tie */
    for (const struct grid_point *p = point; p < point + n; p++)
        best = p->verdict == VERDICT_UNDECIDED ? CHART_PLAIN : best;
    for (const struct grid_point *p = point; p < point + n; p++)
        if (*p->bucket && !strcmp(p->implementation, subject))
            out[taken++] =
                (struct chart_point){p->of->mb, 1e3 * p->step_s.median, 1e3 * p->step_s.ci_low, 1e3 * p->step_s.ci_high,
                                     *p->mark == '*'   ? best
                                     : *p->mark == '=' ? CHART_TIE
                                                       : CHART_PLAIN};
    qsort(out, taken, sizeof *out, stats_ascending);
    return taken;
}

/* Draws the step time over the bucket size: a curve for each implementation with buckets, and a horizontal line for
 * each implementation without. Draws nothing if no implementation has buckets. */
static void draw_group(cJSON *document, const struct grid_point *point, size_t n, const char *of, const char *finding)
{
    struct chart_point *taken = allocate(n, sizeof *taken);
    struct chart_series *series = allocate(n, sizeof *series);
    struct chart_reference *reference = allocate(n, sizeof *reference);
    size_t points = 0, lines = 0, references = 0;
    char name[200];
    for (const struct grid_point *p = point; p < point + n; p++) {
        const char *subject = p->implementation;
        if (!*p->bucket) {
            reference[references++] = (struct chart_reference){subject, 1e3 * p->step_s.median};
        } else {
            size_t before = 0;
            while (strcmp(point[before].implementation, subject) != 0 || !*point[before].bucket)
                before++;
            if (&point[before] < p) /* drawn together with the subject's first point */
                continue;
            size_t sizes = take_sizes(&taken[points], point, n, subject);
            series[lines] = (struct chart_series){subject, &taken[points], sizes, (int)(lines % SVG_COLOURS), 0, 0};
            points += sizes;
            lines++;
        }
    }
    snprintf(name, sizeof name, "sweep_%s_%zu-rank%s", point->model, point->ranks, text_plural(point->ranks));
    const struct chart_xy chart = {.x = {.title = "bucket size, MiB", .is_log = 1},
                                   .y = {.title = "ms a step"},
                                   .series = series,
                                   .n_series = lines,
                                   .reference = reference,
                                   .n_references = references};
    if (lines)
        document_add_picture(document, name, finding, chart_xy(finding, of, &chart));
    free(taken);
    free(series);
    free(reference);
}

/* ---- the verdict ---- */

/* Returns the verdict on a group (results/verdict.h), with sentences in the list "answers"; the caller deletes it. */
static cJSON *verdict_on(const struct grid_point *point, size_t n)
{
    enum { NAME = 240 };
    char(*name)[NAME] = allocate(n, sizeof *name);
    struct verdict_item *other = allocate(n, sizeof *other);
    const char *best = "";
    struct verdict verdict = {.ranks = (int)point->ranks,
                              .form_options = "",
                              .form_words = "",
                              .best_size = "",
                              .within = VERDICT_WITHIN,
                              .sample = "repeat",
                              .sample_seconds = NAN,
                              .option = "--repeats",
                              .item = other};
    for (const struct grid_point *p = point; p < point + n; p++) {
        verdict.candidates += p->verdict != VERDICT_KINDS;
        for (size_t i = 0; i < p->n; i++)
            verdict.busy |= run_is_busy(p->sample[i].run);
        snprintf(name[p - point], NAME, *p->bucket ? "%s at %s MiB" : "%s", p->implementation, p->bucket);
        if (p->verdict == VERDICT_BEST) {
            best = name[p - point];
            verdict.label = p->implementation;
            verdict.strategy = p->of->strategy;
            verdict.size = p->bucket;
            verdict.step = p->step_s;
        } else if (p->verdict != VERDICT_KINDS) {
            other[verdict.n++] = (struct verdict_item){name[p - point], p->to_best};
        }
    }
    cJSON *result = cJSON_CreateObject();
    cJSON_AddArrayToObject(result, "answers");
    verdict_add(&verdict, "answers", result);
    if (*best) /* named as the others are */
        cJSON_ReplaceItemInObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(result, "verdict"), "best",
                                               json_text(best));
    free(name);
    free(other);
    return result;
}

/* ---- all groups ---- */

static void add_group(cJSON *document, const struct grid_point *point, size_t n)
{
    const struct report_run *run = point->sample->run;
    char title[600], finding[600], edge[200], name[200];
    cJSON *verdict = verdict_on(point, n);
    const cJSON *first = cJSON_GetObjectItemCaseSensitive(verdict, "answers")->child;
    if (*grid_edge_advice(edge, point, n))
        results_add_sentence(verdict, "answers", "%s", edge);
    snprintf(finding, sizeof finding, "%s%s%s", first->valuestring, *edge ? " " : "", edge);
    snprintf(title, sizeof title, "%zu rank%s, model %s%s%s%s%s", point->ranks, text_plural(point->ranks), point->model,
             *run->link ? ", link: " : "", run->link, *run->machine ? ", machine: " : "", run->machine);
    document_add_heading(document, "%s", title);
    draw_group(document, point, n, title, finding);
    snprintf(name, sizeof name, "verdict_%s_%zu-ranks", point->model, point->ranks);
    if (point->ranks > 1)
        section_add_verdict(document, name, title, cJSON_GetObjectItemCaseSensitive(verdict, "verdict"), 0);
    document_add_table(document, &(struct table){.key = "grid", TABLE_COLUMNS(columns), TABLE_ROWS(point, n)});
    for (; first; first = first->next)
        document_add_paragraph(document, "%s", first->valuestring);
    cJSON_Delete(verdict);
}

void section_add_grid(cJSON *document, const struct grid *grid)
{
    for (size_t first = 0, end; first < grid->n; first = end) {
        end = grid_group_end(grid, first);
        add_group(document, &grid->point[first], end - first);
    }
    document_add_heading(document, "How to read the tables");
    document_add_item(document, "step: geometric mean of the steps of the runs (n), with Student's 95 %% interval.");
    document_add_item(document, "/ best: geometric mean of the ratios to the best (*) in the same repeat, with 95 %% "
                                "intervals that hold jointly for all points with the same ranks and model.");
    document_add_item(document, "=: tie: known to be within %g %% of the best. More --repeats narrow the intervals.",
                      100 * VERDICT_WITHIN);
    document_add_item(document, "An interval over the runs needs %d repeats.", STATS_LEAST);
    document_add_item(document, "efficiency: tokens/s per rank / tokens/s per rank of this row on the fewest ranks.");
}
