/* test_link_model.c - the model of a link against sweeps whose truth is known, and its words. */
#include "allreduce/link_line.h"
#include "allreduce/link_model.h"
#include "base/stats.h"
#include "tests/support/json.h"
#include "tests/support/noise.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- sweeps ---- */

/* A link: regime i is of sizes up to to[i]; the last of all others. */
struct truth {
    int regimes;
    double to[LINK_REGIMES], latency[LINK_REGIMES], bandwidth[LINK_REGIMES];
};

enum { ETHERNET, SHARED_MEMORY, NO_LATENCY, BURST, RENDEZVOUS, PROTOCOLS, BUMP, LINKS };
static const struct truth links[LINKS] = {
    [ETHERNET] = {1, {INFINITY}, {23e-6}, {11.7e6}},
    [SHARED_MEMORY] = {1, {INFINITY}, {5e-6}, {5e9}},
    [NO_LATENCY] = {1, {INFINITY}, {0}, {1e9}},
    [BURST] = {2, {131072, INFINITY}, {5e-6, 1e-3}, {5e9, 11.7e6}},
    [RENDEZVOUS] = {2, {4096, INFINITY}, {20e-6, 30e-6}, {1e9, 1e9}}, /* latency x 1.5 */
    [PROTOCOLS] = {3, {4096, 1 << 20, INFINITY}, {5e-6, 12e-6, 60e-6}, {2e9, 5e9, 2.5e9}},
    [BUMP] = {3, {64, 1024, INFINITY}, {50e-6, 70e-6, 50e-6}, {1e9, 1e9, 1e9}}, /* no two regimes are like it */
};

enum { MOST = 64 };
static double bytes[MOST], seconds[MOST];

static int regime_of(const struct truth *truth, double size)
{
    int r = 0;
    while (size > truth->to[r])
        r++;
    return r;
}

/* Powers of two from 8 B to 256 MiB into bytes and seconds, as exact times. Returns how many. */
static size_t make_sweep(const struct truth *truth)
{
    size_t n = 0;
    for (double size = 8; size <= 256 << 20; size *= 2) {
        int r = regime_of(truth, size);
        bytes[n] = size;
        seconds[n++] = truth->latency[r] + size / truth->bandwidth[r];
    }
    return n;
}

static size_t make_noisy_sweep(const struct truth *truth, double noise)
{
    size_t n = make_sweep(truth);
    for (size_t i = 0; i < n; i++)
        seconds[i] *= 1 + noise * noise_normal();
    return n;
}

static struct link_model fitted(size_t n)
{
    struct link_model model;
    memset(&model, 0xff, sizeof model);
    ck_assert_int_eq(link_model_fit(&model, bytes, seconds, n), 0);
    return model;
}

/* ---- exact times ---- */

START_TEST(exact_times_give_the_truth)
{
    const struct truth *truth = &links[_i];
    size_t n = make_sweep(truth), points = 0;
    struct link_model model = fitted(n);
    ck_assert_int_eq(model.regimes, truth->regimes);
    ck_assert_uint_eq(model.points, n);
    ck_assert_uint_eq(model.sizes, n);
    for (int r = 0; r < model.regimes; r++) {
        const struct link_regime *regime = &model.regime[r];
        double latency = truth->latency[r], bandwidth = truth->bandwidth[r];
        ck_assert_double_eq(regime->from_bytes, r ? 2 * truth->to[r - 1] : 8);
        ck_assert_double_eq(regime->to_bytes, fmin(truth->to[r], 256 << 20));
        ck_assert_double_le(fabs(regime->latency_s - latency), 1e-9 * latency);
        ck_assert_double_le(fabs(regime->latency_low_s - latency), 1e-6 * latency);
        ck_assert_double_le(fabs(regime->latency_high_s - latency), 1e-6 * latency);
        ck_assert_double_eq_tol(regime->bandwidth / bandwidth, 1, 1e-9);
        ck_assert_double_eq_tol(regime->bandwidth_low / bandwidth, 1, 1e-6);
        ck_assert_double_eq_tol(regime->bandwidth_high / bandwidth, 1, 1e-6);
        ck_assert_double_le(regime->residuals.rms, 1e-9);
        points += regime->points;
    }
    ck_assert_uint_eq(points, n);
    ck_assert_double_le(model.residuals.rms, 1e-9);
}
END_TEST

