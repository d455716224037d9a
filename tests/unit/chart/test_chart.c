/* test_chart.c - charts of known, missing and random values: each is well-formed, and no texts overlap. */
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

static const char title[] = "A finding, which is a sentence that is long enough to need a second line";
static const char subtitle[] = "ms a step: medians of 12 rounds";
static char *picture;
static FILE *pictures; /* file to which every picture is written; NULL: none */

/* Checks that a picture is well-formed and keeps it. */
static void take(char *made)
{
    const char *fault = picture_fault(made);
    ck_assert_msg(!fault, "%s", fault);
    if (pictures)
        fputs(made, pictures);
    picture = kept(made);
}

static void expect(const char *part)
{
    ck_assert_msg(count_of(picture, part) > 0, "no '%s' in:\n%s", part, picture);
}

/* Returns the number after the n-th occurrence of `before`, counted from 0. */
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

/* ---- series ---- */

static const struct chart_point points[] = {{1, 30, 28, 33, CHART_PLAIN},
                                            {2, 20, 19, 21, CHART_TIE},
                                            {4, 19, 18, 20, CHART_BEST},
                                            {8, 60, NAN, NAN, CHART_PLAIN}};

static struct chart_xy of_points(struct chart_series *series)
{
    *series = (struct chart_series){"ddp", points, 4, 2, 0, 0};
    return (struct chart_xy){.x = {.title = "MiB", .is_log = 1}, .y = {.title = "ms"}, .series = series, .n_series = 1};
}

TEST(points_are_at_their_values)
{
    struct chart_series series;
    struct chart_xy chart = of_points(&series);
    take(chart_xy(title, subtitle, &chart));
    ck_assert_uint_eq(count_of(picture, "r=\"4.5\""), 4 + 1);   /* 4 points, and a point beside the series' name */
    ck_assert_uint_eq(count_of(picture, "dp-line dp-ring"), 2); /* a ring at the best point and one in the legend */
    ck_assert_uint_eq(count_of(picture, ">best<") + count_of(picture, ">tied with the best<"), 2);
    ck_assert_uint_eq(count_of(picture, "dp-thick"),
                      3 + 1 + 1); /* 3 intervals, one in the legend, one in the style sheet */
    ck_assert_uint_eq(count_of(picture, ">95 % interval<"), 1);
    ck_assert_uint_eq(count_of(picture, "does not begin at 0"), 0);
    double x[3], y[3];
    for (int i = 0; i < 3; i++) {
        static const int circle[] = {0, 1, 3}; /* circle 2 is the ring of point 2 */
        x[i] = number("<circle cx=\"", circle[i]);
        y[i] = number("\" cy=\"", circle[i]);
    }
    ck_assert_double_eq_tol(x[1] - x[0], x[2] - x[1], 0.15);
    ck_assert_double_eq_tol(y[2] - y[1], (y[1] - y[0]) / 10, 0.15);
}

TEST(axes_of_bytes_have_powers_of_two)
{
    const struct chart_point odd[] = {{8, 1, NAN, NAN, 0}, {7000, 2, NAN, NAN, 0}};
    const struct chart_series series = {"in", odd, 2, 0, 0, 0};
    take(chart_xy(title, subtitle,
                  &(struct chart_xy){.x = {.title = "size", .is_log = AXIS_BINARY, .is_bytes = 1},
                                     .y = {.title = "ms", .is_log = 1},
                                     .series = &series,
                                     .n_series = 1}));
    ck_assert_uint_eq(count_of(picture, ">8 B<") + count_of(picture, ">4 KiB<"), 2);
    ck_assert_uint_eq(count_of(picture, ">size (logarithmic)<") + count_of(picture, ">ms (logarithmic)<"), 2);
    ck_assert_uint_eq(count_of(picture, "interval"), 0);
}

