/* test_rows.c - the rows of traces: steps and epochs, phases, ranges, operations with shapes and FLOPs, collectives
 * with all JSON members that trace viewers read, memory and counters, and an empty last step. */
#include "tests/support/made_up.h"
#include "tests/support/suite.h"
#include "tests/support/traces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static struct rank_trace rank;
static cJSON *json;

static void write_and_parse(void)
{
    json = trace_parse(trace_text(&rank.trace));
}

static void teardown(void)
{
    rank_trace_destroy(&rank);
}

/* Returns the only row with this ph (event type) and name; fails if there is no such row, or more than one. */
static const cJSON *only(const char *ph, const char *name)
{
    ck_assert_msg(trace_rows(json, ph, name) == 1, "%d rows named %s", trace_rows(json, ph, name), name);
    return trace_row(json, ph, name, 0);
}

static void check_span(const cJSON *row, const char *category, double ts, double dur)
{
    ck_assert_str_eq(row_text(row, "cat"), category);
    ck_assert_double_eq_tol(row_number(row, "ts"), ts, 1e-9);
    ck_assert_double_eq_tol(row_number(row, "dur"), dur, 1e-9);
    ck_assert_double_eq(row_number(row, "pid"), (double)rank.trace.pid);
}

/* ---- the made-up step with the known answers ---- */

/* The trace has phases, operations and two collectives. In the second collective, rank 0 waits 50 us for rank 1; which
 * rank was last in the first collective is unknown. The trace leaves out the times at which gradients were ready, which
 * only this program reads, and allocations of memory, which were not requested. */
TEST_EACH(two_ranks_with_known_answers, 2)
{
    static const char *const name[] = {"cpu_rank_0_trace.json", "cpu_rank_1_trace.json"};
    rank_trace_two_ranks(&rank, _i);
    timeline_add(&rank.timeline, LANE_MEMORY, (struct span){.name = "allocate", .size = {16, 64}});
    trace_is(trace_text(&rank.trace), name[_i]);
}

/* An empty step follows the last step, since Holistic Trace Analysis drops rows that start in the last step. */
TEST(an_empty_step_follows_the_last)
{
    rank_trace_two_ranks(&rank, 0);
    made_up_collective(&rank.timeline, 3, 2, 4, 2890 * US, 3456 * US); /* ends after the step */
    collectives_destroy(&rank.collectives);
    rank_trace_finish(&rank, 1);
    write_and_parse();
    const cJSON *sentinel = only("X", "ProfilerStep#2"), *row;
    check_span(sentinel, "user_annotation", 3457, 1);
    cJSON_ArrayForEach(row, row_member(json, "traceEvents")) if (!strcmp(row_text(row, "ph"), "X") && row != sentinel)
        ck_assert_double_lt(row_number(row, "ts") + row_number(row, "dur"), 3457);
}

/* ---- steps and epochs ---- */

TEST(epochs_hold_their_steps)
{
    static const struct {
        long number, epoch;
        int warmup;
        float rate;
    } steps[] = {{0, 0, 1, 0}, {1, 0, 1, 0.125f}, {2, 1, 1, 0.25f}, {4, 2, 0, 0.5f}, {6, 2, 0, 0.5f}, {7, 2, 0, 0.5f}};
    static const struct {
        const char *name;
        double ts, dur;
    } epochs[] = {{"warmup_epoch_1 (lr=0)", 10, 15},
                  {"warmup_epoch_2 (lr=0.25)", 30, 5},
                  {"active_epoch_3 (lr=0.5)", 40, 5},   /* part of epoch 3 before its uncaptured step */
                  {"active_epoch_3 (lr=0.5)", 50, 15}}; /* part of epoch 3 after its uncaptured step */
    rank_trace_begin(&rank, 0, 2);
    for (size_t i = 0; i < LENGTH(steps); i++) {
        rank.step[i].number = steps[i].number;
        rank.step[i].epoch = steps[i].epoch;
        rank.step[i].warmup = steps[i].warmup;
        rank.step[i].learning_rate = steps[i].rate;
        rank.timeline.step = (int)i;
        made_up_phase(&rank.timeline, PHASE_FORWARD, ((int64_t)i + 1) * 10 * US, ((int64_t)i + 1) * 10 * US + 5 * US);
    }
    rank_trace_finish(&rank, (int)LENGTH(steps));
    write_and_parse();
    int others = 0;
    for (size_t i = 0; i < LENGTH(epochs); i++) {
        others = i && !strcmp(epochs[i].name, epochs[i - 1].name) ? others + 1 : 0;
        const cJSON *row = trace_row(json, "X", epochs[i].name, others);
        ck_assert_msg(row != NULL, "no row %s", epochs[i].name);
        check_span(row, "user_annotation", epochs[i].ts, epochs[i].dur);
    }
    for (size_t i = 0; i < LENGTH(steps); i++) {
        char name[40];
        snprintf(name, sizeof name, "ProfilerStep#%ld", steps[i].number + 1);
        check_span(only("X", name), "user_annotation", 10 * ((double)i + 1), 5);
    }
    ck_assert_int_eq(trace_rows(json, "X", NULL), 4 + 2 * (int)LENGTH(steps) + 1);
}

