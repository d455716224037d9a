/* test_link_model.c - the model of a link, fitted to made-up times of links with known latency and bandwidth. */
#include "base/link_model.h"

#include "tests/support/noise.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* A link whose time is linear in the message size: one line up to `to` bytes, another line for larger sizes. */
struct truth {
    int regimes;
    double to, latency[LINK_REGIMES], bandwidth[LINK_REGIMES];
};

enum { ETHERNET, SHARED_MEMORY, NO_LATENCY, BURST, RENDEZVOUS, LINKS };
static const struct truth links[LINKS] = {
    [ETHERNET] = {1, INFINITY, {23e-6}, {11.7e6}},
    [SHARED_MEMORY] = {1, INFINITY, {5e-6}, {5e9}},
    [NO_LATENCY] = {1, INFINITY, {0}, {1e9}},
    [BURST] = {2, 131072, {5e-6, 1e-3}, {5e9, 11.7e6}},
    [RENDEZVOUS] = {2, 4096, {20e-6, 30e-6}, {1e9, 1e9}}, /* the latency is 1.5 times as long above 4 KiB */
};

enum { MOST = 64 };
static double bytes[MOST], seconds[MOST];

/* Fills bytes with n sizes from 8 B to 256 MiB, spaced geometrically, and seconds with the link's times plus noise. */
static void make_times(const struct truth *truth, size_t n, double noise)
{
    for (size_t i = 0; i < n; i++) {
        bytes[i] = 8 * exp2(25 * (double)i / ((double)n - 1));
        int r = bytes[i] > truth->to;
        seconds[i] = truth->latency[r] + bytes[i] / truth->bandwidth[r];
        if (noise > 0)
            seconds[i] *= 1 + noise * noise_normal();
    }
}

/* ---- exact times ---- */

static void check_interval(const double interval[2], double truth)
{
    ck_assert_double_le(fabs(interval[0] - truth), 1e-6 * truth);
    ck_assert_double_le(fabs(interval[1] - truth), 1e-6 * truth);
}

TEST_EACH(exact_times_give_the_truth, LINKS)
{
    const struct truth *truth = &links[_i];
    struct link_regime regime[LINK_REGIMES];
    make_times(truth, 26, 0);
    ck_assert_int_eq(link_model_fit(regime, bytes, seconds, 26), truth->regimes);
    for (int r = 0; r < truth->regimes; r++) {
        ck_assert_double_eq_tol(regime[r].from_bytes, r ? 2 * truth->to : 8, 1e-6);
        ck_assert_double_eq_tol(regime[r].to_bytes, r + 1 < truth->regimes ? truth->to : 268435456, 1e-6);
        ck_assert_double_le(fabs(regime[r].latency - truth->latency[r]), 1e-9 * truth->latency[r]);
        check_interval(regime[r].latency_interval, truth->latency[r]);
        ck_assert_double_eq_tol(regime[r].bandwidth / truth->bandwidth[r], 1, 1e-9);
        check_interval(regime[r].bandwidth_interval, truth->bandwidth[r]);
        ck_assert_double_le(regime[r].residual, 1e-9);
    }
    ck_assert_uint_eq(regime[0].sizes + (truth->regimes == 2 ? regime[1].sizes : 0), 26);
}

TEST(too_little_is_no_model)
{
    static const struct {
        size_t n;
        double bytes[5], seconds[5];
        int regimes;
    } rows[] = {
        {0, {0}, {0}, 0},
        {3, {8, 16, 32}, {1, 2, 3}, 0},
        {4, {8, 16, 32, 64}, {1, 2, 3, 4}, 1},
        {5, {0, 8, 16, 32, 64}, {1, 2, 3, 4, 5}, 0},
        {5, {8, 16, 32, 64, NAN}, {1, 2, 3, 4, 5}, 0},
        {5, {8, 16, 32, 64, 128}, {1, 2, 0, 4, 5}, 0},
        {5, {8, 16, 32, 64, 128}, {1, 2, 3, INFINITY, 5}, 0},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct link_regime regime[LINK_REGIMES];
        int regimes = link_model_fit(regime, rows[i].bytes, rows[i].seconds, rows[i].n);
        ck_assert_msg(regimes == rows[i].regimes, "row %zu: %d regimes", i, regimes);
    }
}