START_TEST(order_does_not_matter)
{
    noise_start(1);
    size_t n = make_noisy_sweep(&links[PROTOCOLS], 0.02);
    struct link_model sorted = fitted(n);
    for (size_t i = n - 1; i > 0; i--) {
        size_t other = (size_t)(noise_uniform() * (double)(i + 1));
        double kept_bytes = bytes[i], kept_seconds = seconds[i];
        bytes[i] = bytes[other];
        seconds[i] = seconds[other];
        bytes[other] = kept_bytes;
        seconds[other] = kept_seconds;
    }
    struct link_model shuffled = fitted(n);
    ck_assert_int_eq(sorted.regimes, 3);
    ck_assert_mem_eq(sorted.regime, shuffled.regime, sizeof sorted.regime);
    ck_assert_mem_eq(&sorted.residuals, &shuffled.residuals, sizeof sorted.residuals);
}
END_TEST

/* Every size three times; a border never lies inside a size. */
START_TEST(sizes_may_repeat)
{
    size_t n = 0;
    noise_start(2);
    for (double size = 8; size <= 1 << 20; size *= 2)
        for (int i = 0; i < 3; i++) {
            bytes[n] = size;
            seconds[n++] = ((size <= 4096 ? 20e-6 : 40e-6) + size / 1e9) * (1 + 0.02 * noise_normal());
        }
    struct link_model model = fitted(n);
    ck_assert_uint_eq(model.points, n);
    ck_assert_uint_eq(model.sizes, 18);
    ck_assert_int_eq(model.regimes, 2);
    ck_assert_double_eq(model.regime[0].to_bytes, 4096);
    ck_assert_double_eq(model.regime[1].from_bytes, 8192);
    ck_assert_uint_eq(model.regime[0].points, 30);
    ck_assert_uint_eq(model.regime[1].points, 24);
}
END_TEST

/* ---- too little ---- */

START_TEST(too_little_is_no_model)
{
    static const struct {
        size_t n;
        double bytes[5], seconds[5];
        int status;
    } rows[] = {
        {0, {0}, {0}, -1},
        {3, {8, 16, 32}, {1, 2, 3}, -1},
        {5, {8, 16, 32, 8, 16}, {1, 2, 3, 1, 2}, -1},
        {4, {8, 16, 32, 64}, {1, 2, 3, 4}, 0},
        {5, {8, 16, 32, 64, 64}, {1, 2, 3, 4, 4}, 0},
        {5, {8, 16, 32, 64, 0}, {1, 2, 3, 4, 5}, -1},
        {5, {8, 16, 32, 64, -1}, {1, 2, 3, 4, 5}, -1},
        {5, {8, 16, 32, 64, NAN}, {1, 2, 3, 4, 5}, -1},
        {5, {8, 16, 32, 64, INFINITY}, {1, 2, 3, 4, 5}, -1},
        {5, {8, 16, 32, 64, 128}, {1, 2, 0, 4, 5}, -1},
        {5, {8, 16, 32, 64, 128}, {1, 2, -3, 4, 5}, -1},
        {5, {8, 16, 32, 64, 128}, {NAN, 2, 3, 4, 5}, -1},
        {5, {8, 16, 32, 64, 128}, {1, 2, 3, INFINITY, 5}, -1},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct link_model model, before;
        memset(&model, 0x5a, sizeof model);
        memcpy(&before, &model, sizeof model);
        int status = link_model_fit(&model, rows[i].bytes, rows[i].seconds, rows[i].n);
        ck_assert_msg(status == rows[i].status, "row %zu: %d", i, status);
        if (status)
            ck_assert_mem_eq(&model, &before, sizeof model);
    }
}
END_TEST

