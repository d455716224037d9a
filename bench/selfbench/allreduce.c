/* allreduce.c - whether the times of `ddpbench allreduce` are those of MPI_Allreduce: the same sizes in a plain loop
 * around the call and by the sweep, in turn, in one run. The plain loop is written against MPI itself, on purpose: it
 * shares nothing with what it is compared with but the clock. */
#include "allreduce/measure.h"
#include "base/stats.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 21 };

static int compare_row(struct sweep *s, struct measured *row);

int main(int argc, char *argv[])
{
    struct job job;
    struct sweep_options options;
    char cycles[16];
    char *words[] = {"allreduce", "--run-cycles", cycles, "--check", "0"};
    (void)argv;
    snprintf(cycles, sizeof cycles, "%d", ROUNDS);
    if (job_begin(&job))
        FATAL("%s", error_text());
    if (argc > 1)
        FATAL("unknown option '%s'; there are none", argv[1]);
    if (sweep_options_parse(&options, sizeof words / sizeof *words, words))
        FATAL("%s", error_text());
    struct sweep sweep = {.job = &job, .options = &options, .device = device_cpu(1)};
    if (sweep_create(&sweep, 0))
        return 1;
    if (job.rank == 0)
        printf("MPI_Allreduce of floats on %d ranks, us a call: a plain loop around it, and the sweep, %d rounds in "
               "turn\n%10s %-12s %10s %10s %7s %-14s %10s %7s\n",
               job.size, ROUNDS, "bytes", "", "plain", "sweep", "ratio", "[95 %]", "its time", "calls");
    size_t agree = 0, rows = sweep.rows;
    for (size_t i = 0; i < sweep.rows; i++)
        agree += (size_t)compare_row(&sweep, &sweep.row[i]);
    if (job.rank == 0)
        printf(
            "plain, sweep: medians over the rounds of the mean of a loop; ratio: median of the rounds' own; its time: "
            "what `ddpbench allreduce` prints. %zu of %zu agree within max(3 %%, 0.2 "
            "us).\n",
            agree, sweep.rows);
    sweep_destroy(&sweep);
    sweep_options_destroy(&options);
    job_end(&job);
    return agree == rows ? 0 : 1;
}

/* Seconds of one call in a loop of n, mean over ranks. */
static double plain_loop(const struct sweep *s, const struct measured *row, size_t n)
{
    const void *in = row->in_place ? MPI_IN_PLACE : s->in;
    int count = (int)row->collective.count;
    double seconds, sum;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 6; i++)
        MPI_Allreduce(in, s->buffer, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    int64_t start = clock_now_ns();
    for (size_t i = 0; i < n; i++)
        MPI_Allreduce(in, s->buffer, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    seconds = 1e-9 * (double)(clock_now_ns() - start) / (double)n;
    MPI_Allreduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum / s->job->size;
}

/* The same of the samples that the sweep has just added. */
static double mean_of_samples(const struct sweep *s, const struct measured *row, size_t n)
{
    double sum = 0, all = 0;
    for (size_t i = row->n - n; i < row->n; i++)
        sum += row->seconds[i] / (double)n;
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all / s->job->size;
}

/* Returns whether the two agree within max(3 %, 0.2 us). */
static int compare_row(struct sweep *s, struct measured *row)
{
    double plain[ROUNDS], ours[ROUNDS], ratio[ROUNDS];
    for (size_t round = 0; round < ROUNDS; round++) {
        size_t before = row->n;
        sweep_measure(s, row, round);
        ours[round] = mean_of_samples(s, row, row->n - before);
        plain[round] = plain_loop(s, row, row->n - before);
        ratio[round] = ours[round] / plain[round];
    }
    struct estimate r = stats_estimate(ratio, ROUNDS);
    double mine = 1e6 * stats_median(ours, ROUNDS), theirs = 1e6 * stats_median(plain, ROUNDS);
    int agree = fabs(r.median - 1) <= 0.03 || fabs(mine - theirs) <= 0.2;
    sweep_finish(s, row);
    if (s->job->rank == 0)
        printf("%10zu %-12s %10.2f %10.2f %7.3f [%.3f, %.3f] %10.2f %7zu  %s\n", row->bytes,
               row->in_place ? "in place" : "out of place", theirs, mine, r.median, r.ci_low, r.ci_high,
               1e6 * row->sustained, row->n, agree ? "agree" : "DIFFER");
    fflush(stdout);
    return agree;
}
