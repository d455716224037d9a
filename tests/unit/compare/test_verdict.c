/* test_verdict.c - verdicts on made-up runs: single verdicts, and error rate and power in simulations.
 *
 * The simulations have a fixed seed, and a tenth of their comparisons unless TEST_LONG is set. They compare 24 sizes,
 * in place and out of place, with a tolerance of 5 %. Noise is 1 %, independent for each size or the same for all. */
#include "compare/verdict.h"
#include "tests/support/noise.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

enum { SIZES = 24, PLACEMENTS = 2, GROUPS = SIZES * PLACEMENTS, RUNS = 5 };

static const struct verdict_rules rules = {0.05, 0.10, 0.05, 0, {NAN, NAN}};

static struct verdicts verdicts;

static void free_verdicts(void)
{
    verdicts_destroy(&verdicts);
}

/* ---- single verdicts ---- */

#define RUNS_OF(array) (array), sizeof(array) / sizeof *(array)

static struct verdict_figure figure_of(size_t size_group, int higher_is_better, int wrong, const double *baseline,
                                       const double *candidate)
{
    return (struct verdict_figure){.size_group = size_group,
                                   .higher_is_better = higher_is_better,
                                   .wrong = wrong,
                                   .baseline = baseline,
                                   .candidate = candidate};
}

/* Judges a single figure for which less is better, and returns its row. */
static struct figure_verdict_row judged(const double *baseline, size_t baselines, const double *candidate,
                                        size_t candidates)
{
    struct verdict_figure group = figure_of(0, 0, 0, baseline, candidate);
    verdicts_destroy(&verdicts);
    verdicts_create(&verdicts, &rules, &group, 1, baselines, candidates);
    ck_assert_uint_eq(verdicts.n, 1);
    ck_assert_uint_eq(verdicts.count[verdicts.row[0].verdict], 1);
    enum figure_verdict verdict = verdicts.row[0].verdict;
    int judged_at_all = verdict != VERDICT_NEW && verdict != VERDICT_MISSING;
    ck_assert_int_eq(isfinite(verdicts.row[0].low) != 0, judged_at_all && verdicts.row[0].n[0] >= VERDICT_RUNS);
    return verdicts.row[0];
}

static const double spread[] = {100, 101, 99, 100.5, 99.5};

/* The interval of 5 + 5 runs by hand: pooled variance, and the upper 5 % point of t, 1.8595 at 8 degrees of freedom. */
TEST(an_interval_has_known_ends)
{
    double slower[5], squares = 0, mean = 0;
    for (int i = 0; i < 5; i++) {
        slower[i] = 1.2 * spread[i];
        mean += log(spread[i]) / 5;
    }
    for (int i = 0; i < 5; i++)
        squares += (log(spread[i]) - mean) * (log(spread[i]) - mean);
    double reach = 1.8595480375 * sqrt(2 * squares / 8) * sqrt(2.0 / 5);
    struct figure_verdict_row row = judged(RUNS_OF(spread), RUNS_OF(slower));
    ck_assert_double_eq_tol(row.ratio, 1.2, 1e-12);
    ck_assert_double_eq_tol(row.low, 1.2 * exp(-reach), 1e-9);
    ck_assert_double_eq_tol(row.high, 1.2 * exp(reach), 1e-9);
    ck_assert(row.n[0] == 5 && row.n[1] == 5 && row.sizes == 1);
    ck_assert_int_eq(row.verdict, VERDICT_REGRESSED);
}

/* What is worse while other processes used more cores is ambiguous, and what is better while they used fewer is ok;
 * wrong elements are regressed. */
