/* test_answer.c - the result of a search by `tune`, as text and figures, on samples with known answers. */
#include "benchmark/benchmark.h"

#include "base/json.h"
#include "results/results.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

enum { ROWS = 5, ROUNDS = 9 };

static const struct implementation implementation[ROWS] = {
    {.label = "none", .strategy = &strategy_none},
    {.label = "ddp", .strategy = &strategy_ddp},
    {.label = "ddp_bucketed:0.01", .strategy = &strategy_ddp_bucketed, .size.words = "0.01"},
    {.label = "ddp_bucketed:2", .strategy = &strategy_ddp_bucketed, .size.words = "2"},
    {.label = "ddp_bucketed:4", .strategy = &strategy_ddp_bucketed, .size.words = "4"}};
static const struct reducer reducer[ROWS] = {[1].plan.n = 9, [2].plan.n = 7, [3].plan.n = 3, [4].plan.n = 2};
static struct measurements measurements;
static struct search search;
static struct figure_list figures;
static cJSON *summary;
static int busy;

/* Rows take 10 (without communication), 16, 12, 12.1 and 20 ms a step; from round 3 on the machine is half as fast. The
 * last row was dropped after 3 rounds. In the later rounds, the final, ddp is slower and the row of 2 MiB undecided. */
static void setup(void)
{
    static const double step[ROWS] = {0.010, 0.016, 0.012, 0.0121, 0.020};
    static const enum search_state state[ROWS] = {SEARCH_CONTROL, SEARCH_SLOWER, SEARCH_IN, SEARCH_IN, SEARCH_DROPPED};
    measurements_create(&measurements, ROWS, ROUNDS);
    measurements.rounds = ROUNDS;
    search = (struct search){.n = ROWS, .best = 2, .rounds = ROUNDS, .stage_from = 3, .final = 1, .seconds = 62};
    for (int i = 0; i < ROWS; i++) {
        int dropped = state[i] == SEARCH_DROPPED;
        for (size_t r = 0; r < ROUNDS; r++)
            measurements_of(&measurements, i, FIGURE_STEP)[r] = dropped && r > 2 ? NAN : step[i] * (r > 2 ? 2 : 1);
        search.row[i] = (struct search_row){.state = state[i], .series = i > 1, .from = dropped ? 0 : 3};
        search.row[i].to = dropped ? 3 : ROUNDS;
        search.row[i].against.ratio = (struct estimate){step[i] / step[2], NAN, NAN, NAN, NAN, 6};
    }
    search.row[3].against.ratio.ci_low = 0.99;
    search.row[3].against.ratio.ci_high = 1.03;
    search.row[1].against.ratio.ci_low = 1.2;
    search.row[1].against.ratio.ci_high = 1.5;
    search.row[1].against.slower = 1;
    summary = results_summary_create("tune", "", ROUNDS, ROUNDS, "rounds");
    busy = 0;
}

static void teardown(void)
{
    cJSON_Delete(summary);
    figures_destroy(&figures);
    measurements_destroy(&measurements);
}

static void make(enum search_end end)
{
    search.end = end;
    answer_add(&search, &measurements, implementation, reducer, busy, summary, &figures);
}

/* Returns the answers of the summary, one per line. */
static const char *answers(void)
{
    static char text[4000];
    const cJSON *line;
    size_t at = 0;
    cJSON_ArrayForEach(line, cJSON_GetObjectItem(summary, "answers")) at +=
        (size_t)snprintf(text + at, sizeof text - at, "%s\n", line->valuestring);
    return text;
}

static const char *verdict_in_table(int row)
{
    const cJSON *table = cJSON_GetArrayItem(cJSON_GetObjectItem(summary, "tables"), 0);
    return json_string(cJSON_GetArrayItem(cJSON_GetObjectItem(table, "rows"), row), "verdict");
}

static double figure(const char *subject, const char *name)
{
    const struct figure *found = figures_find(&figures, subject, name, 0);
    ck_assert_msg(found != NULL, "no figure %s of %s", name, subject);
    return found->value;
}

/* Figures come from a row's rounds in the final, or from all its rounds if it was dropped, without any correction. */
TEST(figures_are_of_the_rounds)
{
    make(SEARCH_TIME);
    ck_assert_double_eq_tol(figure("ddp_bucketed:0.01", "step"), 0.024, 1e-9);
    ck_assert_double_eq_tol(figure("ddp_bucketed:4", "step"), 0.020, 1e-9);
    ck_assert_double_eq_tol(figure("ddp", "sync_cost"), 0.012, 1e-9);
    ck_assert_double_eq_tol(figure("best", "step"), 0.024, 1e-9);
    for (size_t i = 0; i < figures.n; i++) /* only `best` is judged: another search may lack other rows */
        ck_assert_int_eq(figures.item[i].judged, !strcmp(figures.item[i].subject, "best"));
}

