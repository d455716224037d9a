/* test_output.c - what `isolate` states of made-up members with a planted fault: sentences, tables, figures, files. */
#include "isolate/output.h"

#include "base/json.h"
#include "kernels/error.h"
#include "selfbench/members.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

enum { N = 7, BYTES = 1 << 20 };

static struct member member[N];
static struct diagnosis *diagnosis;
static struct outcome outcome;
static const struct load *found_load; /* NULL: none */
static struct figure_list figures;
static cJSON *summary;

/* Members 2 i and 2 i + 1 are ranks of host i if per_rank is 1; otherwise each is a host. */
static void name_members(int per_rank)
{
    for (int m = 0; m < N; m++) {
        int host = per_rank ? m / 2 : m;
        member[m] = (struct member){.rank = m, .host = host};
        snprintf(member[m].host_name, sizeof member[m].host_name, "n%d", host);
        snprintf(member[m].name, sizeof member[m].name, per_rank ? "rank %d on n%d" : "host n%d", per_rank ? m : host,
                 host);
    }
}

/* Searches among members with this fault (ratio 0: none), for `most` rounds, and fills the outcome and the summary. */
static void find(struct fault planted, size_t most)
{
    struct members members = {.n = N, .message = MEMBERS_MESSAGE, .planted = {planted}, .faults = planted.ratio > 0};
    diagnosis = members_search(&members, 0.05, most);
    outcome = (struct outcome){.diagnosis = diagnosis,
                               .member = member,
                               .members = N,
                               .resolve = 0.05,
                               .bytes = BYTES,
                               .load = found_load,
                               .seconds = 12,
                               .complete = 1};
    outcome_create(&outcome);
    summary = results_summary_create("isolate", "", 1, 1, "rounds");
    outcome_add(&outcome, summary, &figures);
}

static void tear_down(void)
{
    found_load = NULL;
    outcome_destroy(&outcome);
    diagnosis_destroy(diagnosis);
    figures_destroy(&figures);
    cJSON_Delete(summary);
    scratch_remove_all();
}

static const char *answer(int i)
{
    return cJSON_GetStringValue(cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(summary, "answers"), i));
}

static void assert_begins(const char *text, const char *expected)
{
    ck_assert_msg(text && !strncmp(text, expected, strlen(expected)), "'%s' does not begin with '%s'", text, expected);
}

static const char *content(const char *directory, const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return text_of_file(path);
}

static const struct {
    struct fault fault;
    const char *sentence, *state, *bad; /* bad: bad.txt */
} kinds[FAULT_GROUP] = {
    {{FAULT_SENDS, 3, -1, .ratio = 2}, "Host n3 sends at 50 % of its peers' rate [50, 50] (n = ", "sends", "n3\n"},
    {{FAULT_RECEIVES, 3, -1, .ratio = 2}, "Host n3 receives at 50 % of its peers' rate [", "receives", "n3\n"},
    {{FAULT_ROUND_TRIP, 3, -1, .ratio = 3},
     "Round trips with host n3 take 3 times as long as its peers' [3, 3] (n = ",
     "round_trip",
     "n3\n"},
    {{FAULT_COMPUTES, 3, -1, .ratio = 1.25},
     "Host n3 computes matrix products at 80 % of its peers' rate [",
     "computes",
     "n3\n"},
    {{FAULT_COPIES, 3, -1, .ratio = 1.25}, "Host n3 copies memory at 80 % of its peers' rate [", "copies", "n3\n"},
    {{FAULT_PAIR, 3, 4, .ratio = 2},
     "Messages from host n3 to host n4 move at 50 % of other pairs' rate [50, 50] (n = ",
     "pair",
     "n4\n"},
    {{FAULT_PAIR_ROUND_TRIP, 3, 4, .ratio = 3},
     "Round trips between host n3 and host n4 take 3 times as long as those of other pairs [3, 3] (n = ",
     "pair_round_trip",
     "n4\n"}};

