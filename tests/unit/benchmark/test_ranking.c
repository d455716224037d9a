/* test_ranking.c - figures of made-up samples with known answers; and how often equal strategies are called different,
 * both after a fixed number of rounds and with --resolve. */
#include "benchmark/ranking.h"
#include "results/verdict.h"

#include "kernels/error.h"
#include "tests/support/noise.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW(name)                                                                                                      \
    {                                                                                                                  \
        .label = #name, .strategy = &strategy_##name                                                                   \
    }

static struct measurements measurements;

/* Fills samples: implementation i takes step[i][round] seconds per step. */
static void fill(int n, size_t rounds, double step[][12])
{
    measurements_create(&measurements, n, 20);
    measurements.rounds = rounds;
    for (int i = 0; i < n; i++)
        for (size_t r = 0; r < rounds; r++)
            measurements_of(&measurements, i, FIGURE_STEP)[r] = step[i][r];
}

static struct ranking compared(const struct implementation *rows, int ranks)
{
    struct ranking comparison;
    ranking_create(&comparison, &measurements, rows, ranks, 1000, NULL, 0);
    return comparison;
}

/* ---- the cost of synchronising; test_summary.c tests the other figures ---- */

/* vs ddp is relative to the row of that name, or to the first row of the strategy if all have other labels. */
TEST(vs_ddp_is_relative_to_the_row_ddp)
{
    double step[3][12] = {{1, 1}, {2, 2}, {4, 4}};
    struct implementation rows[] = {
        {.label = "a", .strategy = &strategy_ddp}, ROW(ddp), {.label = "b", .strategy = &strategy_ddp}};
    fill(3, 2, step);
    ck_assert_double_eq_tol(compared(rows, 2).row[0].to_ddp.median, 0.5, 1e-12);
    strcpy(rows[1].label, "c");
    ck_assert_double_eq_tol(compared(rows, 2).row[1].to_ddp.median, 2, 1e-12);
}

TEST(sync_cost_needs_none_and_rounds)
{
    double step[2][12] = {{1, 2}, {2, 3}};
    const struct implementation without[] = {ROW(ddp), ROW(ddp_flat)}, with[] = {ROW(ddp), ROW(none)};
    fill(2, 2, step);
    struct ranking c = compared(without, 2);
    ck_assert_double_nan(c.row[0].sync_cost.median);
    ck_assert_double_nan(c.row[1].sync_cost.ci_low);
    ck_assert_uint_eq(c.row[0].sync_cost.n, 0);

    measurements.rounds = 1; /* one round gives a cost, but no interval */
    c = compared(with, 2);
    ck_assert_double_eq_tol(c.row[0].sync_cost.median, -1, 1e-12);
    ck_assert_double_nan(c.row[0].sync_cost.ci_low);

    measurements.rounds = 0; /* no rounds give no figures */
    c = compared(with, 2);
    ck_assert_double_nan(c.row[0].sync_cost.median);
    ck_assert_double_nan(c.row[0].seconds[FIGURE_STEP].median);
    ck_assert_int_eq(c.fastest, -1);
    ck_assert_int_eq(c.row[0].to_fastest.slower, 0);
}

/* ---- the fastest implementation ---- */

/* Rows with other arithmetic have times and costs, but are never the fastest nor tied, and do not count as compared. */
TEST(other_arithmetic_is_not_compared)
{
    double step[5][12] = {{2, 2.01, 2, 2.01, 2, 2.01},
                          {4, 4.01, 4, 4.01, 4, 4.01},
                          {3, 3.01, 3, 3.01, 3, 3.01},
                          {2.5, 2.51, 2.5, 2.51, 2.5, 2.51},
                          {3, 3.01, 3, 3.01, 3, 3.01}};
    const struct implementation rows[] = {ROW(none), ROW(ddp), ROW(ddp_flat), ROW(ddp_local), ROW(ddp_powersgd)};
    fill(5, 6, step);
    struct ranking c = compared(rows, 2);
    ck_assert_int_eq(c.fastest, 2);
    ck_assert_int_eq(c.compared, 2);
    for (int i = 3; i < 5; i++) {
        ck_assert_str_eq(c.row[i].mark, "");
        ck_assert_uint_eq(c.row[i].to_fastest.ratio.n, 0);
        ck_assert_uint_eq(c.row[i].sync_cost.n, 6);
    }
    ck_assert_double_eq_tol(c.row[3].sync_cost.median, 0.5, 1e-2);
    cJSON *summary = kept_json(results_summary_create("benchmark", "", 6, 6, "rounds"));
    ranking_add_verdict(&c, 2, 6, 0.1, 0, summary);
    const char *text = kept(cJSON_PrintUnformatted(summary));
    ck_assert(strstr(text, "ddp_flat") && !strstr(text, "ddp_local") && !strstr(text, "ddp_powersgd"));
}

