/* test_load.c - made-up times of all-reduces of groups: which are expected, which groups are slow under load, and what
 * `isolate` states of them. */
#include "isolate/load_output.h"

#include "base/json.h"
#include "base/text.h"
#include "selfbench/members.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 16, VISIT = 32 };
#define MESSAGE    10e-3
#define ROUND_TRIP 1e-3

static struct load load;
static struct members noise = {.noise = 0.005};
static struct member member[N];

/* Creates a load of members that are healthy alone, with equal links. */
static void create(int members)
{
    static char healthy[N];
    static double message[N], round_trip[N];
    for (int m = 0; m < N; m++) {
        healthy[m] = 1;
        message[m] = MESSAGE;
        round_trip[m] = ROUND_TRIP;
        snprintf(member[m].name, sizeof member[m].name, "host n%d", m);
    }
    load_create(&load, &(struct load_pairs){members, healthy, message, round_trip}, 0.05);
}

static void tear_down(void)
{
    load_destroy(&load);
}

/* Measures a level n times: its groups take as long as expected x factor; group `slow` takes x ratio in addition. */
static void visit(struct load_level *level, size_t n, double factor, int slow, double ratio)
{
    float seconds[N];
    for (size_t i = 0; i < n; i++) {
        for (int g = 0; g < level->groups; g++)
            seconds[g] = (float)(factor * level->expected[g] * (g == slow ? ratio : 1) *
                                 exp(noise.noise * members_normal(&noise)));
        load_add(&load, level, seconds);
    }
}

/* Measures all levels, without a slow group. */
static void visit_all(void)
{
    for (int l = 0; l < load.levels; l++)
        visit(&load.level[l], VISIT, 1.3, -1, 1);
}

/* ---- what is expected ---- */

/* ceil(log2 p) round trips, and 2 (p - 1) / p times the seconds of the bytes. */
TEST(expected_time_is_that_of_messages)
{
    const double bytes = MESSAGE - ROUND_TRIP;
    ck_assert_double_eq_tol(load_expected(2, MESSAGE, ROUND_TRIP), ROUND_TRIP + bytes, 1e-12);
    ck_assert_double_eq_tol(load_expected(4, MESSAGE, ROUND_TRIP), 2 * ROUND_TRIP + 1.5 * bytes, 1e-12);
    ck_assert_double_eq_tol(load_expected(5, MESSAGE, ROUND_TRIP), 3 * ROUND_TRIP + 1.6 * bytes, 1e-12);
    ck_assert_double_eq_tol(load_expected(8, MESSAGE, ROUND_TRIP), 3 * ROUND_TRIP + 1.75 * bytes, 1e-12);
    ck_assert_double_eq_tol(load_expected(4, ROUND_TRIP / 2, ROUND_TRIP), 2 * ROUND_TRIP, 1e-12);
    ck_assert_double_nan(load_expected(4, NAN, ROUND_TRIP));
    ck_assert_double_nan(load_expected(4, MESSAGE, NAN));
}

/* The slowest neighbours inside a block count, those across its border do not; what is unknown makes it unknown. */
TEST(slowest_neighbours_of_a_block_are_expected)
{
    char healthy[8] = {0};
    double message[] = {1, 9, 2, 8, 3, 1, 4}, round_trip[] = {0.5, 0.1, 0.1, 0.1, 0.1, NAN, 0.1};
    load_create(&load, &(struct load_pairs){8, healthy, message, round_trip}, 0.05);
    const double pairs[] = {1, 2, 3, 4}; /* of (0, 1), (2, 3), ... */
    for (int g = 0; g < 4; g++)
        ck_assert_double_eq_tol(load.level[0].expected[g], pairs[g], 1e-12);
    ck_assert_double_eq_tol(load.level[1].expected[0], load_expected(4, 9, 0.5), 1e-12);
    ck_assert_double_nan(load.level[1].expected[1]);
    ck_assert_double_eq_tol(load.mixed[1].expected[1], load_expected(2, 9, 0.5), 1e-12);
    ck_assert_double_eq_tol(load_median_expected(&load.level[1]), load_expected(4, 9, 0.5), 1e-12);
}

/* ---- groups ---- */

