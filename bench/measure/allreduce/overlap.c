/* overlap.c - how much of a collective computation hides. */
#include "allreduce/timing.h"

#include "ddp/watchdog.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* On the CPU the matrices fit into a core's own cache; on a GPU a product must take longer than its launch. */
size_t overlap_timing_edge(const struct device *device)
{
    return device->asynchronous ? 1024 : 64;
}

/* The computation: so many products y = x w^T of three matrices that lie one after the other. */
struct work {
    float *matrix;
    size_t products;
};

/* ---- one round ---- */

enum { COMM, COMPUTE, BOTH, RUNS };

/* Seconds of one run: all of it; its computation, by the device's stamps; its collective, from post to completion. */
struct run_times {
    double total, compute, comm;
};

/* Starts the collective (NULL: none), computes (work NULL: nothing) and joins it. */
static struct run_times run_once(struct endpoint *e, const struct collective *c, const struct work *work)
{
    const struct device *device = e->device;
    struct run_times times = {0};
    long ticket = 0;
    size_t edge = overlap_timing_edge(device), size = edge * edge;
    device->stamps_begin();
    int64_t start = clock_now_ns();
    if (c)
        ticket = e->comm->start(e->comm, c);
    int64_t compute_start = device->stamp();
    for (size_t i = 0; work && i < work->products; i++)
        device->linear_forward(work->matrix, work->matrix + size, work->matrix + 2 * size, edge, edge, edge);
    int64_t compute_end = device->stamp();
    if (c)
        e->comm->join(e->comm, ticket);
    device->synchronize();
    times.total = 1e-9 * (double)(clock_now_ns() - start);
    device->stamps_end(); /* now the times of stamps and spans are known */
    timeline_settle(&e->timeline, device->stamp_ns);
    times.compute = 1e-9 * (double)(device->stamp_ns(compute_end) - device->stamp_ns(compute_start));
    if (c) {
        const struct lane *lane = &e->timeline.lane[LANE_COMMUNICATION];
        const struct span *span = &lane->span[lane->n - 1];
        times.comm = 1e-9 * (double)(span->end_ns - span->start_ns);
    }
    timeline_clear(&e->timeline);
    return times;
}

/* The three runs in an order that turns with the round; times[RUNS] become means over ranks. */
static void run_round(struct endpoint *e, const struct collective *c, const struct work *work, size_t round,
                      struct run_times times[RUNS])
{
    struct run_times mine[RUNS], *all = allocate((size_t)e->job->size * RUNS, sizeof *all);
    memset(times, 0, sizeof mine);
    for (size_t i = 0; i < RUNS; i++) {
        size_t run = (round + i) % RUNS;
        job_barrier(e->job);
        watchdog_mark(e->job->watchdog, (long)round);
        mine[run] = run_once(e, run == COMPUTE ? NULL : c, run == COMM ? NULL : work);
    }
    job_gather(e->job, mine, sizeof mine, all);
    for (int i = 0; i < e->job->size * RUNS; i++) {
        times[i % RUNS].total += all[i].total / e->job->size;
        times[i % RUNS].compute += all[i].compute / e->job->size;
        times[i % RUNS].comm += all[i].comm / e->job->size;
    }
    free(all);
}

/* ---- all rounds ---- */

/* Makes the computation about as long as the collective alone; returns how many rounds to run. */
static size_t calibrate(struct endpoint *e, const struct collective *c, struct work *work, size_t rounds)
{
    enum { TRIES = 5, PRODUCTS = 100 };
    const double budget_s = 1, least = 10, most = 200;
    double comm = INFINITY, product = INFINITY;
    work->products = PRODUCTS;
    for (int i = 0; i < TRIES; i++) {
        job_barrier(e->job);
        watchdog_mark(e->job->watchdog, i);
        comm = fmin(comm, run_once(e, c, NULL).total);
        product = fmin(product, run_once(e, NULL, work).total / PRODUCTS);
    }
    comm = job_max(e->job, comm);
    product = job_max(e->job, product);
    work->products = (size_t)fmax(1, floor(comm / product + 0.5));
    double round = 2 * comm + 2 * (double)work->products * product;
    return rounds ? rounds : (size_t)fmax(least, fmin(most, budget_s / round));
}

double overlap_timing_ratio(double compute, double comm, double both)
{
    return 1 - (both - compute) / comm;
}

struct overlap_timing overlap_timing_measure(struct endpoint *e, const struct collective_timing *timing, size_t rounds)
{
    char words[TIMING_WORDS];
    struct collective c = timing->collective;
    struct overlap_timing o = {.of = *timing};
    enum { SERIES = 6 };
    struct estimate *const estimate[SERIES] = {&o.comm,    &o.compute,          &o.both,
                                               &o.overlap, &o.compute_slowdown, &o.comm_slowdown};
    c.buffer = e->buffer;
    timing_words(timing, words);
    watchdog_doing(e->job->watchdog, "overlap round # of %s", words);
    size_t edge = overlap_timing_edge(e->device);
    struct work work = {.matrix = e->device->allocate(3 * edge * edge * sizeof(float))};
    size_t n = calibrate(e, &c, &work, rounds);
    double *series = allocate(n * SERIES, sizeof *series);
    for (size_t i = 0; i < n; i++) {
        struct run_times t[RUNS];
        run_round(e, &c, &work, i, t);
        const double comm = t[COMM].total, compute = t[COMPUTE].total, both = t[BOTH].total;
        const double sample[SERIES] = {comm,
                                       compute,
                                       both,
                                       overlap_timing_ratio(compute, comm, both),
                                       t[BOTH].compute / t[COMPUTE].compute,
                                       t[BOTH].comm / t[COMM].comm};
        for (size_t s = 0; s < SERIES; s++)
            series[s * n + i] = sample[s];
    }
    watchdog_doing(e->job->watchdog, "the evaluation of %s", words);
    o.products = work.products;
    for (size_t s = 0; s < SERIES; s++)
        *estimate[s] = stats_estimate(series + s * n, n);
    free(series);
    e->device->release(work.matrix);
    return o;
}
