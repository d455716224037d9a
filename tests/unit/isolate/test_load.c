/* test_load.c - made-up times of all-reduces of groups: which are expected, which groups are slow under load, and what
 * `isolate` states of them. */
#include "isolate/output.h"

#include "base/json.h"
#include "kernels/random.h"
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
    load_create(&load, members, 0.05);
    for (int m = 0; m < members; m++) {
        load.healthy[m] = 1;
        load.message[m] = MESSAGE;
        load.round_trip[m] = ROUND_TRIP;
        snprintf(member[m].name, sizeof member[m].name, "host n%d", m);
    }
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
            seconds[g] = (float)(factor * load_expected(level->size, MESSAGE, ROUND_TRIP) * (g == slow ? ratio : 1) *
                                 exp(noise.noise * random_normal(&noise.seed)));
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

/* The slowest neighbours inside a group count, not neighbours across its border. With an unknown time, x is unknown. */
TEST(slowest_neighbours_of_a_group_are_expected)
{
    const double message[] = {1, 9, 2, 8, 3, 1, 4}, round_trip[] = {0.5, 0.1, 0.1, 0.1, 0.1, NAN, 0.1};
    const float seconds[] = {6, 6, 6, 6};
    create(8);
    for (int m = 0; m < 7; m++) {
        load.message[m] = message[m];
        load.round_trip[m] = round_trip[m];
    }
    for (int l = 0; l < 2; l++)
        load_add(&load, &load.level[l], seconds);
    const double pairs[] = {1, 2, 3, 4}; /* of (0, 1), (2, 3), ... */
    for (int g = 0; g < 4; g++)
        ck_assert_double_eq_tol(load_x(&load, &load.level[0], g), 6 / pairs[g], 1e-5);
    ck_assert_double_eq_tol(load_x(&load, &load.level[1], 0), 6 / load_expected(4, 9, 0.5), 1e-5);
    ck_assert_double_nan(load_x(&load, &load.level[1], 1));
}

/* ---- groups ---- */

/* Every group of a level has `size` consecutive members. Members that do not fill a group rest. */
static void assert_is_level(const struct load_level *level, int members)
{
    for (int m = 0; m < members; m++)
        ck_assert_int_eq(load_group(level, m), m < level->groups * level->size ? m / level->size : -1);
}

TEST(groups_double_up_to_all_members)
{
    for (int members = 3; members <= N; members++) {
        create(members);
        for (int l = 0; l < load.levels; l++) {
            int is_last = l == load.levels - 1;
            ck_assert_int_eq(load.level[l].size, is_last ? members : 2 << l);
            ck_assert_int_eq(load.level[l].groups, is_last ? 1 : members / (2 << l));
            ck_assert(is_last || 2 << l < members);
            assert_is_level(&load.level[l], members);
        }
        load_destroy(&load);
    }
}

/* ---- groups with peers ---- */

static int faults(void)
{
    int n = 0;
    for (int l = 0; l < load.levels; l++)
        for (int b = 0; b < load.level[l].groups; b++)
            n += load_is_fault(&load, l, b);
    return n;
}

TEST(healthy_groups_are_no_faults)
{
    create(N);
    visit_all();
    ck_assert_int_eq(faults(), 0);
    for (int l = 0; l < load.levels; l++)
        for (int b = 0; b < load.level[l].groups; b++)
            ck_assert_int_eq(load.level[l].ratios.state[b], l < 2 ? SERIES_HEALTHY : SERIES_NONE);
}

/* Group 2 of the 4 groups of 4 members takes 1.8 times as long. */
static void plant_slow_group(void)
{
    create(N);
    visit(&load.level[0], VISIT, 1.3, -1, 1);
    visit(&load.level[1], VISIT, 1.3, 2, 1.8);
}