/* Seven sizes are too few for a second regime, eleven for a third; eight and twelve are not. */
START_TEST(a_regime_has_four_sizes)
{
    static const struct {
        size_t n, regimes;
    } rows[] = {{4, 1}, {7, 1}, {8, 2}, {11, 2}, {12, 3}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        for (size_t j = 0; j < rows[i].n; j++) {
            bytes[j] = ldexp(8, (int)j);
            seconds[j] = (j < 4 ? 20e-6 : j < 8 || rows[i].n < 12 ? 40e-6 : 80e-6) + bytes[j] / 1e9;
        }
        struct link_model model = fitted(rows[i].n);
        ck_assert_msg((size_t)model.regimes == rows[i].regimes, "%zu sizes: %d", rows[i].n, model.regimes);
        for (int r = 0; r < model.regimes; r++)
            ck_assert_uint_ge(model.regime[r].points, 4);
    }
}
END_TEST

/* Three sizes at the end that differ are no regime, however well two lines would fit. */
START_TEST(three_sizes_are_no_regime)
{
    for (size_t j = 0; j < 12; j++) {
        bytes[j] = ldexp(8, (int)j);
        seconds[j] = (j < 9 ? 20e-6 : 60e-6) + bytes[j] / 1e9;
    }
    struct link_model model = fitted(12);
    for (int r = 0; r < model.regimes; r++) {
        ck_assert_uint_ge(model.regime[r].points, 4);
        ck_assert(model.regime[r].from_bytes != bytes[9]);
    }
}
END_TEST

/* ---- one line by other means ---- */

enum { FEW = 6 };
static const double few_bytes[FEW] = {100, 300, 1000, 3000, 5000, 9000};

/* Solves sum w (1, x)(1, x)' (latency, slope)' = sum w (1, x)' t directly; its inverse gives the errors. */
START_TEST(line_and_intervals_by_the_normal_equations)
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
    double largest = 0, at = 0;
    for (int i = 0; i < FEW; i++) {
        double residual = (times[i] - latency - slope * few_bytes[i]) / times[i];
        squares += residual * residual;
        if (fabs(residual) > fabs(largest)) {
            largest = residual;
            at = few_bytes[i];
        }
    }
    double reach = 2.7764451052 * sqrt(squares / (FEW - 2)); /* t of 97.5 % at 4 degrees of freedom, from a table */
    double latency_reach = reach * sqrt(xx / determinant), slope_reach = reach * sqrt(one / determinant);

    struct link_model model;
    ck_assert_int_eq(link_model_fit(&model, few_bytes, times, FEW), 0);
    const struct link_regime *r = &model.regime[0];
    ck_assert_int_eq(model.regimes, 1);
    ck_assert_double_eq_tol(r->latency_s / latency, 1, 1e-9);
    ck_assert_double_eq_tol(r->latency_low_s / (latency - latency_reach), 1, 1e-8);
    ck_assert_double_eq_tol(r->latency_high_s / (latency + latency_reach), 1, 1e-8);
    ck_assert_double_eq_tol(r->bandwidth * slope, 1, 1e-9);
    ck_assert_double_eq_tol(r->bandwidth_low * (slope + slope_reach), 1, 1e-8);
    ck_assert_double_eq_tol(r->bandwidth_high * (slope - slope_reach), 1, 1e-8);
    ck_assert_double_eq_tol(model.residuals.rms, sqrt(squares / FEW), 1e-9);
    ck_assert_double_eq_tol(model.residuals.largest, largest, 1e-9);
    ck_assert_double_eq(model.residuals.largest_at_bytes, at);
    ck_assert_mem_eq(&r->residuals, &model.residuals, sizeof r->residuals);
}
END_TEST

