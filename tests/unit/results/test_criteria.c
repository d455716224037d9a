/* test_criteria.c - the table of criteria: limits, usual shares, and the level of values just beyond each limit. */
#include "results/criteria.h"

#include "base/json.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

static const struct {
    int criterion;
    double percent;
    const char *good, *bad, *crossed;
} cases[] = {
    {CRITERION_BUSY, 80, "> 80", "< 70, high < 50", "no"},
    {CRITERION_BUSY, 79.9, "> 80", "< 70, high < 50", "note"},
    {CRITERION_BUSY, 49.9, "> 80", "< 70, high < 50", "high"},
    {CRITERION_DATA, 4, "< 10", "> 30, high > 50", "no, less than usual"},
    {CRITERION_DATA, 10, "< 10", "> 30, high > 50", "no"},
    {CRITERION_DATA, 30.1, "< 10", "> 30, high > 50", "warning, more than usual"},
    {CRITERION_EXPOSED, 20.1, "< 20", "> 20", "warning"},
    {CRITERION_TO_BACKWARD, 15.1, "< 15", "", "note"},
    {CRITERION_COLLECTIVES, 30.1, "< 15", "> 30", "high"},
    {CRITERION_COPIES, 15, "< 5", "> 15", "note"},
    {CRITERION_MEMORY, 90.1, "< 90", "> 90", "warning"},
    {CRITERION_OCCUPANCY, 49.9, "> 50", "< 50", "warning"},
    {CRITERION_OCCUPANCY, NAN, "> 50", "< 50", "n/a: not measured"},
    {CRITERION_FORWARD, 40, "", "", ""},
    {CRITERION_BACKWARD, 39.9, "", "", "less than usual"},
    {CRITERION_OPTIMIZER, 10.1, "", "", "more than usual"},
    {CRITERION_IDLE, 50, "", "", ""},
};

TEST_EACH(a_limit_is_crossed_only_beyond_it, sizeof cases / sizeof *cases)
{
    struct criterion row[CRITERIA];
    memcpy(row, criteria, sizeof criteria);
    row[cases[_i].criterion].percent = cases[_i].percent;
    const struct table table = criteria_table(row, CRITERIA, "");
    const cJSON *json = kept_json(table_json(&table));
    const cJSON *cells = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "rows"), cases[_i].criterion);
    ck_assert_str_eq(json_string(cells, "good"), cases[_i].good);
    ck_assert_str_eq(json_string(cells, "bad"), cases[_i].bad);
    ck_assert_str_eq(json_string(cells, "crossed"), cases[_i].crossed);
}

SUITE("criteria", NULL, NULL)