TEST(a_cut_axis_is_marked)
{
    const struct chart_point high[] = {{1, 905, NAN, NAN, 0}, {2, 940, NAN, NAN, 0}};
    const struct chart_series series = {NULL, high, 2, 0, 1, 0};
    take(chart_xy(title, subtitle, &(struct chart_xy){.y = {.title = "step, ms"}, .series = &series, .n_series = 1}));
    expect(">step, ms (the axis does not begin at 0)<");
    take(chart_xy(title, subtitle,
                  &(struct chart_xy){.y = {.title = "cores", .from_0 = 1}, .series = &series, .n_series = 1}));
    expect(">cores<");
}

TEST(panels_have_one_x_axis_and_own_y_axes)
{
    const struct chart_point low[] = {{1, 5, NAN, NAN, 0}, {3, 10, NAN, NAN, 0}},
                             high[] = {{2, 100, NAN, NAN, 0}, {3, 200, NAN, NAN, 0}};
    const struct chart_series series[] = {{"a", low, 2, 1, 0, 0}, {"", high, 2, 1, 0, 1}};
    const struct chart_axis axis[] = {{.title = "first, ms"}, {.title = "second"}};
    take(chart_xy(title, subtitle, &(struct chart_xy){.series = series, .n_series = 2, .panel = axis, .n_panels = 2}));
    double at[2][4]; /* x and y of both points of each line */
    const char *path = picture;
    for (int i = 0; i < 2; i++) {
        path = strstr(path, "dp-line dp-c1\" d=\"M") + 1;
        ck_assert_int_eq(sscanf(path, "p-line dp-c1\" d=\"M%lf %lfL%lf %lf", at[i], at[i] + 1, at[i] + 2, at[i] + 3),
                         4);
    }
    ck_assert_double_eq_tol(at[0][2], at[1][2], 0.05);
    ck_assert_double_eq_tol(at[1][0], (at[0][0] + at[0][2]) / 2, 0.1);
    ck_assert_double_eq_tol(at[0][1] - at[0][3], at[1][1] - at[1][3], 0.3); /* both rise by half of their axis */
    ck_assert_uint_eq(count_of(picture, ">a<") + count_of(picture, ">first, ms<") + count_of(picture, ">second<"), 3);
}

/* Names of series and reference lines do not overlap, however close the ends of the lines are. */
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
        series[i] = (struct chart_series){name[i], point, 2, i % 8, 1, 0};
        reference[i] = (struct chart_reference){name[i], 20 + 0.1 * i};
    }
    take(chart_xy(
        title, subtitle,
        &(struct chart_xy){.series = series, .n_series = LINES, .reference = reference, .n_references = LINES}));
    ck_assert_uint_eq(count_of(picture, "class=\"dp-text\""), 2 * LINES);
}

/* Names of points that are close to each other do not overlap, and all have room; each is connected with its point. */
TEST(names_of_points)
{
    enum { POINTS = 14 };
    struct chart_series series[POINTS + 1];
    struct chart_point at[POINTS];
    char name[POINTS][40];
    for (int i = 0; i < POINTS; i++) {
        snprintf(name[i], sizeof name[i], "%d_backward_weight", 10 + i);
        at[i] = (struct chart_point){i < 7 ? 0.5 : 80.5, 30 + i, NAN, NAN, 0};
        series[i] = (struct chart_series){name[i], &at[i], 1, 0, 0, 0};
    }
    series[POINTS] = (struct chart_series){"limit", points, 4, 3, 1, 0};
    take(chart_xy(title, subtitle,
                  &(struct chart_xy){.x = {.title = "FLOP per byte", .is_log = AXIS_BINARY},
                                     .y = {.title = "GFLOP/s", .is_log = 1},
                                     .series = series,
                                     .n_series = POINTS + 1}));
    ck_assert_uint_eq(count_of(picture, "_backward_weight</text>"), POINTS);
    expect(">limit</text>");
    ck_assert_uint_eq(count_of(picture, "class=\"dp-axis dp-faint"), POINTS + 1);
    expect(">16</text>"); /* a power of two, at which no point is */
}

/* ---- rows ---- */

static const char *const kinds[] = {"forward", "<b>\"&"};

