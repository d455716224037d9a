/* test_best.c - comparisons of several series with the shortest one: known samples, and simulations of coverage and
 * error rate. */
#include "base/best.h"
#include "tests/support/noise.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 9, ROUNDS = 60 };

static double sample[MOST][ROUNDS];
static struct against_best out[MOST];

static int judge(int k, size_t n, int anytime)
{
    const double *const series[MOST] = {sample[0], sample[1], sample[2], sample[3], sample[4],
                                        sample[5], sample[6], sample[7], sample[8]};
    return best_of(series, k, n, anytime, out);
}

/* ---- known answers ---- */

/* Two series need no correction for several pairs: the interval equals Student's t interval, from stats_paired. */
TEST(two_series_give_one_pair)
{
    static const double a[] = {1.30, 1.33, 1.32, 1.31, 1.34, 1.30}, b[] = {1.30, 1.29, 1.31, 1.32, 1.30, 1.31};
    memcpy(sample[0], a, sizeof a);
    memcpy(sample[1], b, sizeof b);
    struct estimate pair = stats_paired(a, b, 6, 0.95);
    ck_assert_int_eq(judge(2, 6, 0), 1);
    ck_assert_double_eq_tol(out[0].ratio.median, pair.median, 1e-15);
    ck_assert_double_eq_tol(out[0].ratio.ci_low, pair.ci_low, 1e-14);
    ck_assert_double_eq_tol(out[0].ratio.ci_high, pair.ci_high, 1e-14);
    ck_assert(out[0].ratio.n == 6 && !out[0].slower);
    ck_assert(out[1].ratio.median == 1 && isnan(out[1].ratio.ci_low) && !out[1].slower);
}

/* Five rounds never decide, however different the series are; six rounds may. */
TEST(five_rounds_decide_nothing)
{
    static const double a[] = {1.0, 1.001, 1.002, 1.0, 1.001, 1.002}, b[] = {2.0, 2.002, 2.003, 2.0, 2.002, 2.001};
    memcpy(sample[0], a, sizeof a);
    memcpy(sample[1], b, sizeof b);
    ck_assert_int_eq(judge(2, 5, 0), 0);
    ck_assert(!out[1].slower && isnan(out[1].ratio.ci_low) && isnan(out[1].ratio.ci_high));
    ck_assert_double_eq_tol(out[1].ratio.median, 2, 0.01);
    ck_assert_int_eq(judge(2, 6, 0), 0);
    ck_assert(out[1].slower && out[1].ratio.ci_low > 1.9);
}

/* Fills k series: series i exceeds series i - 1 by `apart` standard deviations of the noise. The noises of the series
 * are orthogonal and equally large, and rounds differ by large factors. */
static void ladder(int k, double apart)
{
    for (int i = 0; i < k; i++)
        for (int t = 0; t < ROUNDS; t++)
            sample[i][t] = exp(t % 7 + 0.01 * (i * apart + sqrt(2) * cos(M_PI * (i + 1) * (t + 0.5) / ROUNDS)));
}

/* Returns the critical value of t that gave the interval in out[i]. */
static double critical(int i, int best)
{
    struct estimate pair = stats_paired(sample[i], sample[best], ROUNDS, 0.95);
    double t = stats_t_quantile(0.975, ROUNDS - 1);
    return log(out[i].ratio.ci_high / pair.median) / log(pair.ci_high / pair.median) * t;
}

/* All intervals have the level that all pairs share, even if some series are clearly slower. The interval of a series
 * that is compared alone has the same level if it is told the number of series. */
TEST(one_level)
{
    ladder(5, 1);
    ck_assert_int_eq(judge(5, ROUNDS, 0), 0);
    for (int i = 1; i < 5; i++) {
        ck_assert(out[i].slower && out[i].ratio.ci_low > 1);
        ck_assert_double_eq_tol(critical(i, 0), stats_t_quantile(1 - 0.05 / 10 / 2, ROUNDS - 1), 1e-9);
    }
    struct against_best alone = best_compare(sample[3], sample[0], ROUNDS, 5, 0);
    ck_assert(alone.ratio.ci_low == out[3].ratio.ci_low && alone.ratio.ci_high == out[3].ratio.ci_high);
}