TEST(ranges_have_their_number)
{
    rank_trace_begin(&rank, 0, 1);
    made_up_range(&rank.timeline, "embedding", -1, 1000, 2000);
    made_up_range(&rank.timeline, "attention", 11, 2000, 3000);
    made_up_range(&rank.timeline, "block", 11, 2000, 4000);
    rank_trace_finish(&rank, 1);
    write_and_parse();
    check_span(only("X", "embedding"), "cpu_op", 1, 1);
    check_span(only("X", "layers.11.attention"), "cpu_op", 2, 1);
    check_span(only("X", "layers.11.block"), "cpu_op", 2, 2);
}

/* ---- operations ---- */

/* A trace has the shapes and FLOPs of operations, the allocated memory as it grows, and counters. The
 * counters of the second step leave out its loss and gradient norm, which are not finite. */
TEST(shapes_memory_and_counters)
{
    static const size_t linear[SPAN_SIZES] = {3, 5, 7}, heads[SPAN_SIZES] = {2, 17, 4, 6}, one[SPAN_SIZES] = {9};
    static const size_t rows[SPAN_SIZES] = {9, 2};
    static const size_t table[SPAN_SIZES] = {3, 11}, bytes[] = {100, 7, 4096};
    rank_trace_begin(&rank, 0, 1);
    made_up_operation(&rank.timeline, OPERATION_LINEAR_FORWARD, linear, 1000, 2000);
    made_up_operation(&rank.timeline, OPERATION_ATTENTION_FORWARD, heads, 2000, 3000);
    made_up_operation(&rank.timeline, OPERATION_UNPACK_BF16, rows, 3000, 4000);
    made_up_operation(&rank.timeline, OPERATION_EMBEDDING_BACKWARD, table, 4000, 5000);
    made_up_operation(&rank.timeline, OPERATION_ZERO, one, 5000, 5000);
    made_up_phase(&rank.timeline, PHASE_FORWARD, 1000, 5000);
    rank.timeline.step = 1;
    made_up_phase(&rank.timeline, PHASE_FORWARD, 6000, 7000);
    for (size_t i = 0; i < LENGTH(bytes); i++)
        timeline_add(
            &rank.timeline, LANE_MEMORY,
            (struct span){.name = "allocate", .start_ns = 500, .end_ns = 500, .size = {bytes[i], 64 * (i + 1)}});
    rank.step[1].grad_norm = NAN;
    rank.step[1].loss = INFINITY;
    rank_trace_finish(&rank, 2);
    trace_is(trace_text(&rank.trace), "cpu_shapes_and_counters_trace.json");
}

/* ---- collectives ---- */

/* Before the ranks have exchanged their times, as in a trace written during training, rows have no waiting times. */
TEST(waiting_is_left_out_before_it_is_known)
{
    rank_trace_two_ranks(&rank, 0);
    collectives_destroy(&rank.collectives);
    rank_trace_finish(&rank, 1);
    write_and_parse();
    for (int i = 0; i < 2; i++) {
        const cJSON *row = trace_row(json, "X", "mpi:all_reduce", i);
        ck_assert_ptr_null(row_argument(row, "wait_us"));
        ck_assert_ptr_null(row_argument(row, "transfer_us"));
        ck_assert_ptr_null(row_argument(row, "last_rank"));
    }
}

TEST(collectives_of_two_bytes_and_of_no_time)
{
    rank_trace_begin(&rank, 1, 2);
    made_up_collective(&rank.timeline, 1, 0, 9, 10000, 10000);
    rank.timeline.lane[LANE_COMMUNICATION].span[0].size[SIZE_BYTES] = 18;
    rank_trace_finish(&rank, 1);
    rank.trace.comm = "self";
    rank.trace.comm_thread = 0;
    write_and_parse();
    const cJSON *row = only("X", "self:all_reduce");
    ck_assert_double_eq(row_number(row, "In msg nelems"), 9);
    ck_assert_str_eq(row_text(row, "dtype"), "BFloat16");
    ck_assert_double_eq(row_number(row, "algbw"), 0);
    ck_assert_double_eq(row_number(row, "bytes"), 18);
}

SUITE("trace rows", NULL, teardown)