/* Noise of 60 % breaks both bounds now and then. No step inside the bounds leaves less; the sums know what is left. */
START_TEST(line_is_the_best_within_the_bounds)
{
    int no_slope = 0, no_intercept = 0;
    noise_start(3);
    for (int round = 0; round < 500; round++) {
        struct link_point p[FEW];
        struct link_sums sums = {0};
        double latency = round % 2 ? 1e-8 : 1e-6;
        for (int i = 0; i < FEW; i++) {
            p[i] = (struct link_point){few_bytes[i], (latency + few_bytes[i] * 1e-10) * exp(0.6 * noise_normal())};
            link_sums_add(&sums, &p[i]);
        }
        struct link_line line = link_line_fit(p, FEW), low, high;
        double best = link_line_squares(&line, p, FEW);
        ck_assert_double_eq_tol(link_line_left(&sums), best, 1e-12);
        ck_assert(line.latency >= 0 && line.slope >= 0);
        for (int step = 0; step < 8; step++) {
            double angle = step * 0.7853981633974483;
            struct link_line other = {fmax(0, line.latency + 1e-9 * cos(angle)),
                                      fmax(0, line.slope + 1e-13 * sin(angle))};
            ck_assert_double_ge(link_line_squares(&other, p, FEW), best - 1e-12);
        }
        link_line_intervals(p, FEW, &low, &high);
        ck_assert(low.latency <= line.latency && line.latency <= high.latency);
        ck_assert(low.slope <= line.slope && line.slope <= high.slope);
        ck_assert(low.latency >= 0 && low.slope >= 0);
        no_slope += line.slope == 0;
        no_intercept += line.latency == 0;
    }
    ck_assert_int_gt(no_slope, 10);
    ck_assert_int_gt(no_intercept, 10);
}
END_TEST

/* Times that start at a size above 0: the line through 0 remains, and its error is that of one number. */
START_TEST(negative_latency_is_not_seen)
{
    double left = 0, x_over_t = 0, x_over_t2 = 0;
    for (int i = 0; i < 5; i++) {
        bytes[i] = ldexp(4096, i);
        seconds[i] = (bytes[i] - 1500) / 1e9;
        x_over_t += bytes[i] / seconds[i];
        x_over_t2 += bytes[i] / seconds[i] * (bytes[i] / seconds[i]);
    }
    double slope = x_over_t / x_over_t2;
    for (int i = 0; i < 5; i++)
        left += pow(1 - slope * bytes[i] / seconds[i], 2);
    double reach = 2.7764451052 * sqrt(left / 4 / x_over_t2);
    struct link_model model = fitted(5);
    const struct link_regime *r = &model.regime[0];
    ck_assert_int_eq(model.regimes, 1);
    ck_assert_double_eq(r->latency_s, 0);
    ck_assert_double_eq(r->latency_low_s, 0);
    ck_assert_double_eq(r->latency_high_s, 0);
    ck_assert_double_eq_tol(r->bandwidth * slope, 1, 1e-9);
    ck_assert_double_eq_tol(r->bandwidth_low * (slope + reach), 1, 1e-8);
    ck_assert_double_eq_tol(r->bandwidth_high * (slope - reach), 1, 1e-8);
}
END_TEST

/* Times that fall with size, and times that are all the same: no bandwidth. */
START_TEST(falling_times_have_no_bandwidth)
{
    for (int equal = 0; equal < 2; equal++) {
        double sum = 0, squares = 0, left = 0;
        for (int i = 0; i < 6; i++) {
            bytes[i] = 8 * (i + 1);
            seconds[i] = equal ? 7e-6 : 7e-6 - 0.1e-6 * i;
            sum += 1 / seconds[i];
            squares += 1 / seconds[i] / seconds[i];
        }
        double latency = sum / squares;
        for (int i = 0; i < 6; i++)
            left += pow(1 - latency / seconds[i], 2);
        double reach = 2.5705818366 * sqrt(left / 5 / squares);
        struct link_model model = fitted(6);
        const struct link_regime *r = &model.regime[0];
        ck_assert(isinf(r->bandwidth) && isinf(r->bandwidth_low) && isinf(r->bandwidth_high));
        ck_assert_double_eq_tol(r->latency_s / latency, 1, 1e-12);
        ck_assert_double_eq_tol(r->latency_low_s / (latency - reach), 1, 1e-8);
        ck_assert_double_eq_tol(r->latency_high_s / (latency + reach), 1, 1e-8);
    }
}
END_TEST