/* A regime (range of sizes with its own line) has at least 4 sizes: 8 sizes may have two regimes, 7 sizes have one. */
TEST(a_regime_has_four_sizes)
{
    struct link_regime regime[LINK_REGIMES];
    for (size_t i = 0; i < 12; i++) {
        bytes[i] = ldexp(8, (int)i);
        seconds[i] = (i < 4 ? 20e-6 : 40e-6) + bytes[i] / 1e9;
    }
    ck_assert_int_eq(link_model_fit(regime, bytes, seconds, 7), 1);
    ck_assert_int_eq(link_model_fit(regime, bytes, seconds, 8), 2);
    ck_assert_uint_eq(regime[0].sizes, 4);
    for (size_t i = 0; i < 12; i++)
        seconds[i] = (i < 9 ? 20e-6 : 60e-6) + bytes[i] / 1e9;
    if (link_model_fit(regime, bytes, seconds, 12) == 2)
        ck_assert(regime[0].sizes >= 4 && regime[1].sizes >= 4);
}

/* ---- the fit of a single line, computed in two ways ---- */

enum { FEW = 6 };
static const double few_bytes[FEW] = {100, 300, 1000, 3000, 5000, 9000};

/* Computes latency, slope and their errors from the normal equations of weighted least squares: sum w (1, x)(1, x)'
 * (latency, slope)' = sum w (1, x)' t. */
TEST(line_and_intervals_by_the_normal_equations)
{
    static const double times[FEW] = {11e-6, 13.5e-6, 19e-6, 41e-6, 61e-6, 97e-6};
    double one = 0, x = 0, xx = 0, t = 0, xt = 0, squares = 0;
    for (int i = 0; i < FEW; i++) {
        double w = 1 / (times[i] * times[i]);
        one += w;
        x += w * few_bytes[i];
        xx += w * few_bytes[i] * few_bytes[i];
        t += w * times[i];
        xt += w * few_bytes[i] * times[i];
    }
    double determinant = one * xx - x * x;
    double latency = (xx * t - x * xt) / determinant, slope = (one * xt - x * t) / determinant;
    for (int i = 0; i < FEW; i++)
        squares += pow((times[i] - latency - slope * few_bytes[i]) / times[i], 2);
    double reach = 2.7764451052 * sqrt(squares / (FEW - 2)); /* 97.5 % quantile of t, 4 degrees of freedom */
    double latency_reach = reach * sqrt(xx / determinant), slope_reach = reach * sqrt(one / determinant);

    struct link_regime r[LINK_REGIMES];
    ck_assert_int_eq(link_model_fit(r, few_bytes, times, FEW), 1);
    ck_assert_double_eq_tol(r->latency / latency, 1, 1e-9);
    ck_assert_double_eq_tol(r->latency_interval[0] / (latency - latency_reach), 1, 1e-8);
    ck_assert_double_eq_tol(r->latency_interval[1] / (latency + latency_reach), 1, 1e-8);
    ck_assert_double_eq_tol(r->bandwidth * slope, 1, 1e-9);
    ck_assert_double_eq_tol(r->bandwidth_interval[0] * (slope + slope_reach), 1, 1e-8);
    ck_assert_double_eq_tol(r->bandwidth_interval[1] * (slope - slope_reach), 1, 1e-8);
    ck_assert_double_eq_tol(r->residual, sqrt(squares / FEW), 1e-9);
}

/* If the times have no latency or no slope, the fitted latency or slope is exactly 0, whatever the rounding errors. */
TEST(rounding_is_nothing)
{
    noise_start(6);
    for (int round = 0; round < 100; round++) {
        struct link_regime r[LINK_REGIMES];
        double latency = 1e-6 * noise_uniform(), slope = 1e-9 * noise_uniform();
        for (int i = 0; i < FEW; i++)
            seconds[i] = latency;
        ck_assert_int_eq(link_model_fit(r, few_bytes, seconds, FEW), 1);
        ck_assert(isinf(r->bandwidth));
        ck_assert_double_eq_tol(r->latency / latency, 1, 1e-12);
        for (int i = 0; i < FEW; i++)
            seconds[i] = slope * few_bytes[i];
        ck_assert_int_eq(link_model_fit(r, few_bytes, seconds, FEW), 1);
        ck_assert_double_eq(r->latency, 0);
        ck_assert_double_eq_tol(r->bandwidth * slope, 1, 1e-12);
    }
}