/* The fastest implementation has the least geometric mean, so that a few slow rounds count. */
TEST(fastest_is_by_the_mean)
{
    double step[2][12] = {{1, 1, 1, 1, 1, 1, 1, 1.1, 1.1, 1.1, 1.1, 1.1},
                          {1.001, 1.001, 1.001, 1.001, 1.001, 1.001, 1.001, 1.001, 1.001, 1.001, 1.001, 1.001}};
    const struct implementation rows[] = {ROW(ddp), ROW(ddp_flat)};
    fill(2, 12, step);
    struct ranking c = compared(rows, 2);
    ck_assert_int_eq(c.fastest, 1);
    ck_assert_str_eq(c.row[1].mark, "*");
    ck_assert_double_ge(c.row[0].to_fastest.ratio.median, 1);
}

/* ---- enough rounds for --resolve ---- */

static int is_undecided(const struct ranking *c, const struct ranking_row *row)
{
    return row != &c->row[c->fastest] && verdict_judge(&row->to_fastest, c->within) == VERDICT_UNDECIDED;
}

/* Ranks two implementations. The logarithms of the ratios of their steps lie evenly within `more` +- 0.02. */
static struct ranking spread_evenly(size_t rounds, double more, double resolve, double *needed)
{
    static const struct implementation rows[] = {ROW(none), ROW(ddp), ROW(ddp_flat)};
    measurements_destroy(&measurements);
    measurements_create(&measurements, 3, rounds);
    measurements.rounds = rounds;
    for (size_t r = 0; r < rounds; r++) {
        measurements_of(&measurements, 0, FIGURE_STEP)[r] = 9; /* `none` is not compared */
        measurements_of(&measurements, 1, FIGURE_STEP)[r] =
            exp(more + 0.04 * (fmod((double)r * 0.6180339887498949, 1) - 0.5));
        measurements_of(&measurements, 2, FIGURE_STEP)[r] = 1;
    }
    *needed = ranking_rounds_needed(&measurements, rows, resolve);
    struct ranking c;
    ranking_create(&c, &measurements, rows, 2, 1000, NULL, resolve);
    return c;
}

/* The rounds suffice if and only if no row is undecided, and the estimated number of rounds is right within a third. */
TEST_EACH(rounds_until_resolved, 5)
{
    static const struct {
        double more, resolve;
    } cases[] = {{0, 0.01}, {0.002, 0.01}, {0.02, 0.01}, {0.009, 0.01}, {0, 0.05}};
    double expected = 0, needed;
    size_t rounds = 2;
    for (;; rounds += 2) {
        struct ranking c = spread_evenly(rounds, cases[_i].more, cases[_i].resolve, &needed);
        const struct ranking_row *other = &c.row[c.fastest == 1 ? 2 : 1];
        int slower = other->to_fastest.slower, open = is_undecided(&c, other);
        ck_assert_int_eq(open, needed > (double)rounds);
        ck_assert_int_eq(slower, other->to_fastest.ratio.ci_low > 1); /* with two rows, the interval alone decides */
        ck_assert(open || slower || other->to_fastest.ratio.ci_high <= 1 + cases[_i].resolve);
        if (!open) {
            ck_assert_int_eq(slower, cases[_i].more > 0.008);
            break;
        }
        if (rounds == 20)
            expected = needed;
        ck_assert_uint_lt(rounds, 1000);
    }
    if (expected > 0)
        ck_assert_double_eq_tol((double)rounds / expected, 1, 0.34);
}

/* A row that is at most 1 % slower is undecided if it may also be over 1 % faster: here it is 3 % faster in five of
 * twelve rounds. */
TEST(within_holds_on_both_sides)
{
    static const struct implementation rows[] = {ROW(ddp), ROW(ddp_flat)};
    measurements_destroy(&measurements);
    measurements_create(&measurements, 2, 12);
    measurements.rounds = 12;
    for (size_t r = 0; r < 12; r++) {
        measurements_of(&measurements, 0, FIGURE_STEP)[r] = 1;
        measurements_of(&measurements, 1, FIGURE_STEP)[r] = r < 5 ? 0.97 : 1.002;
    }
    struct ranking c;
    ranking_create(&c, &measurements, rows, 2, 1000, NULL, 0.01);
    ck_assert_int_eq(c.fastest, 0);
    ck_assert_double_le(c.row[1].to_fastest.ratio.ci_high, 1.01);
    ck_assert(is_undecided(&c, &c.row[1]) && !c.row[1].to_fastest.slower && c.rounds_needed > 12);
}

