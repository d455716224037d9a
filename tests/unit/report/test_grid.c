/* test_grid.c - verdicts over a grid of runs whose step times are known. */
#include "report/grid.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MOST = 400 };
static struct grid grid;
static struct report_runs runs; /* the runs in the grid */

static void create(void)
{
    runs = (struct report_runs){.item = calloc(RUNS_MOST, sizeof *runs.item)};
}

static void destroy(void)
{
    grid_destroy(&grid);
    runs_destroy(&runs);
}

/* Adds the run of a point of the grid in repeat number `repeat`, with this step time. */
static void add_run(size_t ranks, const char *name, struct run_implementation of, size_t repeat, double step)
{
    ck_assert_uint_lt(runs.n, RUNS_MOST);
    struct report_run *run = &runs.item[runs.n++];
    struct figure figure = {.unit = "s", .name = "step", .value = step, .low = NAN, .high = NAN, .n = 6};
    strcpy(figure.subject, name);
    figures_add(&run->saved.figures, &figure);
    run->ranks = ranks;
    run->tokens = 1000 * (double)ranks;
    run->implementation = malloc(sizeof of);
    *run->implementation = of;
    run->implementations = 1;
    strcpy(run->implementation->subject, name);
    snprintf(run->saved.directory, sizeof run->saved.directory, "s/ranks=%zu/model=m/%s-%g/repeat-%zu", ranks, name,
             of.mb, repeat);
    ck_assert_int_eq(grid_add(&grid, run), 0);
}

/* Adds a point's runs with these step times as repeats 1, 2, ...; a time of 0: that repeat is missing. */
static void add(size_t ranks, const char *name, const char *strategy, double bucket_mb, const double step[8])
{
    struct run_implementation of = {.mb = bucket_mb, .compared = strcmp(strategy, "none") != 0};
    strcpy(of.strategy, strategy);
    for (size_t i = 0; i < 8; i++)
        if (step[i] > 0)
            add_run(ranks, name, of, i + 1, step[i]);
}

static const struct grid_point *point(const char *name)
{
    for (size_t i = 0; i < grid.n; i++)
        if (!strcmp(grid.point[i].of->subject, name))
            return &grid.point[i];
    ck_abort_msg("no point of %s", name);
    return NULL;
}

static void has_interval(const char *name, double low, double high)
{
    ck_assert_double_eq_tol(point(name)->step_s.ci_low, low, 0.005);
    ck_assert_double_eq_tol(point(name)->step_s.ci_high, high, 0.005);
}

#define STEPS(...) ((double[8]){__VA_ARGS__})

/* p = 0.031 is enough if only two points exist, but not against the best of three, which the same samples chose. */
TEST(the_best_was_chosen_by_the_same_data)
{
    add(8, "best", "ddp_flat", NAN, STEPS(10, 10, 10, 10, 10, 10));
    add(8, "x", "ddp", NAN, STEPS(10.050125, 11.218734, 10.618365, 10.050125, 11.218734, 10.618365));
    add(8, "y", "ddp_bucketed", 1, STEPS(11, 9.9, 14.4, 11, 9.9, 14.4));
    grid_judge(&grid);
    ck_assert_int_eq(point("x")->verdict, VERDICT_UNDECIDED);
    grid_destroy(&grid);
    add(8, "best", "ddp_flat", NAN, STEPS(10, 10, 10, 10, 10, 10));
    add(8, "x", "ddp", NAN, STEPS(10.050125, 11.218734, 10.618365, 10.050125, 11.218734, 10.618365));
    grid_judge(&grid);
    ck_assert_int_eq(point("x")->verdict, VERDICT_SLOWER);
}

/* Points are compared, and steps computed, by the repeats that both have. Its last repeat would make `often` best. */
TEST(pairs_are_of_the_same_repeats)
{
    add(9, "often", "ddp_flat", NAN, STEPS(20, 21, 22, 20, 21, 22, 0.01));
    add(9, "faster", "ddp", NAN, STEPS(18, 18.91, 19.8, 18, 18.91, 19.8));
    grid_judge(&grid);
    ck_assert_int_eq(point("faster")->verdict, VERDICT_BEST);
    ck_assert_int_eq(point("often")->verdict, VERDICT_SLOWER);
    ck_assert_double_eq_tol(point("often")->to_best.ratio.median, 1 / 0.9, 5e-4);
    ck_assert_double_eq_tol(point("often")->step_s.median, cbrt(20 * 21 * 22.0), 1e-9);
    ck_assert_uint_eq(point("often")->to_best.ratio.n, 6);
    ck_assert_uint_eq(point("faster")->n, 6);
    ck_assert_uint_eq(point("often")->n, 7);
}

TEST(below_six_repeats_nothing_is_decided)
{
    add(2, "a", "ddp", NAN, STEPS(10, 12.1, 10, 12.1));
    add(2, "b", "ddp_flat", NAN, STEPS(20, 24.2, 20, 24.2));
    add(2, "none", "none", NAN, STEPS(5, 6, 5, 6));
    grid_judge(&grid);
    ck_assert_int_eq(point("a")->verdict, VERDICT_UNDECIDED);
    ck_assert_int_eq(point("b")->verdict, VERDICT_UNDECIDED);
    ck_assert(isnan(point("a")->step_s.ci_low) && isnan(point("b")->to_best.ratio.ci_low));
    ck_assert_double_eq_tol(point("b")->to_best.ratio.median, 2, 1e-12);
    ck_assert_double_eq_tol(point("a")->step_s.median, 11, 1e-12);
    /* more repeats of `a` alone add no pair to compare */
    add(2, "a", "ddp", NAN, STEPS(0, 0, 0, 0, 11, 11));
    grid_judge(&grid);
    ck_assert_int_eq(point("b")->verdict, VERDICT_UNDECIDED);
    ck_assert_uint_eq(point("b")->to_best.ratio.n, 4);
}