TEST_EACH(every_fault_has_a_sentence, FAULT_GROUP)
{
    const char *directory = scratch_make();
    char state[40];
    name_members(0);
    find(kinds[_i].fault, 1000);
    ck_assert_int_eq(outcome_status(&outcome), ISOLATE_SLOW);
    assert_begins(answer(0), kinds[_i].sentence);
    ck_assert_ptr_null(answer(1));
    ck_assert_int_eq(strstr(answer(0), "; it is enough to leave out n4 (bad.txt).") != NULL,
                     kinds[_i].fault.other >= 0);
    const cJSON *tables = cJSON_GetObjectItemCaseSensitive(summary, "tables");
    const cJSON *members = cJSON_GetArrayItem(tables, 0), *rows = cJSON_GetObjectItemCaseSensitive(members, "rows");
    snprintf(state, sizeof state, "slow: %s", kinds[_i].state);
    ck_assert_str_eq(json_string(cJSON_GetArrayItem(rows, 3), "state"), state);
    ck_assert_str_eq(json_string(cJSON_GetArrayItem(rows, 0), "state"), "healthy");
    rows = cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(tables, 1), "rows");
    ck_assert_int_eq(cJSON_GetArraySize(rows), 1);
    ck_assert_str_eq(json_string(rows->child, "member"), "host n3");
    ck_assert_str_eq(json_string(rows->child, "fault"), kinds[_i].state);
    ck_assert_double_eq_tol(json_number(rows->child, "ratio"), kinds[_i].fault.ratio, 1e-3);
    ck_assert_int_eq(outcome_write_files(&outcome, directory), 0);
    ck_assert_str_eq(content(directory, "bad.txt"), kinds[_i].bad);
    ck_assert_uint_eq(count_of(content(directory, "good.txt"), "\n"), N - count_of(kinds[_i].bad, "\n"));
}

TEST(host_to_leave_out_may_be_the_first_of_a_pair)
{
    name_members(0);
    find(kinds[FAULT_PAIR].fault, 1000);
    outcome.left_out[3] = 1;
    outcome_add(&outcome, summary, &figures);
    check_has(answer(1), "; it is enough to leave out n3 (bad.txt).");
}

/* A healthy member's figures equal its peers' figures, a slow member's are higher. A rate is bytes / seconds. */
TEST(figures_are_of_members)
{
    name_members(0);
    find(kinds[FAULT_SENDS].fault, 1000);
    const struct figure *slow = figures_find(&figures, "host n3", "send", BYTES);
    const struct figure *healthy = figures_find(&figures, "host n2", "send", BYTES);
    ck_assert(slow && healthy && slow->judged);
    ck_assert_double_eq_tol(healthy->value, MEMBERS_MESSAGE, 1e-5);
    ck_assert_double_eq_tol(slow->value, 2 * MEMBERS_MESSAGE, 1e-5);
    ck_assert_double_eq_tol(slow->low, 2 * MEMBERS_MESSAGE, 1e-5);
    const cJSON *table = cJSON_GetObjectItemCaseSensitive(summary, "tables")->child;
    const cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(table, "rows"), 3);
    ck_assert_double_eq_tol(json_number(row, "send_rate"), BYTES / (2 * MEMBERS_MESSAGE), 1e4);
    ck_assert_double_eq_tol(json_number(row, "send_ratio"), 2, 1e-3);
    ck_assert_double_eq(figures_find(&figures, "all", "slow_members", 0)->value, 1);
    ck_assert_double_eq(figures_find(&figures, "all", "healthy_members", 0)->value, N - 1);
}

/* A healthy member does not count as a slow receiver if one of its two partners sends slowly. */
TEST(figures_are_those_with_the_best_partner)
{
    name_members(0);
    find(kinds[FAULT_SENDS].fault, 30);
    ck_assert_double_eq_tol(figures_find(&figures, "host n2", "receive", BYTES)->value, MEMBERS_MESSAGE, 1e-5);
    ck_assert_double_eq_tol(figures_find(&figures, "host n3", "send", BYTES)->value, 2 * MEMBERS_MESSAGE, 1e-5);
}

/* Each pair of the ring has figures, whichever member is suspected, so that `compare` finds them in every run. */
TEST(figures_are_of_pairs)
{
    size_t messages = 0, round_trips = 0;
    name_members(0);
    find(kinds[FAULT_PAIR].fault, 1000);
    const struct figure *slow = figures_find(&figures, "host n3 -> host n4", "message", BYTES);
    const struct figure *back = figures_find(&figures, "host n4 -> host n3", "message", BYTES);
    const struct figure *trip = figures_find(&figures, "host n3 <-> host n4", "round_trip", 0);
    ck_assert(slow && back && trip && slow->judged && trip->judged);
    ck_assert_double_eq_tol(slow->value, 2 * MEMBERS_MESSAGE, 1e-5);
    ck_assert_double_eq_tol(slow->high, 2 * MEMBERS_MESSAGE, 1e-5);
    ck_assert_double_eq_tol(back->value, MEMBERS_MESSAGE, 1e-5);
    ck_assert_double_eq_tol(trip->value, MEMBERS_ROUND_TRIP, 1e-7);
    for (size_t i = 0; i < figures.n; i++) {
        messages += !strcmp(figures.item[i].name, "message");
        round_trips += strstr(figures.item[i].subject, " <-> ") != NULL;
    }
    ck_assert_uint_gt(outcome.rows, 2 * N); /* suspects have new partners, too */
    ck_assert_uint_eq(messages, 2 * N);
    ck_assert_uint_eq(round_trips, N);
}