TEST(one_round_resolves_nothing)
{
    double needed;
    struct ranking c = spread_evenly(1, 0.5, 0.01, &needed);
    ck_assert(isinf(needed) && is_undecided(&c, &c.row[1]) && !c.row[1].to_fastest.slower &&
              !is_undecided(&c, &c.row[2]));
}

/* ---- error rates with noise ---- */

/* Makes samples of a machine with drift (a random walk, the same for all blocks of a round), 2 % of noise per block,
 * and 5 % of blocks 20 % longer because of other work. Steps of implementation 1 take `slow` times as long. */
static void make_run(int n, double slow)
{
    double drift = 0;
    for (size_t r = 0; r < measurements.rounds; r++) {
        drift += 0.05 * noise_normal();
        for (int i = 0; i < n; i++) {
            double noise = 0.02 * noise_normal() + (noise_uniform() < 0.05 ? 0.2 : 0);
            measurements_of(&measurements, i, FIGURE_STEP)[r] = 0.01 * exp(drift + noise) * (i == 1 ? slow : 1);
        }
    }
}

/* At most 5 % of runs (+ 3 standard errors) call one of n equal rows slower. 90 % find a row that is 20 % slower. */
TEST_RANGE(equals_are_called_different_rarely, 0, 3, 7)
{
    enum { ROUNDS = 12 };
    const struct implementation rows[] = {
        {.label = "none", .strategy = &strategy_none},  {.label = "a", .strategy = &strategy_ddp},
        {.label = "b", .strategy = &strategy_ddp},      {.label = "c", .strategy = &strategy_ddp},
        {.label = "d", .strategy = &strategy_ddp_flat}, {.label = "e", .strategy = &strategy_ddp}};
    int n = _i, runs = noise_repetitions(4000), wrong = 0, found = 0;
    measurements_create(&measurements, n, ROUNDS);
    measurements.rounds = ROUNDS;
    noise_start((uint64_t)n);
    for (int run = 0; run < runs; run++) {
        make_run(n, 1);
        struct ranking c = compared(rows, 2);
        int slower = 0;
        for (int i = 0; i < n; i++)
            slower |= c.row[i].to_fastest.slower;
        wrong += slower;
        if (run % 10)
            continue;
        make_run(n, 1.2);
        c = compared(rows, 2);
        found += c.row[1].to_fastest.slower;
    }
    ck_assert_double_le((double)wrong / runs, 0.05 + noise_three_errors(0.05, runs));
    ck_assert_double_ge((double)found / (runs / 10.0), 0.9);
    measurements_destroy(&measurements);
}

static void is_possible(const struct estimate *e, double least)
{
    ck_assert_int_eq(isfinite(e->ci_low), isfinite(e->ci_high));
    if (isfinite(e->ci_low) && (e->ci_low != 1 || e->ci_high != 1)) /* a row's ratio to itself is always 1 */
        ck_assert(least < e->ci_low && e->ci_low < e->median && e->median < e->ci_high);
}

/* With any number of rounds and any noise, each estimate lies inside its interval, no interval of a time, rate or ratio
 * reaches 0, no cost is below minus the step of `none`, and tokens are rate times step. For means, no row's ratio to
 * the fastest is below 1, ratios are ratios of the steps, costs are differences of steps, and phases are not longer
 * than the step. */