/* The sign test (for decisions at any time) needs p <= 0.05 / 6 with four series (six pairs). If all signs agree, 8
 * rounds give p = 9 / 2^8 = 0.035, 10 rounds 11 / 2^10 = 0.0107, 11 rounds 0.0059. */
TEST(any_time_by_signs)
{
    for (int i = 0; i < 4; i++)
        for (int t = 0; t < 11; t++)
            sample[i][t] = 1 + 0.1 * i;
    ck_assert_int_eq(judge(4, 10, 1), 0);
    ck_assert(!out[1].slower && !out[3].slower && isnan(out[3].ratio.ci_low));
    judge(4, 11, 1);
    ck_assert(out[1].slower && out[2].slower && out[3].slower);
    ck_assert_double_eq_tol(out[3].ratio.ci_low, 1.3, 1e-12);
    judge(2, 8, 1);
    ck_assert(out[1].slower);
    judge(2, 7, 1);
    ck_assert(!out[1].slower && isnan(out[1].ratio.ci_low));
    ck_assert(isnan(best_compare(sample[1], sample[0], 8, 4, 1).ratio.ci_low)); /* counts as one of four series */
}

/* No other series has a ratio below 1 to the best, neither as a mean of ratios nor, for decisions at any time, as a
 * median of ratios, which may differ from the ratio of the medians. */
TEST(no_ratio_is_below_1)
{
    for (int t = 0; t < 13; t++) {
        sample[0][t] = 1.001;
        sample[1][t] = t < 8 ? 1 : 1.1 + 0.001 * t;
    }
    ck_assert_int_eq(judge(2, 13, 0), 0);
    ck_assert_double_gt(out[1].ratio.median, 1);
    ck_assert_int_eq(judge(2, 13, 1), 1);
    for (int t = 0; t < 13; t++) { /* the median of series 1 is the least, but it is longer in 7 of 13 rounds */
        sample[1][t] = t < 7 ? 1.9 - 0.001 * t : 3;
        sample[0][t] = t < 6 ? 2 : t < 7 ? 1.8 : 2.5;
    }
    ck_assert_double_lt(stats_median(sample[1], 13), stats_median(sample[0], 13));
    ck_assert_int_eq(judge(2, 13, 1), 0);
    ck_assert_double_eq_tol(out[1].ratio.median, (1.9 - 0.006) / 1.8, 1e-12);
    ck_assert(out[1].ratio.ci_low < out[1].ratio.median && out[1].ratio.median < out[1].ratio.ci_high);
}

/* Medians of ratios can form a circle: in two of three rounds each series is longer than the next. The best is then the
 * series to which the least ratio of the others is greatest. */
TEST(medians_in_a_circle)
{
    static const double step[3][3] = {{1, 2, 3.3}, {1.1, 3, 2}, {1.32, 1, 2.4}};
    for (int i = 0; i < 3; i++)
        memcpy(sample[i], step[i], sizeof step[i]);
    /* series 1 / 0: 1.1, 1.5, 0.61; 2 / 0: 1.32, 0.5, 0.73; 2 / 1: 1.2, 0.33, 1.2 */
    ck_assert_int_eq(judge(3, 3, 1), 1);
    ck_assert_double_eq_tol(out[0].ratio.median, 1 / 1.1, 1e-12);
    ck_assert_double_eq_tol(out[2].ratio.median, 1.2, 1e-12);
}