TEST(spans_are_drawn)
{
    static const struct chart_row rows[] = {
        {.name = "rank 0"}, {.name = "communication"}, {.name = "rank 1 <b>", .end = "10 ms"}};
    const struct chart_span span[] = {{0, 10, 0, 0, "forward"}, {2, 7, 1, 1, "bucket 0"}, {7, 7, 1, 1, "bucket 1"},
                                      {4, 8, 2, 1, NULL},       {3, 2, 0, 0, "lost"},     {NAN, 2, 0, 0, "lost"}};
    take(chart_rows(title, subtitle, &(struct chart_rows){rows, kinds, span, 3, 2, 6}));
    expect(">10</text>");
    ck_assert_uint_eq(count_of(picture, ">forward</text>"), 2);
    ck_assert_uint_eq(count_of(picture, ">&lt;b&gt;&quot;&amp;</text>"), 1);
    ck_assert_uint_eq(count_of(picture, "lost"), 0);
    ck_assert_uint_eq(count_of(picture, "<path class=\"dp-span dp-c0\" d=\"M") +
                          count_of(picture, "<path class=\"dp-span dp-c1\" d=\"M"),
                      2);
    expect(">bucket 0<");
    ck_assert_uint_eq(count_of(picture, ">bucket 1<"), 0);
    expect(">rank 1 &lt;b&gt;<");
    ck_assert_uint_eq(count_of(picture, "dp-soft"), 2 + 1); /* 2 rows without text at their end, and the style sheet */
    expect(">10 ms<");
    double whole = strtod(strchr(strstr(picture, "dp-span dp-c0\" d=\""), 'h') + 1, NULL);
    double part = strtod(strchr(strstr(picture, "dp-span dp-c1\" d=\"") + 15, 'h') + 1, NULL);
    ck_assert_double_eq_tol(part + 0.6, (whole + 0.6) / 2, 0.2);
}

/* ---- matrices ---- */

/* A cell has the colour of its ratio, and the ratio as a number if there is room. Other cells are not drawn. */
TEST(cells_have_their_colour)
{
    const char *const name[] = {"host n1", "host n2", "a <name>"};
    const struct chart_cell cell[] = {{0, 1, 1},   {1, 0, 0.5}, {1, 2, 1.06}, {2, 1, 12},
                                      {0, 2, NAN}, {3, 0, 7},   {0, 3, 8}};
    const struct chart_heat chart = {name, name, "sender", "receiver", cell, 3, 3, 7, NULL, NULL};
    take(chart_heat(title, subtitle, &chart));
    ck_assert_uint_eq(count_of(picture, ">1.00<") + count_of(picture, ">0.50<") + count_of(picture, ">1.06<") +
                          count_of(picture, ">12.00<"),
                      4);
    ck_assert_uint_eq(count_of(picture, ">7.00<") + count_of(picture, ">8.00<") + count_of(picture, "nan"), 0);
    static const char *const drawn[] = {"dp-area dp-c100", "dp-area dp-c101", "dp-area dp-c102", "dp-area dp-c106"};
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(count_of(picture, drawn[i]), 1);
    ck_assert_uint_eq(count_of(picture, "dp-area dp-c107"), 1); /* one area for all cells that are not measured */
    ck_assert_uint_eq(count_of(picture, "dp-area dp-grid dp-c10"), 8);
    ck_assert_uint_eq(count_of(picture, ">a &lt;name&gt;<"), 2);
    ck_assert_uint_eq(count_of(picture, ">sender<") + count_of(picture, ">receiver<"), 2);
}

