/* by_name.c - tests the totals of spans by name (totals_create), on 1 and 3 ranks: nested spans, sums, sort orders. */
#include "spans/spans.h"

#include "kernels/error.h"
#include "tests/support/made_up.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct job job;
static struct timeline timeline;
static struct totals totals;

static void setup(void)
{
    made_up_create(&timeline, 200);
}

static void teardown(void)
{
    timeline_destroy(&timeline);
}

static const struct name_total *find_total(const char *name, enum total_kind kind)
{
    for (int i = 0; i < totals.n; i++)
        if (!strcmp(totals.row[i].name, name) && totals.row[i].kind == kind)
            return &totals.row[i];
    ck_abort_msg("no %s of kind %d", name, (int)kind);
}

static void check_total(const char *name, enum total_kind kind, double calls, double total, double self)
{
    const struct name_total *a = find_total(name, kind);
    int same_total = fabs(1e9 * a->total - total) < 1e-3;
    int same_self = fabs(1e9 * a->self - self) < 1e-3 || (isnan(a->self) && isnan(self));
    ck_assert_msg(a->calls == calls && same_total && same_self, "%s: %g calls, %g s, self %g s, not %g, %g ns, %g ns",
                  name, a->calls, a->total, a->self, calls, total, self);
}

/* ---- sums ---- */

/* Records a step at `at`: a forward pass with two layers that call the same operation, a nested operation, spans that
 * begin and end together, a span of length 0, and a concurrent collective. linear_forward takes r ns more on rank r. */
static void record_step(int step, int64_t at)
{
    static const size_t linear[SPAN_SIZES] = {3, 5, 7}, one[SPAN_SIZES] = {1};
    int64_t more = job.rank;
    timeline.step = step;
    for (int l = 0; l < 2; l++) {
        int64_t layer = at + 100 * l;
        made_up_operation(&timeline, OPERATION_LINEAR_FORWARD, linear, layer + 10, layer + 30 + more);
        made_up_range(&timeline, "attention", l, layer + 10, layer + 50);
        made_up_operation(&timeline, OPERATION_COPY, one, layer + 50, layer + 60);
        made_up_operation(&timeline, OPERATION_COPY, one, layer + 60, layer + 60);
        made_up_range(&timeline, "block", l, layer, layer + 100);
    }
    made_up_phase(&timeline, PHASE_FORWARD, at, at + 200); /* from the start of layer 0 to the end of layer 1 */
    made_up_ready(&timeline, 3, at + 250);
    made_up_phase(&timeline, PHASE_BACKWARD, at + 200, at + 300);
    made_up_collective(&timeline, (size_t)step + 1, 0, 9, at + 210, at + 400);
    made_up_operation(&timeline, OPERATION_ZERO, one, at + 300, at + 350); /* an operation as long as its phase */
    made_up_phase(&timeline, PHASE_GRADIENT_SYNC, at + 300, at + 350);
}

TEST(self_time_excludes_nested_spans)
{
    double ranks = job.size, more = 0; /* more: sum over ranks of the ns added to linear_forward */
    for (int r = 0; r < job.size; r++)
        more += r;
    for (int s = 0; s < 4; s++)
        record_step(s, 1000 * (s + 1));
    totals_create(&totals, &job, &timeline, sizeof(float), 1, 1, 2); /* steps 1 and 2 */
    ck_assert_int_eq(totals.n, 9);
    ck_assert_double_eq_tol(totals.step, 2 * 350e-9 * ranks, 1e-15);
    check_total("forward_pass", KIND_PHASE, 2 * ranks, 400 * ranks, 0);
    check_total("backward_pass", KIND_PHASE, 2 * ranks, 200 * ranks, 200 * ranks);
    check_total("gradient_sync", KIND_PHASE, 2 * ranks, 100 * ranks, 0);
    check_total("block", KIND_PART, 4 * ranks, 400 * ranks, 4 * (100 - 40 - 10) * ranks);
    check_total("attention", KIND_PART, 4 * ranks, 160 * ranks, 4 * (40 - 20) * ranks - 4 * more);
    check_total("linear_forward", KIND_OPERATION, 4 * ranks, 80 * ranks + 4 * more, 80 * ranks + 4 * more);
    check_total("copy", KIND_OPERATION, 8 * ranks, 40 * ranks, 40 * ranks);
    check_total("zero", KIND_OPERATION, 2 * ranks, 100 * ranks, 100 * ranks);
    check_total("all_reduce", KIND_COLLECTIVE, 2 * ranks, 380 * ranks, NAN); /* collectives have no self time */
    ck_assert_double_eq(find_total("linear_forward", KIND_OPERATION)->flops, 4 * 210 * ranks);
    ck_assert_double_eq(find_total("linear_forward", KIND_OPERATION)->bytes, 4 * 284 * ranks);
    ck_assert_double_eq(find_total("all_reduce", KIND_COLLECTIVE)->bytes, 2 * 36 * ranks);
    ck_assert_double_eq(find_total("block", KIND_PART)->bytes, 0);
    double self = 0; /* each ns counts in exactly one row; collectives do not count */
    for (int i = 0; i < totals.n; i++)
        self += totals.row[i].kind != KIND_COLLECTIVE ? totals.row[i].self : 0;
    ck_assert_double_eq_tol(self, totals.step, 1e-15);
}