/* Whatever rounding makes of times without latency, or without growth, is nothing. */
START_TEST(rounding_is_not_seen)
{
    noise_start(6);
    for (int round = 0; round < 100; round++) {
        double latency = 1e-6 * noise_uniform(), slope = 1e-9 * noise_uniform();
        for (int i = 0; i < 6; i++) {
            bytes[i] = 100 * (i + noise_uniform());
            seconds[i] = latency;
        }
        struct link_regime r = fitted(6).regime[0];
        ck_assert(isinf(r.bandwidth) && isinf(r.bandwidth_low) && isinf(r.bandwidth_high));
        for (int i = 0; i < 6; i++)
            seconds[i] = slope * bytes[i];
        r = fitted(6).regime[0];
        ck_assert_double_eq(r.latency_s, 0);
        ck_assert_double_eq(r.latency_high_s, 0);
    }
}
END_TEST

/* The borders leave less than any other two: all are tried. */
START_TEST(borders_leave_the_least)
{
    int seen = 0;
    noise_start(4);
    for (int round = 0; round < 100; round++) {
        struct link_point p[MOST];
        size_t n = make_noisy_sweep(&links[PROTOCOLS], 0.15);
        for (size_t i = 0; i < n; i++)
            p[i] = (struct link_point){bytes[i], seconds[i]};
        struct link_model model = fitted(n);
        if (model.regimes != 3)
            continue;
        seen++;
        double best = INFINITY;
        for (size_t i = LINK_SIZES; i + 2 * LINK_SIZES <= n; i++)
            for (size_t j = i + LINK_SIZES; j + LINK_SIZES <= n; j++) {
                struct link_line a = link_line_fit(p, i), b = link_line_fit(p + i, j - i);
                struct link_line c = link_line_fit(p + j, n - j);
                best = fmin(best, link_line_squares(&a, p, i) + link_line_squares(&b, p + i, j - i) +
                                      link_line_squares(&c, p + j, n - j));
            }
        ck_assert_double_eq_tol(model.residuals.rms * model.residuals.rms * (double)n / best, 1, 1e-9);
    }
    ck_assert_int_gt(seen, 20);
}
END_TEST

/* ---- what noise does ---- */

enum { SWEEPS = 400 };

/* Of all sweeps with that noise, the share that shows another number of regimes than there are. */
static double wrong_regimes(const struct truth *truth, double noise)
{
    int wrong = 0;
    for (int i = 0; i < SWEEPS; i++) {
        struct link_model model = fitted(make_noisy_sweep(truth, noise));
        wrong += model.regimes != truth->regimes;
    }
    return (double)wrong / SWEEPS;
}

/* One regime is rarely split, and changes are found: latency x 1.5, the end of a burst, two changes of protocol. */
START_TEST(regimes_are_those_of_the_link)
{
    static const double noise[] = {0.003, 0.02};
    for (size_t i = 0; i < LINKS * LENGTH(noise); i++) {
        noise_start(i);
        double wrong = wrong_regimes(&links[i / LENGTH(noise)], noise[i % LENGTH(noise)]);
        ck_assert_msg(wrong <= 0.05, "link %zu: %g", i / LENGTH(noise), wrong);
    }
    noise_start(100);
    ck_assert_double_le(wrong_regimes(&links[ETHERNET], 0.05), 0.05);
}
END_TEST

/* A step of 0.4 % is no regime, though exact times would show it; one of 6 % is. */
START_TEST(small_bends_are_no_regimes)
{
    size_t n = make_sweep(&links[ETHERNET]);
    for (size_t i = 0; i < n; i++)
        seconds[i] *= i < n / 2 ? 1.002 : 0.998;
    ck_assert_int_eq(fitted(n).regimes, 1);
    for (size_t i = 0; i < n; i++)
        seconds[i] *= i < n / 2 ? 1.03 : 0.97;
    ck_assert_int_gt(fitted(n).regimes, 1);
}
END_TEST

