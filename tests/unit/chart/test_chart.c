/* test_chart.c - charts of known values, of none, and of any: each is well-formed, and nothing in it overlaps. */
#include "chart/chart.h"

#include "base/text.h"
#include "kernels/random.h"
#include "tests/support/picture.h"
#include "tests/support/suite.h"
#include "tests/support/xml.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct chart_words words = {"A finding, which is a sentence that is long enough to need a second line",
                                         "ms a step: medians of 12 rounds", "A note."};
static char *picture;
static FILE *pictures; /* NULL, or where each goes */

static void teardown(void)
{
    free(picture);
    picture = NULL;
}

/* A picture without a fault, which the test's end frees. */
static void take(char *made)
{
    const char *fault = picture_fault(made);
    ck_assert_msg(!fault, "%s", fault);
    if (pictures)
        fputs(made, pictures);
    free(picture);
    picture = made;
}

static size_t count(const char *part)
{
    size_t n = 0;
    for (const char *c = picture; (c = strstr(c, part)); c++)
        n++;
    return n;
}

static void expect(const char *part)
{
    ck_assert_msg(count(part) > 0, "no '%s' in:\n%s", part, picture);
}

/* The number behind `before`, at its n-th place from 0. */
static double number(const char *before, int n)
{
    const char *c = picture;
    for (int i = 0; i <= n; i++) {
        c = strstr(c, before);
        ck_assert_msg(c != NULL, "no '%s' in:\n%s", before, picture);
        c += strlen(before);
    }
    return strtod(c, NULL);
}

/* ---- bars ---- */

static const struct chart_name parts[] = {{"compute", 0}, {"<b>\"&", 1}};

TEST(bars_are_as_long_as_their_parts)
{
    const double ms[2][2] = {{30, 10}, {20, 0}};
    const struct chart_bar bar[] = {{"first", ms[0], 40, 38, 43, 12}, {"second", ms[1], NAN, NAN, NAN, 0}};
    take(chart_bars(&words, bar, 2, parts, 2));
    expect(">first, compute: 30 ms<");
    expect(">first, &lt;b&gt;&quot;&amp;: 10 ms<");
    expect(">40 ms [38, 43], n 12<");
    expect(">20 ms<");
    ck_assert_uint_eq(count("height=\"20\""), 3); /* none of 0 ms */
    double width[3];
    for (int i = 0; i < 3; i++) /* behind the page and the legend */
        width[i] = number(" width=\"", 4 + i) + 1;
    ck_assert_double_eq_tol(number("<rect x=\"", 4) - number("<rect x=\"", 3), width[0], 0.2);
    ck_assert_double_eq_tol(width[0], 3 * width[1], 0.5);
    ck_assert_double_eq_tol(width[2], 2 * width[1], 0.5);
    expect(">40 ms [38, 43], n 12<");
}

/* Bars show the parts that a number can have; totals are what the caller says. */
TEST(bars_of_anything)
{
    const double ms[2] = {NAN, -5}, huge[2] = {DBL_MAX, DBL_MAX};
    const struct chart_bar bar[] = {
        {NULL, ms, NAN, NAN, NAN, 0}, {"", ms, 0, 0, 0, 1}, {"x", huge, 1e9, 0, INFINITY, 3}};
    take(chart_bars(&words, NULL, 0, NULL, 0));
    expect(">Nothing was measured.<");
    take(chart_bars(&words, bar, 2, parts, 2));
    expect(">0 ms<");
    take(chart_bars(&(struct chart_words){NULL, NULL, ""}, bar, 3, parts, 2));
}

/* ---- series ---- */

static const struct chart_point points[] = {{1, 30, 28, 33, CHART_PLAIN},
                                            {2, 20, 19, 21, CHART_AS_GOOD},
                                            {4, 19, 18, 20, CHART_BEST},
                                            {8, 60, NAN, NAN, CHART_PLAIN}};

