/* test_intervals.c - unions and intersections of intervals, compared with counted ns; overlap of made-up steps. */
#include "kernels/error.h"
#include "kernels/random.h"
#include "spans/spans.h"
#include "tests/support/made_up.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- unions ---- */

TEST(far_from_zero_and_backwards)
{
    struct interval v[] = {{INT64_MAX - 3, INT64_MAX}, {7, 3}, {INT64_MIN, INT64_MIN + 2}};
    ck_assert_uint_eq(intervals_unite(v, 3), 2);
    ck_assert(v[0].start == INT64_MIN && v[0].end == INT64_MIN + 2);
    ck_assert(v[1].start == INT64_MAX - 3 && v[1].end == INT64_MAX);
}

/* ---- random short intervals, counted by nanosecond ---- */

enum { SPACE = 60, RANDOM_MOST = 12 };

static size_t draw(uint64_t *state, size_t below)
{
    return (size_t)(random_bits(*state += RANDOM_STEP) % below);
}

static size_t random_intervals(uint64_t *state, struct interval *v, char covered[SPACE])
{
    size_t n = draw(state, RANDOM_MOST);
    memset(covered, 0, SPACE);
    for (size_t i = 0; i < n; i++) {
        size_t start = draw(state, SPACE), length = draw(state, 9);
        size_t end = start + length < SPACE ? start + length : SPACE;
        v[i] = (struct interval){(int64_t)start, (int64_t)end};
        memset(covered + start, 1, end - start);
    }
    return n;
}

/* Checks that v is a union: its intervals are sorted, with gaps between them, and none is empty. */
static void check_union(const struct interval *v, size_t n, const char covered[SPACE])
{
    int64_t length = 0;
    for (int i = 0; i < SPACE; i++)
        length += covered[i];
    ck_assert_int_eq(intervals_common(v, n, v, n), length);
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_lt(v[i].start, v[i].end);
        ck_assert(i == 0 || v[i - 1].end < v[i].start);
        for (int64_t t = v[i].start; t < v[i].end; t++)
            ck_assert(covered[t]);
    }
}

TEST(random_ones_agree_with_a_count)
{
    uint64_t state = 5;
    for (int round = 0; round < 20000; round++) {
        struct interval a[RANDOM_MOST], b[RANDOM_MOST];
        char in_a[SPACE], in_b[SPACE];
        int64_t common = 0;
        size_t na = random_intervals(&state, a, in_a), nb = random_intervals(&state, b, in_b);
        na = intervals_unite(a, na);
        nb = intervals_unite(b, nb);
        check_union(a, na, in_a);
        check_union(b, nb, in_b);
        for (int i = 0; i < SPACE; i++)
            common += in_a[i] && in_b[i];
        ck_assert_int_eq(intervals_common(a, na, b, nb), common);
        ck_assert_int_eq(intervals_common(b, nb, a, na), common);
    }
}

/* ---- steps ---- */

static struct timeline timeline;
static struct overlap overlap[8];

static void compute_overlap(int steps)
{
    struct step_times times[8];
    memset(overlap, 0x55, sizeof overlap); /* makes members that stay unset fail the checks */
    steps_from_timeline(&timeline, times, steps);
    overlap_of_steps(&timeline, times, steps, &timeline.lane[LANE_COMPUTE], 1, overlap);
}

static void check_ns(double seconds, int64_t ns)
{
    ck_assert_double_eq_tol(1e9 * seconds, (double)ns, 1e-6);
}

static void setup(void)
{
    made_up_create(&timeline, 200);
}

static void teardown(void)
{
    timeline_destroy(&timeline);
}

TEST_EACH(two_ranks_with_known_answers, 2)
{
    static const int64_t communication[] = {600 * US, 550 * US}, exposed[] = {300 * US, 250 * US};
    static const double percent[] = {50.00, 54.55};
    made_up_two_ranks(&timeline, _i);
    compute_overlap(1);
    check_ns(overlap->step, 1900 * US);
    check_ns(overlap->communication, communication[_i]);
    check_ns(overlap->compute, 1250 * US);
    check_ns(overlap->overlap, 300 * US);
    check_ns(overlap->exposed, exposed[_i]);
    check_ns(overlap->alone, 950 * US);
    check_ns(overlap->idle, 650 * US - exposed[_i]);
    check_ns(overlap->exposed_tail, 308 * US);
    ck_assert_double_eq(overlap->collectives, 2);
    ck_assert_double_eq_tol(100 * overlap->span, percent[_i], 0.005); /* the known values have two decimals */
}