/* A late point, or small messages ten times noisier than large ones: the F test alone would split half of these. */
START_TEST(uneven_noise_seldom_splits)
{
    int late = 0, late_of_two = 0, noisy = 0;
    noise_start(5);
    for (int i = 0; i < SWEEPS; i++) {
        size_t n = make_noisy_sweep(&links[ETHERNET], 0.02);
        seconds[(size_t)(noise_uniform() * (double)n)] *= 1.3;
        late += fitted(n).regimes > 1;
        n = make_noisy_sweep(&links[BURST], 0.02);
        seconds[(size_t)(noise_uniform() * (double)n)] *= 1.3;
        late_of_two += fitted(n).regimes > 2;
        n = make_sweep(&links[ETHERNET]);
        for (size_t j = 0; j < n; j++)
            seconds[j] *= exp((bytes[j] < 4096 ? 0.1 : 0.01) * noise_normal());
        noisy += fitted(n).regimes > 1;
    }
    ck_assert_double_le((double)late / SWEEPS, 0.2);
    ck_assert_double_le((double)late_of_two / SWEEPS, 0.15);
    ck_assert_double_le((double)noisy / SWEEPS, 0.15);
}
END_TEST

/* The intervals of each regime hold the true values in 95 % of sweeps, give or take; where there is no latency its
 * interval reaches down to 0. */
START_TEST(intervals_cover)
{
    const struct truth *truth = &links[_i];
    int latency[LINK_REGIMES] = {0}, bandwidth[LINK_REGIMES] = {0}, right = 0;
    noise_start(1000 + (uint64_t)_i);
    for (int i = 0; i < SWEEPS; i++) {
        struct link_model model = fitted(make_noisy_sweep(truth, 0.02));
        int same = model.regimes == truth->regimes;
        for (int r = 0; r < truth->regimes - 1 && same; r++)
            same = model.regime[r].to_bytes == truth->to[r];
        if (!same)
            continue;
        right++;
        for (int r = 0; r < truth->regimes; r++) {
            const struct link_regime *regime = &model.regime[r];
            latency[r] += regime->latency_low_s <= truth->latency[r] && truth->latency[r] <= regime->latency_high_s;
            bandwidth[r] +=
                regime->bandwidth_low <= truth->bandwidth[r] && truth->bandwidth[r] <= regime->bandwidth_high;
        }
    }
    ck_assert_msg(right >= 0.9 * SWEEPS, "link %d: the right borders in %d", _i, right);
    for (int r = 0; r < truth->regimes; r++) {
        double of_latency = (double)latency[r] / right, of_bandwidth = (double)bandwidth[r] / right;
        ck_assert_msg(of_latency > 0.9 && of_latency < 0.99, "link %d, regime %d: latency %g", _i, r, of_latency);
        ck_assert_msg(of_bandwidth > 0.9 && of_bandwidth < 0.99, "link %d, regime %d: bandwidth %g", _i, r,
                      of_bandwidth);
    }
}
END_TEST

/* ---- words ---- */

#define KIB 1024.0
#define MIB 1048576.0