/* Every group of a level has `size` members with places from 0 on; a mixed group has as many of either half. */
static void assert_is_level(const struct load_level *level, int members)
{
    int size[N] = {0}, of_second_half[N] = {0};
    for (int m = 0, place; m < members; m++) {
        int g = load_group(level, m, &place);
        if (g < 0)
            continue;
        ck_assert_int_lt(g, level->groups);
        ck_assert_int_eq(place, size[g]++);
        ck_assert_int_eq(m / level->block, g / (1 + level->mixed));
        of_second_half[g] += m % level->block >= level->block / 2;
    }
    for (int g = 0; g < level->groups; g++) {
        ck_assert_int_eq(size[g], level->size);
        if (level->size % 2 == 0)
            ck_assert_int_eq(of_second_half[g], level->size / 2);
    }
}

TEST(blocks_double_up_to_all_members)
{
    for (int members = 3; members <= N; members++) {
        create(members);
        for (int l = 0; l < load.levels; l++) {
            int is_last = l == load.levels - 1;
            ck_assert_int_eq(load.level[l].size, is_last ? members : 2 << l);
            ck_assert_int_eq(load.level[l].groups, is_last ? 1 : members / (2 << l));
            ck_assert(is_last || 2 << l < members);
            assert_is_level(&load.level[l], members);
            if (load.level[l].block > 2)
                assert_is_level(&load.mixed[l], members);
        }
        load_destroy(&load);
    }
}

/* ---- blocks with peers ---- */

TEST(healthy_groups_are_no_faults)
{
    create(N);
    visit_all();
    ck_assert_int_eq(load_faults(&load), 0);
    for (int l = 0; l < load.levels; l++) {
        ck_assert_int_eq(load_is_suspect(&load, l), 0);
        for (int b = 0; b < load.level[l].groups; b++)
            ck_assert_int_eq(load_state(&load, l, b), l < 2 ? LOAD_HEALTHY : LOAD_UNJUDGED);
    }
}

/* Block 2 of the 4 blocks of 4 members takes 1.8 times as long. */
static void plant_slow_block(void)
{
    create(N);
    visit_all();
    tear_down();
    create(N);
    visit(&load.level[0], VISIT, 1.3, -1, 1);
    visit(&load.level[1], VISIT, 1.3, 2, 1.8);
}

TEST(slow_block_of_healthy_members_is_a_fault)
{
    plant_slow_block();
    ck_assert_int_eq(load_state(&load, 1, 2), LOAD_SLOW);
    ck_assert_int_eq(load_state(&load, 1, 1), LOAD_HEALTHY);
    ck_assert_int_eq(load_faults(&load), 1);
    ck_assert(!load_is_suspect(&load, 0) && load_is_suspect(&load, 1));
    struct paired ratio = load_ratio(&load, &load.level[1], 2);
    ck_assert_double_eq_tol(ratio.ratio, 1.8, 0.02);
    ck_assert(ratio.ci_low > 1.75 && ratio.ci_low < ratio.ratio && ratio.ci_high > ratio.ratio);
    ck_assert_double_eq_tol(load_seconds(&load.level[1], 2).median, 1.8 * 1.3 * load.level[1].expected[2], 1e-3);
    ck_assert_double_eq_tol(load_median_seconds(&load.level[1]).median, 1.3 * load.level[1].expected[2], 1e-3);
}

TEST(slow_block_is_explained_by_a_member)
{
    plant_slow_block();
    load.healthy[9] = 0;
    ck_assert_int_eq(load_state(&load, 1, 2), LOAD_SLOW_MEMBER);
    ck_assert(!load_faults(&load) && !load_is_suspect(&load, 1));
    load.healthy[9] = 1;
    load.healthy[12] = 0; /* of the next block */
    ck_assert_int_eq(load_state(&load, 1, 2), LOAD_SLOW);
}

TEST_EACH(slow_block_is_explained_by_a_part, 3)
{
    const int part[] = {4, 5, 6}; /* blocks of 2: both halves of block 2 of 4 members, and its neighbour */
    create(N);
    visit(&load.level[0], VISIT, 1.3, part[_i], 1.4);
    visit(&load.level[1], VISIT, 1.3, 2, 1.4);
    ck_assert_int_eq(load_state(&load, 0, part[_i]), LOAD_SLOW);
    ck_assert_int_eq(load_state(&load, 1, 2), part[_i] < 6 ? LOAD_SLOW_PART : LOAD_SLOW);
    ck_assert_int_eq(load_faults(&load), part[_i] < 6 ? 1 : 2);
}

