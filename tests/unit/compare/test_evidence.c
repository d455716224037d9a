/* test_evidence.c - ranks, bets, names, first nights and shifts against values by hand, brute force and simulation. */
#include "compare/evidence.h"
#include "tests/support/noise.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>

TEST(a_text_has_one_number)
{
    double sum = 0, squares = 0;
    enum { N = 20000 };
    for (int i = 0; i < N; i++) {
        char night[20];
        snprintf(night, sizeof night, "night %d", i);
        double u = evidence_uniform("figure", night);
        ck_assert(u > 0 && u < 1);
        ck_assert_double_eq(u, evidence_uniform("figure", night));
        sum += u;
        squares += u * u;
    }
    ck_assert_double_eq_tol(sum / N, 0.5, 4 * sqrt(1.0 / 12 / N));
    ck_assert_double_eq_tol(squares / N, 1.0 / 3, 4 * 0.3 / sqrt(N));
    ck_assert_double_ne(evidence_uniform("ab", "c"), evidence_uniform("a", "bc"));
}

TEST(ranks_by_hand)
{
    const double y[] = {3, 1, 2}, equal[] = {2, 5, 2, 2};
    ck_assert_double_eq_tol(evidence_rank(y, 1, 0.25), 0.25, 1e-15);
    ck_assert_double_eq_tol(evidence_rank(y, 2, 0.25), 1.25 / 2, 1e-15);
    ck_assert_double_eq_tol(evidence_rank(y, 3, 0.25), 1.25 / 3, 1e-15);
    ck_assert_double_eq_tol(evidence_rank(equal, 4, 0.5), (1 + 0.5 * 3) / 4, 1e-15);
}

TEST(evidence_by_hand)
{
    const double p[] = {0.5, 0.01, 0.2}, bet[] = {0.1, 0.2, 0.3, 0.5};
    struct evidence evidence = {0};
    ck_assert_double_eq_tol(evidence_value(&evidence), 1, 1e-15);
    for (int t = 1; t <= 3; t++) {
        double expected = 1;
        for (int s = 1; s <= t; s++) { /* a change that begins on night s multiplies the bets from s on */
            double weight = 1 / (0.793 * (s + 3) * log(s + 3) * log(s + 3)), won = 0;
            for (int b = 0; b < 4; b++) {
                double product = 1;
                for (int i = s; i <= t; i++)
                    product *= bet[b] * pow(p[i - 1], bet[b] - 1);
                won += product / 4;
            }
            expected += weight * (won - 1);
        }
        evidence_add(&evidence, p[t - 1]);
        ck_assert_double_eq_tol(evidence_value(&evidence), expected, 1e-12);
    }
}

/* The weights of the nights sum to 1 at most: the sum up to N, and the integral of what is left. */
TEST(weights_sum_to_one)
{
    enum { N = 100000 };
    double sum = 0;
    for (int s = 1; s <= N; s++)
        sum += 1 / (0.793 * (s + 3) * log(s + 3) * log(s + 3));
    ck_assert_double_le(sum + 1 / (0.793 * log(N + 3)), 1);
    ck_assert_double_ge(sum + 1 / (0.793 * log(N + 4)), 0.999);
}

TEST(names_need_every_set)
{
    enum { N = 6 };
    int named = 0;
    noise_start(1);
    for (int repeat = 0; repeat < 2000; repeat++) {
        double value[N], weight[N];
        for (int i = 0; i < N; i++) {
            value[i] = exp(6 * noise_uniform());
            weight[i] = noise_uniform();
        }
        for (size_t j = 0; j < N; j++) {
            int holds = 1;
            for (unsigned set = 0; set < 1u << N; set++) {
                double sum = 0, weights = 0;
                for (unsigned i = 0; i < N; i++)
                    if (set >> i & 1) {
                        sum += weight[i] * value[i];
                        weights += weight[i];
                    }
                holds &= !(set >> j & 1) || sum >= EVIDENCE_ALARM * weights;
            }
            ck_assert_int_eq(evidence_names(value, weight, N, j), holds);
            named += holds;
        }
    }
    ck_assert_int_gt(named, 500);
}

/* A change without limit after n nights is found as often as in simulations by another program (weight 1: one figure).
 */
