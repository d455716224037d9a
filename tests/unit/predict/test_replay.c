/* test_replay.c - steps of two buckets; every time is known by hand. */
#include "predict/replay.h"

#include "tests/support/suite.h"

#include <math.h>

/* Forward 1 s; gradient 1 is final after 2 s, gradient 0 after 3 s, when backward ends; update 0.5 s, rest 0.25 s. */
static double ready[] = {3, 2};
static const struct step_compute compute = {1, 3, 0.5, 0.25, ready, 2};

static struct replay_bucket bucket[2];

/* Returns a plan with a bucket for each tensor. The reductions take these seconds. */
static struct replay_plan plan_of(double first, double second)
{
    bucket[0] = (struct replay_bucket){.last_tensor = 1, .bytes = 8, .share = 0.5, .reduce = first};
    bucket[1] = (struct replay_bucket){.last_tensor = 0, .bytes = 8, .share = 0.5, .reduce = second};
    return (struct replay_plan){.bucket = bucket, .n = 2, .update_share = 1};
}

#define check_near(a, b) ck_assert_double_eq_tol(a, b, 1e-12)

TEST(without_communication_a_step_is_its_computation)
{
    struct replay_plan plan = plan_of(0, 0);
    struct replay_step s = replay(&compute, &plan, (struct replay_overlap){0.5, 1}, NULL);
    check_near(s.step, 3.75);
    check_near(s.exposed + s.slowed + s.hidden + s.communication + s.gather_wait, 0);
}

TEST(a_bucket_is_reduced_when_its_last_gradient_is_final)
{
    struct replay_plan plan = plan_of(0.6, 0.4);
    struct replay_step s = replay(&compute, &plan, (struct replay_overlap){0, 1}, NULL);
    check_near(s.step, 4.15); /* the second reduction: from 3 to 3.4 */
    check_near(s.exposed, 0.4);
    check_near(s.hidden, 0.6);
    check_near(s.communication, 1);
}

TEST(a_bucket_waits_for_the_link)
{
    struct replay_plan plan = plan_of(2, 0.4);
    struct replay_step s = replay(&compute, &plan, (struct replay_overlap){0, 1}, NULL);
    check_near(s.step, 5.15); /* 2 to 4, then to 4.4 */
    check_near(s.exposed, 1.4);
    check_near(s.hidden, 1);
}

TEST(communication_slows_computation_down_while_it_goes_on)
{
    struct replay_plan plan = plan_of(0.6, 0.4);
    struct replay_step s = replay(&compute, &plan, (struct replay_overlap){0.5, 1}, NULL);
    check_near(s.slowed, 0.2); /* in 0.6 s, 0.4 s of work are done */
    check_near(s.step, 4.35);
}

TEST(after_backward_nothing_is_hidden)
{
    struct replay_plan plan = plan_of(0.6, 0.4);
    plan.after_backward = 1;
    struct replay_step s = replay(&compute, &plan, (struct replay_overlap){0.5, 1}, NULL);
    check_near(s.step, 4.75);
    check_near(s.exposed, 1);
    check_near(s.hidden, 0);
}

TEST(a_collective_goes_on_more_slowly_during_computation)
{
    struct replay_plan plan = plan_of(0.6, 0.4);
    struct replay_step s = replay(&compute, &plan, (struct replay_overlap){0, 0.5}, NULL);
    check_near(s.exposed, 0.5); /* backward ends after 0.5 s of the first; the second follows */
    s = replay(&compute, &plan, (struct replay_overlap){0, 0.75}, NULL);
    check_near(s.exposed, 0.4);
    check_near(s.hidden, 0.8);
    s = replay(&compute, &plan, (struct replay_overlap){0.25, 0.4}, NULL); /* in 1.25 s, 0.5 s of the first */
    check_near(s.exposed, 0.5);
    check_near(s.slowed, 0.25);
}

TEST(stages_within_and_between_hosts_overlap)
{
    struct replay_plan plan = plan_of(0.6, 0.4);
    bucket[0].within = 0.3;
    bucket[1].within = 0.5;
    check_near(replay(&compute, &plan, (struct replay_overlap){0, 1}, NULL).exposed,
               0.5); /* the first: 0.9 s, from 2 on; the second: the longer, 0.5 s */
    plan.after_backward = 1;
    check_near(replay(&compute, &plan, (struct replay_overlap){0, 1}, NULL).exposed, 1.4);
}

TEST(a_bucket_that_is_summed_is_updated_in_backward)
{
    struct replay_plan plan = plan_of(0.6, 0.4);
    plan.updates_early = 1;
    struct replay_step s = replay(&compute, &plan, (struct replay_overlap){0, 1}, NULL);
    check_near(s.exposed, 0.15); /* update of the first from 3 to 3.25, sum of the second at 3.4 */
    check_near(s.step, 3.9);
}

TEST(updates_wait_for_sums_that_start_after_backward)
{
    struct replay_plan plan = plan_of(0.6, 0.4);
    plan.updates_early = plan.after_backward = 1;
    struct replay_step s = replay(&compute, &plan, (struct replay_overlap){0, 1}, NULL);
    check_near(s.exposed, 0.75); /* the first until 3.6, its update until 3.85, the second until 4 */
    check_near(s.step, 4.5);
}

TEST(a_forward_waits_for_gathered_weights)
{
    struct replay_plan plan = plan_of(0.6, 0.4);
    plan.shards = 1;
    plan.update_share = 0.5;
    bucket[0].gather = bucket[1].gather = 0.2;
    check_near(replay(&compute, &plan, (struct replay_overlap){0, 1}, NULL).step,
               3.9); /* gathers end before the next step */
    bucket[0].gather = bucket[1].gather = 1;
    struct replay_step s = replay(&compute, &plan, (struct replay_overlap){0, 1}, NULL);
    check_near(s.gather_wait, 1.125); /* embedding: gathered from 3.525 to 4.525, when the next step is 0.625 s old */
    check_near(s.step, 5.025);        /* the other tensor, from 4.525 to 5.525, is needed at 5.025 */
    bucket[0].gather = 1.5;
    check_near(replay(&compute, &plan, (struct replay_overlap){0, 1}, NULL).gather_wait, 1.625);
}

TEST(forward_needs_tensors_in_the_reverse_order_of_backward)
{
    double final[] = {9, 7, 6, 5};
    const struct step_compute c = {2, 9, 0, 0, final, 4};
    check_near(replay_needed(&c, 0), 0);
    check_near(replay_needed(&c, 1), 0.75); /* the last backward takes 4 s x 4 / 3 */
    check_near(replay_needed(&c, 2), 1.125);
    check_near(replay_needed(&c, 3), 1.5);
}

SUITE("replay", NULL, NULL)
