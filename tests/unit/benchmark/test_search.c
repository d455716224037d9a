/* test_search.c - which rows stay in a search and how a search ends, on samples with known answers; and how often a
 * search finds the best bucket size despite noise. */
#include "benchmark/benchmark.h"

#include "kernels/error.h"
#include "tests/support/noise.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 20000 };

/* A made-up machine: a step of row i takes mean[i] exp(noise z + drift y) seconds. z and y are random with a standard
 * normal distribution; z is drawn for each block, y for each round. A block has 5 steps. */
struct machine {
    double mean[MAX_IMPLEMENTATIONS], noise, drift, seconds;
    double *step[MAX_IMPLEMENTATIONS];
    struct search search;
};

static struct machine machine;

static void release(void)
{
    for (int i = 0; i < MAX_IMPLEMENTATIONS; i++)
        free(machine.step[i]);
    memset(&machine, 0, sizeof machine);
}

/* Makes a search with a control, whose step takes 1 s, `others` rows without a bucket size, and `sizes` rows with a
 * bucket size. Every second one of these is in reserve, and runs only in the final, if at all. */
static void create(int others, int sizes, double noise)
{
    struct search *s = &machine.search;
    release();
    machine.noise = noise;
    s->n = 1 + others + sizes;
    for (int i = 0; i < s->n; i++) {
        int size = i - 1 - others;
        s->row[i] = (struct search_row){.state = i == 0                  ? SEARCH_CONTROL
                                                 : size >= 0 && size % 2 ? SEARCH_RESERVE
                                                                         : SEARCH_IN,
                                        .series = size >= 0};
        machine.mean[i] = i ? 2 : 1;
        machine.step[i] = allocate(MOST_ROUNDS, sizeof(double));
    }
}

/* Makes a search with two rows without a bucket size and nine with one, rows 3 to 11, of which row 7 is the best, and
 * rows 4, 6, 8 and 10 are in reserve. */
static void create_valley(void)
{
    create(2, 9, 0);
    for (int i = 3; i < 12; i++)
        machine.mean[i] = 1.2 + 0.1 * abs(i - 7);
}

/* Runs one round of all rows that are still in the search. */
static void run_round(void)
{
    struct search *s = &machine.search;
    const double *step[MAX_IMPLEMENTATIONS];
    size_t round = s->rounds;
    double all = exp(machine.drift * noise_normal());
    for (int i = 0; i < s->n; i++) {
        int runs = s->row[i].state == SEARCH_IN || s->row[i].state == SEARCH_CONTROL;
        machine.step[i][round] = runs ? machine.mean[i] * all * exp(machine.noise * noise_normal()) : NAN;
        machine.seconds += runs ? 5 * machine.step[i][round] : 0;
        step[i] = machine.step[i];
    }
    ck_assert_uint_lt(round + 1, MOST_ROUNDS);
    search_round(s, step, round + 1, machine.seconds);
}

/* Runs rounds until the search ends. */
static void finish(void)
{
    while (machine.search.end == SEARCH_GOES_ON)
        run_round();
}

static void run_to_end(double limit)
{
    search_begin(&machine.search, limit, 10);
    finish();
}

/* Runs rounds until the next stage or the final (the last stage) begins, or the search ends. */
static void run_stage(void)
{
    const struct search *s = &machine.search;
    for (size_t from = s->stage_from; s->stage_from == from && !s->final && s->end == SEARCH_GOES_ON;)
        run_round();
}