static struct chart_xy of_points(struct chart_series *series)
{
    *series = (struct chart_series){"ddp", points, 4, 2, CHART_LINE | CHART_POINTS};
    return (struct chart_xy){
        .x = {.title = "MiB", .scale = CHART_LOG2}, .y = {.title = "ms"}, .series = series, .n_series = 1};
}

TEST(points_are_at_their_values)
{
    struct chart_series series;
    struct chart_xy chart = of_points(&series);
    take(chart_xy(&words, &chart));
    ck_assert_uint_eq(count("<title>ddp, "), 4);
    expect("<title>ddp, 2: 20 [19, 21]</title>");
    expect("<title>ddp, 8: 60</title>");
    ck_assert_uint_eq(count("dp-line dp-ring"), 2); /* of the point, and what it means */
    ck_assert_uint_eq(count(">best<") + count(">tied with the best<"), 2);
    ck_assert_uint_eq(count("dp-thick"), 3 + 1 + 1); /* intervals, what they are, and the style sheet */
    ck_assert_uint_eq(count(">95 % interval<"), 1);
    ck_assert_uint_eq(count("does not begin at 0"), 0);
    double x[3], y[3];
    for (int i = 0; i < 3; i++) {
        static const int circle[] = {0, 1, 3}; /* a ring before the point */
        x[i] = number("<circle cx=\"", circle[i]);
        y[i] =
            strtod(strstr(strstr(picture, (const char *[]){"28, 33", "19, 21", "18, 20"}[i]) - 70, " cy=\"") + 5, NULL);
    }
    ck_assert_double_eq_tol(x[1] - x[0], x[2] - x[1], 0.15);
    ck_assert_double_eq_tol(y[2] - y[1], (y[1] - y[0]) / 10, 0.15);
}

/* Numbers stand where something was measured, and only there; what a sign means is said if it is drawn. */
TEST(ticks_are_at_the_points)
{
    const struct chart_point odd[] = {{3, 1, NAN, NAN, 0}, {48, 2, NAN, NAN, 0}, {7, 5, NAN, NAN, 0}};
    struct chart_point many[40];
    struct chart_series series[2] = {{"in", odd, 3, 0, CHART_POINTS | CHART_RINGS}, {"out", odd, 3, 0, CHART_POINTS}};
    struct chart_xy chart = {.x = {.title = "MiB", .scale = CHART_LOG2},
                             .y = {.title = "ms", .scale = CHART_LOG10},
                             .series = series,
                             .n_series = 2,
                             .dashed = "fitted"};
    take(chart_xy(&words, &chart));
    ck_assert_uint_eq(count(">3</text>") + count(">7</text>") + count(">48</text>"), 3);
    ck_assert_uint_eq(count(">4<") + count(">8<") + count(">16<") + count(">32<"), 0);
    ck_assert_uint_eq(count(">MiB (logarithmic)<") + count(">ms (logarithmic)<"), 2);
    ck_assert_uint_eq(count("interval") + count("fitted"), 0);
    ck_assert_uint_eq(count("r=\"7.5\" class=\"dp-line dp-c0\""), 3 + 1); /* and beside the name */
    for (int i = 0; i < 40; i++)
        many[i] = (struct chart_point){ldexp(3, i), 1 + i, NAN, NAN, 0};
    series[0] = (struct chart_series){NULL, many, 40, 0, CHART_POINTS};
    series[1] = (struct chart_series){NULL, many, 40, 0, CHART_LINE | CHART_DASHED};
    chart.x.is_bytes = 1;
    take(chart_xy(&words, &chart));
    expect(">3 B<");
    ck_assert_uint_eq(count(">6 B<"), 0);
    ck_assert_uint_eq(count(">fitted<"), 1);
}

