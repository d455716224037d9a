/* allreduce.c - checks that `ddpbench allreduce` measures the time of MPI_Allreduce: in one run, each size is timed
 * alternately by timing.c and by a plain loop around MPI_Allreduce; the two share only the clock. */
#include "allreduce/timing.h"
#include "base/stats.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 21, SIZES = 24 }; /* sizes from 8 B to 64 MiB */

static int compare(struct endpoint *endpoint, const struct timing_options *options, struct collective_timing *t);

int main(int argc, char *argv[])
{
    struct job job;
    struct endpoint endpoint;
    struct collective_choice choice = {.kind = COMM_ALL_REDUCE, .dtypes = 1 << COMM_FLOAT32, .ops = 1 << COMM_SUM};
    struct timing_options options = {.warmup_iters = 5, .cycles = ROUNDS};
    struct comm_options comm = {.library = COMM_MPI};
    size_t bytes[SIZES], n, agree = 0;
    if (job_begin(&job, argc, argv, NULL))
        FATAL("%s", error_text());
    if (argc > 1)
        FATAL("unknown option '%s'; there are none", argv[1]);
    for (size_t i = 0; i < SIZES; i++)
        bytes[i] = (size_t)8 << i;
    if (endpoint_create(&endpoint, &job, device_cpu(1), &comm, bytes[SIZES - 1]))
        return 1;
    struct collective_timing *timing = timing_create(&choice, bytes, SIZES, job.size, 0, &n);
    if (job.rank == 0)
        printf("MPI_Allreduce of floats on %d ranks, us a call, measured by a plain loop and by ddpbench in turn, %d "
               "rounds\n%10s %-12s %10s %10s %7s [95 %%]\n",
               job.size, ROUNDS, "bytes", "", "plain", "ddpbench", "ratio");
    for (size_t i = 0; i < n; i++)
        agree += (size_t)compare(&endpoint, &options, &timing[i]);
    if (job.rank == 0)
        printf(
            "plain, ddpbench: median of the rounds, each the mean of a loop; ratio: median of each round's ratio. "
            "At %zu of %zu sizes they agree: the interval reaches into 1 +- 3 %%, or they differ by at most 0.2 us.\n",
            agree, n);
    timing_destroy(timing, n);
    endpoint_destroy(&endpoint);
    return job_end(&job, agree == n ? 0 : 1);
}

static double mean_of_ranks(const struct job *job, double seconds)
{
    double sum;
    MPI_Allreduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum / job->size;
}

/* Returns the mean seconds of a call of MPI_Allreduce in a loop of n calls, mean over ranks. */
static double plain_loop(const struct endpoint *endpoint, const struct collective_timing *t, size_t n)
{
    const void *in = t->in_place ? MPI_IN_PLACE : endpoint->in;
    int count = (int)t->collective.count;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 6; i++)
        MPI_Allreduce(in, endpoint->buffer, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    int64_t start = clock_now_ns();
    for (size_t i = 0; i < n; i++)
        MPI_Allreduce(in, endpoint->buffer, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return mean_of_ranks(endpoint->job, 1e-9 * (double)(clock_now_ns() - start) / (double)n);
}

/* Returns the mean seconds of an iteration in the last cycle that timing.c measured, mean over ranks. */
static double last_cycle(const struct job *job, const struct collective_timing *t)
{
    double mean = 0;
    for (size_t i = t->n - t->last_n; i < t->n; i++)
        mean += t->seconds[i] / (double)t->last_n;
    return mean_of_ranks(job, mean);
}

/* Measures one size in both ways and prints both times. Returns whether they agree: the ratio's interval reaches into
 * 1 +- 3 %, or the medians differ by at most 0.2 us. */
static int compare(struct endpoint *endpoint, const struct timing_options *options, struct collective_timing *t)
{
    double plain[ROUNDS], ours[ROUNDS], ratio[ROUNDS];
    for (size_t round = 0; round < ROUNDS; round++) {
        timing_measure(endpoint, options, t, round);
        ours[round] = last_cycle(endpoint->job, t);
        plain[round] = plain_loop(endpoint, t, t->last_n);
        ratio[round] = ours[round] / plain[round];
    }
    struct estimate r = stats_estimate(ratio, ROUNDS);
    double mine = 1e6 * stats_median(ours, ROUNDS), theirs = 1e6 * stats_median(plain, ROUNDS);
    int agree = (r.ci_low <= 1.03 && r.ci_high >= 0.97) || fabs(mine - theirs) <= 0.2;
    if (endpoint->job->rank == 0)
        printf("%10zu %-12s %10.2f %10.2f %7.3f [%.3f, %.3f]  %s\n", t->bytes,
               t->in_place ? "in place" : "out of place", theirs, mine, r.median, r.ci_low, r.ci_high,
               agree ? "agree" : "DIFFER");
    fflush(stdout);
    return agree;
}
