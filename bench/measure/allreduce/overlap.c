/* overlap.c - measures how much of a collective's time is hidden by concurrent computation. */
#include "allreduce/timing.h"

#include "ddp/watchdog.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* On the CPU 64 x 64 matrices fit into a core's cache; on a GPU a 1024 x 1024 product takes longer than its launch. */
size_t overlap_timing_edge(const struct device *device)
{
    return device->asynchronous ? 1024 : 64;
}

/* The computation: `products` times y = x w^T; `matrix` holds y, x and w one after the other. */
struct work {
    float *matrix;
    size_t products;
};

/* ---- one round ---- */

enum { COMM, COMPUTE, BOTH, RUNS };

/* Starts the collective c (NULL: none), computes the work (NULL: none), waits for both, and returns the seconds. */
static double run_once(struct endpoint *e, const struct collective *c, const struct work *work)
{
    const struct device *device = e->device;
    size_t edge = overlap_timing_edge(device), size = edge * edge;
    int64_t start = clock_now_ns();
    long ticket = c ? e->comm->start(e->comm, c) : 0;
    for (size_t i = 0; work && i < work->products; i++)
        device->linear_forward(work->matrix, work->matrix + size, work->matrix + 2 * size, edge, edge, edge);
    if (c)
        e->comm->join(e->comm, ticket);
    device->synchronize();
    return clock_seconds_since(start);
}

/* Runs the collective, the computation and both at once, in an order that rotates. seconds: means over ranks. */
static void run_round(struct endpoint *e, const struct collective *c, const struct work *work, size_t round,
                      double seconds[RUNS])
{
    for (size_t i = 0; i < RUNS; i++) {
        size_t run = (round + i) % RUNS;
        job_barrier(e->job);
        watchdog_mark(e->job->watchdog, (long)round);
        seconds[run] = run_once(e, run == COMPUTE ? NULL : c, run == COMM ? NULL : work) / e->job->size;
    }
    job_sum(e->job, seconds, RUNS);
}

/* ---- all rounds ---- */

/* Sets work->products so that computing takes about as long as the collective; returns the number of rounds to run. */
static size_t calibrate(struct endpoint *e, const struct collective *c, struct work *work, size_t rounds)
{
    enum { TRIES = 5, PRODUCTS = 100 };
    const double budget_s = 1, least = 10, most = 200;
    double comm = INFINITY, product = INFINITY;
    work->products = PRODUCTS;
    for (int i = 0; i < TRIES; i++) {
        job_barrier(e->job);
        watchdog_mark(e->job->watchdog, i);
        comm = fmin(comm, run_once(e, c, NULL));
        product = fmin(product, run_once(e, NULL, work) / PRODUCTS);
    }
    comm = job_max(e->job, comm);
    product = job_max(e->job, product);
    work->products = (size_t)fmax(1, floor(comm / product + 0.5));
    double round = 2 * comm + 2 * (double)work->products * product;
    return rounds ? rounds : (size_t)fmax(least, fmin(most, budget_s / round));
}

struct overlap_timing overlap_timing_measure(struct endpoint *e, const struct collective_timing *timing, size_t rounds)
{
    char words[TIMING_WORDS];
    struct collective c = timing->collective;
    size_t edge = overlap_timing_edge(e->device);
    struct work work = {.matrix = e->device->allocate(3 * edge * edge * sizeof(float))};
    c.buffer = e->buffer;
    timing_words(timing, words);
    watchdog_doing(e->job->watchdog, "overlap round # of %s", words);
    size_t n = calibrate(e, &c, &work, rounds);
    double *comm = allocate(4 * n, sizeof *comm), *compute = comm + n, *both = compute + n, *overlap = both + n;
    for (size_t i = 0; i < n; i++) {
        double seconds[RUNS];
        run_round(e, &c, &work, i, seconds);
        comm[i] = seconds[COMM];
        compute[i] = seconds[COMPUTE];
        both[i] = seconds[BOTH];
        overlap[i] = overlap_timing_ratio(compute[i], comm[i], both[i]);
    }
    watchdog_doing(e->job->watchdog, "the evaluation of %s", words);
    struct overlap_timing o = {*timing, stats_estimate(compute, n), stats_estimate(comm, n), stats_estimate(both, n),
                               stats_estimate(overlap, n)};
    free(comm);
    e->device->release(work.matrix);
    return o;
}