TEST(other_processes_may_explain_a_difference)
{
    enum { SLOWER, FASTER, WRONG, FIGURES_HERE };
    static const struct {
        double other_cores[2];
        enum figure_verdict verdict[FIGURES_HERE];
    } known[] = {{{NAN, 3}, {VERDICT_REGRESSED, VERDICT_IMPROVED, VERDICT_REGRESSED}},
                 {{0.1, 0.34}, {VERDICT_REGRESSED, VERDICT_IMPROVED, VERDICT_REGRESSED}},
                 {{0.1, 0.36}, {VERDICT_AMBIGUOUS, VERDICT_IMPROVED, VERDICT_REGRESSED}},
                 {{2, 1}, {VERDICT_REGRESSED, VERDICT_OK, VERDICT_REGRESSED}}};
    double slower[5], faster[5];
    for (int i = 0; i < 5; i++) {
        slower[i] = 1.2 * spread[i];
        faster[i] = 0.8 * spread[i];
    }
    const struct verdict_figure figure[] = {figure_of(0, 0, 0, spread, slower), figure_of(1, 0, 0, spread, faster),
                                            figure_of(2, 0, 1, spread, spread)};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct verdict_rules busy = rules;
        memcpy(busy.other_cores, known[i].other_cores, sizeof busy.other_cores);
        verdicts_destroy(&verdicts);
        verdicts_create(&verdicts, &busy, figure, FIGURES_HERE, RUNS, RUNS);
        for (size_t f = 0; f < FIGURES_HERE; f++)
            ck_assert_int_eq(verdicts.row[f].verdict, known[i].verdict[f]);
    }
}

/* Runs that were made in turn are compared in pairs, which removes a drift that both sides have. The interval by hand:
 * mean and standard error of 8 differences, and the upper 5 % point of t, 1.8946 at 7 degrees of freedom. */
TEST(pairs_remove_a_drift)
{
    enum { PAIRS = 8 };
    static const double slower[PAIRS] = {1.08, 1.09, 1.07, 1.085, 1.075, 1.08, 1.09, 1.07};
    double baseline[PAIRS], candidate[PAIRS], mean = 0, squares = 0;
    struct verdict_rules in_turn = rules;
    in_turn.pairs = PAIRS;
    for (int i = 0; i < PAIRS; i++) {
        baseline[i] = 100 * (1 + 0.1 * i);
        candidate[i] = slower[i] * baseline[i];
        mean += log(slower[i]) / PAIRS;
    }
    for (int i = 0; i < PAIRS; i++)
        squares += (log(slower[i]) - mean) * (log(slower[i]) - mean);
    ck_assert_int_eq(judged(RUNS_OF(baseline), RUNS_OF(candidate)).verdict, VERDICT_AMBIGUOUS);
    const struct verdict_figure figure = figure_of(0, 0, 0, baseline, candidate);
    verdicts_destroy(&verdicts);
    verdicts_create(&verdicts, &in_turn, &figure, 1, PAIRS, PAIRS);
    ck_assert_int_eq(verdicts.row[0].verdict, VERDICT_REGRESSED);
    ck_assert_double_eq_tol(log(verdicts.row[0].low), mean - 1.8945786 * sqrt(squares / (PAIRS - 1) / PAIRS), 1e-6);
}

/* A single candidate has a prediction interval, with the upper 5 % point of t, 2.1318 at 4 degrees of freedom. */
TEST(one_candidate_has_a_prediction_interval)
{
    double squares = 0, mean = 0;
    for (int i = 0; i < 5; i++)
        mean += log(spread[i]) / 5;
    for (int i = 0; i < 5; i++)
        squares += (log(spread[i]) - mean) * (log(spread[i]) - mean);
    double reach = 2.1318467863 * sqrt(squares / 4) * sqrt(1 + 1.0 / 5);
    struct figure_verdict_row row = judged(RUNS_OF(spread), (double[]){110}, 1);
    ck_assert_double_eq_tol(row.low, 110 / exp(mean) * exp(-reach), 1e-9);
    ck_assert_double_eq_tol(row.high, 110 / exp(mean) * exp(reach), 1e-9);
    ck_assert_int_eq(row.verdict, VERDICT_REGRESSED);
    ck_assert_int_eq(judged(RUNS_OF(spread), (double[]){106}, 1).verdict, VERDICT_AMBIGUOUS);
    ck_assert_int_eq(judged(RUNS_OF(spread), (double[]){104}, 1).verdict, VERDICT_OK);
    ck_assert_int_eq(judged(RUNS_OF(spread), (double[]){94}, 1).verdict, VERDICT_OK); /* maybe better by chance */
    ck_assert_int_eq(judged(RUNS_OF(spread), (double[]){91}, 1).verdict, VERDICT_IMPROVED);
}