TEST(slower_half_is_dropped)
{
    create(9, 0, 0);
    for (int i = 1; i <= 9; i++)
        machine.mean[i] = 2 + (double)(i * 4 % 9); /* means 6 10 5 9 4 8 3 7 2 */
    search_begin(&machine.search, 2000, 10);
    run_stage();
    ck_assert_int_eq(machine.search.best, 9);
    for (int i = 1; i <= 9; i++) /* 5 of 9 rows stay */
        ck_assert_int_eq(machine.search.row[i].state, machine.mean[i] <= 6 ? SEARCH_IN : SEARCH_DROPPED);
    run_stage();
    ck_assert_int_eq(machine.search.final, 1);
    for (int i = 1; i <= 9; i++) /* 4 rows stay for the final */
        ck_assert_int_eq(machine.search.row[i].state, machine.mean[i] <= 5 ? SEARCH_IN : SEARCH_DROPPED);
    ck_assert_int_eq(machine.search.row[0].state, SEARCH_CONTROL);
}

TEST(final_has_the_neighbours_and_new_rounds)
{
    const struct search *s = &machine.search;
    create_valley();
    search_begin(&machine.search, 3000, 10);
    while (!s->final)
        run_stage();
    ck_assert_int_eq(s->best, 7);
    ck_assert_int_eq(s->row[6].state, SEARCH_IN);
    ck_assert_int_eq(s->row[8].state, SEARCH_IN);
    ck_assert_int_eq(s->row[4].state, SEARCH_RESERVE);
    size_t before = s->rounds;
    run_round();
    ck_assert_uint_eq(s->row[7].from, before);
    ck_assert_uint_eq(s->row[7].to, before + 1);
    ck_assert_uint_eq(s->row[0].from, before);
    ck_assert_int_gt((int)s->row[1].to, 0); /* a dropped row keeps its rounds */
    ck_assert_uint_eq(s->row[1].from, 0);
    finish();
    ck_assert_int_eq(s->end, SEARCH_BEST);
    ck_assert_int_eq(s->best, 7);
}

/* The largest size of a strategy has no neighbour among the sizes of the next strategy. */
TEST(neighbours_have_the_same_strategy)
{
    struct search *s = &machine.search;
    create_valley();
    for (int i = 8; i < 12; i++)
        s->row[i].series = 2;
    search_begin(s, 3000, 10);
    while (!s->final)
        run_stage();
    ck_assert_int_eq(s->best, 7);
    ck_assert_int_eq(s->row[6].state, SEARCH_IN);
    ck_assert_int_eq(s->row[8].state, SEARCH_RESERVE);
}

/* Plans enter the final with the best size of their strategy if there is time for 20 rounds. They do not count as
 * neighbours of this size. */
TEST_EACH(plans_enter_the_final, 3)
{
    static const double limit[] = {6000, 6000, 1000};
    struct search *s = &machine.search;
    create_valley();
    machine.mean[11] = 1.15; /* the largest size, next to the plan, is best */
    s->n = 15;
    for (int i = 12; i < 15; i++) { /* plans of this strategy, or of another */
        s->row[i] = (struct search_row){.state = SEARCH_RESERVE, .series = 1 + (_i == 1), .is_plan = 1};
        machine.mean[i] = i == 13 ? 1.1 : 1.3;
        machine.step[i] = allocate(MOST_ROUNDS, sizeof(double));
    }
    search_begin(s, limit[_i], 10);
    while (!s->final)
        run_stage();
    ck_assert_int_eq(s->best, 11);
    ck_assert_int_eq(search_has_plans(s), _i == 0);
    for (int i = 12; i < 15; i++)
        ck_assert_int_eq(s->row[i].state, _i == 0 ? SEARCH_IN : SEARCH_RESERVE);
    finish();
    ck_assert_int_eq(s->best, _i == 0 ? 13 : 11);
}

