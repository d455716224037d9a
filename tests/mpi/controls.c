/* controls.c - tests a profile's figures from the blocks of its controls, on 1 and 3 ranks with different times: means,
 * maxima, and the attainable step time. Ratios are tested by tests/consumers/recompute_printed.py. */
#include "tests/support/made_up.h"
#include "tests/support/made_up_profile.h"
#include "tests/support/suite.h"

#include <math.h>

static struct job job;
static struct made_up_profile p;
static struct timeline timeline;
enum { MS = 1000 * US, TIMED = PROFILE_TIMED, STEPS = DISCARDED_STEPS + TIMED };

static double over_ranks(double (*of_rank)(int rank))
{
    double sum = 0;
    for (int r = 0; r < job.size; r++)
        sum += of_rank(r);
    return sum / job.size;
}

/* ---- blocks ---- */

static double computed(int rank)
{
    return 0.001 * (10 + rank * rank);
}

/* Fills a block of `none`: tensor t's gradient is final at 10 - t ms, backward ends at 10 ms plus 5 ms times the rank,
 * and clipping and the optimizer take 3 ms. Steps that are not counted are longer. */
static void block_of_none(struct step_times *times, struct overlap *overlap)
{
    for (int s = 0; s < STEPS; s++) {
        int64_t at = (s + 1) * 1000 * (int64_t)MS, more = s < DISCARDED_STEPS ? 500 * MS : job.rank * 5 * (int64_t)MS;
        timeline.step = s;
        made_up_phase(&timeline, PHASE_FORWARD, at, at);
        made_up_phase(&timeline, PHASE_BACKWARD, at, at + 10 * MS + more);
        for (int t = 0; t < PROFILE_TENSORS; t++)
            made_up_ready(&timeline, t, at + 10 * MS - t * MS);
        made_up_phase(&timeline, PHASE_CLIPPING, at + 10 * MS + more, at + 11 * MS + more);
        made_up_phase(&timeline, PHASE_OPTIMIZER, at + 11 * MS + more, at + 13 * MS + more);
        overlap[s].compute = s < DISCARDED_STEPS ? 1e-9 : computed(job.rank) + (s % 2 ? 7e-9 : -7e-9);
    }
    steps_from_timeline(&timeline, times, STEPS);
}

/* Adds the measurements of a block, as a profile does. */
static void add_block(struct step_times *times, struct overlap *overlap, int row, size_t round)
{
    const struct block block = {.times = times,
                                .overlap = overlap,
                                .implementation = row,
                                .round = round,
                                .peak_bytes = 1000 * (size_t)(1 + job.rank)};
    if (controls_measure_alone(&p.controls, row))
        attainable_measure(p.attainable, &job, &timeline, &block);
    controls_add_block(&p.controls, &job, &timeline, &block, TIMED);
}

TEST(blocks_of_none_give_the_bound)
{
    struct step_times times[STEPS];
    struct overlap overlap[STEPS] = {{0}};
    made_up_profile_create(&p, job.size, &strategy_ddp_bucketed);
    made_up_create(&timeline, 200);
    block_of_none(times, overlap);
    for (size_t r = 0; r < PROFILE_ROUNDS; r++)
        add_block(times, overlap, p.controls.rows.none, r);
    controls_compute(&p.controls, &job, &p.measurements);
    for (size_t r = 0; r < PROFILE_ROUNDS; r++)
        ck_assert_double_eq_tol(p.controls.compute_none[r], over_ranks(computed), 1e-12);
    if (job.size == 1) /* no communication to hide */
        ck_assert_double_nan(p.controls.attainable.median);
    else /* without measured collectives: backward, clipping and optimizer of the slowest rank */
        ck_assert_double_eq_tol(p.controls.attainable.median, 0.010 + 0.005 * (job.size - 1) + 0.003, 1e-9);
    timeline_destroy(&timeline);
    made_up_profile_destroy(&p);
}

/* State of the fake collectives, whose recorded times last rank + 1 ms. On a device, a collective begins when the
 * previous collective has ended and the host has launched this one. A launch takes launch_ns. The times are stamps. */
static int collectives, out_of_order;
static int64_t host_now, device_now, launch_ns;