/* Runs with exactly equal values are judged as if their logarithms had the standard deviation VERDICT_LEAST_SD. */
TEST(equal_runs_have_the_least_spread)
{
    const double equal[] = {7, 7, 7, 7, 7};
    double reach = 1.8595480375 * VERDICT_LEAST_SD * sqrt(2.0 / 5), edge = 1.05 * exp(reach);
    for (int above = 0; above < 2; above++) {
        double at = 7 * (above ? edge * 1.00001 : edge / 1.00001);
        const double candidate[] = {at, at, at, at, at};
        struct figure_verdict_row row = judged(RUNS_OF(equal), RUNS_OF(candidate));
        ck_assert_int_eq(row.verdict, above ? VERDICT_REGRESSED : VERDICT_AMBIGUOUS);
        ck_assert_double_eq_tol(row.low / 1.05, 1, 2e-5);
    }
    ck_assert_int_eq(judged(RUNS_OF(equal), RUNS_OF(equal)).verdict, VERDICT_OK);
}

/* If only a few candidate runs are slow, the verdict is OK; if many are, or a few are very slow, it is ambiguous. */
TEST(late_runs_alone_prove_nothing)
{
    static const double clean[] = {100, 101, 99, 100, 100}, late[] = {100, 125, 99, 124, 100};
    static const double often[] = {100, 125, 124, 124, 100}, far[] = {100, 190, 99, 190, 100};
    struct figure_verdict_row row = judged(RUNS_OF(clean), RUNS_OF(late));
    ck_assert(row.ratio > 1.08 && row.ratio < 1.10 && row.low < 1.05);
    ck_assert_int_eq(row.verdict, VERDICT_OK);
    row = judged(RUNS_OF(clean), RUNS_OF(often));
    ck_assert(row.ratio < 1.15 && row.low < 1.05);
    ck_assert_int_eq(row.verdict, VERDICT_AMBIGUOUS);
    row = judged(RUNS_OF(clean), RUNS_OF(far));
    ck_assert(row.ratio > 1.155 && row.low < 1.05);
    ck_assert_int_eq(row.verdict, VERDICT_AMBIGUOUS);
}

/* With under 5 baselines, a regression needs a best candidate above 1.05 x 1.1 = 1.155 times the worst baseline. */
TEST(few_runs_are_judged_by_their_extremes)
{
    const double four[] = {100, 104, 96, 100};
    const double far[] = {104 * 1.1551, 150, 150}, near[] = {104 * 1.1549, 150, 150}, inside[] = {106, 101, 103};
    const double fast[] = {96 / 1.1551, 50, 50}, less_fast[] = {96 / 1.1549, 50, 50}, worse[] = {106, 108, 107};
    struct figure_verdict_row row = judged(RUNS_OF(four), RUNS_OF(far));
    ck_assert_int_eq(row.verdict, VERDICT_REGRESSED);
    ck_assert(isnan(row.low) && isnan(row.high) && row.ratio > 1.3);
    ck_assert_int_eq(judged(RUNS_OF(four), RUNS_OF(near)).verdict, VERDICT_AMBIGUOUS);
    ck_assert_int_eq(judged(RUNS_OF(four), RUNS_OF(worse)).verdict, VERDICT_AMBIGUOUS);
    ck_assert_int_eq(judged(RUNS_OF(four), RUNS_OF(inside)).verdict, VERDICT_OK);
    ck_assert_int_eq(judged(RUNS_OF(four), RUNS_OF(fast)).verdict, VERDICT_IMPROVED);
    ck_assert_int_eq(judged(RUNS_OF(four), RUNS_OF(less_fast)).verdict, VERDICT_OK);
}