TEST(power_of_short_histories)
{
    const struct {
        size_t nights, within;
        double share;
    } row[] = {{8, 8, 0.12}, {12, 20, 0.54}, {20, 20, 0.85}, {24, 12, 0.73}, {30, 16, 0.97}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        ck_assert_double_eq_tol(evidence_power(row[i].nights, row[i].within, 1), row[i].share, 0.06);
    ck_assert_double_lt(evidence_power(20, 20, 0.1), evidence_power(20, 20, 1));
}

/* A change after 40 nights of sd 2 %: the share in which the evidence of the figure reaches 20 within some nights, as
 * in simulations by another program. */
TEST_EACH(changes_are_found, 4)
{
    const struct {
        double change;
        int within;
        double share;
    } row[] = {{0.03, 20, 0.58}, {0.03, 60, 0.92}, {0.05, 20, 0.96}, {0.10, 20, 0.99}};
    const int repeats = noise_repetitions(2000);
    int found = 0;
    noise_start((uint64_t)_i + 50);
    for (int repeat = 0; repeat < repeats; repeat++) {
        struct evidence evidence = {0};
        double y[100];
        int is_found = 0;
        for (int t = 0; t < 40 + row[_i].within && !is_found; t++) {
            y[t] = 0.02 * noise_normal() + (t >= 40 ? row[_i].change : 0);
            evidence_add(&evidence, evidence_rank(y, (size_t)t + 1, noise_uniform()));
            is_found = t >= 40 && evidence_value(&evidence) >= EVIDENCE_ALARM;
        }
        found += is_found;
    }
    ck_assert_double_eq_tol((double)found / repeats, row[_i].share, 0.03 + noise_three_errors(row[_i].share, repeats));
}

TEST(first_night_of_a_clear_change)
{
    double y[30];
    for (int i = 0; i < 30; i++)
        y[i] = (i * 7 % 11) * 0.001 + (i >= 20 ? 1 : 0);
    struct first_night first = evidence_first_night(y, 30, 0.5);
    ck_assert_uint_eq(first.first, 20);
    ck_assert_uint_eq(first.low, 20);
    ck_assert_uint_eq(first.high, 20);
    y[29] = 100; /* an odd night is no change */
    ck_assert_uint_eq(evidence_first_night(y, 30, 0.5).first, 20);
}

/* The interval holds the true first night in 90 % or more, and the first night is right within one in
 * 90 % of cases: sd 2 %, change 5 %. */
TEST(first_nights_cover)
{
    const int repeats = noise_repetitions(2000);
    int covered = 0, near = 0;
    double width = 0;
    noise_start(2);
    for (int repeat = 0; repeat < repeats; repeat++) {
        double y[50];
        for (int i = 0; i < 50; i++)
            y[i] = 0.02 * noise_normal() + (i >= 40 ? 0.05 : 0);
        struct first_night first = evidence_first_night(y, 50, noise_uniform());
        covered += first.low <= 40 && 40 <= first.high;
        near += first.first >= 39 && first.first <= 41;
        width += (double)(first.high - first.low);
    }
    ck_assert_double_ge((double)covered / repeats, 0.9 - noise_three_errors(0.9, repeats));
    ck_assert_double_ge((double)near / repeats, 0.9 - noise_three_errors(0.9, repeats));
    ck_assert_double_le(width / repeats, 6);
}

TEST(shifts_by_hand)
{
    const double before[] = {1, 2, 4, 8, 3}, after[] = {11, 15, 10, 13, 12}, one[] = {3};
    /* of the 25 differences the third smallest and greatest are the ends: P(U <= 2) = 4 / 252, P(U <= 3) = 7 / 252 */
    struct measured shift = evidence_shift(before, 5, after, 5);
    ck_assert_double_eq_tol(shift.value, 9, 1e-12);
    ck_assert_double_eq_tol(shift.low, 4, 1e-12);
    ck_assert_double_eq_tol(shift.high, 12, 1e-12);
    shift = evidence_shift(before, 5, one, 1);
    ck_assert_double_eq_tol(shift.value, 0, 1e-12);
    ck_assert_double_nan(shift.low);
    ck_assert_double_nan(shift.high);
}

TEST(shifts_cover)
{
    const struct {
        size_t n, m;
    } row[] = {{10, 2}, {20, 20}, {40, 6}, {60, 30}};
    const int repeats = noise_repetitions(4000);
    noise_start(3);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        int covered = 0;
        for (int repeat = 0; repeat < repeats; repeat++) {
            double before[60], after[60];
            for (size_t k = 0; k < row[i].n; k++)
                before[k] = noise_normal();
            for (size_t k = 0; k < row[i].m; k++)
                after[k] = noise_normal() + 0.7;
            struct measured shift = evidence_shift(before, row[i].n, after, row[i].m);
            covered += shift.low <= 0.7 && 0.7 <= shift.high;
        }
        ck_assert_double_ge((double)covered / repeats, 0.95 - noise_three_errors(0.95, repeats));
    }
}

/* Independent nights, with and without a change of level, are called dependent as rarely as promised; dependent ones
 * mostly. */
TEST(dependence_is_no_change)
{
    const int repeats = noise_repetitions(4000);
    int called[3] = {0, 0, 0};
    noise_start(4);
    for (int repeat = 0; repeat < repeats; repeat++) {
        double y[3][60], last = noise_normal();
        for (int t = 0; t < 60; t++) {
            last = 0.6 * last + 0.8 * noise_normal();
            y[0][t] = noise_normal();
            y[1][t] = noise_normal() + (t >= 45 ? repeat % 2 ? 6 : -6 : 0);
            y[2][t] = last;
        }
        for (int kind = 0; kind < 3; kind++)
            called[kind] += evidence_dependence(y[kind], 60, 0.01) > 0;
    }
    for (int kind = 0; kind < 2; kind++)
        ck_assert_double_le((double)called[kind] / repeats, 0.01 + noise_three_errors(0.01, repeats));
    ck_assert_double_ge((double)called[2] / repeats, 0.8);
}

SUITE("evidence", NULL, NULL)
