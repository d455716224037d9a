/* test_trace.c - the format of traces: strict JSON, lanes whose rows nest, times, escaped names, and merged ranks. */
#include "tests/support/made_up.h"
#include "tests/support/suite.h"
#include "tests/support/traces.h"

#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static struct rank_trace rank[3];

static void teardown(void)
{
    for (size_t i = 0; i < LENGTH(rank); i++)
        rank_trace_destroy(&rank[i]);
}

/* ---- an empty trace ---- */

TEST(an_empty_trace_is_valid)
{
    rank_trace_begin(&rank[0], 0, 1);
    rank_trace_finish(&rank[0], 0);
    const cJSON *json = trace_parse(trace_text(&rank[0].trace));
    ck_assert_int_eq(trace_rows(json, "X", NULL), 0);
    ck_assert_int_eq(trace_rows(json, "C", NULL), 0);
    ck_assert_int_gt(trace_rows(json, "M", NULL), 0);
}

/* ---- lanes and times ---- */

/* Adds collectives that overlap, nest, touch, have no length, or are posted out of order. */
static void record_collectives(struct timeline *timeline)
{
    static const int64_t spans[][2] = {{100, 900}, {150, 400}, {200, 950}, {400, 500}, {500, 501}, {501, 501},
                                       {950, 990}, {910, 960}, {990, 999}, {300, 990}, {999, 1200}};
    for (size_t i = 0; i < LENGTH(spans); i++)
        made_up_collective(timeline, i + 1, (int)(i % 8), 4, 10000 + spans[i][0], 10000 + spans[i][1]);
}

TEST_EACH(lanes_nest, 2)
{
    rank_trace_begin(&rank[0], 0, 2);
    made_up_phase(&rank[0].timeline, PHASE_BACKWARD, 10000, 11000);
    record_collectives(&rank[0].timeline);
    rank_trace_finish(&rank[0], 1);
    rank[0].trace.comm_thread = _i ? 4100 : 0; /* with or without a communication thread */
    const cJSON *json = trace_parse(trace_text(&rank[0].trace));
    ck_assert_int_eq(trace_rows(json, "X", "mpi:all_reduce"), 11);
    trace_check_lanes(json);
    ck_assert_int_eq((int)row_number(trace_row(json, "X", "mpi:all_reduce", 0), "tid"), _i ? 4100 : 5000000);
    const cJSON *first = trace_row(json, "X", "mpi:all_reduce", 0), *second = trace_row(json, "X", "mpi:all_reduce", 1);
    ck_assert(row_number(first, "tid") != row_number(second, "tid"));
    ck_assert_double_eq(row_number(first, "stream"), 0);
    int named = 0, reductions = 0; /* named: number of lanes with a name; reductions: of all-reduces in them */
    for (int i = 0; i < trace_rows(json, "M", "thread_name"); i++) {
        double tid = row_number(trace_row(json, "M", "thread_name", i), "tid");
        named++;
        for (int j = 0; j < 11; j++)
            reductions += row_number(trace_row(json, "X", "mpi:all_reduce", j), "tid") == tid;
    }
    ck_assert_int_eq(reductions, 11);
    ck_assert_int_eq(named, 1 + 4); /* 1: the training thread; 4: the most collectives in flight at a time */
}

static void check_times(const char *text)
{
    static const char *const keys[] = {"\"ts\": ", "\"dur\": "};
    for (size_t k = 0; k < LENGTH(keys); k++)
        for (const char *at = text; (at = strstr(at, keys[k]));) {
            at += strlen(keys[k]);
            size_t whole = strspn(at, "0123456789");
            ck_assert_msg(whole > 0 && at[whole] == '.' && strspn(at + whole + 1, "0123456789") == 3,
                          "not a time with three decimals: %.20s", at);
        }
}

/* With a drifting clock and a base time amid the spans, rows that began before the base (time 0) are cut at 0. */
TEST(times_are_never_negative)
{
    rank_trace_begin(&rank[0], 1, 2);
    rank[0].alignment = (struct alignment){0, -1000000, -41000, 1, 5};
    made_up_range(&rank[0].timeline, "block", 0, 1000000, 1000300);
    made_up_phase(&rank[0].timeline, PHASE_FORWARD, 1000000, 1000450);
    made_up_range(&rank[0].timeline, "block", 1, 1000700, 1003001);
    made_up_phase(&rank[0].timeline, PHASE_BACKWARD, 1000450, 1003001);
    made_up_collective(&rank[0].timeline, 1, 0, 4, 1000460, 1000900);
    rank[0].trace.base_ns = 600;
    timeline_add(
        &rank[0].timeline, LANE_MEMORY,
        (struct span){
            .name = "allocate", .queued_ns = 5, .returned_ns = 5, .start_ns = 5, .end_ns = 5, .size = {16, 4096}});
    rank_trace_finish(&rank[0], 1);
    const char *text = trace_text(&rank[0].trace);
    check_times(text);
    const cJSON *json = trace_parse(text);
    trace_check_lanes(json);
    /* the forward pass ended 191 ns before the base time, of which 41 ns are drift */
    ck_assert_double_eq(row_number(trace_row(json, "X", "forward_pass", 0), "ts"), 0);
    ck_assert_double_eq(row_number(trace_row(json, "X", "forward_pass", 0), "dur"), 0);
    ck_assert_double_eq_tol(row_number(trace_row(json, "X", "backward_pass", 0), "ts"), 0, 1e-9);
    ck_assert_double_eq_tol(row_number(trace_row(json, "X", "backward_pass", 0), "dur"), 2.360, 1e-9);
    ck_assert_double_eq_tol(row_number(trace_row(json, "X", "layers.1.block", 0), "ts"), 0.059, 1e-9);
    ck_assert_double_eq_tol(row_number(trace_row(json, "X", "layers.1.block", 0), "dur"), 2.301, 1e-9);
}

/* ---- names ---- */

TEST(names_are_escaped)
{
    rank_trace_two_ranks(&rank[0], 0);
    rank[0].trace.host = "a\"b\\c\td\n\xc3\xa4\x7f{}";
    rank[0].trace.name = rank[0].trace.implementation = "x\"y\\";
    const cJSON *json = trace_parse(trace_text(&rank[0].trace));
    check_has(row_text(trace_row(json, "M", "process_labels", 0), "labels"), "a\"b\\c?d????{}");
    ck_assert_str_eq(row_text(json, "traceName"), "x\"y\\_rank_0_trace.json");
}

TEST(long_names_are_cut)
{
    static char longest[3000];
    memset(longest, '"', sizeof longest - 1);
    rank_trace_two_ranks(&rank[0], 0);
    rank[0].trace.host = rank[0].trace.name = rank[0].trace.implementation = longest;
    trace_parse(trace_text(&rank[0].trace));
}

/* ---- a merged trace of all ranks ---- */

/* A merged trace has the rows of all its ranks, with different process ids and other ids even if hosts use the same
 * numbers. In the second case rank 0 is left out, as by --profile-ranks. */
TEST_EACH(ranks_are_one_trace, 2)
{
    static const char *const name[] = {"cpu_all_ranks_trace.json", "cpu_later_ranks_trace.json"};
    for (int r = 0; r < 3; r++) {
        rank_trace_begin(&rank[r], r, 3);
        rank[r].trace.pid = rank[r].trace.thread = 77;
        made_up_two_ranks(&rank[r].timeline, r % 2);
        rank_trace_finish(&rank[r], 1);
    }
    trace_is(trace_text_merged(rank, _i, 3), name[_i]);
}

SUITE("trace", NULL, teardown)