/* With so few runs that by chance one side is above the other in over 5 % of cases, no change is ever significant. */
TEST(too_few_runs_decide_nothing)
{
    static const struct {
        size_t n[2];
        int possible;
    } known[] = {{{1, 1}, 0}, {{1, 5}, 0}, {{4, 1}, 0}, {{2, 2}, 0},  {{2, 4}, 0}, {{4, 2}, 0},
                 {{3, 3}, 1}, {{2, 5}, 1}, {{4, 3}, 1}, {{1, 19}, 1}, {{1, 18}, 0}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const size_t *n = known[k].n;
        double base[4], slow[19], little[19], fast[19];
        for (size_t i = 0; i < n[0]; i++)
            base[i] = 10;
        for (size_t i = 0; i < n[1]; i++) {
            slow[i] = 11.6;
            little[i] = 11.5;
            fast[i] = 1;
        }
        int possible = known[k].possible;
        ck_assert_int_eq(verdict_is_possible(n[0], n[1], 0.05), possible);
        ck_assert_int_eq(judged(base, n[0], slow, n[1]).verdict, possible ? VERDICT_REGRESSED : VERDICT_AMBIGUOUS);
        ck_assert_int_eq(judged(base, n[0], little, n[1]).verdict, possible ? VERDICT_AMBIGUOUS : VERDICT_OK);
        ck_assert_int_eq(judged(base, n[0], fast, n[1]).verdict, possible ? VERDICT_IMPROVED : VERDICT_OK);
    }
}

TEST(missing_and_new_figures_are_named)
{
    const double none[] = {NAN, NAN, NAN, NAN, NAN}, one[] = {NAN, 100, NAN, NAN, NAN};
    const double hole[] = {100, 101, 99, NAN, 99.5}, zero[] = {100, 101, 99, 0, 99.5};
    ck_assert_int_eq(judged(RUNS_OF(spread), RUNS_OF(none)).verdict, VERDICT_MISSING);
    ck_assert_int_eq(judged(RUNS_OF(spread), RUNS_OF(hole)).verdict, VERDICT_MISSING);
    ck_assert_int_eq(judged(RUNS_OF(spread), RUNS_OF(zero)).verdict, VERDICT_MISSING);
    ck_assert_int_eq(judged(RUNS_OF(one), RUNS_OF(none)).verdict, VERDICT_MISSING);
    ck_assert_int_eq(judged(RUNS_OF(none), RUNS_OF(hole)).verdict, VERDICT_NEW);
    struct figure_verdict_row row = judged(RUNS_OF(hole), RUNS_OF(spread)); /* four baselines have values */
    ck_assert_int_eq(row.verdict, VERDICT_OK);
    ck_assert(row.n[0] == 4 && isnan(row.low));
}

TEST(higher_values_can_be_better)
{
    const double less[] = {80, 80.8, 79.2, 80.4, 79.6};
    struct verdict_figure group = figure_of(0, 1, 0, spread, less);
    verdicts_create(&verdicts, &rules, &group, 1, 5, 5);
    ck_assert_int_eq(verdicts.row[0].verdict, VERDICT_REGRESSED);
    ck_assert_double_eq_tol(verdicts.row[0].ratio, 1.25, 1e-12);
    verdicts_destroy(&verdicts);
    group = figure_of(0, 1, 0, less, spread);
    verdicts_create(&verdicts, &rules, &group, 1, 5, 5);
    ck_assert_int_eq(verdicts.row[0].verdict, VERDICT_IMPROVED);
    ck_assert_double_eq_tol(verdicts.row[0].ratio, 0.8, 1e-12);
}

