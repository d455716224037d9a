/* match.c - the figures of several runs side by side. */
#include "compare/match.h"

#include "base/stats.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int same_size_group(const struct figure *a, const struct figure *b)
{
    return !strcmp(a->name, b->name) && !strcmp(a->subject, b->subject);
}

/* The line of a figure, from `hint` on around to it, since runs have their figures in the same order; n if there is
 * none. */
static size_t find(const struct compare_lines *lines, const struct figure *figure, size_t hint)
{
    for (size_t k = 0; k < lines->n; k++) {
        size_t i = (hint + k) % lines->n;
        if (lines->item[i].figure->bytes == figure->bytes && same_size_group(lines->item[i].figure, figure))
            return i;
    }
    return lines->n;
}

static void append(struct compare_lines *lines, const struct figure *figure)
{
    size_t of = 0;
    while (of < lines->n && !same_size_group(lines->item[of].figure, figure))
        of++;
    if (lines->n % 64 == 0) {
        lines->item = realloc(lines->item, (lines->n + 64) * sizeof *lines->item);
        if (!lines->item)
            FATAL("no memory for %zu lines", lines->n + 64);
    }
    size_t size_group = of < lines->n ? lines->item[of].size_group : lines->size_groups++;
    lines->item[lines->n++] =
        (struct compare_line){.figure = figure, .size_group = size_group, .judged = figure->judged};
}

static void append_run(struct compare_lines *lines, const struct compare_run *run)
{
    size_t at = 0;
    for (size_t i = 0; i < run->saved.figures.n; i++) {
        at = find(lines, &run->saved.figures.item[i], at) + 1;
        if (at > lines->n)
            append(lines, &run->saved.figures.item[i]);
    }
}

/* Some collectives count the elements that they got wrong: their times are no times. */
static int is_wrong(const struct figure *figure)
{
    return !strcmp(figure->name, "wrong_elements") && figure->value > 0;
}

/* Marks all figures of the same subject and size. */
static void mark_wrong(struct compare_lines *lines, const struct figure *wrong)
{
    for (size_t i = 0; i < lines->n; i++) {
        const struct figure *figure = lines->item[i].figure;
        if (figure->bytes == wrong->bytes && !strcmp(figure->subject, wrong->subject))
            lines->item[i].wrong = 1;
    }
}

/* Puts the figures of run number r of all into the lines' values. */
static int fill(struct compare_lines *lines, const struct compare_run *run, size_t r, size_t runs, int is_candidate)
{
    size_t at = 0;
    for (size_t i = 0; i < run->saved.figures.n; i++) {
        const struct figure *figure = &run->saved.figures.item[i];
        at = find(lines, figure, at);
        double *value = &lines->values[at * runs + r];
        if (!isnan(*value))
            return error_report("%s: summary.json has %s of %s twice", run->saved.directory, figure->name,
                                figure->subject);
        if (is_wrong(figure) && !is_candidate)
            return error_report("%s: found wrong elements in %s of %.0f bytes, so it is no baseline; leave it out",
                                run->saved.directory, figure->subject, figure->bytes);
        if (is_wrong(figure))
            mark_wrong(lines, figure);
        *value = figure->value;
    }
    return 0;
}

/* Marks the lines with this name; -1, reported, if there are none. */
static int judge_name(struct compare_lines *lines, const char *name, size_t length)
{
    char known[800] = "";
    size_t at = 0, found = 0;
    for (size_t i = 0; i < lines->n; i++) {
        const char *other = lines->item[i].figure->name;
        if (strlen(other) == length && !strncmp(other, name, length)) {
            lines->item[i].judged = 1;
            found++;
        }
    }
    if (found)
        return 0;
    for (size_t i = 0; i < lines->n && at < sizeof known; i++) {
        size_t first = 0;
        while (strcmp(lines->item[first].figure->name, lines->item[i].figure->name) != 0)
            first++;
        if (first == i)
            at += (size_t)snprintf(known + at, sizeof known - at, " %s", lines->item[i].figure->name);
    }
    return error_report("--metrics '%.*s': the runs have no such figure; they have:%s", (int)length, name, known);
}