/* Simultaneous collectives count once; if they end before backward does, the exposed tail is 0; steps stay separate. */
TEST(steps_are_apart)
{
    static const size_t sizes[SPAN_SIZES] = {1};
    for (int s = 0; s < 4; s++) {
        int64_t at = (s + 1) * 1000;
        timeline.step = s;
        made_up_phase(&timeline, PHASE_FORWARD, at, at + 100);
        made_up_operation(&timeline, OPERATION_ZERO, sizes, at + 10, at + 90);
        if (s == 1 || s == 3) {
            made_up_collective(&timeline, (size_t)s * 2, 0, 1, at + 50, at + 250);
            made_up_collective(&timeline, (size_t)s * 2 + 1, 1, 1, at + 150, at + 350);
        }
        made_up_phase(&timeline, PHASE_BACKWARD, at + 100, at + (s == 3 ? 400 : 300));
        made_up_phase(&timeline, PHASE_GRADIENT_SYNC, at + (s == 3 ? 400 : 300), at + 500);
    }
    compute_overlap(4);
    for (int s = 0; s < 4; s++) {
        int reduces = s == 1 || s == 3;
        check_ns(overlap[s].step, 500);
        check_ns(overlap[s].compute, 80);
        check_ns(overlap[s].communication, reduces ? 300 : 0);
        check_ns(overlap[s].overlap, reduces ? 40 : 0);
        check_ns(overlap[s].exposed, reduces ? 260 : 0);
        check_ns(overlap[s].idle, reduces ? 160 : 420);
        check_ns(overlap[s].exposed_tail, s == 1 ? 50 : 0);
        ck_assert_double_eq(overlap[s].collectives, reduces ? 2 : 0);
    }
    struct overlap mean = overlap_mean(overlap, 0, 4), one = overlap_mean(overlap, 2, 1),
                   none = overlap_mean(overlap, 3, 0);
    check_ns(mean.step, 500);
    check_ns(mean.compute, 80);
    check_ns(mean.communication, 150);
    check_ns(mean.overlap, 20);
    check_ns(mean.idle, 290);
    check_ns(4 * mean.exposed_tail, 50);
    ck_assert_double_eq(mean.collectives, 1);
    check_ns(one.step, 500);
    check_ns(one.communication, 0);
    check_ns(none.step, 0);
}

/* On a GPU, computation is the time in its kernels, without the gaps between them. Without records of kernels, the
 * computation and all figures derived from it are unknown. */
TEST(computation_is_what_is_given)
{
    struct step_times times;
    struct span kernels[] = {{.start_ns = 110, .end_ns = 120}, {.start_ns = 190, .end_ns = 220}};
    const struct lane given = {.span = kernels, .n = 2};
    made_up_phase(&timeline, PHASE_BACKWARD, 100, 300);
    made_up_operation(&timeline, OPERATION_ZERO, (const size_t[SPAN_SIZES]){1}, 110, 220);
    made_up_collective(&timeline, 1, 0, 1, 200, 250);
    steps_from_timeline(&timeline, &times, 1);
    overlap_of_steps(&timeline, &times, 1, &given, 1, overlap);
    check_ns(overlap->compute, 40);
    check_ns(overlap->overlap, 20);
    ck_assert_double_eq_tol(overlap->utilisation, 0.2, 1e-12);
    overlap_of_steps(&timeline, &times, 1, NULL, 1, overlap);
    struct overlap mean = overlap_mean(overlap, 0, 1);
    for (const struct overlap *o = overlap; o; o = o == overlap ? &mean : NULL) {
        check_ns(o->communication, 50);
        check_ns(o->exposed_tail, 0);
        ck_assert(isnan(o->compute) && isnan(o->overlap) && isnan(o->exposed));
        ck_assert(isnan(o->span) && isnan(o->coverage) && isnan(o->utilisation));
    }
}

/* Weights are gathered during the next step's forward: a gather counts in each step while it is in flight. It has no
 * exposed tail, which is of reductions. */
TEST(gathers_overlap_the_next_step)
{
    made_up_phase(&timeline, PHASE_BACKWARD, 100, 300);
    made_up_collective(&timeline, 1, 0, 1, 280, 400);
    timeline.lane[LANE_COMMUNICATION].span[0].size[SIZE_KIND] = COMM_ALL_GATHER;
    timeline.step = 1;
    made_up_operation(&timeline, OPERATION_ZERO, (const size_t[SPAN_SIZES]){1}, 310, 340);
    made_up_phase(&timeline, PHASE_BACKWARD, 300, 500);
    compute_overlap(2);
    check_ns(overlap->communication, 20);
    check_ns(overlap->exposed, 20);
    check_ns(overlap->exposed_tail, 0);
    check_ns(overlap[1].communication, 100);
    check_ns(overlap[1].overlap, 30);
    check_ns(overlap[1].exposed, 70);
}