TEST(a_cut_axis_says_so)
{
    const struct chart_point high[] = {{1, 905, NAN, NAN, 0}, {2, 940, NAN, NAN, 0}};
    const struct chart_series series = {NULL, high, 2, 0, CHART_LINE};
    struct chart_xy chart = {.y = {.title = "step, ms"}, .series = &series, .n_series = 1};
    take(chart_xy(&words, &chart));
    expect(">step, ms (the axis does not begin at 0)<");
    chart.y.end = 1000;
    take(chart_xy(&words, &chart));
    ck_assert_uint_eq(count("does not begin at 0"), 0);
    expect(">1000<");
}

/* Names of series and lines of reference stand beside each other, however close their ends are. */
TEST(names_of_many_lines)
{
    enum { LINES = 30 };
    struct chart_series series[LINES];
    struct chart_reference reference[LINES];
    const struct chart_point point[] = {{1, 30, NAN, NAN, 0}, {2, 20, NAN, NAN, 0}};
    char name[LINES][80];
    for (int i = 0; i < LINES; i++) {
        snprintf(name[i], sizeof name[i], "%d %s", i,
                 i % 2 ? "a name that is rather longer than any name should be" : "");
        series[i] = (struct chart_series){name[i], point, 2, i % 8, CHART_LINE};
        reference[i] = (struct chart_reference){name[i], 20 + 0.1 * i, i == 3};
    }
    take(chart_xy(&words,
                  &(struct chart_xy){.series = series, .n_series = LINES, .reference = reference, .n_references = 7}));
    ck_assert_uint_eq(count("class=\"dp-text dp-bold\""), 1);
    take(chart_xy(&words, &(struct chart_xy){
                              .series = series, .n_series = LINES, .reference = reference, .n_references = LINES}));
    ck_assert_uint_eq(count("dp-text dp-bold") + count("class=\"dp-text\""), 40); /* the rest has no room */
}

/* ---- timelines ---- */

static const struct chart_name kinds[] = {{"forward", 0}, {"collective", 1}};
static const char *const rows[] = {"rank 0 compute", "rank 0 communication", "rank 1 <b>"};

TEST(spans_are_drawn)
{
    const struct chart_span span[] = {{0, 10, 0, 0, "forward"}, {2, 7, 1, 1, "bucket 0"}, {7, 7, 1, 1, "bucket 1"},
                                      {4, 8, 2, 1, NULL},       {1, 2, 3, 0, "lost"},     {1, 2, 0, 2, "lost"},
                                      {3, 2, 0, 0, "lost"},     {NAN, 2, 0, 0, "lost"}};
    take(chart_timeline(&words, &(struct chart_timeline){rows, kinds, span, 3, 2, 8}));
    expect(">10</text>");
    ck_assert_uint_eq(count(">forward</text>"), 2);
    ck_assert_uint_eq(count(">collective</text>"), 1);
    ck_assert_uint_eq(count("lost"), 0);
    ck_assert_uint_eq(count("<path class=\"dp-span dp-c0\" d=\"M") + count("<path class=\"dp-span dp-c1\" d=\"M"), 2);
    expect(">bucket 0<");
    ck_assert_uint_eq(count(">bucket 1<"), 0);
    expect(">rank 1 &lt;b&gt;<");
    double whole = strtod(strchr(strstr(picture, "dp-span dp-c0\" d=\""), 'h') + 1, NULL);
    double part = strtod(strchr(strstr(picture, "dp-span dp-c1\" d=\"") + 15, 'h') + 1, NULL);
    ck_assert_double_eq_tol(part + 0.6, (whole + 0.6) / 2, 0.2);
}

