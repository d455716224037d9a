/* test_replay.c - steps of two buckets; every time is known by hand. */
#include "predict/replay.h"

#include "tests/support/suite.h"

#include <math.h>

/* Forward 1 s; gradient 1 is final after 2 s, gradient 0 after 3 s, when backward ends; update 0.5 s, rest 0.25 s. */
static double ready[] = {3, 2};
static const struct step_compute compute = {1, 3, 0.5, 0.25, ready, 2};

enum { AFTER = 1, EARLY = 2, SHARDS = 4 }; /* bits: after_backward; updates_early; shards, each rank updates a half */

/* A bucket for each tensor, whose collectives take these seconds. Without communication a step takes 3.75 s. */
static const struct {
    const char *what;
    int flags;
    double reduce[2], within[2], gather[2];
    struct replay_overlap overlap;
    double communication, hidden, exposed, slowed, gather_wait, updated; /* updated: time of updates beyond 0.5 s */
} rows[] = {
    {"no communication", 0, {0, 0}, {0}, {0}, {0.5, 1}, 0, 0, 0, 0, 0, 0},
    /* the second reduction: from 3 to 3.4 */
    {"a bucket is reduced when its last gradient is final", 0, {0.6, 0.4}, {0}, {0}, {0, 1}, 1, 0.6, 0.4, 0, 0, 0},
    /* 2 to 4, then to 4.4 */
    {"a bucket waits for the link", 0, {2, 0.4}, {0}, {0}, {0, 1}, 2.4, 1, 1.4, 0, 0, 0},
    /* in 0.6 s, 0.4 s of work are done */
    {"communication slows computation down", 0, {0.6, 0.4}, {0}, {0}, {0.5, 1}, 1, 0.6, 0.4, 0.2, 0, 0},
    {"after backward nothing is hidden", AFTER, {0.6, 0.4}, {0}, {0}, {0.5, 1}, 1, 0, 1, 0, 0, 0},
    /* backward ends after 0.5 s of the first; the second follows */
    {"half the speed", 0, {0.6, 0.4}, {0}, {0}, {0, 0.5}, 1, 1, 0.5, 0, 0, 0},
    {"three quarters of the speed", 0, {0.6, 0.4}, {0}, {0}, {0, 0.75}, 1, 0.8, 0.4, 0, 0, 0},
    /* in 1.25 s, 0.5 s of the first */
    {"both slow each other down", 0, {0.6, 0.4}, {0}, {0}, {0.25, 0.4}, 1, 1.25, 0.5, 0.25, 0, 0},
    /* the first: 0.9 s, from 2 on; the second: the longer, 0.5 s */
    {"stages within and between hosts overlap", 0, {0.6, 0.4}, {0.3, 0.5}, {0}, {0, 1}, 1.4, 0.9, 0.5, 0, 0, 0},
    {"stages after backward", AFTER, {0.6, 0.4}, {0.3, 0.5}, {0}, {0, 1}, 1.4, 0, 1.4, 0, 0, 0},
    /* update of the first from 3 to 3.25, sum of the second at 3.4 */
    {"a bucket is updated in backward", EARLY, {0.6, 0.4}, {0}, {0}, {0, 1}, 1, 0.85, 0.15, 0, 0, 0},
    /* the first until 3.6, its update until 3.85, the second until 4 */
    {"updates wait for sums after backward", AFTER | EARLY, {0.6, 0.4}, {0}, {0}, {0, 1}, 1, 0.25, 0.75, 0, 0, 0},
    {"gathers end before the next step", SHARDS, {0.6, 0.4}, {0}, {0.2, 0.2}, {0, 1}, 1.4, 1, 0.4, 0, 0, -0.25},
    /* embedding: gathered from 3.525 to 4.525, when the next step is 0.625 s old; the other tensor, from 4.525
     * to 5.525, is needed at 5.025 */
    {"a forward waits for weights", SHARDS, {0.6, 0.4}, {0}, {1, 1}, {0, 1}, 3, 1.475, 0.4, 0, 1.125, -0.25},
    {"it waits longer", SHARDS, {0.6, 0.4}, {0}, {1.5, 1}, {0, 1}, 3.5, 1.475, 0.4, 0, 1.625, -0.25},
};

TEST_EACH(steps_by_hand, sizeof rows / sizeof *rows)
{
    struct replay_bucket bucket[2];
    for (int i = 0; i < 2; i++)
        bucket[i] = (struct replay_bucket){.last_tensor = 1 - i,
                                           .bytes = 8,
                                           .share = 0.5,
                                           .reduce = rows[_i].reduce[i],
                                           .within = rows[_i].within[i],
                                           .gather = rows[_i].gather[i]};
    const struct replay_plan plan = {.bucket = bucket,
                                     .n = 2,
                                     .after_backward = (rows[_i].flags & AFTER) != 0,
                                     .updates_early = (rows[_i].flags & EARLY) != 0,
                                     .shards = (rows[_i].flags & SHARDS) != 0,
                                     .update_share = rows[_i].flags & SHARDS ? 0.5 : 1};
    const struct replay_step s = replay(&compute, &plan, rows[_i].overlap, NULL);
    const double step = 3.75 + rows[_i].exposed + rows[_i].slowed + rows[_i].gather_wait + rows[_i].updated;
    const double expected[] = {
        step, rows[_i].communication, rows[_i].hidden, rows[_i].exposed, rows[_i].slowed, rows[_i].gather_wait};
    const double found[] = {s.step, s.communication, s.hidden, s.exposed, s.slowed, s.gather_wait};
    static const char *const names[] = {"step", "communication", "hidden", "exposed", "slowed", "gather_wait"};
    for (int i = 0; i < 6; i++)
        ck_assert_msg(fabs(found[i] - expected[i]) < 1e-12, "%s: %s is %g s, not %g", rows[_i].what, names[i], found[i],
                      expected[i]);
}

TEST(forward_needs_tensors_in_the_reverse_order_of_backward)
{
    double final[] = {9, 7, 6, 5};
    const struct step_compute c = {2, 9, 0, 0, final, 4};
    static const double needed[] = {0, 0.75, 1.125, 1.5}; /* the last backward takes 4 s x 4 / 3 */
    for (int t = 0; t < 4; t++)
        ck_assert_double_eq_tol(replay_needed(&c, t), needed[t], 1e-12);
}

SUITE("replay", NULL, NULL)