/* ---- error rates with noise ---- */

static int fits; /* number of fits in a simulation */

/* Returns how many fits may have an event of this probability: the expected number plus three standard errors. */
static double at_most(double probability)
{
    return (probability + noise_three_errors(probability, fits)) * fits;
}

/* At most 5 % of fits have a wrong number of regimes: one line is cut in two, or the second line is missed. */
TEST(regimes_are_those_of_the_link)
{
    static const double noise[] = {0.01, 0.03, 0.1};
    static const size_t sizes[] = {8, 13, 26, 50};
    for (size_t i = 0; i < LINKS * LENGTH(noise) * LENGTH(sizes); i++) {
        const struct truth *truth = &links[i % LINKS];
        double of_times = noise[i / LINKS % LENGTH(noise)];
        size_t n = sizes[i / LINKS / LENGTH(noise)];
        int wrong = 0;
        if (truth->regimes == 2 && (n < 26 || of_times > 0.05))
            continue; /* too few sizes or too much noise to find the second regime */
        noise_start(i);
        for (int fit = 0; fit < fits; fit++) {
            struct link_regime regime[LINK_REGIMES];
            make_times(truth, n, of_times);
            wrong += link_model_fit(regime, bytes, seconds, n) != truth->regimes;
        }
        ck_assert_msg(wrong <= at_most(0.05), "link %zu, %zu sizes, noise %g: %d of %d are wrong", i % LINKS, n,
                      of_times, wrong, fits);
    }
}

/* Uneven noise cuts at most 5 % of lines in two: a single time is 30 % too long, or small messages are ten times
 * noisier than large ones. An F test alone would cut half of the lines. */
TEST(uneven_noise_seldom_cuts)
{
    int late = 0, uneven = 0;
    noise_start(5);
    for (int fit = 0; fit < fits; fit++) {
        struct link_regime regime[LINK_REGIMES];
        make_times(&links[ETHERNET], 26, 0.02);
        seconds[(size_t)(noise_uniform() * 26)] *= 1.3;
        late += link_model_fit(regime, bytes, seconds, 26) != 1;
        make_times(&links[ETHERNET], 26, 0);
        for (int i = 0; i < 26; i++)
            seconds[i] *= exp((bytes[i] < 4096 ? 0.1 : 0.01) * noise_normal());
        uneven += link_model_fit(regime, bytes, seconds, 26) != 1;
    }
    ck_assert_double_le(late, at_most(0.05));
    ck_assert_double_le(uneven, at_most(0.05));
}

/* Intervals cover the true values in about 95 % of fits. */
TEST_EACH(intervals_cover, LINKS)
{
    const struct truth *truth = &links[_i];
    int latency[LINK_REGIMES] = {0}, bandwidth[LINK_REGIMES] = {0}, right = 0;
    noise_start(1000 + (uint64_t)_i);
    for (int fit = 0; fit < fits; fit++) {
        struct link_regime r[LINK_REGIMES];
        make_times(truth, 26, 0.02);
        if (link_model_fit(r, bytes, seconds, 26) != truth->regimes ||
            (truth->regimes == 2 && fabs(r[0].to_bytes - truth->to) > 1))
            continue;
        right++;
        for (int i = 0; i < truth->regimes; i++) {
            latency[i] +=
                r[i].latency_interval[0] <= truth->latency[i] && truth->latency[i] <= r[i].latency_interval[1];
            bandwidth[i] +=
                r[i].bandwidth_interval[0] <= truth->bandwidth[i] && truth->bandwidth[i] <= r[i].bandwidth_interval[1];
        }
    }
    ck_assert_msg(right >= 0.9 * fits, "link %d: only %d of %d fits find the true regimes", _i, right, fits);
    for (int i = 0; i < truth->regimes; i++) {
        double error = noise_three_errors(0.95, right) + 0.005;
        ck_assert_double_eq_tol((double)latency[i] / right, 0.95, error);
        ck_assert_double_eq_tol((double)bandwidth[i] / right, 0.95, error);
    }
}

int main(void)
{
    fits = noise_repetitions(1000);
    return suite_run(suite_of_tests("link model", NULL, NULL));
}