TEST(slow_group_of_healthy_members_is_a_fault)
{
    plant_slow_group();
    ck_assert(load_is_fault(&load, 1, 2) && faults() == 1);
    struct fault fault = load_fault(&load, 1, 2);
    ck_assert(fault.kind == FAULT_GROUP && fault.member == 8 && fault.other == 11 && fault.n == VISIT);
    ck_assert_double_eq_tol(fault.ratio, 1.8, 0.02);
    ck_assert(fault.low > 1.75 && fault.low < fault.ratio && fault.high > fault.ratio);
    ck_assert_double_eq_tol(fault.seconds, 1.8 * 1.3 * load_expected(4, MESSAGE, ROUND_TRIP), 1e-3);
}

TEST(slow_group_is_explained_by_a_member)
{
    plant_slow_group();
    load.healthy[9] = 0;
    ck_assert_int_eq(faults(), 0);
    load.healthy[9] = 1;
    load.healthy[12] = 0; /* a member of the next group */
    ck_assert(load_is_fault(&load, 1, 2));
}

TEST_EACH(slow_group_is_explained_by_a_part, 3)
{
    const int part[] = {4, 5, 6}; /* groups of 2: both halves of group 2 of 4 members, and its neighbour */
    create(N);
    visit(&load.level[0], VISIT, 1.3, part[_i], 1.4);
    visit(&load.level[1], VISIT, 1.3, 2, 1.4);
    ck_assert(load_is_fault(&load, 0, part[_i]));
    ck_assert_int_eq(load.level[1].ratios.state[2], SERIES_SLOW);
    ck_assert_int_eq(faults(), part[_i] < 6 ? 1 : 2);
}

/* A group that is slow in one visit of a level, but not in the next, is not a fault. */
TEST(disturbance_that_passes_is_no_fault)
{
    plant_slow_group();
    visit(&load.level[1], VISIT + 4, 1.3, -1, 1);
    ck_assert_int_eq(faults(), 0);
}

/* ---- what is stated ---- */

static struct figure_list figures;
static cJSON *summary;

/* Writes the result, and returns text i of a list of the summary (answers or notes). */
static const char *stated(const char *list, int i)
{
    if (!summary) {
        summary = results_summary_create("isolate", "", 1, 1, "rounds");
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

TEST(table_has_the_slowest_groups)
{
    noise.noise = 0;
    plant_slow_group();
    ck_assert_ptr_null(stated("notes", 0));
    const cJSON *table = cJSON_GetObjectItemCaseSensitive(summary, "tables")->child;
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(table, "rows"), *row = cJSON_GetArrayItem(rows, 1);
    ck_assert_int_eq(cJSON_GetArraySize(rows), 2); /* the levels that were measured */
    ck_assert_str_eq(json_string(rows->child, "state"), "healthy");
    ck_assert_str_eq(json_string(row, "state"), "slow");
    ck_assert_str_eq(json_string(row, "slowest"), "host n8 to host n11");
    ck_assert_double_eq_tol(json_number(row, "ratio"), 1.8, 1e-3);
    ck_assert_double_eq_tol(json_number(row, "time_to_expected"), 1.8 * 1.3, 1e-3);
    forget();
    load.healthy[8] = 0;
    stated("notes", 0);
    table = cJSON_GetObjectItemCaseSensitive(summary, "tables")->child;
    row = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(table, "rows"), 1);
    ck_assert_str_eq(json_string(row, "state"), "slow in a part");
    forget();
}

TEST(figures_are_of_levels)
{
    noise.noise = 0;
    create(8);
    visit_all();
    ck_assert_ptr_null(stated("notes", 0));
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

static const struct {
    struct estimate across;
    const char *words;
} across[] = {{{1.5, 1.2, 1.9, NAN, NAN, 12}, "does not carry all of them at full rate"},
              {{0.9, 0.8, 0.95, NAN, NAN, 12}, "below 1, a pair alone takes longer"},
              {{1.1, 0.9, 1.2, NAN, NAN, 12}, "the interval contains 1, so no difference from"}};

TEST_EACH(interval_of_the_middle_is_explained, 3)
{
    create(8);
    load.across = across[_i].across;
    assert_has(stated("notes", 0), across[_i].words);
    ck_assert_double_eq(figures_find(&figures, "all", "load", 0)->value, across[_i].across.median);
    forget();
}

SUITE("isolate/load", NULL, tear_down)