/* Rounds that are 10 times as long for all rows change nothing, since rows are compared round by round. */
TEST(drift_changes_nothing)
{
    struct search *s = &machine.search;
    const double *step[MAX_IMPLEMENTATIONS];
    create(11, 0, 0);
    search_begin(s, 1e4, 10);
    for (int i = 0; i < s->n; i++) {
        machine.mean[i] = 2 + 0.01 * ((i * 5) % 12);
        step[i] = machine.step[i];
        for (size_t round = 0; round < MOST_ROUNDS; round++)
            machine.step[i][round] = machine.mean[i] * (round % 2 ? 10 : 1) * (round % 3 ? 1 : 3);
    }
    while (!s->final)
        search_round(s, step, s->rounds + 1, 10 * (double)s->rounds);
    for (int i = 0; i < s->n; i++)
        ck_assert(!s->row[i].against.ratio.n && !s->row[i].against.slower); /* no verdict from the stages */
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++)
            if (s->row[i].state == SEARCH_IN && s->row[j].state == SEARCH_DROPPED)
                ck_assert_double_lt(machine.mean[i], machine.mean[j]);
    ck_assert_int_gt(search_count(s, SEARCH_DROPPED), 0);
}

TEST(ends_when_all_are_close)
{
    create(3, 0, 0.0005);
    run_to_end(1e6);
    ck_assert_int_eq(machine.search.end, SEARCH_WITHIN);
    ck_assert_double_lt(machine.seconds, 1e5);
}

TEST(time_is_kept)
{
    create(4, 13, 0.02);
    run_to_end(300);
    ck_assert_int_eq(machine.search.end, SEARCH_TIME);
    ck_assert_double_le(machine.seconds, 305);
    ck_assert_double_ge(machine.seconds, 240);
    ck_assert_int_eq(search_count(&machine.search, SEARCH_LEFT_OUT), 3); /* of the 7 sizes that are not in reserve */
    ck_assert_int_eq(machine.search.final, 1);

    create(4, 13, 0.02); /* a single round takes longer than the limit */
    run_to_end(20);
    ck_assert_int_eq(machine.search.end, SEARCH_TIME);
    ck_assert_uint_eq(machine.search.rounds, 1);
    ck_assert_int_eq(machine.search.final, 0);
    ck_assert_int_ge(machine.search.best, 1);
}

/* Returns how much longer a step takes with the chosen bucket size than with the best size, relative to the best. The
 * sync cost, relative to a step without it, is 20 % at size number `bottom` and up to 100 % at the ends, as on a link
 * where sending takes as long as backward. Blocks have 2 % of noise, rounds have `drift`. A search takes `limit` s. */
static double excess(double limit, double drift, double bottom)
{
    double least = INFINITY;
    create(4, 13, 0.02);
    machine.drift = drift;
    for (int i = 5; i < machine.search.n; i++) {
        machine.mean[i] = 1.2 + 0.8 * pow(fabs(i - 5 - bottom) / 12, 1.5);
        least = fmin(least, machine.mean[i]);
    }
    run_to_end(limit);
    return machine.mean[machine.search.best] / least - 1;
}

TEST(finds_a_size_within_2_percent)
{
    static const double limits[] = {600, 6000, 600}, drifts[] = {0, 0, 0.2};
    noise_start(1);
    for (int l = 0; l < 3; l++) {
        int n = noise_repetitions(1000), wrong = 0;
        double sum = 0;
        for (int i = 0; i < n; i++) {
            double x = excess(limits[l], drifts[l], 12 * noise_uniform());
            sum += x;
            wrong += x > 0.02;
        }
        printf("%.0f s, drift %g: %d of %d beyond 2 %%, mean %.2f %%\n", limits[l], drifts[l], wrong, n, 100 * sum / n);
        fflush(stdout);
        ck_assert_int_le(wrong, (int)((0.02 + noise_three_errors(0.02, n)) * n));
    }
}

/* At most 5 % of searches call any row slower if all rows are equal. */
TEST(equal_rows_are_seldom_called_slower)
{
    int n = noise_repetitions(1000), wrong = 0;
    noise_start(2);
    for (int i = 0; i < n; i++) {
        create(4, 9, 0.02);
        run_to_end(i % 2 ? 1000 : 20000);
        wrong += search_count(&machine.search, SEARCH_SLOWER) > 0;
    }
    printf("%d of %d\n", wrong, n);
    ck_assert_int_le(wrong, (int)((0.05 + noise_three_errors(0.05, n)) * n));
}

SUITE("search", NULL, release)