/* What is slow in one visit of a level and not in the next is no fault. */
TEST(disturbance_that_passes_is_no_fault)
{
    plant_slow_block();
    visit(&load.level[1], VISIT + 4, 1.3, -1, 1);
    ck_assert_int_ne(load_state(&load, 1, 2), LOAD_SLOW);
    ck_assert_int_eq(load_faults(&load), 0);
}

TEST(mixed_halves_of_a_slow_block)
{
    plant_slow_block();
    ck_assert_int_eq(load_mixed(&load, 1, 2), MIXED_UNKNOWN);
    visit(&load.mixed[1], VISIT, 1.3, -1, 1);
    ck_assert_int_eq(load_mixed(&load, 1, 2), MIXED_HEALTHY);
    tear_down();
    plant_slow_block();
    visit(&load.mixed[1], VISIT, 1.3, 5, 1.7); /* the odd members of block 2 */
    ck_assert_int_eq(load_mixed(&load, 1, 2), MIXED_SLOW);
    ck_assert_int_eq(load_mixed(&load, 1, 1), MIXED_HEALTHY);
}

/* ---- blocks without peers ---- */

/* 8 members: the slower of their two blocks of 4 takes `half` times as long as expected, all of them `whole` times. */
static void plant_excess(double half, double whole)
{
    create(8);
    visit(&load.level[1], 12, 1, 1, half);
    visit(&load.level[2], 12, whole, -1, 1);
}

TEST(block_exceeds_the_slower_half)
{
    struct estimate whole, half;
    plant_excess(1.2, 1.5);
    ck_assert(load_exceeds(&load, 2, 0, &whole, &half) && load_is_suspect(&load, 2));
    ck_assert_double_eq_tol(whole.median, 1.5, 0.01);
    ck_assert_double_eq_tol(half.median, 1.2, 0.01);
    ck_assert_int_eq(load_faults(&load), 0); /* it is only a note */
    tear_down();
    plant_excess(1.5, 1.5);
    ck_assert(!load_exceeds(&load, 2, 0, &whole, &half) && !load_is_suspect(&load, 2));
    tear_down();
    plant_excess(1.46, 1.5); /* intervals are apart, by less than 5 % */
    ck_assert(!load_exceeds(&load, 2, 0, &whole, &half));
}

/* The 6 members of a job are not two blocks of 4. */
TEST(block_without_halves_exceeds_nothing)
{
    struct estimate whole, half;
    create(6);
    visit(&load.level[1], 12, 1, -1, 1);
    visit(&load.level[2], 12, 2, -1, 1);
    ck_assert_int_eq(load.level[2].size, 6);
    ck_assert_int_eq(load_exceeds(&load, 2, 0, &whole, &half), 0);
    ck_assert_int_eq(load_exceeds(&load, 0, 0, &whole, &half), 0);
}

TEST(mixed_halves_are_compared_with_halves)
{
    plant_excess(1.2, 1.5);
    visit(&load.mixed[2], 12, 1.2, -1, 1);
    ck_assert_int_eq(load_mixed(&load, 2, 0), MIXED_HEALTHY);
    tear_down();
    plant_excess(1.2, 1.5);
    visit(&load.mixed[2], 12, 1.2, 0, 1.2);
    ck_assert_int_eq(load_mixed(&load, 2, 0), MIXED_SLOW);
}

/* ---- what is stated ---- */

static struct figure_list figures;
static cJSON *summary;

/* Writes what was found, and returns text i of a list of the summary (answers or notes). */
static const char *stated(const char *list, int i)
{
    if (!summary) {
        summary = results_summary_create("isolate", "", 1, 1, "rounds");
        cJSON_AddArrayToObject(summary, "findings");
        load_output(&load, member, summary, &figures);
    }
    return cJSON_GetStringValue(cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(summary, list), i));
}

static void forget(void)
{
    cJSON_Delete(summary);
    summary = NULL;
    figures_destroy(&figures);
}

static void assert_has(const char *text, const char *expected)
{
    ck_assert_msg(text && strstr(text, expected), "'%s' does not contain '%s'", text, expected);
}

