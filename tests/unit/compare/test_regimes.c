/* test_regimes.c - series of nights: false alarms, what is found how fast, and answers that later nights do not change.
 * Frequencies are those of another program's simulations of the same method. */
#include "compare/regimes.h"
#include "tests/support/noise.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NIGHTS = 120, FIGURES = 40 };

static double y[FIGURES][NIGHTS];
static unsigned char begins[FIGURES][NIGHTS];
static struct night night[NIGHTS];
static struct night_series series[FIGURES];
static struct nights nights;
static struct regimes regimes;

static void make(void)
{
    memset(begins, 0, sizeof begins);
    memset(night, 0, sizeof night);
    for (int f = 0; f < FIGURES; f++) {
        series[f] = (struct night_series){.y = y[f], .begins = begins[f]};
        snprintf(series[f].name, sizeof series[f].name, "figure %d", f);
    }
    regimes = (struct regimes){0};
}

static void destroy(void)
{
    regimes_destroy(&regimes);
}

/* Watches the first nights and figures. Names have the number of the repetition, so that ranks differ. */
static void watch(int repetition, size_t n, size_t figures, int direction)
{
    for (int t = 0; t < NIGHTS; t++)
        snprintf(night[t].name, sizeof night[t].name, "%d-%d", repetition, t);
    regimes_destroy(&regimes);
    nights = (struct nights){night, n, series, figures};
    regimes_create(&regimes, &nights, direction, NULL);
}

/* Normal noise or, if heavy, with heavy tails: the ratio of a normal to a uniform number (slash distribution). */
static double noise(int heavy)
{
    return heavy ? noise_normal() / noise_uniform() : noise_normal();
}

/* Fills independent nights of sd 2 %, with a level of each night that all figures share, and a change from `from` on.
 */
static void fill(size_t figures, int heavy, double shared, size_t from, double change)
{
    for (size_t t = 0; t < NIGHTS; t++) {
        double level = shared * noise_normal();
        for (size_t f = 0; f < figures; f++)
            y[f][t] = level + 0.02 * noise(heavy) + (t >= from ? change : 0);
    }
}

/* Equal nights: independent, with heavy tails, and 40 figures with a shared level. */
TEST_EACH(false_alarms_are_rare, 3)
{
    const int repeats = noise_repetitions(1000);
    const size_t figures = _i == 2 ? FIGURES : 1;
    int alarms = 0;
    noise_start((uint64_t)_i + 1);
    for (int repeat = 0; repeat < repeats; repeat++) {
        fill(figures, _i == 1, _i == 2 ? 0.03 : 0, NIGHTS, 0);
        watch(repeat, 60, figures, repeat % 2 ? 1 : -1);
        alarms += regimes.changes > 0;
    }
    ck_assert_double_le((double)alarms / repeats, 0.05);
}

/* A change of all 40 figures, or of one figure, after 40 nights: the share that is found within some nights. One figure
 * alone has half of the weight, so it needs an evidence of 39, and is found later than test_evidence finds it. */
TEST_EACH(changes_are_found, 4)
{
    const struct {
        double change;
        size_t within, figures;
        double share;
    } row[] = {{0.03, 20, FIGURES, 0.97}, {0.05, 12, FIGURES, 0.95}, {0.05, 20, 1, 0.90}, {0.10, 20, 1, 0.98}};
    const int repeats = noise_repetitions(1000);
    int found = 0, early = 0;
    noise_start((uint64_t)_i + 10);
    for (int repeat = 0; repeat < repeats; repeat++) {
        fill(row[_i].figures, 0, 0, 40, row[_i].change);
        watch(repeat, 40 + row[_i].within, row[_i].figures, 1);
        early += regimes.changes > 0 && regimes.change[0].found < 40;
        found += regimes.changes > 0 && regimes.change[0].found >= 40;
    }
    ck_assert_double_le((double)early / repeats, 0.05);
    ck_assert_double_ge((double)found / repeats, row[_i].share - noise_three_errors(row[_i].share, repeats));
}

TEST(a_change_is_described)
{
    noise_start(20);
    fill(2, 0, 0, NIGHTS, 0);
    for (int t = 50; t < NIGHTS; t++)
        y[1][t] += log(1.25);
    watch(0, 80, 2, 1);
    ck_assert_uint_eq(regimes.changes, 1);
    const struct change *change = regimes.change;
    ck_assert_uint_eq(change->figure, 1);
    ck_assert_int_eq(change->kind, CHANGE_NAMED);
    ck_assert(change->low <= 50 && 50 <= change->high && change->first >= 49 && change->first <= 51);
    ck_assert(change->found > 50 && change->found < 70);
    ck_assert_double_eq_tol(exp(change->shift.value), 1.25, 0.04);
    ck_assert(exp(change->shift.low) < 1.25 && 1.25 < exp(change->shift.high));
    for (size_t t = 0; t < 80; t++)
        ck_assert_int_eq(regimes.begins[t], t == 0 || t == change->found + 1);
    watch(0, 80, 2, -1);
    ck_assert_uint_eq(regimes.changes, 0);
    for (int t = 0; t < NIGHTS; t++)
        y[1][t] = -y[1][t];
    watch(0, 80, 2, -1); /* improvements are the same, turned round */
    ck_assert_uint_eq(regimes.changes, 1);
    ck_assert_double_eq_tol(exp(regimes.change->shift.value), 1 / 1.25, 0.04);
    ck_assert(regimes.change->shift.low < regimes.change->shift.high);
}