/* Rounds of a series with its own random walk depend on neighbouring rounds, independent rounds do not. */
TEST(neighbouring_rounds)
{
    double own = 0;
    int repetitions = noise_repetitions(2000), alarms = 0;
    noise_start(9);
    for (int t = 0; t < ROUNDS; t++) {
        own = 0.8 * own + 0.01 * noise_normal();
        sample[0][t] = exp(0.5 * noise_normal());
        sample[1][t] = sample[0][t] * exp(0.5 + own);
        sample[2][t] = sample[0][t] * exp(0.5 + 0.01 * noise_normal());
    }
    judge(3, ROUNDS, 0);
    ck_assert(out[0].dependent == 0 && out[1].dependent > 0.5 && out[1].dependent < 1 && out[2].dependent == 0);
    ck_assert(stats_neighbours(sample[1], sample[0], 9, 0.01) == 0);      /* too few rounds to tell */
    ck_assert(stats_neighbours(sample[1], sample[1], ROUNDS, 0.01) == 0); /* all ratios are equal */
    for (int t = 0; t < ROUNDS; t++)
        sample[3][t] = t < ROUNDS / 2 ? 1 : 2,
        sample[4][t] = 1 + t % 2; /* two values: first half and second half; in turn */
    double *ones = sample[5];
    for (int t = 0; t < ROUNDS; t++)
        ones[t] = 1;
    ck_assert_double_gt(stats_neighbours(sample[3], ones, ROUNDS, 0.01), 0.9);
    ck_assert(stats_neighbours(sample[4], ones, ROUNDS, 0.01) == 0);
    for (int r = 0; r < repetitions; r++) {
        for (int t = 0; t < ROUNDS; t++)
            for (int i = 0; i < 3; i++)
                sample[i][t] = exp(0.1 * noise_normal() + (noise_uniform() < 0.05 ? 1 : 0));
        int best = judge(3, ROUNDS, 1);
        for (int i = 0; i < 3; i++)
            alarms += i != best && out[i].dependent > 0;
    }
    ck_assert_double_le((double)alarms / repetitions, 0.01 + noise_three_errors(0.01, repetitions));
}

TEST(too_little_to_compare)
{
    for (int t = 0; t < 6; t++) {
        sample[0][t] = 2;
        sample[1][t] = 1;
        sample[2][t] = 1;
    }
    ck_assert_int_eq(judge(3, 1, 0), 1); /* the first of two equal series is the best */
    ck_assert(out[0].ratio.median == 2 && isnan(out[0].ratio.ci_low) && !out[0].slower && !out[2].slower);
    ck_assert_int_eq(judge(1, 6, 0), 0);
    ck_assert(out[0].ratio.median == 1 && isnan(out[0].ratio.ci_high) && !out[0].slower);
    ck_assert_int_eq(judge(3, 0, 0), 0);
    ck_assert(isnan(out[1].ratio.median) && !out[1].slower);
    /* without noise the interval is a single point, and an equal series is not slower */
    ck_assert_int_eq(judge(3, 6, 0), 1);
    ck_assert(out[0].slower && fabs(out[0].ratio.ci_low - 2) < 1e-12 && fabs(out[0].ratio.ci_high - 2) < 1e-12);
    ck_assert(!out[2].slower && out[2].ratio.ci_low == 1 && out[2].ratio.ci_high == 1);
}

/* ---- error rate and power ---- */

/* above(i): by how much series i truly exceeds the least series, in standard errors of the difference of two series.
 * noise(i, k): noise of series i of k, as a multiple of the usual noise. */
struct situation {
    const char *name;
    double (*above)(int i), (*noise)(int i, int k);
};

static double equal(int i)
{
    (void)i;
    return 0;
}
static double two_level(int i)
{
    return i < 2 ? 0 : 30;
}
static double rising(int i)
{
    return 3.0 * i;
}
static double one_best(int i)
{
    return i ? 4 : 0;
}
static double even(int i, int k)
{
    (void)(i + k);
    return 1;
}
static double tenfold(int i, int k)
{
    return pow(10, i / (k - 1.0));
}
static double two_noisy(int i, int k)
{
    (void)k;
    return i < 2 ? 4 : 1;
}

/* Fills k series of n lognormal samples. All share a random effect of each round, twice as large as the noise. */
static void make_up(const struct situation *of, int k, size_t n)
{
    double error = 0.02 * sqrt(2 / (double)n);
    for (size_t t = 0; t < n; t++) {
        double round = 0.04 * noise_normal();
        for (int i = 0; i < k; i++)
            sample[i][t] = exp(round + error * of->above(i) + 0.02 * of->noise(i, k) * noise_normal());
    }
}

/* Adds 1 to *wrong if any series is wrongly called slower, and adds to *found the number rightly called slower. */
static void count(const struct situation *of, int k, int best, const int *slower, int *wrong, int *found)
{
    int any = 0;
    for (int i = 0; i < k; i++) {
        int right = of->above(i) > of->above(best);
        any |= slower[i] && !right;
        *found += slower[i] && right;
    }
    *wrong += any;
}