TEST(wrong_elements_are_a_regression)
{
    struct verdict_figure group = figure_of(0, 0, 1, spread, spread);
    verdicts_create(&verdicts, &rules, &group, 1, 5, 5);
    ck_assert_int_eq(verdicts.row[0].verdict, VERDICT_REGRESSED);
    ck_assert_uint_eq(verdicts.count[VERDICT_REGRESSED], 1);
    ck_assert_double_lt(verdicts.row[0].low, 1.05); /* the times themselves are not slower */
    verdicts_destroy(&verdicts);
    verdicts_create(&verdicts, &rules, &group, 1, 1, 1); /* a single run on each side is enough */
    ck_assert_int_eq(verdicts.row[0].verdict, VERDICT_REGRESSED);
}

/* A group of sizes has one more row, the mean over those sizes that all runs have; a group of one size has none. */
TEST(size_groups)
{
    const double hole[] = {100, 101, 99, NAN, 99.5}, twice[] = {200, 202, 198, 201, 199}, alone[] = {3, 3, 3, 3, 3};
    const struct verdict_figure group[] = {figure_of(1, 0, 0, spread, twice), figure_of(1, 0, 0, spread, hole),
                                           figure_of(0, 0, 0, alone, alone), figure_of(1, 0, 0, twice, twice)};
    verdicts_create(&verdicts, &rules, group, 4, 5, 5);
    ck_assert_uint_eq(verdicts.n, 5);
    struct figure_verdict_row row = verdicts.row[4];
    ck_assert(row.figure->size_group == 1 && row.sizes == 2 && row.n[0] == 5 && row.n[1] == 5);
    ck_assert_double_eq_tol(row.ratio, sqrt(2), 1e-12);
    ck_assert_int_eq(row.verdict, VERDICT_REGRESSED);
    ck_assert_int_eq(verdicts.row[1].verdict, VERDICT_MISSING);
    ck_assert_int_eq(verdicts.row[3].verdict, VERDICT_OK);
    verdicts_destroy(&verdicts);
    verdicts_create(&verdicts, &rules, group, 0, 5, 5);
    ck_assert_uint_eq(verdicts.n, 0);
}

/* ---- error rate and power ---- */

/* Fills runs[groups, n] with noise of standard deviation sd, the same for all groups if common. Multiplies the times
 * of group number `which`, or of all groups if -1, by slower. A group is a size in one placement. */
static void make_runs(double runs[GROUPS][RUNS], size_t n, double sd, int common, double slower, int which)
{
    for (size_t i = 0; i < n; i++) {
        double of_run = noise_normal();
        for (int g = 0; g < GROUPS; g++) {
            double noise = common ? of_run : noise_normal();
            runs[g][i] = (g + 2) * exp(sd * noise) * (which < 0 || which == g ? slower : 1);
        }
    }
}

/* Makes and compares runs, and checks that each verdict agrees with its interval. */
static void call(size_t baselines, size_t candidates, int common, double slower, int which)
{
    static double baseline[GROUPS][RUNS], candidate[GROUPS][RUNS];
    struct verdict_figure group[GROUPS];
    make_runs(baseline, baselines, 0.01, common, 1, -1);
    make_runs(candidate, candidates, 0.01, common, slower, which);
    for (int g = 0; g < GROUPS; g++)
        group[g] = figure_of((size_t)g / SIZES, 0, 0, baseline[g], candidate[g]);
    verdicts_destroy(&verdicts);
    verdicts_create(&verdicts, &rules, group, GROUPS, baselines, candidates);
    size_t agree = 0; /* one assertion for all rows, since each assertion is slow */
    for (size_t i = 0; i < verdicts.n; i++) {
        const struct figure_verdict_row *row = &verdicts.row[i];
        agree += (row->verdict == VERDICT_REGRESSED) == (row->low > 1.05) &&
                 (row->verdict == VERDICT_IMPROVED) == (row->high < 1 / 1.05) && row->low < row->ratio &&
                 row->ratio < row->high;
    }
    ck_assert_uint_eq(agree, GROUPS + PLACEMENTS);
}