TEST(fault_is_stated)
{
    noise.noise = 0;
    plant_slow_block();
    visit(&load.mixed[1], VISIT, 1.3, 4, 1.7);
    const char *text = stated("answers", 0);
    assert_has(text, "An all-reduce among the 4 members from host n8 to host n11 takes 1.8 times as long as among the "
                     "other groups of 4 [1.8, 1.8] (n = 32), though each of them is healthy alone. Groups of 2 with "
                     "members of both its halves take longer, too, so the cause lies between them.");
    ck_assert_ptr_null(stated("answers", 1));
    const cJSON *finding = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(summary, "findings"), 0);
    ck_assert_str_eq(json_string(finding, "name"), "load");
    assert_has(json_string(finding, "advice"), "between its halves");
    const cJSON *table = cJSON_GetObjectItemCaseSensitive(summary, "tables")->child;
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(table, "rows"), *row = cJSON_GetArrayItem(rows, 1);
    ck_assert_int_eq(cJSON_GetArraySize(rows), 2); /* the levels that were measured */
    ck_assert_str_eq(json_string(row, "state"), "slow");
    ck_assert_str_eq(json_string(row, "slowest"), "host n8 to host n11");
    ck_assert_double_eq_tol(json_number(row, "ratio"), 1.8, 1e-3);
    ck_assert_double_eq_tol(json_number(row, "time_to_expected"), 1.3, 1e-3);
    forget();
}

TEST(fault_is_a_test_case)
{
    struct junit junit;
    char *text;
    size_t length;
    plant_slow_block();
    FILE *out = text_begin(&text, &length);
    junit_begin(&junit);
    load_output_cases(&load, member, &junit);
    ck_assert_uint_eq(junit.n[JUNIT_FAILED], 1);
    junit_end(&junit, out, "suite", "");
    text_end(out);
    assert_has(text, "name=\"host n8 to host n11\"");
    free(text);
}

TEST(figures_are_of_levels)
{
    noise.noise = 0;
    create(8);
    visit_all();
    ck_assert_ptr_null(stated("answers", 0));
    for (int size = 2; size <= 8; size *= 2) {
        char subject[40];
        snprintf(subject, sizeof subject, "groups of %d", size);
        const struct figure *time = figures_find(&figures, subject, "all_reduce", 0);
        const struct figure *factor = figures_find(&figures, subject, "all_reduce_to_expected", 0);
        ck_assert(time && factor && time->judged && !factor->judged && time->better == BETTER_LOWER);
        ck_assert_double_eq_tol(time->value, 1.3 * load_expected(size, MESSAGE, ROUND_TRIP), 1e-8);
        ck_assert_double_eq_tol(factor->value, 1.3, 1e-6);
    }
    ck_assert_ptr_null(figures_find(&figures, "all", "load", 0)); /* it was not measured */
    forget();
}

TEST(excess_is_a_note)
{
    plant_excess(1.2, 1.5);
    visit(&load.mixed[2], 12, 1.2, -1, 1);
    assert_has(stated("notes", 0),
               "Load: an all-reduce among the 8 members from host n0 to host n7 takes 1.50 times as");
    assert_has(stated("notes", 0), "among the slower half of them 1.20 times [");
    assert_has(stated("notes", 0),
               "Groups of 4 with members of both its halves do not take longer, so it shows with all 8 only.");
    ck_assert_ptr_null(stated("answers", 0));
    forget();
}

static const struct {
    struct estimate across;
    const char *words;
} across[] = {{{1.5, 1.2, 1.9, NAN, NAN, 12}, "does not carry all of them at full rate"},
              {{0.9, 0.8, 0.95, NAN, NAN, 12}, "below 1, a pair alone takes longer"},
              {{1.1, 0.9, 1.2, NAN, NAN, 12}, "the interval contains 1, so no difference is known"}};

TEST_EACH(interval_of_the_middle_is_explained, 3)
{
    create(8);
    load.across = across[_i].across;
    assert_has(stated("notes", 0), across[_i].words);
    ck_assert_double_eq(figures_find(&figures, "all", "load", 0)->value, across[_i].across.median);
    forget();
}

SUITE("isolate/load", NULL, tear_down)