TEST(intervals_by_student)
{
    add(5, "five", "ddp", NAN, STEPS(10, 20, 30, 40, 50));
    add(6, "six", "ddp", NAN, STEPS(10, 20, 30, 40, 50, 60));
    add(8, "eight", "ddp", NAN, STEPS(10, 20, 30, 40, 50, 60, 70, 80));
    grid_judge(&grid);
    ck_assert(isnan(point("five")->step_s.ci_low) && point("five")->verdict == VERDICT_UNDECIDED);
    has_interval("six", 14.935, 60.011);
    has_interval("eight", 20.907, 67.776);
    ck_assert_int_eq(point("eight")->verdict, VERDICT_BEST); /* the only point with its number of ranks */
}

TEST(efficiency_is_against_the_fewest_ranks)
{
    add(4, "a", "ddp", NAN, STEPS(12.5, 12.5, 12.5));
    add(1, "a", "ddp", NAN, STEPS(10, 10, 10));
    add(2, "b", "ddp_bucketed", 1, STEPS(10, 10, 10));
    add(4, "b", "ddp_bucketed", 4, STEPS(10, 10, 10));
    grid_judge(&grid);
    ck_assert_uint_eq(grid.point[0].ranks, 1);
    for (size_t i = 0; i < grid.n; i++) {
        const struct grid_point *p = &grid.point[i];
        if (!strcmp(p->of->subject, "a") && p->ranks == 4)
            ck_assert_double_eq_tol(p->efficiency, 0.8, 1e-12);
        else
            ck_assert(isnan(p->efficiency));
    }
    ck_assert_double_eq_tol(point("a")->tokens_per_second, 100, 1e-9);
    ck_assert_str_eq(point("a")->mark, ""); /* one rank has nothing to choose */
}

TEST(controls_alone)
{
    add(2, "none", "none", NAN, STEPS(9, 10, 11));
    grid_judge(&grid);
    ck_assert_int_eq(point("none")->verdict, VERDICT_KINDS);
    ck_assert(isnan(point("none")->to_best.ratio.median));
}

/* Returns the bucket sizes that the advice says to try next, if the best of three sizes is `mb`, and a step of the
 * other sizes takes `others` times as long. Returns "" without advice. */
static const char *edge_of(double mb, size_t buckets, size_t tensors, double others)
{
    grid_destroy(&grid);
    for (double size = 1; size <= 4; size *= 2)
        for (size_t repeat = 1; repeat <= 6; repeat++) {
            struct run_implementation of = {
                .strategy = "ddp_bucketed", .compared = 1, .mb = size, .buckets = buckets, .tensors = tensors};
            add_run(2, "b", of, repeat, size == mb ? 1 : others + (repeat % 2 ? 0.01 : -0.01));
            of.mb = mb / 8 + mb * size; /* another point has smaller and larger sizes */
            add_run(2, "another", of, repeat, 3);
        }
    grid_judge(&grid);
    static char advice[200];
    return !*grid_edge_advice(advice, grid.point, grid.n) ? "" : strstr(advice, "try ") + 4;
}

TEST(no_advice_beyond_an_edge_where_nothing_changes)
{
    ck_assert_str_eq(edge_of(1, 3, 9, 2), "smaller.");
    ck_assert_str_eq(edge_of(2, 3, 9, 2), "");
    ck_assert_str_eq(edge_of(4, 3, 9, 2), "larger.");
    ck_assert_str_eq(edge_of(1, 0, 0, 2), "smaller."); /* unknown numbers of buckets and tensors */
    ck_assert_str_eq(edge_of(1, 9, 9, 2), "");         /* one bucket per tensor */
    ck_assert_str_eq(edge_of(4, 1, 9, 2), "");         /* one bucket for all tensors */
    ck_assert_str_eq(edge_of(1, 3, 9, 1.005), "");     /* the next size is not known to be slower */
    ck_assert_str_eq(edge_of(4, 3, 9, 1.005), "");
}

/* Runs in other directories, with several implementations, or unfinished, are not part of a sweep. */
TEST(no_runs_of_a_sweep)
{
    static const char *const where[] = {"s/ranks=2/model=m/ddp/repeat-1.part", "s/ranks=2/model=m/ddp", "run"};
    struct run_implementation of[2] = {{.subject = "ddp"}, {.subject = "none"}};
    struct report_run run = {.ranks = 2, .implementation = of, .implementations = 1};
    struct figure step = {.subject = "ddp", .name = "step", .unit = "s", .value = 1, .low = NAN, .high = NAN};
    figures_add(&run.saved.figures, &step);
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        strcpy(run.saved.directory, where[i]);
        ck_assert_int_eq(grid_add(&grid, &run), -1);
    }
    strcpy(run.saved.directory, "ranks=x/s/ranks=2/model=m/ddp/repeat-12");
    ck_assert_int_eq(grid_add(&grid, &run), 0);
    ck_assert_uint_eq(grid.point->sample->repeat, 12);
    run.implementations = 2;
    ck_assert_int_eq(grid_add(&grid, &run), -1);
    run.implementations = 1;
    strcpy(run.unfinished, "interrupted, 1 of 2 rounds");
    ck_assert_int_eq(grid_add(&grid, &run), -1);
    figures_destroy(&run.saved.figures);
}

SUITE("grid", create, destroy)