/* Many members have narrow cells without numbers, and names that do not overlap. */
TEST(a_large_matrix_fits)
{
    static char text[CHART_HEAT][80];
    static struct chart_cell cell[CHART_HEAT * CHART_HEAT];
    const char *name[CHART_HEAT];
    for (size_t i = 0; i < CHART_HEAT * CHART_HEAT; i++)
        cell[i] = (struct chart_cell){i / CHART_HEAT, i % CHART_HEAT, 1 + (double)(i % 3)};
    for (int i = 0; i < CHART_HEAT; i++) {
        snprintf(text[i], sizeof text[i], "host node%d.%s", i, i % 2 ? "a-long-name.of-a-cluster.example.org" : "b");
        name[i] = text[i];
    }
    take(chart_heat(title, NULL,
                    &(struct chart_heat){name, name, "sender", "receiver", cell, CHART_HEAT, CHART_HEAT,
                                         sizeof cell / sizeof *cell, NULL, NULL}));
    ck_assert_uint_eq(count_of(picture, "dp-area dp-c10"), CHART_HEAT * CHART_HEAT + 1);
    ck_assert_uint_eq(count_of(picture, ">1.00<"), 0);
    ck_assert_uint_eq(count_of(picture, "host node63."), 1); /* the name of a row; some columns have no name */
    ck_assert_uint_eq(count_of(picture, "host node0."), 2);
}

/* Rows and columns may differ; with bounds, colours are theirs, and nothing is below a first bound of 0. */
TEST(a_matrix_of_ranks_and_steps)
{
    static const double bound[CHART_BOUNDS] = {0, 1, 2, 5, 10, 20};
    const char *const rank[] = {"rank 0", "rank 1"}, *const step[] = {"1", "4", "7"};
    const struct chart_cell cell[] = {{0, 2, 0.5}, {1, 0, 7}, {1, 2, 30}, {2, 1, 3}};
    take(chart_heat(title, subtitle, &(struct chart_heat){rank, step, "", "step", cell, 2, 3, 4, "late by %", bound}));
    static const char *const drawn[] = {
        ">rank 1<", ">7<",        ">7.00<",          ">0.50<",          ">late by %: 0 to 1<",
        ">to 5<",   ">above 20<", "dp-area dp-c101", "dp-area dp-c104", "dp-area dp-c106"};
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
        ck_assert_uint_eq(count_of(picture, drawn[i]), 1);
    ck_assert_uint_eq(count_of(picture, "below 0") + count_of(picture, ">3.00<"), 0);
}

/* Samples are dots below their row. A sample far beyond the rows is at the edge, and does not shorten the rows. */
TEST(samples_are_dots)
{
    const double ms[] = {9, 12, 900, NAN};
    const struct chart_row row = {"ddp", "10 ms", ms, 4};
    const struct chart_span span = {0, 10, 0, 0, NULL};
    take(chart_rows(title, subtitle, &(struct chart_rows){&row, kinds, &span, 1, 1, 1}));
    double x[3];
    for (int i = 0; i < 3; i++)
        x[i] = number("<circle cx=\"", i);
    ck_assert_uint_eq(count_of(picture, "r=\"2.5\""), 3);
    ck_assert_double_gt(x[2], x[1]);
    ck_assert_double_lt(x[2] - x[0], 4 * (x[1] - x[0]));
}

/* ---- differences with intervals ---- */

/* A mark has its shape at its ratio and in the legend; an interval beyond the scale ends in an arrowhead; all is in
 * words. */