TEST(states_are_figures)
{
    name_members(0);
    find(kinds[FAULT_SENDS].fault, 1000);
    ck_assert_double_eq(figures_find(&figures, "host n3", "member_state", 0)->value, 2);
    ck_assert_double_eq(figures_find(&figures, "host n2", "member_state", 0)->value, 0);
    tear_down();
    figures = (struct figure_list){0};
    find(kinds[FAULT_SENDS].fault, 4);
    ck_assert_double_eq(figures_find(&figures, "host n2", "member_state", 0)->value, 1);
}

/* The summary has the matrix, but the matrix is not printed. */
TEST(summary_has_the_matrix)
{
    name_members(0);
    find(kinds[FAULT_SENDS].fault, 1000);
    const cJSON *table = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(summary, "tables"), 2), *row;
    ck_assert_str_eq(json_string(table, "key"), "matrix");
    ck_assert_int_eq(table_view(table).columns, 0);
    size_t slow = 0;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(table, "rows"))
    {
        double ratio = !strcmp(json_string(row, "from"), "host n3") ? 2 : 1;
        slow += ratio > 1;
        ck_assert_double_eq_tol(json_number(row, "ratio"), ratio, 1e-3);
        ck_assert_double_eq_tol(json_number(row, "bytes_per_second"), BYTES / (ratio * MEMBERS_MESSAGE), 1e4);
        ck_assert_double_eq_tol(json_number(row, "round_trip_ratio"), 1, 1e-3);
    }
    ck_assert_uint_eq(slow, 4); /* to two partners in the ring, and to two others */
}

TEST(healthy_members_are_stated)
{
    const char *directory = scratch_make();
    name_members(0);
    find((struct fault){0}, 1000);
    ck_assert_int_eq(outcome_status(&outcome), ISOLATE_HEALTHY);
    assert_begins(answer(0), "All 7 members are healthy within 5 %: ");
    ck_assert_ptr_null(answer(1));
    ck_assert_int_eq(outcome_write_files(&outcome, directory), 0);
    ck_assert_str_eq(content(directory, "bad.txt"), "");
    ck_assert_str_eq(content(directory, "good.txt"), "n0\nn1\nn2\nn3\nn4\nn5\nn6\n");
    ck_assert_uint_eq(count_of(content(directory, "matrix.csv"), "\n"), 1 + 2 * N);
}

/* A group that is slow under load makes the verdict slow, and adds a fault and a failed test case, even if all members
 * are healthy. */
TEST(slow_group_of_healthy_members_is_a_fault)
{
    const char *directory = scratch_make();
    char path[300];
    struct load load;
    load_create(&load, N, 0.05);
    memset(load.healthy, 1, N);
    for (int i = 0; i < 30; i++)
        load_add(&load, &load.level[0], (const float[]){1, 1.5f, 1});
    name_members(0);
    found_load = &load;
    find((struct fault){0}, 1000);
    ck_assert_int_eq(outcome_status(&outcome), ISOLATE_SLOW);
    assert_begins(answer(0), "All-reduces among the members from host n2 to host n3 take 1.5 times as long as those of "
                             "other groups of this size [1.5, 1.5] (n = 30), though each of them is healthy alone.");
    assert_begins(answer(1), "All 7 members are healthy within 5 %: ");
    const cJSON *table = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(summary, "tables"), 1);
    ck_assert_str_eq(json_string(cJSON_GetObjectItemCaseSensitive(table, "rows")->child, "fault"), "load");
    const cJSON *finding = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(summary, "findings"), 0);
    ck_assert_str_eq(json_string(finding, "name"), "load");
    snprintf(path, sizeof path, "%s/isolate.xml", directory);
    ck_assert_int_eq(outcome_write_junit(&outcome, path), 0);
    ck_assert_uint_eq(count_of(content(directory, "isolate.xml"), "<testcase "), N + 2);
    ck_assert_uint_eq(count_of(content(directory, "isolate.xml"), "name=\"host n2 to host n3\""), 1);
    ck_assert_uint_eq(count_of(content(directory, "isolate.xml"), "<failure type=\"slow\" message=\"All-reduces "), 1);
    ck_assert_int_eq(outcome_write_files(&outcome, directory), 0);
    ck_assert_str_eq(content(directory, "bad.txt"), "");
    load_destroy(&load);
}

