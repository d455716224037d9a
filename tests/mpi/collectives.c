/* collectives.c - tests that ranks exchange the times of collectives, and find stragglers and what these cost; with
 * made-up times, on 1 and 3 ranks, each with a different clock. */
#include "kernels/error.h"
#include "spans/spans.h"
#include "tests/support/made_up.h"
#include "tests/support/suite.h"

#include <stdlib.h>

static struct job job;

/* Collective i is posted at i + 1 ms by all ranks that are not late, and completes half a millisecond later. The last
 * rank is late in some collectives, rank 0 in one. gradient_sync covers all, a part or none of the wait for them. */
static const struct {
    int64_t late_us, first_late_us; /* delays of the last rank and of rank 0 */
    int64_t sync_us[2];             /* begin and end of gradient_sync, counted from i + 1 ms */
} cases[] = {
    {0, 0, {0, 0}},    {50, 0, {0, 400}}, {1, 0, {0, 400}}, /* 1 us is below the clocks' error */
    {70, 0, {60, 90}}, {20, 0, {30, 40}}, {0, 30, {5, 25}},
};
enum { COLLECTIVES = sizeof cases / sizeof *cases, RESIDUAL_NS = 1500 };

static int64_t posted_at(int rank, int collective)
{
    int64_t late = job.size > 1 && rank == job.size - 1 ? cases[collective].late_us : 0;
    late += rank == 0 ? cases[collective].first_late_us : 0;
    return (collective + 1) * 1000 * (int64_t)US + late * US;
}

/* Returns by how many ns this rank's clock is ahead of rank 0's. */
static int64_t clock_error(void)
{
    return job.rank * 7000000 * (int64_t)1000;
}

static void record_collectives(struct timeline *timeline)
{
    for (int i = 0; i < COLLECTIVES; i++) {
        int64_t begin = (i + 1) * 1000 * (int64_t)US + clock_error();
        timeline->step = i / 2;
        made_up_collective(timeline, (size_t)i + 1, i, 10, posted_at(job.rank, i) + clock_error(), begin + 500 * US);
        made_up_phase(timeline, PHASE_BACKWARD, begin - 100 * US, begin + cases[i].sync_us[0] * US);
        made_up_phase(timeline, PHASE_GRADIENT_SYNC, begin + cases[i].sync_us[0] * US,
                      begin + cases[i].sync_us[1] * US);
    }
}

static void check_collectives(const struct collectives *r)
{
    static const int last_knows[COLLECTIVES] = {0, 1, 0, 1, 1, 0};
    ck_assert_uint_eq(r->attributed, job.size > 1 ? 4 : 0);
    ck_assert_int_eq(r->residual_ns, job.size > 1 ? RESIDUAL_NS : 0); /* the largest of all ranks */
    for (int i = 0; i < COLLECTIVES && job.size > 1; i++) {
        int want = i == 5 ? 0 : last_knows[i] ? job.size - 1 : -1;
        int64_t wait = posted_at(want < 0 ? 0 : want, i) - posted_at(job.rank, i);
        ck_assert_int_eq(r->item[i].last_rank, want);
        ck_assert_int_eq(r->item[i].posted_ns, posted_at(job.rank, i));
        ck_assert_int_eq(collective_wait(&r->item[i], job.rank, r->residual_ns), want < 0 ? -1 : wait);
    }
    for (int q = 0; q < job.size; q++) {
        const struct straggler *s = &r->straggler[q];
        int last = q == job.size - 1 && q > 0, first = q == 0 && job.size > 1;
        ck_assert_uint_eq(s->last, last ? 3 : first ? 1 : 0);
        ck_assert_double_eq_tol(s->late, last ? 50e-6 : first ? 30e-6 : 0, 1e-15); /* median of 50, 70 and 20 us */
        ck_assert_double_eq_tol(s->most, last ? 70e-6 : first ? 30e-6 : 0, 1e-15);
        ck_assert_double_eq(s->share, last ? 0.75 : first ? 0.25 : 0);
        /* the last rank exposes 50 of 50, 10 of 70 and 0 of 20 us (gradient_sync begins later), rank 0 20 of 30 us */
        ck_assert_double_eq_tol(s->cost, (last ? 60e-6 : first ? 20e-6 : 0) / 3, 1e-15);
        /* the last rank is later than the others by 50, 70 and -10 us: t = 1.5254 with 2 degrees of freedom */
        ck_assert(last ? fabs(s->p - 0.13334) < 1e-5 : s->p > 0.5);
    }
}