TEST(intervals_have_shapes_and_words)
{
    struct intervals all = {.band = "within 2 %", .within = 0.02};
    static const struct {
        const char *name, *word;
        char mark;
        struct measured ratio;
    } row[] = {{"none", "control", '+', {0.9, 0.88, 0.92}}, {"a", "best", '*', {1, NAN, NAN}},
               {"b", "tie", '=', {1.005, 0.99, 1.01}},      {"c", "undecided", 'o', {1.05, 0.5, 1.12}},
               {"d", "slower", 'x', {1.1, 1.06, 1.13}},     {"e", "slower", 'x', {9, 2, 40}},
               {"f", "ambiguous", '?', {1.08, 0.95, 1.22}}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        intervals_add(&all, row[i].name, row[i].word, row[i].mark, row[i].ratio);
    kept(all.row);
    intervals_scale(&all);
    take(chart_intervals(title, subtitle, &all));
    static const char *const shapes[] = {"\u00d7", "\u2605", "\u25a0", "\u25cb", "\u25b2", "\u25c7"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        ck_assert_uint_eq(count_of(picture, shapes[i]), 2);
    expect(">within 2 %<");
    expect(">+10.0 % [+6.0, +13.0]<");
    expect(">+800.0 % [+100.0, +3900.0]<");
    ck_assert_uint_eq(count_of(picture, "dp-line dp-thick"), 7);
    ck_assert_uint_eq(count_of(picture, "class=\"dp-line\""), 4); /* arrowheads of two lines: c and e end at 39 % */
}

TEST(charts_without_data)
{
    take(chart_heat(NULL, NULL, &(struct chart_heat){0}));
    take(chart_rows(title, subtitle, &(struct chart_rows){0}));
    take(chart_xy(title, subtitle, &(struct chart_xy){0}));
    take(chart_xy(NULL, NULL, &(struct chart_xy){.x = {.is_log = 1}, .y = {.is_log = 1}}));
}

/* ---- random input ---- */

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

/* Draws four charts of random values and texts. */
static void draw_anything(int seed)
{
    enum { N = 12 };
    counter = 1000 * (uint64_t)seed;
    struct chart_point point[N];
    struct chart_reference reference[N];
    struct chart_span span[N];
    struct chart_cell cell[N];
    struct chart_row row[3];
    const char *kind[3];
    const double dot[3] = {any_number(), any_number(), any_number()};
    for (int i = 0; i < 3; i++) {
        kind[i] = any_text();
        row[i] = (struct chart_row){any_text(), i == seed % 3 ? any_text() : NULL, dot, 3};
    }
    for (int i = 0; i < N; i++) {
        double a = any_number(), b = any_number(), c = any_number(), d = any_number();
        point[i] = (struct chart_point){a, b, c, d, (enum chart_mark)(i % 3)};
        reference[i] = (struct chart_reference){any_text(), d};
        span[i] = (struct chart_span){a, b, (size_t)(i % 3), i % 3, i % 3 == seed % 3 ? NULL : any_text()};
    }
    size_t n = (size_t)(uniform() * (N + 1));
    const struct chart_series series[2] = {{any_text(), point, n, 1, 0, 0},
                                           {any_text(), point, n / 2, 2, 1, seed % 4 > 1}};
    const struct chart_axis panel[3] = {{any_text(), 0, 0, 1}, {any_text(), seed / 2 % 2, 0, 0}, {NULL, 0, 1, 0}};
    struct chart_xy xy = {.x = {any_text(), seed % 2, seed % 5 == 0, 0},
                          .y = {any_text(), seed / 2 % 2, 0, 0},
                          .series = series,
                          .reference = reference,
                          .n_series = 2,
                          .n_references = n,
                          .panel = panel,
                          .n_panels = (size_t)seed % 4};
    take(chart_xy(any_text(), any_text(), &xy));
    take(chart_rows(any_text(), any_text(), &(struct chart_rows){row, kind, span, 3, 3, n}));
    for (int i = 0; i < N; i++)
        cell[i] = (struct chart_cell){(size_t)(i % 3), (size_t)(i / 3), any_number()};
    take(chart_heat(
        any_text(), any_text(),
        &(struct chart_heat){kind, kind, any_text(), any_text(), cell, 3, (size_t)seed % 4, n, any_text(), NULL}));
    struct intervals all = {.band = "band", .within = seed % 2 ? 0.02 : 3 * uniform()};
    for (size_t i = 0; i < n; i++) {
        const char *name = any_text();
        intervals_add(
            &all, name ? name : "", "word", "*=xo?+" [i % 6],
            (struct measured) { any_number(), any_number(), any_number() });
    }
    kept(all.row);
    intervals_scale(&all);
    take(chart_intervals(any_text(), any_text(), &all));
}

TEST(random_input_gives_a_picture)
{
    pictures = printing();
    fputs("<all>", pictures);
    for (int seed = 0; seed < 300; seed++)
        draw_anything(seed);
    fputs("</all>", pictures);
    const char *answer = xml_ask(printed(), "len(root)");
    if (answer)
        ck_assert_str_eq(answer, "1200");
}

SUITE("chart", NULL, NULL)