/* Rows beyond CHART_ROWS, and rows without a name. */
TEST(a_timeline_of_many_rows_or_none)
{
    const struct chart_span span[] = {{0, 1, CHART_ROWS - 1, 0, NULL}, {0, 1, CHART_ROWS, 1, NULL}};
    const char *names[CHART_ROWS + 2];
    for (int i = 0; i < CHART_ROWS + 2; i++)
        names[i] = i % 2 ? NULL : "a row";
    take(chart_timeline(&words, &(struct chart_timeline){names, kinds, span, CHART_ROWS + 2, 2, 2}));
    ck_assert_uint_eq(count(">a row<"), CHART_ROWS / 2);
    ck_assert_uint_eq(count(">forward<"), 1);
    ck_assert_uint_eq(count(">collective<"), 0);
    take(chart_timeline(&words, &(struct chart_timeline){0}));
    expect(">Nothing was recorded.<");
}

/* ---- anything ---- */

static uint64_t counter;

static double uniform(void)
{
    return 0x1p-53 * (double)(random_bits(counter += RANDOM_STEP) >> 11);
}

static double any_number(void)
{
    static const double odd[] = {0, -0.0, NAN, INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, 5e-324, 1e-9, 1e9, 100, 100.001};
    double u = uniform();
    return u < 0.3 ? odd[(size_t)(uniform() * 12)] : exp(40 * (u - 0.7)) * (u > 0.9 ? -1 : 1);
}

static const char *any_text(void)
{
    static const char *const odd[] = {NULL,
                                      "",
                                      "a",
                                      "<b>\"&'",
                                      "\xff\xfe",
                                      "two words",
                                      "\xe2\x82\xac 5",
                                      "\x01\n\t",
                                      "a text that is far too long for any place in a picture, so that it is cut"};
    return odd[(size_t)(uniform() * 9)];
}

/* Three charts of anything. */
static void draw_anything(int seed)
{
    enum { N = 12 };
    counter = 1000 * (uint64_t)seed;
    double ms[N][3];
    struct chart_bar bar[N];
    struct chart_point point[N];
    struct chart_reference reference[N];
    struct chart_span span[N];
    struct chart_name name[3];
    const char *row[3];
    struct chart_words any = {any_text(), any_text(), any_text()};
    for (int i = 0; i < 3; i++) {
        name[i] = (struct chart_name){any_text(), i};
        row[i] = any_text();
    }
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 3; k++)
            ms[i][k] = any_number();
        double a = any_number(), b = any_number(), c = any_number(), d = any_number();
        bar[i] = (struct chart_bar){any_text(), ms[i], a, b, c, (size_t)i};
        point[i] = (struct chart_point){a, b, c, d, (enum chart_mark)(i % 3)};
        reference[i] = (struct chart_reference){any_text(), d, i % 2};
        span[i] = (struct chart_span){a, b, i % 3, i % 3, any_text()};
    }
    size_t n = (size_t)(uniform() * (N + 1));
    const struct chart_series series[2] = {{any_text(), point, n, 1, CHART_LINE | CHART_POINTS},
                                           {any_text(), point, n / 2, 2, CHART_LINE | CHART_DASHED}};
    struct chart_xy xy = {.x = {any_text(), (enum chart_scale)(seed % 3), seed % 5 == 0, 0, seed % 7 == 0},
                          .y = {any_text(), (enum chart_scale)(seed / 3 % 3), 0, seed % 4 ? 0 : any_number(), 0},
                          .series = series,
                          .reference = reference,
                          .n_series = 2,
                          .n_references = n};
    xy.best = any_text();
    xy.dashed = any_text();
    take(chart_bars(&any, bar, n, name, 3));
    take(chart_xy(&any, &xy));
    take(chart_timeline(&any, &(struct chart_timeline){row, name, span, 3, 3, n}));
}

TEST(anything_is_a_picture)
{
    char *text, *answer;
    size_t length;
    pictures = text_begin(&text, &length);
    fputs("<all>", pictures);
    for (int seed = 0; seed < 300; seed++)
        draw_anything(seed);
    fputs("</all>", pictures);
    text_end(pictures);
    if ((answer = xml_ask(text, "len(root)")))
        ck_assert_str_eq(answer, "900");
    free(answer);
    free(text);
}

SUITE("chart", NULL, teardown)
