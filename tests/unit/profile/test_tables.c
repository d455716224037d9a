/* test_tables.c - tables with a row per rank: if there are few ranks, their rows are in rank order; if many, the worst
 * rank comes first, and only 8 rows are printed unless all are requested. */
#include "base/json.h"
#include "profile/summary.h"
#include "results/results.h"
#include "tests/support/healthy.h"
#include "tests/support/suite.h"

#include <string.h>

static struct healthy h;
static struct link_rates links[HEALTHY_RANKS];

/* Makes a summary of ranks on separate hosts: rank r has (5 r) mod 12 ms exposed, and its link gets slower with r. */
static cJSON *summary_of(int ranks)
{
    healthy_create(&h);
    h.profile.figures.ranks = h.profile.facts.ranks = h.profile.facts.hosts = h.profile.capture.collectives.ranks =
        ranks;
    for (int r = 0; r < ranks; r++) {
        h.rank[r].mean.exposed = 1e-3 * (5 * r % 12);
        links[r] = (struct link_rates){r, 1e9 - 1e6 * r, 1e9};
    }
    h.rank[1].late = 4e-3;
    h.rank[1].late_in[PHASE_FORWARD] = 2e-3;
    h.rank[1].late_in[PHASE_BACKWARD] = 3e-3;
    h.profile.links = links;
    cJSON *summary = kept_json(results_summary_create("profile", "", 0, 0, "rounds"));
    profile_add_rank_tables(&h.profile, summary);
    return summary;
}

static const cJSON *rows_of(const cJSON *summary, const char *key)
{
    const cJSON *table;
    cJSON_ArrayForEach(table, cJSON_GetObjectItem(summary, "tables"))
    {
        if (!strcmp(json_string(table, "key"), key))
            return cJSON_GetObjectItem(table, "rows");
    }
    ck_abort_msg("no table %s", key);
}

static void check_ranks(const cJSON *rows, const int *expected, int n)
{
    ck_assert_int_eq(cJSON_GetArraySize(rows), n);
    for (int i = 0; i < n; i++)
        ck_assert_double_eq(json_number(cJSON_GetArrayItem(rows, i), "rank"), expected[i]);
}

static int prints(const cJSON *summary, const char *words)
{
    results_print_summary(printing(), summary);
    return strstr(printed(), words) != NULL;
}

TEST(the_worst_of_many_ranks_come_first)
{
    static const int by_exposed[] = {7, 2, 9, 4, 11, 6, 1, 8, 3, 10, 5, 0},
                     by_rate[] = {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
                     by_lateness[] = {1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    cJSON *summary = summary_of(12);
    check_ranks(rows_of(summary, "ranks"), by_exposed, 12);
    check_ranks(rows_of(summary, "links"), by_rate, 12);
    check_ranks(rows_of(summary, "stragglers"), by_lateness, 12);
    ck_assert(prints(summary, "... (4 more in summary.json)"));
    results_show_all(summary);
    ck_assert(!prints(summary, "more in summary.json"));
}

TEST(few_ranks_are_in_order)
{
    static const int order[] = {0, 1, 2};
    for (int ranks = 2; ranks <= 3; ranks++) {
        cJSON *summary = summary_of(ranks);
        check_ranks(rows_of(summary, "ranks"), order, ranks);
        check_ranks(rows_of(summary, "links"), order, ranks);
        ck_assert(!prints(summary, "more in summary.json"));
    }
}

TEST(the_phase_with_most_is_named)
{
    cJSON *summary = summary_of(3);
    const cJSON *row = cJSON_GetArrayItem(rows_of(summary, "stragglers"), 0);
    ck_assert_double_eq(json_number(row, "rank"), 1);
    ck_assert_str_eq(json_string(row, "late_phase"), "backward_pass");
    ck_assert_double_eq(json_number(row, "late_by"), 3e-3);
    ck_assert_str_eq(json_string(row->next, "late_phase"), "");
    ck_assert_double_eq(json_number(row->next, "late_by"), 0);
}

SUITE("tables", NULL, NULL)
