/* buckets.c - tests the buckets of a made-up plan, on 1 and 3 ranks: medians over steps and ranks of ready, queued,
 * posted and done times, exposed time, and how often each bucket was last. */
#include "profile/figures.h"

#include "kernels/error.h"
#include "tests/support/made_up.h"
#include "tests/support/suite.h"

#include <math.h>

enum { STEPS = 4, FIRST = 1 }; /* the first step is not counted */
static struct job job;
static struct timeline timeline;
static struct bucket bucket[] = {{0, 20, 1, 2}, {20, 10, 0, 1}}; /* bucket 0 has tensors 2 and 1, bucket 1 tensor 0 */
static const struct plan plan = {2, bucket};
static size_t parameters[] = {18, 9};

static void range(int64_t start, int64_t from_us, int64_t to_us)
{
    static const size_t n[SPAN_SIZES] = {1};
    made_up_operation(&timeline, OPERATION_ZERO, n, start + from_us * US, start + to_us * US);
}

/* Operations run from 0 to 40 us and from 60 to 65 us of a step. The collectives of buckets 0 and 1 start at 25 and 50
 * us. On each further rank, tensor 0 is final 1 us later. In the last step the collective of bucket 0 ends last. */
static void record_step(int step, int64_t start)
{
    int64_t late = step < FIRST ? 7000 : 0;
    timeline.step = step;
    range(start, 0, 40 + late);
    range(start, 60 + late, 65 + late);
    made_up_ready(&timeline, 2, start + (10 + late) * US);
    made_up_ready(&timeline, 1, start + (20 + late) * US);
    made_up_ready(&timeline, 0, start + (40 + late + job.rank) * US);
    made_up_collective(&timeline, 2 * (size_t)step + 1, 0, 20, start + (25 + late) * US,
                       start + (step == STEPS - 1 ? 90 : 45 + late) * US);
    made_up_collective(&timeline, 2 * (size_t)step + 2, 1, 10, start + (50 + late) * US, start + (70 + late) * US);
}

static struct profile_figures find_figures(const struct lane *computing, int host_is_ahead)
{
    struct step_times times[STEPS];
    const struct capture capture = {
        .trace = {.timeline = &timeline, .steps = STEPS, .times = times, .parameters = parameters}};
    struct profile_figures f = {.first = FIRST, .steps = STEPS - FIRST, .ranks = job.size};
    made_up_create(&timeline, 20);
    for (int step = 0; step < STEPS; step++) {
        times[step] = (struct step_times){.start_ns = (step * 10000 + 500 * job.rank) * US};
        record_step(step, times[step].start_ns);
    }
    profile_figures_add_buckets(&f, &job, &capture, &plan, computing, host_is_ahead, 0);
    return f;
}

static void check_bucket(const struct bucket_figure *b, double ready, double queued, double posted, double done,
                         double exposed, double last)
{
    const double expected[BUCKET_LAST] = {ready, queued, posted, done, exposed};
    for (int i = 0; i < BUCKET_LAST; i++)
        ck_assert_msg(fabs(1e6 * b->time[i] - expected[i]) < 1e-6 || (isnan(b->time[i]) && isnan(expected[i])),
                      "figure %d of bucket %d is %g us, not %g", i, b->bucket, 1e6 * b->time[i], expected[i]);
    ck_assert_double_eq_tol(b->time[BUCKET_LAST], last, 1e-12);
}

TEST(buckets_have_known_figures)
{
    struct profile_figures f = find_figures(&timeline.lane[LANE_COMPUTE], 0);
    double middle = 0.5 * (job.size - 1);
    ck_assert_int_eq(f.buckets, 2);
    ck_assert_int_eq(f.bucket[0].tensors, 2);
    ck_assert_uint_eq(f.bucket[0].parameters, 18);
    ck_assert_int_eq(f.bucket[1].tensors, 1);
    ck_assert_uint_eq(f.bucket[1].parameters, 9);
    check_bucket(&f.bucket[0], 20, 22, 25, 45, 5, 1.0 / 3);
    check_bucket(&f.bucket[1], 40 + middle, 47, 50, 70, 15, 2.0 / 3);
    timeline_destroy(&timeline);
    profile_figures_destroy(&f);
}

TEST(figures_without_kernels_are_unknown)
{
    struct profile_figures f = find_figures(NULL, 1);
    check_bucket(&f.bucket[0], 20, NAN, 25, 45, NAN, 1.0 / 3);
    check_bucket(&f.bucket[1], 40 + 0.5 * (job.size - 1), NAN, 50, 70, NAN, 2.0 / 3);
    timeline_destroy(&timeline);
    profile_figures_destroy(&f);
}

SUITE_OF_RANKS("buckets", job, NULL, NULL)