static void put_on_device(int index, int64_t takes_ns)
{
    int64_t begin = device_now > host_now ? device_now : host_now;
    host_now += launch_ns;
    device_now = (begin > host_now ? begin : host_now) + takes_ns;
    made_up_collective(&timeline, 100, index, 1, -1 - begin, -1 - device_now);
}

static void slow(struct comm *comm, const struct collective *collective)
{
    (void)comm;
    out_of_order += collective->index != collectives++;
    put_on_device(collective->index, (job.rank + 1) * (int64_t)MS);
}

/* Starts a collective before the measured ones. Its time is not measured. */
static long lead(struct comm *comm, const struct collective *collective)
{
    (void)comm;
    ck_assert_uint_gt(collective->count, 0);
    put_on_device(0, 3 * launch_ns);
    return 1;
}

static int64_t stamp_ns(int64_t ticket)
{
    return -1 - ticket;
}

static int zeroed;

static void zero(float *x, size_t n)
{
    (void)x, (void)n;
    zeroed++;
}

static double slowdown(int rank)
{
    return 60.0 / (rank + 1);
}

static void nothing(void) {}

static void synchronize(void)
{
    host_now = device_now > host_now ? device_now : host_now;
}

/* In the training, every collective takes 60 ms in counted steps and 1 ns in others. The figures do not depend on when
 * the host launches the collectives that are measured alone. */
TEST_EACH(collectives_are_measured_alone, 2)
{
    struct step_times times[STEPS] = {{0}};
    struct overlap overlap[STEPS] = {{0}};
    const struct device device = {
        .zero = zero, .synchronize = synchronize, .stamps_end = nothing, .stamp_ns = stamp_ns};
    float gradient[1];
    const struct model model = {.device = &device, .gradient = gradient, .arena = p.model.arena};
    struct comm comm = {.run_blocking = slow, .on_device = _i, .start = _i ? lead : NULL};
    launch_ns = _i * 100 * (int64_t)US;
    for (int s = DISCARDED_STEPS; s < STEPS; s++)
        overlap[s] = (struct overlap){.exposed = computed(job.rank), .overlap = 2 * computed(job.rank)};
    made_up_profile_create(&p, job.size, &strategy_ddp_bucketed);
    p.controls.others_bytes = 40;
    made_up_create(&timeline, 200);
    p.reducer[0].comm = &comm;
    p.reducer[0].model = &model;
    zeroed = collectives = out_of_order = 0;
    for (int s = 0; s < STEPS; s++)
        for (int i = 0; i < PROFILE_BUCKETS; i++) {
            timeline.step = s;
            made_up_collective(&timeline, (size_t)i, i, 1, 0, s < DISCARDED_STEPS ? 1 : 60 * MS);
        }
    p.controls.alone[1] = p.controls.slowdown[1] = -1;
    for (int row = 0; row < p.controls.rows.none; row++) /* only the first row sends collectives */
        add_block(times, overlap, row, 1);
    double alone = p.controls.alone[1], slower = p.controls.slowdown[1];
    double alone_most = job_max(&job, alone), most = job_max(&job, slower), least = -job_max(&job, -slower);
    ck_assert_int_eq(collectives, job.size > 1 ? PROFILE_BUCKETS : 0); /* asserts only after all communication */
    if (job.size == 1) {
        ck_assert_double_eq(alone, -1);
        ck_assert_double_eq(slower, -1);
    } else {
        ck_assert_int_eq(zeroed, 1);
        ck_assert_int_eq(out_of_order, 0);
        ck_assert_double_eq_tol(alone, 0.001 * PROFILE_BUCKETS * job.size, 1e-12); /* the slowest rank's time */
        ck_assert_double_eq_tol(slower, over_ranks(slowdown), 1e-9);
    }
    ck_assert_double_eq_tol(p.controls.exposed[1], over_ranks(computed), 1e-12);
    ck_assert_double_eq_tol(p.controls.overlap[1], 2 * over_ranks(computed), 1e-12);
    ck_assert_double_eq(p.controls.peak[1], 1000.0 * job.size - 40); /* the largest of the ranks, not the sum */
    ck_assert_double_eq(alone, alone_most);                          /* equal on all ranks */
    ck_assert_double_eq(slower, most);
    ck_assert_double_eq(slower, least);
    timeline_destroy(&timeline);
    made_up_profile_destroy(&p);
}

SUITE_OF_RANKS("controls", job, NULL, NULL)