TEST(stragglers_are_found)
{
    struct timeline timeline;
    struct collectives collectives;
    struct alignment alignment = {.offset_ns = -clock_error(),
                                  .residual_ns = job.rank == job.size - 1 && job.rank ? RESIDUAL_NS : 0};
    made_up_create(&timeline, 50);
    record_collectives(&timeline);
    collectives_create(&collectives, &timeline, &alignment, job.size);
    ck_assert_uint_eq(collectives.n, COLLECTIVES);
    collectives_exchange(&collectives, &job, &timeline, &alignment, 0, 3);
    check_collectives(&collectives);
    collectives_destroy(&collectives);
    timeline_destroy(&timeline);
}

/* If a rank waits in two collectives at once, the time counts once. Ranks that reduce nothing cost nothing. */
TEST(simultaneous_waits_count_once)
{
    struct timeline timeline;
    struct collectives collectives;
    struct alignment alignment = {0};
    int late = job.size > 1 && job.rank == job.size - 1;
    made_up_create(&timeline, 50);
    made_up_collective(&timeline, 1, 0, 1, late ? 300 : 100, 500);
    made_up_collective(&timeline, 2, 1, 1, late ? 400 : 150, 500);
    made_up_phase(&timeline, PHASE_GRADIENT_SYNC, 120, 500);
    collectives_create(&collectives, &timeline, &alignment, job.size);
    collectives_exchange(&collectives, &job, &timeline, &alignment, 0, 1);
    const struct straggler *s = &collectives.straggler[job.size - 1];
    ck_assert_uint_eq(s->last, job.size > 1 ? 2 : 0);
    ck_assert_double_eq_tol(s->cost, job.size > 1 ? 280e-9 : 0, 1e-15);
    collectives_destroy(&collectives);

    timeline_clear(&timeline);
    collectives_create(&collectives, &timeline, &alignment, job.size);
    collectives_exchange(&collectives, &job, &timeline, &alignment, 0, 1);
    ck_assert_uint_eq(collectives.n + collectives.attributed + collectives.straggler[0].last, 0);
    ck_assert_double_eq(collectives.straggler[0].cost, 0);
    collectives_destroy(&collectives);
    timeline_destroy(&timeline);
}

/* Every rank but 0 has a clock offset that is wrong by 300 ns, within its residual. Ranks 1 and 3 read the same clock.
 * Rank 1 was last once, by 40 ns, and rank 0 once, by 90 ns. Each collective ends 30 ns after its last post. No rank
 * can post after the end of a collective. This bounds the clocks' offsets, and the wrong offsets move to the bound. */
TEST(collectives_bound_the_clocks)
{
    static const int clock[] = {0, 1, 2, 1};
    enum { WRONG = 300, LEAST = -30 };
    struct job mine = job;
    struct timeline timeline;
    struct collectives collectives;
    struct alignment alignment = {.offset_ns = job.rank ? WRONG : 0, .residual_ns = job.rank ? 1000 : 0};
    mine.clock = clock[job.rank];
    made_up_create(&timeline, 50);
    made_up_collective(&timeline, 1, 0, 1, job.rank == 1 ? 1040 : 1000, job.size > 1 ? 1070 : 1030);
    made_up_collective(&timeline, 2, 1, 1, job.rank == 0 ? 2090 : 2000, 2120);
    collectives_create(&collectives, &timeline, &alignment, job.size);
    collectives_exchange(&collectives, &mine, &timeline, &alignment, 0, 1);
    int64_t late =
        job.rank ? 30 + (job.rank % 2 ? 0 : 40) : 0; /* largest time from this rank's post to rank 0's completion */
    ck_assert_int_eq(alignment.offset_ns, late);
    ck_assert_int_eq(alignment.residual_ns, job.rank ? late - LEAST : 0);
    ck_assert_int_eq(collectives.item[0].posted_ns, (job.rank == 1 ? 1040 : 1000) + late);
    ck_assert_uint_eq(collectives.impossible, 0);
    collectives_destroy(&collectives);
    timeline_destroy(&timeline);
}

SUITE_OF_RANKS("collectives of ranks", job, NULL, NULL)
