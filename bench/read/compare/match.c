/* match.c - matches the figures of several runs. */
#include "compare/match.h"

#include "base/option_table.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line, with the values of its runs. It begins with its figure, by which tfind finds it. */
struct line {
    struct verdict_figure of;
    double value[]; /* [runs]; NAN: the run lacks the figure */
};

/* Compares names and subjects of two figures, not their sizes, so that tfind finds any line of a size group. */
static int by_size_group(const void *a, const void *b)
{
    const struct figure *x = a, *y = b;
    int by_name = strcmp(x->name, y->name);
    return by_name ? by_name : strcmp(x->subject, y->subject);
}

static int by_figure(const void *a, const void *b)
{
    const struct figure *x = a, *y = b;
    int by_group = by_size_group(a, b);
    return by_group ? by_group : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

double *compare_values_of(struct compare_lines *lines, const struct figure *figure)
{
    const struct verdict_figure *const *group = tfind(figure, &lines->tree, by_size_group);
    struct line *const *found = tfind(figure, &lines->tree, by_figure);
    if (found)
        return (*found)->value;
    struct line *line = allocate(1, sizeof *line + lines->runs * sizeof *line->value);
    line->of = (struct verdict_figure){
        .figure = *figure, .size_group = group ? (*group)->size_group : lines->size_groups++, .baseline = line->value};
    for (size_t r = 0; r < lines->runs; r++)
        line->value[r] = NAN;
    if (!tsearch(line, &lines->tree, by_figure))
        fatal_no_memory(0, 0);
    lines->line = allocate_more(lines->line, lines->n, sizeof(struct verdict_figure *));
    lines->line[lines->n++] = &line->of;
    return line->value;
}

static int add_run(struct compare_lines *lines, size_t r, size_t baselines)
{
    const struct saved_run *saved = &lines->run[r].saved;
    for (const struct figure *f = saved->figures.item; f < saved->figures.item + saved->figures.n; f++) {
        if (r < baselines && !strcmp(f->name, "wrong_elements") && f->value > 0)
            return error_report("%s: found wrong elements in %s of %.0f bytes, so it is not a baseline; leave it out",
                                saved->directory, f->subject, f->bytes);
        compare_values_of(lines, f)[r] = f->value;
    }
    return 0;
}

int compare_match(struct compare_lines *lines, const struct compare_run *run, size_t baselines, size_t candidates)
{
    *lines = (struct compare_lines){.runs = baselines + candidates, .run = run};
    for (size_t r = 0; r < lines->runs; r++)
        if (add_run(lines, r, baselines))
            return -1;
    for (size_t i = 0; i < lines->n; i++) { /* wrong elements make all figures of this subject and size wrong */
        struct verdict_figure *line = lines->line[i];
        struct figure figure = line->figure;
        strcpy(figure.name, "wrong_elements");
        const struct line *const *wrong = tfind(&figure, &lines->tree, by_figure);
        for (size_t r = baselines; wrong && r < lines->runs; r++)
            line->wrong |= (*wrong)->value[r] > 0;
        line->candidate = line->baseline + baselines;
    }
    return 0;
}

static int report_unknown(const struct compare_lines *lines, const char *name)
{
    char known[800] = "";
    for (size_t i = 0; i < lines->n; i++) {
        size_t first = 0;
        while (strcmp(lines->line[first]->figure.name, lines->line[i]->figure.name) != 0)
            first++;
        if (first == i)
            text_append(known, sizeof known, " %s", lines->line[i]->figure.name);
    }
    return error_report("--metrics '%s': the runs have no such figure; they have:%s", name, known);
}

static int judge_list(struct compare_lines *lines, const char *list)
{
    char name[sizeof(((struct figure *)NULL)->name)];
    int more;
    for (size_t i = 0; i < lines->n; i++)
        lines->line[i]->figure.judged = 0;
    for (struct option_list names = {"metrics", list, 0}; (more = option_next_word(&names, name, sizeof name)) > 0;) {
        int found = 0;
        for (size_t i = 0; i < lines->n; i++)
            if (!strcmp(lines->line[i]->figure.name, name))
                lines->line[i]->figure.judged = found = 1;
        if (!found)
            return report_unknown(lines, name);
    }
    return more ? report_unknown(lines, list) : 0;
}

/* Rejects a figure that has no better direction, or has values of 0 or less, which would count as missing. */
static int check_values(const struct verdict_figure *line, const struct compare_lines *lines, const char *metrics)
{
    const char *name = line->figure.name;
    if (line->figure.better == BETTER_NONE)
        return error_report(
            "--metrics %s: neither high nor low values are better, so it cannot be judged; --label shows it", name);
    for (size_t i = 0; i < lines->runs; i++) {
        double value = line->baseline[i]; /* baseline[] continues with the candidates' values */
        if (value <= 0 && *metrics)
            return error_report("--metrics %s: has values of 0 or less, hence no ratio; --label shows it", name);
        if (value <= 0)
            return error_report("%s: %s of %s is %g, so it has no ratio; judge other figures with --metrics",
                                lines->run[i].saved.directory, name, line->figure.subject, value);
    }
    return 0;
}

static int compare_lines(const void *a, const void *b)
{
    const struct verdict_figure *x = *(struct verdict_figure *const *)a, *y = *(struct verdict_figure *const *)b;
    if (x->figure.judged != y->figure.judged)
        return y->figure.judged - x->figure.judged;
    if (x->size_group != y->size_group)
        return x->size_group < y->size_group ? -1 : 1;
    return (x->figure.bytes > y->figure.bytes) - (x->figure.bytes < y->figure.bytes);
}

int compare_choose(struct compare_lines *lines, const char *metrics)
{
    if (*metrics && judge_list(lines, metrics))
        return -1;
    if (lines->n)
        qsort(lines->line, lines->n, sizeof(struct verdict_figure *), compare_lines);
    while (lines->judged < lines->n && lines->line[lines->judged]->figure.judged)
        if (check_values(lines->line[lines->judged++], lines, metrics))
            return -1;
    return lines->judged ? 0
                         : error_report("%s has no figure to judge, and neither has any other run; name some with "
                                        "--metrics",
                                        lines->run->saved.directory);
}

void compare_lines_destroy(struct compare_lines *lines)
{
    tdestroy(lines->tree, free);
    free(lines->line);
    *lines = (struct compare_lines){0};
}