TEST(words_name_the_options_and_the_groups)
{
    make(SEARCH_TIME);
    check_has(
        answers(),
        "Shortest so far is ddp_bucketed, 0.01 MiB: a step takes 24.00 ms, which is 4.00 ms [4.00, 4.00] (20.0 %) "
        "longer than without communication.\n"
        "Options: --implementations ddp_bucketed --bucket-size-mb 0.01 (PyTorch's DDP: bucket_cap_mb=0.01)\n"
        "Undecided (not known to 2 %): ddp_bucketed:2 +0.8 % [-1.0, +3.0]. About 2 min 35 s more (15 rounds) would "
        "decide.\n"
        "Slower: ddp +33.3 % [+20.0, +50.0].\n"
        "In %: how much longer a step takes than with the best, round by round (geometric mean), the shortest "
        "first; slower: the interval is above 0. All these intervals hold at once in 95 % of runs, although the "
        "best was picked from the same rounds, if rounds are independent.\n"
        "Time limit reached, after 1 min 02 s, 9 rounds.\n");
    const cJSON *saved = cJSON_GetObjectItem(summary, "verdict");
    ck_assert_str_eq(verdict_best(saved), "ddp_bucketed:0.01");
    ck_assert_str_eq(json_string(summary, "ended"), "max_minutes");
    ck_assert_int_eq(verdict_kind_of(saved, "ddp_bucketed:2"), VERDICT_UNDECIDED);
    static const char *const verdict[ROWS] = {"control", "slower", "best", "undecided", "dropped"};
    for (int i = 0; i < ROWS; i++)
        ck_assert_str_eq(verdict_in_table(i), verdict[i]);
}

/* If the best strategy has no bucket size, the best bucket size is named as well, since users ask for it. */
TEST(without_a_size_the_best_size_is_named)
{
    search.best = 1;
    search.row[1].state = SEARCH_IN;
    make(SEARCH_TIME);
    check_has(answers(),
              "Shortest so far is ddp: a step takes 32.00 ms, which is 12.00 ms [12.00, 12.00] (60.0 %) longer than "
              "without communication.\n"
              "Options: --implementations ddp\nBucket size with the shortest step: 0.01 MiB.\n");
}

/* The sentence on buckets of several sizes compares the best row with the shortest row of the other kind. */
TEST_EACH(plans_gain_or_not, 4)
{
    static const char *const words[] = {
        "Buckets of several sizes are not significantly different from equal buckets: with ddp_bucketed:2 a step is "
        "+0.8 % [-1.0, +3.0] longer than with ddp_bucketed:0.01.\n",
        "Buckets of several sizes do not gain: with ddp_bucketed:2 a step is +0.8 % [+0.1, +3.0] longer than with "
        "ddp_bucketed:0.01.\n",
        "Buckets of several sizes gain: with ddp_bucketed:2 a step is +0.8 % [+0.1, +3.0] longer than with "
        "ddp_bucketed:0.01.\n"};
    search.row[1].is_plan = _i == 3; /* a plan of another strategy */
    search.row[3].is_plan = _i < 2;
    search.row[2].is_plan = _i == 2;
    if (_i == 1 || _i == 2) {
        search.row[3].against.ratio.ci_low = 1.001;
        search.row[3].against.slower = 1;
    }
    make(SEARCH_TIME);
    if (_i < 3)
        check_has(answers(), words[_i]);
    else
        check_lacks(answers(), "Buckets of several sizes");
}

/* The shorter one of two rows of the other kind has the lower ratio to the best in the same rounds. */
TEST(plans_are_compared_in_the_same_rounds)
{
    search.row[3].is_plan = search.row[4].is_plan = 1;
    search.row[4].state = SEARCH_IN;
    search.row[4].against.ratio = (struct estimate){1.005, 0.99, 1.02, NAN, NAN, 6};
    make(SEARCH_TIME);
    check_has(answers(), "with ddp_bucketed:4 a step is +0.5 % [-1.0, +2.0] longer than with ddp_bucketed:0.01.");
}

TEST(within_two_percent_is_a_tie)
{
    search.row[3].against.ratio.ci_high = 1.019;
    make(SEARCH_WITHIN);
    check_has(answers(), "Tie (within 2 %): ddp_bucketed:2 +0.8 %");
    ck_assert_str_eq(verdict_in_table(3), "tie");
    ck_assert_int_eq(verdict_kind_of(cJSON_GetObjectItem(summary, "verdict"), "ddp_bucketed:2"), VERDICT_TIE);
}

/* If the others tie, the advice is to use the best. On a busy machine there is no advice, and more rounds do not help.
 */
TEST_EACH(a_busy_machine_gives_no_advice, 2)
{
    search.row[3].against.ratio.ci_high = _i ? 1.019 : 1.03;
    make(SEARCH_WITHIN);
    check_has(answers(), _i ? "Use ddp_bucketed" : "more (15 rounds) would decide.");
    cJSON_Delete(summary);
    summary = results_summary_create("tune", "", ROUNDS, ROUNDS, "rounds");
    busy = 1;
    make(SEARCH_WITHIN);
    check_has(answers(), "Shortest so far is ddp_bucketed");
    check_has(answers(), _i ? "Tie (within 2 %): ddp_bucketed:2" : "To decide, measure again on an idle machine.");
    check_lacks(answers(), "would decide");
}

/* Before the first comparison of the final there are figures of the final. There is no verdict from the rounds that
 * selected its rows. */
TEST(the_final_begins_without_a_verdict)
{
    for (int i = 0; i < ROWS; i++)
        search.row[i].against = (struct against_best){.ratio = {NAN, NAN, NAN, NAN, NAN, 0}};
    make(SEARCH_GOES_ON);
    ck_assert_ptr_null(cJSON_GetObjectItem(summary, "verdict"));
    check_lacks(answers(), "Use ");
    ck_assert_str_eq(verdict_in_table(2), "shortest");
}

TEST(before_a_comparison_there_are_figures_but_no_answer)
{
    search.best = -1;
    make(SEARCH_GOES_ON);
    ck_assert_double_eq_tol(figure("ddp_bucketed:0.01", "step"), 0.024, 1e-9);
    ck_assert_ptr_null(figures_find(&figures, "best", "step", 0));
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(summary, "answers")), 0);
}

SUITE("answer", setup, teardown)