/* If all figures change together, most that are not named are listed as having moved since the same night. */
TEST(all_figures_that_moved_are_listed)
{
    int also = 0;
    noise_start(21);
    fill(FIGURES, 0, 0, 40, 0.10);
    watch(0, 60, FIGURES, 1);
    ck_assert_uint_ge(regimes.changes, FIGURES - 5);
    for (size_t i = 0; i < regimes.changes; i++) {
        const struct change *change = &regimes.change[i];
        also += change->kind == CHANGE_ALSO;
        ck_assert_uint_eq(change->found, regimes.change->found);
        ck_assert_double_gt(change->shift.low, 0);
        if (change->kind == CHANGE_ALSO)
            ck_assert_uint_eq(change->first, regimes.change->first);
    }
    ck_assert_int_gt(also, 0);
    ck_assert_int_ne(regimes.change->kind, CHANGE_ALSO);
}

/* What was found up to a night does not depend on later nights, nor on figures that begin later. */
TEST(later_nights_change_nothing)
{
    noise_start(30);
    fill(4, 0, 0, 40, 0.06);
    for (int t = 0; t < 70; t++)
        y[3][t] = NAN; /* a new figure on night 70 */
    watch(0, NIGHTS, 4, 1);
    struct regimes all = regimes;
    regimes = (struct regimes){0};
    ck_assert_uint_ge(all.changes, 1);
    for (size_t n = 1; n < NIGHTS; n += 7) {
        watch(0, n, 4, 1);
        for (size_t t = 0; t < n; t++) {
            ck_assert_double_eq(regimes.evidence[t], all.evidence[t]);
            ck_assert_int_eq(regimes.begins[t], all.begins[t]);
        }
        ck_assert_uint_le(regimes.changes, all.changes);
        for (size_t i = 0; i < regimes.changes; i++) {
            ck_assert_uint_eq(regimes.change[i].first, all.change[i].first);
            ck_assert_uint_eq(regimes.change[i].found, all.change[i].found);
            ck_assert_double_eq(regimes.change[i].shift.value, all.change[i].shift.value);
        }
    }
    regimes_destroy(&all);
}

/* Weights are fixed on a figure's first night; a figure without a value keeps its evidence. */
TEST(weights_by_hand)
{
    noise_start(40);
    fill(4, 0, 0, NIGHTS, 0);
    for (int t = 0; t < NIGHTS; t++) {
        y[1][t] = t < 10 ? y[1][t] : NAN;
        y[2][t] = t < 5 ? NAN : y[2][t];
        y[3][t] = t < 7 ? NAN : y[3][t];
    }
    watch(0, 12, 4, 1);
    const double weight[] = {0.25, 0.25, 0.25, 0.125};
    double joint = 0.125, kept = evidence_value(&regimes.level[1].evidence);
    for (int f = 0; f < 4; f++) {
        ck_assert_double_eq_tol(regimes.level[f].weight, weight[f], 1e-15);
        joint += weight[f] * evidence_value(&regimes.level[f].evidence);
    }
    ck_assert_double_eq_tol(regimes.evidence[11], joint, 1e-12);
    ck_assert_uint_eq(regimes.level[1].n, 10);
    watch(0, 10, 4, 1);
    ck_assert_double_eq(evidence_value(&regimes.level[1].evidence), kept);
}

/* A level that is accepted for all figures, or for the one that changed, raises no alarm. */
TEST_EACH(accepted_changes_are_silent, 2)
{
    noise_start(50);
    fill(3, 0, 0, NIGHTS, 0);
    for (int t = 40; t < NIGHTS; t++)
        y[2][t] += 0.2;
    watch(0, 80, 3, 1);
    ck_assert_uint_eq(regimes.changes, 1);
    if (_i)
        night[40].accepted = 1;
    else
        begins[2][40] = LEVEL_ACCEPTED;
    watch(0, 80, 3, 1);
    ck_assert_uint_eq(regimes.changes, 0);
    ck_assert_uint_eq(regimes.level[2].n, 40);
    ck_assert_uint_eq(regimes.level[0].n, _i ? 40 : 80);
}

/* The first night has no night before a change, even if its rank alone is enough for an alarm. */
TEST(one_night_is_no_change)
{
    int repetition = 0;
    char name[24] = "";
    while (evidence_uniform("figure 0", name) > 1e-6)
        snprintf(name, sizeof name, "%d-0", ++repetition);
    watch(repetition, 1, 1, 1);
    ck_assert_double_ge(regimes.evidence[0], EVIDENCE_ALARM);
    ck_assert_uint_eq(regimes.changes, 0);
    watch(repetition, 2, 1, 1);
    ck_assert(regimes.changes == 0 || regimes.change[0].found == 1);
}

SUITE("regimes", make, destroy)
