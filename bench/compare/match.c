/* match.c - the figures of several runs side by side. */
#include "compare/match.h"

#include "base/option_table.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int same_size_group(const struct figure *a, const struct figure *b)
{
    return !strcmp(a->name, b->name) && !strcmp(a->subject, b->subject);
}

/* The line of a figure, which is appended if there is none. */
static size_t line_of(struct compare_lines *lines, const struct figure *figure, size_t baselines)
{
    size_t of = lines->n;
    for (size_t i = lines->n; i-- > 0;)
        if (same_size_group(lines->item[i].figure, figure)) {
            if (lines->item[i].figure->bytes == figure->bytes)
                return i;
            of = i;
        }
    double *values = &lines->values[lines->n * lines->runs];
    lines->item[lines->n] =
        (struct verdict_figure){.size_group = of < lines->n ? lines->item[of].size_group : lines->size_groups++,
                                .higher_is_better = figure->better == BETTER_HIGHER,
                                .baseline = values,
                                .candidate = values + baselines,
                                .figure = figure,
                                .judged = figure->judged};
    return lines->n++;
}

static int add_run(struct compare_lines *lines, const struct saved_run *saved, size_t r, size_t baselines)
{
    for (size_t i = 0; i < saved->figures.n; i++) {
        const struct figure *figure = &saved->figures.item[i];
        double *value = &lines->values[line_of(lines, figure, baselines) * lines->runs + r];
        if (!isnan(*value))
            return error_report("%s: summary.json has %s of %s twice", saved->directory, figure->name, figure->subject);
        if (r < baselines && !strcmp(figure->name, "wrong_elements") && figure->value > 0)
            return error_report("%s: found wrong elements in %s of %.0f bytes, so it is no baseline; leave it out",
                                saved->directory, figure->subject, figure->bytes);
        *value = figure->value;
    }
    return 0;
}

int compare_match(struct compare_lines *lines, const struct compare_run *run, size_t baselines, size_t candidates)
{
    size_t most = 0, runs = baselines + candidates;
    for (size_t r = 0; r < runs; r++)
        most += run[r].saved.figures.n;
    *lines = (struct compare_lines){.item = allocate(most, sizeof *lines->item),
                                    .runs = runs,
                                    .values = allocate(most * runs, sizeof *lines->values)};
    for (size_t i = 0; i < most * runs; i++)
        lines->values[i] = NAN;
    for (size_t r = 0; r < runs; r++)
        if (add_run(lines, &run[r].saved, r, baselines))
            return -1;
    for (size_t i = 0; i < lines->n; i++) /* wrong elements spoil all figures of their subject and size */
        for (size_t r = baselines; r < runs && !lines->item[i].wrong; r++) {
            const struct figure *figure = lines->item[i].figure,
                                *wrong = figures_find(&run[r].saved.figures, figure->subject, "wrong_elements",
                                                      figure->bytes);
            lines->item[i].wrong = wrong && wrong->value > 0;
        }
    return 0;
}

static int unknown(const struct compare_lines *lines, const char *name)
{
    char known[800] = "";
    size_t at = 0;
    for (size_t i = 0; i < lines->n && at < sizeof known; i++) {
        size_t first = 0;
        while (strcmp(lines->item[first].figure->name, lines->item[i].figure->name) != 0)
            first++;
        if (first == i)
            at += (size_t)snprintf(known + at, sizeof known - at, " %s", lines->item[i].figure->name);
    }
    return error_report("--metrics '%s': the runs have no such figure; they have:%s", name, known);
}

static int judge_list(struct compare_lines *lines, const char *list)
{
    char name[sizeof(((struct figure *)NULL)->name)];
    int more;
    for (size_t i = 0; i < lines->n; i++)
        lines->item[i].judged = 0;
    while ((more = option_next_word(&list, name, sizeof name)) > 0) {
        int found = 0;
        for (size_t i = 0; i < lines->n; i++)
            if (!strcmp(lines->item[i].figure->name, name))
                lines->item[i].judged = found = 1;
        if (!found)
            return unknown(lines, name);
    }
    return more ? unknown(lines, list) : 0;
}

/* A value of 0 or less has no ratio, but must not pass for a missing one. */
static int check_values(const struct verdict_figure *line, size_t runs, const char *metrics)
{
    const char *name = line->figure->name;
    if (line->figure->better == BETTER_NONE)
        return error_report("--metrics %s: is neither better high nor low, so it cannot be judged; it is shown with "
                            "--label",
                            name);
    for (size_t i = 0; i < runs; i++) {
        double value = line->baseline[i]; /* those of the candidates are behind them */
        if (value <= 0 && *metrics)
            return error_report("--metrics %s: has values of 0 or less, so no ratio; it is shown with --label", name);
        if (value <= 0)
            return error_report("%s of %s is %g in a run, so it has no ratio; judge other figures with --metrics", name,
                                line->figure->subject, value);
    }
    return 0;
}

static int compare_lines(const void *a, const void *b)
{
    const struct verdict_figure *x = a, *y = b;
    if (x->judged != y->judged)
        return y->judged - x->judged;
    if (x->size_group != y->size_group)
        return x->size_group < y->size_group ? -1 : 1;
    return (x->figure->bytes > y->figure->bytes) - (x->figure->bytes < y->figure->bytes);
}

int compare_choose(struct compare_lines *lines, const char *metrics)
{
    if (*metrics && judge_list(lines, metrics))
        return -1;
    if (lines->n)
        qsort(lines->item, lines->n, sizeof *lines->item, compare_lines);
    while (lines->judged < lines->n && lines->item[lines->judged].judged)
        if (check_values(&lines->item[lines->judged++], lines->runs, metrics))
            return -1;
    return lines->judged ? 0 : error_report("the runs have no figure to judge; name some with --metrics");
}

void compare_lines_destroy(struct compare_lines *lines)
{
    free(lines->item);
    free(lines->values);
    *lines = (struct compare_lines){0};
}