/* Spans nest by the host's times, since on a GPU's clock an operation may appear to begin before its phase. */
TEST(spans_nest_by_host_times)
{
    timeline_add(&timeline, LANE_COMPUTE,
                 (struct span){.name = "zero", .queued_ns = 12, .returned_ns = 14, .start_ns = 997, .end_ns = 1090});
    timeline_add(&timeline, LANE_HOST,
                 (struct span){.name = phase_name[PHASE_FORWARD],
                               .queued_ns = 10,
                               .returned_ns = 20,
                               .start_ns = 1000,
                               .end_ns = 1100,
                               .index = PHASE_FORWARD});
    totals_create(&totals, &job, &timeline, sizeof(float), 1, 0, 1);
    check_total("zero", KIND_OPERATION, job.size, 93 * job.size, 93 * job.size);
    check_total("forward_pass", KIND_PHASE, job.size, 100 * job.size, 7 * job.size);
}

/* ---- order ---- */

/* A collective of one rank takes no time and has no rate. */
TEST(rows_are_sorted_by_self_time)
{
    static const size_t one[SPAN_SIZES] = {1};
    static const char *const order[] = {"forward_pass", "adamw", "zero", "copy", "all_reduce"};
    made_up_operation(&timeline, OPERATION_COPY, one, 110, 120);
    made_up_operation(&timeline, OPERATION_ZERO, one, 120, 150);
    made_up_operation(&timeline, OPERATION_ADAMW, one, 150, 180);
    made_up_collective(&timeline, 1, 0, 4, 150, 150);
    made_up_phase(&timeline, PHASE_FORWARD, 100, 300);
    totals_create(&totals, &job, &timeline, sizeof(float), 1, 0, 1);
    ck_assert_int_eq(totals.n, 5);
    for (int i = 0; i < totals.n; i++)
        ck_assert_str_eq(totals.row[i].name, order[i]);
    ck_assert_double_eq_tol(totals.row[0].share, 0.65, 1e-9);
    ck_assert_double_eq_tol(totals.row[3].mean, 10e-9, 1e-18);
    ck_assert_double_eq_tol(totals.row[3].bytes_per_second, totals.row[3].bytes / totals.row[3].total, 1);
    ck_assert_double_nan(totals.row[4].bytes_per_second);
}

/* Two micro-batches of two steps keep their activations in the same memory; an operation in place keeps nothing. */
TEST(rows_are_sorted_by_any_column)
{
    static const size_t linear[SPAN_SIZES] = {2, 3, 5}, rope[SPAN_SIZES] = {1, 2, 3, 4};
    static const struct {
        size_t member;
        const char *first;
    } sorted[] = {{offsetof(struct name_total, total), "forward_pass"},
                  {offsetof(struct name_total, calls), "linear_forward"},
                  {offsetof(struct name_total, flops_per_second), "linear_forward"},
                  {offsetof(struct name_total, mean), "forward_pass"},
                  {offsetof(struct name_total, memory), "linear_forward"}};
    for (int i = 0; i < 4; i++) {
        timeline.step = i / 2;
        made_up_operation(&timeline, OPERATION_LINEAR_FORWARD, linear, 110 + 10 * i, 113 + 10 * i);
    }
    made_up_operation(&timeline, OPERATION_ROPE_FORWARD, rope, 160, 180);
    made_up_collective(&timeline, 1, 0, 4, 150, 150);
    made_up_phase(&timeline, PHASE_FORWARD, 100, 300);
    totals_create(&totals, &job, &timeline, sizeof(float), 2, 0, 2);
    for (size_t i = 0; i < sizeof sorted / sizeof *sorted; i++) {
        totals_sort(&totals, sorted[i].member);
        ck_assert_str_eq(totals.row[0].name, sorted[i].first);
    }
    ck_assert_double_eq(totals.row[0].memory, 4 * 2 * 5);
    ck_assert_double_eq(totals.row[1].memory, 0);
    ck_assert_double_nan(totals.row[2].memory);
}

SUITE_OF_RANKS("by_name", job, setup, teardown)