/* Returns 1 if the interval of every series contains its true ratio to the best. */
static int all_covered(const struct situation *of, int k, size_t n, int best)
{
    double error = 0.02 * sqrt(2 / (double)n);
    int covered = 1;
    for (int i = 0; i < k; i++) {
        double truth = exp(error * (of->above(i) - of->above(best)));
        covered &= i == best || (out[i].ratio.ci_low <= truth && truth <= out[i].ratio.ci_high);
    }
    return covered;
}

/* In 95 % of runs all intervals hold together, and in at most 5 % a series is wrongly called slower. From 10 rounds on,
 * at least 30 % of the series that are 4 errors above the best are found. */
TEST_EACH(coverage, 6)
{
    static const struct situation situations[] = {{"equal", equal, even},
                                                  {"equal, noise 1 to 10", equal, tenfold},
                                                  {"two level, others far", two_level, even},
                                                  {"each 3 errors apart", rising, even},
                                                  {"one 4 errors ahead", one_best, even},
                                                  {"two level and noisy, others far", two_level, two_noisy}};
    static const int series[] = {2, 6, 9};
    static const size_t rounds[] = {6, 10, 60};
    const struct situation *of = &situations[_i];
    int repetitions = noise_repetitions(2000);
    noise_start(20 + (uint64_t)_i);
    for (int cell = 0; cell < 9; cell++) {
        int k = series[cell / 3], covered = 0, wrong = 0, found = 0, slower[MOST];
        size_t n = rounds[cell % 3];
        for (int r = 0; r < repetitions; r++) {
            make_up(of, k, n);
            int best = judge(k, n, 0);
            covered += all_covered(of, k, n, best);
            for (int i = 0; i < k; i++)
                slower[i] = out[i].slower;
            count(of, k, best, slower, &wrong, &found);
        }
        double share = 1.0 / repetitions;
        printf("%s: %d series, %zu rounds: covered in %.3f of runs, wrong in %.3f, found %.3f\n", of->name, k, n,
               covered * share, wrong * share, found * share);
        ck_assert_double_ge(covered * share, 0.95 - noise_three_errors(0.95, repetitions));
        ck_assert_double_le(wrong * share, 0.05 + noise_three_errors(0.05, repetitions));
        if (of->above == one_best && n > 6)
            ck_assert_double_ge(found * share, 0.3 * (k - 1));
    }
}

/* An interval above 1 or within the margin needs no more rounds. An interval twice as wide as allowed needs four times
 * the rounds. Without an interval, the number is infinite. */
TEST(rounds_needed_known)
{
    const struct against_best slower = {{1.1, 1.05, 1.15, NAN, NAN, 10}, 1, 0};
    const struct against_best within = {{1, 1 / 1.01, 1.01, NAN, NAN, 10}, 0, 0};
    const struct against_best twice = {{1, 1 / pow(1.02, 2), pow(1.02, 2), NAN, NAN, 10}, 0, 0};
    const struct against_best none = {{1.1, NAN, NAN, NAN, NAN, 2}, 0, 0};
    ck_assert_double_eq(best_rounds_needed(&slower, 0.02), 10);
    ck_assert_double_eq(best_rounds_needed(&within, 0.02), 10);
    ck_assert_double_eq_tol(best_rounds_needed(&twice, 0.02), 40, 1);
    ck_assert(isinf(best_rounds_needed(&none, 0.02)));
}

/* With anytime, k series that differ in every round have intervals from best_least_rounds(k) rounds on, and not before.
 */
TEST(least_rounds_known)
{
    static const struct {
        int k;
        size_t rounds;
    } known[] = {{1, STATS_LEAST}, {2, 8}, {5, 12}, {8, 13}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_uint_eq(best_least_rounds(known[i].k, 1), known[i].rounds);
    ck_assert_uint_eq(best_least_rounds(9, 0), STATS_LEAST);
    for (size_t n = 7; n <= 8; n++) {
        for (size_t r = 0; r < n; r++) {
            sample[0][r] = 1;
            sample[1][r] = 1.1 + 0.001 * (double)r;
        }
        ck_assert_int_eq(judge(2, n, 1), 0);
        ck_assert_int_eq(isfinite(out[1].ratio.ci_low) != 0, n == 8);
    }
}

SUITE("best", NULL, NULL)