/* Returns the share of n comparisons in which any row has this verdict. */
static double share(enum figure_verdict verdict, int n, size_t candidates, int common, double slower, int which)
{
    int with = 0;
    for (int r = 0; r < n; r++) {
        call(RUNS, candidates, common, slower, which);
        with += verdicts.count[verdict] > 0;
    }
    return (double)with / n;
}

TEST(false_regressed)
{
    static const double truths[] = {1, 1.05};
    int n = noise_repetitions(2000);
    noise_start(1);
    for (int common = 0; common < 2; common++)
        for (int t = 0; t < 2; t++)
            for (size_t candidates = 1; candidates <= RUNS; candidates += RUNS - 1) {
                double wrong = share(VERDICT_REGRESSED, n, candidates, common, truths[t], -1);
                ck_assert_msg(wrong <= 0.05 + (truths[t] > 1 ? noise_three_errors(0.05, n) : 0),
                              "common %d, truth %g, %zu candidates: %g wrong", common, truths[t], candidates, wrong);
                /* the test is not too strict: with independent noise and a truth of 1.05, errors are close to 5 % */
                ck_assert(common || truths[t] == 1 || wrong > fmax(0, 0.04 - noise_three_errors(0.04, n)));
            }
}

/* With few runs, 10 % of independent noise and no slower size, a regression is rarely reported. */
TEST(false_regressed_of_few)
{
    static const size_t runs[][2] = {{1, 1}, {1, 4}, {4, 1}, {2, 2}, {3, 3}, {2, 5}};
    static double baseline[GROUPS][RUNS], candidate[GROUPS][RUNS];
    struct verdict_figure group[GROUPS];
    int n = noise_repetitions(10000);
    noise_start(2);
    for (int g = 0; g < GROUPS; g++)
        group[g] = figure_of((size_t)g / SIZES, 0, 0, baseline[g], candidate[g]);
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        int wrong = 0;
        for (int r = 0; r < n; r++) {
            make_runs(baseline, runs[k][0], 0.10, 0, 1, -1);
            make_runs(candidate, runs[k][1], 0.10, 0, 1, -1);
            verdicts_destroy(&verdicts);
            verdicts_create(&verdicts, &rules, group, GROUPS, runs[k][0], runs[k][1]);
            wrong += verdicts.count[VERDICT_REGRESSED] > 0;
        }
        ck_assert_msg((double)wrong / n <= 0.05 + noise_three_errors(0.05, n), "%zu + %zu runs: a share %g is wrong",
                      runs[k][0], runs[k][1], (double)wrong / n);
    }
}

TEST(slower_candidates_are_found)
{
    int n = noise_repetitions(1000);
    noise_start(3);
    for (int common = 0; common < 2; common++) {
        double all = share(VERDICT_REGRESSED, n, RUNS, common, 1.08, -1);
        double one = share(VERDICT_REGRESSED, n, RUNS, common, 1.11, 30);
        double better = share(VERDICT_IMPROVED, n, RUNS, common, 1 / 1.08, -1);
        ck_assert_msg(all >= 0.95 - noise_three_errors(0.95, n),
                      "common %d: 8 %% slower at all sizes, found in a share %g of comparisons", common, all);
        ck_assert_msg(one >= 0.90 - noise_three_errors(0.90, n),
                      "common %d: 11 %% slower at one size, found in a share %g of comparisons", common, one);
        ck_assert_msg(better >= 0.95 - noise_three_errors(0.95, n),
                      "common %d: 8 %% faster at all sizes, found in a share %g of comparisons", common, better);
    }
}

SUITE("compare_verdict", NULL, free_verdicts)