/* After too few rounds, the answer names the members, and what would decide. Their hosts are in no file. */
TEST(undecided_members_are_stated)
{
    const char *directory = scratch_make();
    name_members(0);
    find(kinds[FAULT_SENDS].fault, 4);
    ck_assert_int_eq(outcome_status(&outcome), ISOLATE_UNDECIDED);
    ck_assert_str_eq(
        answer(0),
        "Undecided after 12 s, 7 of 7 members: host n0, host n1, host n2, host n3, host n4, host n5, host n6. "
        "Undecided measurements: messages 14, round trips 7, products 7, copies 7. A longer --max-minutes may decide, "
        "or a larger --resolve than 5 %.");
    ck_assert_int_eq(outcome_write_files(&outcome, directory), 0);
    ck_assert_str_eq(content(directory, "bad.txt"), "");
    ck_assert_str_eq(content(directory, "good.txt"), "");
}

/* What would decide depends on why the search ended. */
TEST(advice_for_undecided_members)
{
    name_members(0);
    find((struct fault){0}, 4);
    for (outcome.complete = 0; outcome.complete < 2; outcome.complete++)
        for (outcome.crowded = 0; outcome.crowded < 2; outcome.crowded++)
            outcome_add(&outcome, summary, &figures);
    assert_begins(answer(1), "Undecided so far, after 12 s (interrupted, or still running), 7 of 7 members: host n0");
    ck_assert_str_eq(answer(2), answer(1));
    check_lacks(answer(1), "may decide");
    check_lacks(answer(3), "Ranks share cores");
    ck_assert_ptr_nonnull(strstr(answer(4), ". Ranks share cores, which makes them differ: start at most one rank per "
                                            "core. A longer --max-minutes may decide, or "));
}

/* With a member for each rank, files name each host once. A host is slow if one of its ranks is. */
TEST(files_name_hosts_of_ranks)
{
    const char *directory = scratch_make();
    name_members(1);
    find(kinds[FAULT_SENDS].fault, 1000);
    assert_begins(answer(0), "Rank 3 on n1 sends at 50 % of its peers' rate [");
    ck_assert_int_eq(outcome_write_files(&outcome, directory), 0);
    ck_assert_str_eq(content(directory, "bad.txt"), "n1\n");
    ck_assert_str_eq(content(directory, "good.txt"), "n0\nn2\nn3\n");
    assert_begins(content(directory, "matrix.csv"), "from,to,seconds,bytes_per_second,ratio,ratio_low,ratio_high,n,"
                                                    "round_trip_seconds,round_trip_ratio,round_trip_ratio_low,"
                                                    "round_trip_ratio_high,round_trip_n\n"
                                                    "rank 0 on n0,rank 1 on n0,0.0");
}

TEST(junit_has_a_case_for_each_member)
{
    const char *directory = scratch_make();
    char path[300];
    name_members(0);
    find(kinds[FAULT_SENDS].fault, 1000);
    snprintf(path, sizeof path, "%s/isolate.xml", directory);
    ck_assert_int_eq(outcome_write_junit(&outcome, path), 0);
    const char *xml = content(directory, "isolate.xml");
    ck_assert_uint_eq(count_of(xml, "<testcase "), N + 1);
    ck_assert_uint_eq(count_of(xml, "<error "), !outcome.complete);
    ck_assert_uint_eq(count_of(xml, "<failure "), 1);
    ck_assert_uint_eq(count_of(xml, "<failure type=\"slow\" message=\"Host n3 sends at 50 % "), 1);
    ck_assert_uint_eq(count_of(xml, OUTCOME_JUNIT_MARK), 1);
    ck_assert_int_eq(outcome_write_junit(&outcome, path), 0); /* its own file may be replaced */
}

SUITE("isolate/output", NULL, tear_down)