static int judge_list(struct compare_lines *lines, const char *list)
{
    for (size_t i = 0; i < lines->n; i++)
        lines->item[i].judged = 0;
    for (const char *word = list;; word++) {
        size_t length = strcspn(word, ",");
        if (judge_name(lines, word, length))
            return -1;
        word += length;
        if (!*word)
            return 0;
    }
}

static int compare_lines(const void *a, const void *b)
{
    const struct compare_line *x = a, *y = b;
    if (x->size_group != y->size_group)
        return x->size_group < y->size_group ? -1 : 1;
    return (x->figure->bytes > y->figure->bytes) - (x->figure->bytes < y->figure->bytes);
}

int compare_match(struct compare_lines *lines, const struct compare_run *baseline, size_t baselines,
                  const struct compare_run *candidate, size_t candidates)
{
    size_t runs = baselines + candidates;
    *lines = (struct compare_lines){0};
    for (size_t r = 0; r < runs; r++)
        append_run(lines, r < baselines ? &baseline[r] : &candidate[r - baselines]);
    lines->values = allocate(lines->n * runs, sizeof *lines->values);
    for (size_t i = 0; i < lines->n * runs; i++)
        lines->values[i] = NAN;
    for (size_t r = 0; r < runs; r++)
        if (fill(lines, r < baselines ? &baseline[r] : &candidate[r - baselines], r, runs, r >= baselines))
            return -1;
    for (size_t i = 0; i < lines->n; i++) {
        lines->item[i].baseline = &lines->values[i * runs];
        lines->item[i].candidate = &lines->values[i * runs + baselines];
    }
    if (lines->n)
        qsort(lines->item, lines->n, sizeof *lines->item, compare_lines);
    return 0;
}

/* There is no ratio to a value that is not above 0; it must not pass for one that is not there. */
static int check_values(const struct compare_line *line, size_t baselines, size_t candidates, const char *metrics)
{
    const char *name = line->figure->name;
    if (line->figure->better == BETTER_NONE)
        return error_report("--metrics %s: is neither better high nor low, so it cannot be judged; it is shown with "
                            "--label",
                            name);
    for (size_t i = 0; i < baselines + candidates; i++) {
        double value = i < baselines ? line->baseline[i] : line->candidate[i - baselines];
        if (value <= 0 && *metrics)
            return error_report("--metrics %s: has values of 0 or less, so no ratio; it is shown with --label", name);
        if (value <= 0)
            return error_report("%s of %s is %g in a run, which is no time; judge others with --metrics", name,
                                line->figure->subject, value);
    }
    return 0;
}

int compare_choose(struct compare_lines *lines, size_t baselines, size_t candidates, const char *metrics)
{
    size_t judged = 0;
    if (*metrics && judge_list(lines, metrics))
        return -1;
    for (size_t i = 0; i < lines->n; i++) {
        if (!lines->item[i].judged)
            continue;
        judged++;
        if (check_values(&lines->item[i], baselines, candidates, metrics))
            return -1;
    }
    return judged ? 0 : error_report("the runs have no figure to judge; name some with --metrics");
}

static double median(const double *value, size_t runs, size_t *n)
{
    double *have = allocate(runs, sizeof *have);
    *n = 0;
    for (size_t i = 0; i < runs; i++)
        if (!isnan(value[i]))
            have[(*n)++] = value[i];
    double middle = stats_median(have, *n);
    free(have);
    return middle;
}

struct compare_medians compare_medians(const struct compare_line *line, size_t baselines, size_t candidates)
{
    struct compare_medians m;
    m.baseline = median(line->baseline, baselines, &m.n_baseline);
    m.candidate = median(line->candidate, candidates, &m.n_candidate);
    return m;
}

void compare_lines_destroy(struct compare_lines *lines)
{
    free(lines->item);
    free(lines->values);
    *lines = (struct compare_lines){0};
}