static const struct {
    struct link_model model;
    double factor;
    const char *words;
} said[] = {
    {{1,
      {{8, 4 * MIB, 22, 23.1e-6, 22e-6, 24.2e-6, 11.7e6, 11.6e6, 11.8e6, {0, 0, 0}}},
      22,
      22,
      {0.012, 0.034, 4 * MIB}},
     1,
     "this link behaves like 23.1 us [22.0, 24.2] + S / 11.7 MB/s [11.6, 11.8]\n"
     "residuals: rms 1.2 %, largest +3.4 % at 4.0 MiB (22 sizes)\n"},
    /* three regimes, other units, times a factor of 1.5; a latency in ms and one below a microsecond */
    {{3,
      {{12, 192 * KIB, 15, 0.5e-6, 0, 1.25e-6, 999.6e6, 0.9e9, INFINITY, {0, 0, 0}},
       {384 * KIB, 1.5 * MIB, 4, 0.9996e-3, 0.9e-3, 1.104e-3, 999.4e6, 99.96e6, 1e9, {0, 0, 0}},
       {3 * MIB, 12 * MIB, 4, 0.99e-3, 0.9e-3, 1e-3, 12.345e9, 9.996e9, 100e9, {0, 0, 0}}},
      23,
      23,
      {0.1, -0.25, 384 * KIB}},
     1.5,
     "up to 128 KiB this link behaves like 0.500 us [0, 1.25] + 1.5 S / 1.00 GB/s [0.900 or more]\n"
     "from 256 KiB to 1.0 MiB it behaves like 1.00 ms [0.900, 1.10] + 1.5 S / 999 MB/s [100, 1000]\n"
     "from 2.0 MiB it behaves like 990 us [900, 1000] + 1.5 S / 12.3 GB/s [10.0, 100]\n"
     "residuals: rms 10.0 %, largest -25.0 % at 256 KiB (23 sizes)\n"},
    /* what was not seen, with a limit and without */
    {{2,
      {{8, 64, 4, 5e-6, 4e-6, 6e-6, INFINITY, 45e6, INFINITY, {0, 0, 0}},
       {128, 1024, 4, 0, 0, 3.2e-6, 11.7e6, 11.6e6, 11.8e6, {0, 0, 0}}},
      8,
      8,
      {0, 0, 8}},
     1,
     "up to 64 B this link behaves like 5.00 us [4.00, 6.00], bandwidth not seen (45.0 MB/s or more)\n"
     "from 128 B it behaves like S / 11.7 MB/s [11.6, 11.8], latency not seen (3.20 us or less)\n"
     "residuals: rms 0.0 %, largest +0.0 % at 8 B (8 sizes)\n"},
    {{2,
      {{8, 64, 4, 5e-6, 4e-6, 6e-6, INFINITY, INFINITY, INFINITY, {0, 0, 0}},
       {128, 1024, 4, 0, 0, 0, 11.7e6, 11.6e6, 11.8e6, {0, 0, 0}}},
      8,
      8,
      {0, 0, 8}},
     1,
     "up to 64 B this link behaves like 5.00 us [4.00, 6.00], bandwidth not seen (times do not grow with S)\n"
     "from 128 B it behaves like S / 11.7 MB/s [11.6, 11.8], latency not seen (times grow as fast as S, or faster)\n"
     "residuals: rms 0.0 %, largest +0.0 % at 8 B (8 sizes)\n"},
};

START_TEST(words_are)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    link_model_print(out, &said[_i].model, said[_i].factor);
    fclose(out);
    ck_assert_str_eq(text, said[_i].words);
    free(text);
}
END_TEST

static double number_at(const cJSON *json, const char *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(object ? cJSON_GetObjectItem(json, object) : json, name);
    ck_assert_msg(cJSON_IsNumber(item), "%s.%s", object ? object : "", name);
    return item->valuedouble;
}

static void check_estimate(const cJSON *regime, const char *name, const double expected[3], const char *unit)
{
    static const char *const names[] = {"estimate", "ci_low", "ci_high"};
    const cJSON *estimate = cJSON_GetObjectItem(regime, name);
    for (int i = 0; i < 3; i++)
        if (isfinite(expected[i]))
            ck_assert_double_eq_tol(number_at(estimate, NULL, names[i]), expected[i], 1e-9);
        else
            ck_assert_msg(cJSON_IsNull(cJSON_GetObjectItem(estimate, names[i])), "%s.%s", name, names[i]);
    ck_assert_str_eq(cJSON_GetObjectItem(estimate, "unit")->valuestring, unit);
}

static void check_residuals(const cJSON *json, double rms, double largest, double at)
{
    ck_assert_double_eq(number_at(json, "residuals", "rms"), rms);
    ck_assert_double_eq(number_at(json, "residuals", "largest"), largest);
    ck_assert_double_eq(number_at(json, "residuals", "largest_at_bytes"), at);
}