TEST_EACH(no_figure_is_impossible, 2)
{
    enum { N = 4, MOST = 14 };
    const struct implementation rows[] = {ROW(none), ROW(ddp), ROW(ddp_flat), ROW(ddp_bucketed)};
    struct ranking c;
    measurements_create(&measurements, N, MOST);
    noise_start(300);
    for (int run = 0; run < 200; run++) {
        measurements.rounds = 1 + (size_t)run % MOST;
        for (size_t r = 0; r < measurements.rounds; r++)
            for (int i = 0; i < N; i++) {
                double step = 0.01 * exp(2 * noise_normal());
                measurements_of(&measurements, i, FIGURE_STEP)[r] = step;
                measurements_of(&measurements, i, PHASE_FORWARD)[r] = step * 0.5 * noise_uniform();
                measurements_of(&measurements, i, PHASE_GRADIENT_SYNC)[r] = step * 0.5 * noise_uniform();
            }
        ranking_create(&c, &measurements, rows, 2, 1000, NULL, _i ? 0.01 : 0);
        for (const struct ranking_row *row = c.row; row < c.row + c.n; row++) {
            const struct estimate *of = row->seconds, *step = &of[FIGURE_STEP];
            is_possible(step, 0);
            is_possible(&of[PHASE_FORWARD], 0);
            is_possible(&row->tokens_per_second, 0);
            is_possible(&row->communication_ratio, 0);
            is_possible(&row->to_ddp, 0);
            is_possible(&row->sync_cost, -c.row[0].seconds[FIGURE_STEP].median);
            ck_assert_double_eq_tol(row->tokens_per_second.median * step->median, 1000, 1e-9);
            ck_assert(_i || of[PHASE_FORWARD].median + of[PHASE_GRADIENT_SYNC].median <= step->median);
            if (!row->reduces)
                continue;
            double best = c.row[c.fastest].seconds[FIGURE_STEP].median, ratio = row->to_fastest.ratio.median;
            double none = c.row[0].seconds[FIGURE_STEP].median;
            ck_assert_str_eq(row->mark, row - c.row == c.fastest                                   ? "*"
                                        : verdict_judge(&row->to_fastest, c.within) == VERDICT_TIE ? "="
                                                                                                   : "");
            ck_assert_int_eq(row->to_fastest.slower, row->to_fastest.ratio.ci_low > 1);
            if (_i) /* medians of ratios are not ratios of medians */
                continue;
            ck_assert_double_ge(ratio, 1 - 1e-12);
            ck_assert_double_eq_tol(ratio, step->median / best, 1e-9 * ratio);
            ck_assert_double_eq_tol(row->sync_cost.median, step->median - none, 1e-9);
        }
    }
    measurements_destroy(&measurements);
}

/* With --resolve all figures are medians over the rounds, without any correction. Here rounds differ by factors, and
 * the median of the ratios is far from the ratio of the medians. */
TEST(medians_are_of_the_rounds)
{
    double step[3][12] = {{1, 2, 4, 8, 16, 32, 64, 128, 256}, {0}, {0}};
    static const double cost[9] = {1.5, 1.5, 1.5, 1.5, 1.1, 1.1, 1.1, 1.1, 1.1};
    const struct implementation rows[] = {ROW(none), ROW(ddp), ROW(ddp_flat)};
    struct ranking c;
    for (int r = 0; r < 9; r++) {
        step[1][r] = cost[r] * step[0][r];
        step[2][r] = 2 * step[0][r];
    }
    fill(3, 9, step);
    ranking_create(&c, &measurements, rows, 2, 1000, NULL, 0.02);
    ck_assert_double_eq_tol(c.row[0].seconds[FIGURE_STEP].median, 16, 1e-12);
    ck_assert_double_eq_tol(c.row[1].seconds[FIGURE_STEP].median, 17.6, 1e-12);
    ck_assert_double_eq_tol(c.row[1].sync_cost.median, 0.1 * 16, 1e-12);
    ck_assert_double_eq_tol(c.row[1].sync_cost.ci_high, 0.5 * 16, 1e-12);
    ck_assert_double_eq_tol(c.row[2].to_ddp.median, 2 / 1.1, 1e-12);
    ck_assert_int_eq(c.fastest, 1);
    ck_assert_double_eq_tol(c.row[2].to_fastest.ratio.median, 2 / 1.1, 1e-12);
    ck_assert_double_eq_tol(c.row[2].to_fastest.ratio.ci_low, 2 / 1.5, 1e-12);
}

/* A row that runs the same operations as another row has times and costs, but is not ranked. */
TEST(twins_are_not_ranked)
{
    double step[3][12] = {{2, 2.01, 2, 2.01, 2, 2.01}, {3, 3.01, 3, 3.01, 3, 3.01}, {2.9, 2.91, 2.9, 2.91, 2.9, 2.91}};
    struct implementation rows[] = {ROW(none), ROW(ddp_bucketed), ROW(ddp_hierarchical)}, other = ROW(ddp_bucketed);
    fill(3, 6, step);
    implementations_mark_twins(rows, 3, 4, 2); /* two hosts */
    ck_assert(!rows[2].twin_of && compared(rows, 4).fastest == 2);
    implementations_mark_twins(rows, 3, 4, 4); /* one host */
    ck_assert_str_eq(rows[2].twin_of, "ddp_bucketed");
    ck_assert(!rows[0].twin_of && !rows[1].twin_of);
    struct ranking c = compared(rows, 4);
    ck_assert(c.fastest == 1 && c.compared == 1 && c.row[2].to_fastest.ratio.n == 0 && c.row[2].sync_cost.n == 6);
    strcpy(other.size.words, "4"); /* buckets of another size */
    rows[1] = other;
    rows[2].twin_of = NULL;
    implementations_mark_twins(rows, 3, 4, 4);
    ck_assert_ptr_null(rows[2].twin_of);
}

