/* clocks.c - tests the comparison of clocks by messages, on 1 to 4 ranks: a shared clock, and clocks with a known
 * offset and drift; and bytes sent to rank 0. */
#include "ddp/job.h"
#include "kernels/clock.h"
#include "kernels/error.h"
#include "tests/support/suite.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static struct job job;

/* All ranks run on one machine, whose clock is right. Ranks above 0 get made-up clocks: hours off, with drift. */
static int64_t origin_ns; /* the time from which on the made-up clocks drift */

static int64_t parts_per_million(void)
{
    static const int64_t ppm[] = {0, 150, -180, 90};
    return ppm[job.rank % 4];
}

static int64_t injected(int64_t true_ns)
{
    int64_t offset = job.rank * 3600 * (int64_t)1000000000 * (job.rank % 2 ? 1 : -1);
    return true_ns + offset + (true_ns - origin_ns) * parts_per_million() / 1000000;
}

static int64_t injected_now(void)
{
    return injected(clock_now_ns());
}

/* The clock of one machine needs no comparison, however late ranks answer. */
TEST(ranks_of_one_clock_have_no_offset)
{
    struct clock_sample sample;
    int64_t begin = clock_now_ns();
    job_compare_clocks(&job, clock_now_ns, &sample);
    ck_assert_int_eq(job.clock, 0);
    ck_assert_int_eq(sample.offset_ns, 0);
    ck_assert_int_eq(sample.residual_ns, 0);
    ck_assert_int_ge(sample.at_ns, begin);
    ck_assert_int_le(sample.at_ns, clock_now_ns());
}

/* Ranks that compare the same clock as if it were different clocks agree within the residual. With a core per rank, an
 * answer takes 1 or 2 us on an idle machine; on a busy machine the best of many tries takes at most a millisecond. */
TEST(clocks_are_compared_within_the_residual)
{
    enum { TRIES = 5, MOST_TRIES = 200, MOST_NS = 1000000 };
    struct job apart = job;
    struct clock_sample off = {0}; /* a sample whose offset exceeds its residual, if any */
    int64_t best = INT64_MAX;
    cpu_set_t cpus;
    apart.clock = job.rank;
    for (int i = 0; i < TRIES || (i < MOST_TRIES && job_max(&job, (double)best) > MOST_NS); i++) {
        struct clock_sample sample;
        job_compare_clocks(&apart, clock_now_ns, &sample);
        off = llabs(sample.offset_ns) > sample.residual_ns ? sample : off;
        best = sample.residual_ns < best ? sample.residual_ns : best;
    }
    ck_assert_msg(!off.offset_ns, "off by %lld ns, but the residual is %lld ns", (long long)off.offset_ns,
                  (long long)off.residual_ns);
    ck_assert_msg(best <= MOST_NS || sched_getaffinity(0, sizeof cpus, &cpus) || job.size > CPU_COUNT(&cpus),
                  "the best residual of rank %d is %lld ns", job.rank, (long long)best);
    ck_assert(best > 0 || job.rank == 0);
}

/* Ranks 1 and 3 read the same clock, rank 2 another one. */
TEST(ranks_of_another_clock_share_one_sample)
{
    static const int clock[] = {0, 1, 2, 1};
    struct clock_sample sample, all[4];
    struct job pairs = job;
    pairs.clock = clock[job.rank];
    job_compare_clocks(&pairs, clock_now_ns, &sample);
    job_gather(&job, &sample, sizeof sample, all);
    for (int r = 1; r < job.size; r++)
        ck_assert_int_gt(all[r].residual_ns, 0);
    if (job.size == 4)
        ck_assert_mem_eq(&all[1], &all[3], sizeof *all);
}

/* Checks times from `from` to `to`. The error of the interpolated offset is at most the sum of a sample's residual, the
 * clock's drift (some ppm) during half a round trip, and a nanosecond for each of two rounded terms. */
static void check_agrees(const struct alignment *a, int64_t from, int64_t to)
{
    int64_t residual = a->residual_ns;
    int64_t bound = job.rank ? residual + residual * llabs(parts_per_million()) / 1000000 + 2 : 0;
    for (int i = 0; i <= 100; i++) {
        int64_t truth = from + (to - from) / 100 * i, error = alignment_apply(a, injected(truth)) - truth;
        ck_assert_msg(llabs(error) <= bound, "off by %lld ns, but the residual is %lld ns", (long long)error,
                      (long long)residual);
    }
}

TEST(a_wrong_clock_is_corrected)
{
    struct clock_sample before, after;
    struct job apart = job;
    apart.clock = job.rank;
    job_barrier(&job);
    origin_ns = clock_now_ns();
    job_compare_clocks(&apart, injected_now, &before);
    int64_t begin = clock_now_ns();
    clock_sleep_until(begin + 60000000);
    int64_t end = clock_now_ns();
    job_compare_clocks(&apart, injected_now, &after);
    ck_assert_int_ge(before.at_ns, injected(origin_ns));
    ck_assert_int_le(before.at_ns, injected(begin));
    ck_assert_int_gt(after.at_ns, injected(end));
    struct alignment a = alignment_between(&before, &after);
    check_agrees(&a, begin, end);
    double want = -1000.0 * (double)parts_per_million(); /* in ns/s; a fast clock has a negative drift */
    double change = fabs(want) * 1e-9 * (double)(after.at_ns - before.at_ns);
    if (change >
        2.0 * (double)(before.residual_ns + after.residual_ns) + 100) /* only if the drift is far above the errors */
        ck_assert_double_ne(a.drift, 0);
    if (a.drift != 0 || job.rank == 0)
        ck_assert_double_eq_tol(a.drift, want, a.drift_error + 1e-3 * fabs(want) + 100);
}

/* ---- bytes ---- */

static const size_t lengths[] = {0, 1, 3, 0, 17, 1000, 65536, 65537, 300007, 0};
enum { LENGTHS = sizeof lengths / sizeof *lengths, CAPACITY = 300100, GUARD = 0x5a };

static unsigned char byte_of(int rank, int message, size_t i)
{
    return (unsigned char)((size_t)rank * 31 + (size_t)message * 7 + i * 13 + i / 251);
}

TEST(bytes_arrive_in_pieces)
{
    unsigned char *bytes = kept(allocate(CAPACITY + 1, 1));
    for (int m = 0; m < LENGTHS && job.rank; m++) {
        for (size_t i = 0; i < lengths[m]; i++)
            bytes[i] = byte_of(job.rank, m, i);
        job_send(&job, lengths[m] ? bytes : NULL, lengths[m]);
    }
    for (int r = 1; r < job.size && !job.rank; r++)
        for (int m = 0; m < LENGTHS; m++) {
            size_t capacity = m % 2 ? CAPACITY : lengths[m], wrong = 0; /* more than enough, or just enough */
            memset(bytes, GUARD, CAPACITY + 1);
            ck_assert_uint_eq(job_receive(&job, r, bytes, capacity), lengths[m]);
            for (size_t i = 0; i < lengths[m]; i++)
                wrong += bytes[i] != byte_of(r, m, i);
            ck_assert_uint_eq(wrong, 0);
            ck_assert_int_eq(bytes[lengths[m]], GUARD);
        }
    job_barrier(&job);
}

SUITE_OF_RANKS("clocks", job, NULL, NULL)