/* All figures, in message bytes, us and GB/s; what is infinite is null. */
START_TEST(json_has_every_figure)
{
    static const struct link_model model = {2,
                                            {{12, 96, 4, 5e-6, 4e-6, 6e-6, INFINITY, 4.5e9, INFINITY, {0.25, -0.5, 24}},
                                             {192, 1536, 5, 7e-6, 0, 9e-6, 2e9, 1.5e9, 3e9, {0.125, 0.0625, 1536}}},
                                            9,
                                            8,
                                            {0.75, -0.5, 24}};
    cJSON *json = cJSON_CreateObject();
    link_model_json(json, &model, 1.5);
    char *text = cJSON_Print(json);
    ck_assert_ptr_null(json_error(text));
    const cJSON *object = cJSON_GetObjectItem(json, "link_model");
    ck_assert_double_eq(number_at(object, NULL, "bus_factor"), 1.5);
    ck_assert_double_eq(number_at(object, NULL, "points"), 9);
    ck_assert_double_eq(number_at(object, NULL, "sizes"), 8);
    check_residuals(object, 0.75, -0.5, 16);
    const cJSON *regimes = cJSON_GetObjectItem(object, "regimes");
    ck_assert_int_eq(cJSON_GetArraySize(regimes), 2);
    const cJSON *first = cJSON_GetArrayItem(regimes, 0), *second = cJSON_GetArrayItem(regimes, 1);
    ck_assert_double_eq(number_at(first, NULL, "from_bytes"), 8);
    ck_assert_double_eq(number_at(first, NULL, "to_bytes"), 64);
    ck_assert_double_eq(number_at(first, NULL, "points"), 4);
    check_estimate(first, "latency", (double[]){5, 4, 6}, "us");
    check_estimate(first, "bandwidth", (double[]){INFINITY, 4.5, INFINITY}, "GB/s");
    check_residuals(first, 0.25, -0.5, 16);
    ck_assert_double_eq(number_at(second, NULL, "from_bytes"), 128);
    ck_assert_double_eq(number_at(second, NULL, "to_bytes"), 1024);
    ck_assert_double_eq(number_at(second, NULL, "points"), 5);
    check_estimate(second, "latency", (double[]){7, 0, 9}, "us");
    check_estimate(second, "bandwidth", (double[]){2, 1.5, 3}, "GB/s");
    check_residuals(second, 0.125, 0.0625, 1024);
    free(text);
    cJSON_Delete(json);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("link model");
    TCase *known = tcase_create("known truth"), *noise = tcase_create("noise"), *words = tcase_create("words");
    tcase_add_loop_test(known, exact_times_give_the_truth, 0, LINKS);
    tcase_add_test(known, order_does_not_matter);
    tcase_add_test(known, sizes_may_repeat);
    tcase_add_test(known, too_little_is_no_model);
    tcase_add_test(known, a_regime_has_four_sizes);
    tcase_add_test(known, three_sizes_are_no_regime);
    tcase_add_test(known, line_and_intervals_by_the_normal_equations);
    tcase_add_test(known, line_is_the_best_within_the_bounds);
    tcase_add_test(known, negative_latency_is_not_seen);
    tcase_add_test(known, falling_times_have_no_bandwidth);
    tcase_add_test(known, rounding_is_not_seen);
    tcase_add_test(known, borders_leave_the_least);
    tcase_set_timeout(noise, 120);
    tcase_add_test(noise, regimes_are_those_of_the_link);
    tcase_add_test(noise, small_bends_are_no_regimes);
    tcase_add_test(noise, uneven_noise_seldom_splits);
    tcase_add_loop_test(noise, intervals_cover, 0, LINKS);
    tcase_add_loop_test(words, words_are, 0, (int)LENGTH(said));
    tcase_add_test(words, json_has_every_figure);
    suite_add_tcase(suite, known);
    suite_add_tcase(suite, noise);
    suite_add_tcase(suite, words);
    return suite_run(suite);
}
