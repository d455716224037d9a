/* test_steps.c - times of steps from made-up spans with known results. */
#include "spans/spans.h"
#include "tests/support/suite.h"

#include <string.h>

static struct timeline timeline;

static void add_phase(enum step_phase phase, int64_t start, int64_t end, int slot)
{
    timeline.step = slot;
    timeline_add(&timeline, LANE_HOST,
                 (struct span){.name = phase_name[phase], .start_ns = start, .end_ns = end, .index = (int)phase});
}

static void add_ready(int64_t at, int tensor)
{
    timeline_add(&timeline, LANE_HOST,
                 (struct span){.name = ready_name, .start_ns = at, .end_ns = at, .index = tensor});
}

/* Adds three steps of two micro-batches and two tensors, from 1000 ns on; step s is s + 1 times as long as step 0. */
static void make_steps(void)
{
    const size_t capacity[TIMELINE_LANES] = {64, 4};
    timeline_create(&timeline, capacity);
    int64_t at = 1000;
    for (int slot = 0; slot < 3; slot++) {
        int64_t u = slot + 1;
        add_phase(PHASE_ZERO_GRAD, at, at + u, slot);
        add_phase(PHASE_DATA_LOADING, at + u, at + 3 * u, slot);
        add_phase(PHASE_PARAMETER_GATHER, at + 3 * u, at + (slot == 2 ? 5 : 3) * u, slot);
        add_phase(PHASE_FORWARD, at + (slot == 2 ? 5 : 3) * u, at + 10 * u, slot);
        add_phase(PHASE_BACKWARD, at + 10 * u, at + 30 * u, slot);
        add_phase(PHASE_DATA_LOADING, at + 30 * u, at + 31 * u, slot);
        add_phase(PHASE_FORWARD, at + 31 * u, at + 40 * u, slot);
        add_ready(at + 50 * u, 1); /* tensors are ready during backward, whose span is added when it ends */
        add_ready(at + 60 * u, 0);
        add_phase(PHASE_BACKWARD, at + 40 * u, at + 62 * u, slot);
        add_phase(PHASE_GRADIENT_SYNC, at + 62 * u, at + 70 * u, slot);
        if (slot == 1)
            add_phase(PHASE_CLIPPING, at + 70 * u, at + 72 * u, slot);
        add_phase(PHASE_OPTIMIZER, at + (slot == 1 ? 72 : 70) * u, at + 80 * u, slot);
        add_phase(PHASE_LR_SCHEDULING, at + 80 * u, at + 81 * u, slot);
        at += 81 * u;
    }
    timeline_add(&timeline, LANE_COMMUNICATION, (struct span){.name = "all_reduce", .start_ns = 1, .end_ns = 999999});
}

TEST(steps_sum_micro_batches)
{
    struct step_times steps[3];
    make_steps();
    memset(steps, 0xff, sizeof steps);
    steps_from_timeline(&timeline, steps, 3);
    static const int64_t phase[PHASES] = {1, 3, 0, 16, 42, 8, 0, 10, 1};
    int64_t start = 1000;
    for (int s = 0; s < 3; s++) {
        int64_t u = s + 1, sum = 0;
        ck_assert_int_eq(steps[s].start_ns, start);
        ck_assert_int_eq(steps[s].end_ns, start + 81 * u);
        ck_assert_int_eq(steps[s].forward_end_ns, start + 10 * u);
        ck_assert_int_eq(steps[s].backward_end_ns, start + 62 * u);
        for (int p = 0; p < PHASES; p++) {
            int64_t expected = p == PHASE_CLIPPING ? (s == 1 ? 2 : 0) : p == PHASE_OPTIMIZER && s == 1 ? 8 : phase[p];
            expected += s == 2 ? 2 * (p == PHASE_PARAMETER_GATHER) - 2 * (p == PHASE_FORWARD) : 0;
            ck_assert_int_eq(steps[s].phase_ns[p], expected * u);
            sum += steps[s].phase_ns[p];
        }
        ck_assert_int_eq(sum, steps[s].end_ns - steps[s].start_ns);
        start = steps[s].end_ns;
    }
    timeline_destroy(&timeline);
}

TEST(steps_of_nothing_are_zero)
{
    struct step_times steps[2];
    const size_t capacity[TIMELINE_LANES] = {4, 4};
    timeline_create(&timeline, capacity);
    memset(steps, 0xff, sizeof steps);
    steps_from_timeline(&timeline, steps, 2);
    for (int s = 0; s < 2; s++) {
        ck_assert_int_eq(steps[s].start_ns, 0);
        ck_assert_int_eq(steps[s].end_ns, 0);
        ck_assert_int_eq(steps[s].phase_ns[PHASE_FORWARD], 0);
    }
    timeline_destroy(&timeline);
}

/* In steps 1 and 2, tensor 1 is ready 100 and 150 ns after the start of the step, tensor 0 after 120 and 180 ns. */
TEST(ready_counts_from_the_start_of_the_step)
{
    struct step_times steps[3];
    double ready[2] = {1, 2}; /* means are added to these values */
    make_steps();
    steps_from_timeline(&timeline, steps, 3);
    steps_add_ready(&timeline, steps, 1, 3, 2, ready);
    ck_assert_double_eq_tol(ready[0], 1 + 150e-9, 1e-15);
    ck_assert_double_eq_tol(ready[1], 2 + 125e-9, 1e-15);
    memset(ready, 0, sizeof ready);
    steps_add_ready(&timeline, steps, 0, 3, 3, ready);
    ck_assert_double_eq_tol(ready[0], 120e-9, 1e-18);
    ck_assert_double_eq_tol(ready[1], 100e-9, 1e-18);
    timeline_destroy(&timeline);
}

SUITE("steps", NULL, NULL)