/* Makes samples of an idle machine that drifts even within a round. Rounds alternate in order, noise is 1 % per block,
 * and 3 % of blocks are 10 % longer on average. Steps of implementation 1 take `slow` times as long. */
static void make_sequence(int n, size_t rounds, double slow)
{
    double drift = 0;
    measurements.rounds = rounds;
    for (size_t r = 0; r < rounds; r++)
        for (int j = 0; j < n; j++) {
            int i = r % 2 ? n - 1 - j : j;
            drift += 0.002 * noise_normal();
            double noise = 0.01 * noise_normal() - (noise_uniform() < 0.03 ? 0.1 * log(noise_uniform()) : 0);
            measurements_of(&measurements, i, FIGURE_STEP)[r] = 0.01 * exp(drift + noise) * (i == 1 ? slow : 1);
        }
}

/* Returns whether any row is called slower: if resolve is 0, by the rule for a number of rounds fixed beforehand, else
 * by the rule that holds at every number of rounds. Sets *second to whether row 1 is called slower. */
static int differ(const struct implementation *rows, double resolve, int *second)
{
    struct ranking c;
    int slower = 0;
    ranking_create(&c, &measurements, rows, 2, 1000, NULL, resolve);
    for (int i = 0; i < c.n; i++)
        slower |= c.row[i].to_fastest.slower;
    *second = c.row[1].to_fastest.slower;
    return slower;
}

/* Adds rounds, from 10 on, until they are enough for --resolve 1%. Returns 1, or 0 if `most` rounds are not enough.
 * Unless naive is NULL, *naive becomes 1 if the rule for a fixed number of rounds calls a row slower meanwhile. */
static int ends(const struct implementation *rows, size_t most, int *naive)
{
    int second;
    for (size_t made = 10; made <= most; made += 1 + made / 20) {
        measurements.rounds = made;
        if (naive)
            *naive = *naive || differ(rows, 0, &second);
        if (ranking_rounds_needed(&measurements, rows, 0.01) <= (double)made)
            return 1;
    }
    return 0;
}

/* With --resolve, at most 5 % of runs call equal rows different, although a run decides after every few rounds. The
 * rule for a fixed number of rounds, if used at each of these decisions, does so in at least 10 % of runs. Nearly all
 * runs with equal rows end within 1000 rounds, a few minutes. A row that is 2 % slower is nearly always found. */
TEST_RANGE(resolve_is_right_however_often_it_looks, 0, 1, 3)
{
    enum { MOST = 1000 };
    const struct implementation rows[] = {ROW(ddp), ROW(ddp_flat), ROW(ddp_individual), ROW(ddp_bucketed)};
    int n = 2 * _i, runs = noise_repetitions(2000), wrong = 0, naive = 0, found = 0, ended = 0, second;
    measurements_create(&measurements, n, MOST);
    noise_start(100 + (uint64_t)n);
    for (int run = 0; run < runs; run++) {
        int differed = 0;
        make_sequence(n, MOST, 1);
        ended += ends(rows, MOST, n == 2 ? &differed : NULL);
        wrong += differ(rows, 0.01, &second);
        naive += differed;
        make_sequence(n, MOST, 1.02);
        ends(rows, MOST, NULL);
        differ(rows, 0.01, &second);
        found += second;
    }
    measurements_destroy(&measurements);
    double share = 1.0 / runs;
    printf("%d equal: different in %g of %d runs, ended in %g; 2 %% is found in %g\n", n, wrong * share, runs,
           ended * share, found * share);
    ck_assert_double_le(wrong * share, 0.05);
    if (n == 2) {
        printf("by the rule for a fixed number of rounds: called different in a share %g\n", naive * share);
        ck_assert_double_ge(naive * share, 0.1);
    }
    ck_assert_double_ge(ended * share, 0.95);
    ck_assert_double_ge(found * share, 0.95);
}

SUITE("ranking", NULL, NULL)
