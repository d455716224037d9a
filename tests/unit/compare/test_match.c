/* test_match.c - matching of figures of several runs, and which figures are judged. */
#include "compare/match.h"
#include "kernels/error.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct compare_run run[3];
static struct compare_lines lines;

static void destroy(void)
{
    for (int i = 0; i < 3; i++)
        compare_run_destroy(&run[i]);
    compare_lines_destroy(&lines);
    error_clear();
}

/* Adds the figures of one size of a collective to run i: a judged time, a percentile, a bandwidth, wrong elements. */
static void add_size(int i, const char *subject, double bytes, double seconds, double wrong)
{
    struct figure figure = {.name = "time", .unit = "s", .bytes = bytes, .low = NAN, .high = NAN, .n = 20, .judged = 1};
    snprintf(figure.subject, sizeof figure.subject, "%s", subject);
    figure.value = seconds;
    figures_add(&run[i].saved.figures, &figure);
    figure.judged = 0;
    strcpy(figure.name, "time_p99");
    figure.value = 5;
    figures_add(&run[i].saved.figures, &figure);
    strcpy(figure.name, "busbw");
    strcpy(figure.unit, "B/s");
    figure.value = 8;
    figure.better = BETTER_HIGHER;
    figures_add(&run[i].saved.figures, &figure);
    strcpy(figure.name, "wrong_elements");
    strcpy(figure.unit, "1");
    figure.value = wrong;
    figure.better = BETTER_LOWER;
    figures_add(&run[i].saved.figures, &figure);
}

static void three_runs(void)
{
    add_size(0, "a", 64, 30, 0);
    add_size(0, "a", 8, 10, 0);
    add_size(1, "a", 8, 11, 0);
    add_size(1, "b", 8, 20, 0);
    add_size(2, "a", 8, 12, 0);
    add_size(2, "a", 64, 31, 1);
    add_size(2, "b", 8, 21, 0);
    add_size(2, "a", 16, 15, NAN); /* NAN: elements were not checked */
}

/* Replaces the figures of run i by figures of one size. */
static void replace(int i, double seconds, double wrong)
{
    saved_run_destroy(&run[i].saved);
    strcpy(run[i].saved.directory, "DIR");
    add_size(i, "a", 8, seconds, wrong);
}

/* Runs 0 and 1 are baselines, run 2 is a candidate. */
static int match(const char *metrics)
{
    compare_lines_destroy(&lines);
    return compare_match(&lines, run, 2, 1) || compare_choose(&lines, metrics) ? -1 : 0;
}

TEST(figures_of_runs_are_matched)
{
    static const double known[][4] = {/* bytes, times of two baselines, time of the candidate */
                                      {8, 10, 11, 12},
                                      {16, NAN, NAN, 15},
                                      {64, 30, NAN, 31},
                                      {8, NAN, 20, 21}};
    three_runs();
    ck_assert_int_eq(match(""), 0);
    ck_assert_uint_eq(lines.n, 3 * 4 + 3);
    size_t n = 0;
    for (size_t i = 0; i < lines.n; i++) {
        const struct verdict_figure *l = lines.line[i];
        const struct verdict_figure *before = i ? lines.line[i - 1] : l;
        ck_assert(i == 0 || i == lines.judged || before->size_group < l->size_group ||
                  before->figure.bytes < l->figure.bytes);
        ck_assert_int_eq(l->figure.judged, i < lines.judged);
        ck_assert_int_eq(l->figure.judged, !strcmp(l->figure.name, "time"));
        ck_assert_int_eq(l->wrong, l->figure.bytes == 64);
        if (!l->figure.judged)
            continue;
        ck_assert_double_eq(l->figure.bytes, known[n][0]);
        const double has[] = {l->baseline[0], l->baseline[1], l->candidate[0]};
        for (int k = 0; k < 3; k++)
            ck_assert(isnan(known[n][k + 1]) ? isnan(has[k]) : has[k] == known[n][k + 1]);
        ck_assert(!strcmp(l->figure.subject, n < 3 ? "a" : "b"));
        ck_assert_int_eq(n < 3, l->size_group == lines.line[0]->size_group);
        n++;
    }
    ck_assert_uint_eq(n, 4);
}

/* All figures are matched even if there are thousands, as after `allreduce` of many sizes. */
TEST(many_sizes_are_matched)
{
    enum { SIZES = 8000 };
    for (int i = 0; i < 3; i++)
        for (int size = 1; size <= SIZES; size++)
            add_size(i, "a", i == 1 ? SIZES + 1 - size : size, size, i == 2 && size == 5);
    ck_assert_int_eq(match(""), 0);
    ck_assert_uint_eq(lines.n, 4 * SIZES);
    ck_assert_uint_eq(lines.judged, SIZES);
    for (size_t i = 0; i < lines.judged; i++) {
        const struct verdict_figure *l = lines.line[i];
        ck_assert_double_eq(l->figure.bytes, (double)(i + 1));
        ck_assert(l->baseline[0] == l->figure.bytes && l->candidate[0] == l->figure.bytes);
        ck_assert_double_eq(l->baseline[1], (double)(SIZES - i));
        ck_assert_int_eq(l->wrong, i == 4);
    }
}

TEST(other_metrics_can_be_judged)
{
    three_runs();
    ck_assert_int_eq(match("busbw,time_p99"), 0);
    for (size_t i = 0; i < lines.n; i++) {
        const char *name = lines.line[i]->figure.name;
        ck_assert_int_eq(lines.line[i]->figure.judged, !strcmp(name, "busbw") || !strcmp(name, "time_p99"));
    }
}

/* A figure of 0 or less has no ratio. If a run has such a figure, judging it is an error, with or without --metrics. */
TEST(figures_of_zero_have_no_ratio)
{
    for (int zero = 0; zero < 2; zero++)
        for (int i = 0; i < 3; i++) {
            destroy();
            three_runs();
            replace(i, zero ? 0 : -1, 0);
            ck_assert_int_eq(match("busbw"), 0); /* only busbw is judged, which is above 0 */
            ck_assert_int_eq(match("busbw,time"), -1);
            ck_assert_str_eq(error_text(), "--metrics time: has values of 0 or less, hence no ratio; --label shows it");
            error_clear();
            ck_assert_int_eq(match(""), -1);
            ck_assert_msg(strstr(error_text(), "DIR: time of a is ") == error_text(), "%s", error_text());
        }
}

/* A figure for which neither high nor low values are better cannot be judged. */
TEST(figures_without_a_direction_cannot_be_judged)
{
    three_runs();
    for (int i = 0; i < 3; i++)
        figures_add_value(&run[i].saved.figures, "a", "attainable", "s", 1, 1, BETTER_NONE);
    ck_assert_int_eq(match("time,busbw"), 0);
    ck_assert_int_eq(match("time,attainable"), -1);
    ck_assert_str_eq(error_text(),
                     "--metrics attainable: neither high nor low values are better, so it cannot be judged; "
                     "--label shows it");
}

SUITE("compare_match", NULL, destroy)