/* All communication is exposed if no operations are recorded, as in a run without tracing. */
TEST(communication_is_exposed_without_operations)
{
    made_up_phase(&timeline, PHASE_BACKWARD, 100, 300);
    made_up_collective(&timeline, 1, 0, 1, 200, 250);
    compute_overlap(1);
    check_ns(overlap->communication, 50);
    check_ns(overlap->compute, 0);
    check_ns(overlap->exposed, 50);
    check_ns(overlap->exposed_tail, 0);
}

static const struct {
    double step, communication, compute, overlap, want[3]; /* want: span, coverage, utilisation */
} ratios[] = {
    {1000, 400, 800, 100, {0.25, 0.125, 0.8}},
    {1000, 400, 800, 400, {1, 0.5, 0.8}},
    {1000, 400, 800, 0, {0, 0, 0.8}},
    {1000, 1000, 1000, 1000, {1, 1, 1}},
    {1000, 0, 800, 0, {NAN, NAN, 0.8}}, /* no communication */
    {1000, 400, 0, 0, {0, NAN, 0}},     /* no computation, or none recorded */
    {1000, 0, 0, 0, {NAN, NAN, 0}},
    {0, 0, 0, 0, {NAN, NAN, NAN}},
};

TEST_EACH(ratios_have_known_values, LENGTH(ratios))
{
    const double *want = ratios[_i].want;
    struct overlap o = {.step = ratios[_i].step,
                        .communication = ratios[_i].communication,
                        .compute = ratios[_i].compute,
                        .overlap = ratios[_i].overlap};
    o = overlap_mean(&o, 0, 1);
    const double have[] = {o.span, o.coverage, o.utilisation};
    for (int i = 0; i < 3; i++)
        ck_assert_msg(isnan(want[i]) ? isnan(have[i]) : fabs(have[i] - want[i]) < 1e-15, "ratio %d of case %d is %g", i,
                      _i, have[i]);
}

TEST(a_lane_is_read_step_by_step)
{
    struct interval v[8];
    size_t at = 0;
    for (int s = 0; s < 5; s += 2) { /* steps 0, 2 and 4 */
        timeline.step = s;
        made_up_collective(&timeline, 1, 0, 1, s * 100, s * 100 + 10);
        made_up_collective(&timeline, 2, 0, 1, s * 100 + 5, s * 100 + 20);
        made_up_collective(&timeline, 3, 0, 1, s * 100 + 30, s * 100 + 30);
    }
    const struct lane *lane = &timeline.lane[LANE_COMMUNICATION];
    ck_assert_uint_eq(intervals_of_lane(lane, 1, &at, v), 0); /* skips step 0; step 1 has no interval */
    ck_assert_uint_eq(intervals_of_lane(lane, 2, &at, v), 1);
    ck_assert_int_eq(v[0].start, 200);
    ck_assert_int_eq(v[0].end, 220);
    ck_assert_uint_eq(intervals_of_lane(lane, 4, &at, v), 1);
    ck_assert_uint_eq(intervals_of_lane(lane, 5, &at, v), 0);
    ck_assert_uint_eq(at, 9);
}

/* Collectives of two kinds overlap each other for 20 ns and computation for 30 and 10 ns. */
TEST(kinds_of_collectives_have_their_own_overlap)
{
    made_up_phase(&timeline, PHASE_BACKWARD, 0, 100);
    made_up_operation(&timeline, OPERATION_ZERO, (const size_t[SPAN_SIZES]){1}, 0, 50);
    made_up_collective(&timeline, 1, 0, 1, 20, 60);
    made_up_collective(&timeline, 2, 0, 1, 40, 90);
    timeline.lane[LANE_COMMUNICATION].span[1].size[SIZE_KIND] = COMM_ALL_GATHER;
    compute_overlap(1);
    struct overlap mean = overlap_mean(overlap, 0, 1);
    for (const struct overlap *o = overlap; o; o = o == overlap ? &mean : NULL) {
        check_ns(o->communication, 70);
        for (int kind = 0; kind < COMM_KINDS; kind++) {
            check_ns(o->kind[kind].communication, kind == COMM_ALL_REDUCE ? 40 : kind == COMM_ALL_GATHER ? 50 : 0);
            check_ns(o->kind[kind].overlap, kind == COMM_ALL_REDUCE ? 30 : kind == COMM_ALL_GATHER ? 10 : 0);
        }
    }
}

SUITE("intervals", setup, teardown)
