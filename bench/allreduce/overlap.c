/* overlap.c - how much of a collective computation hides. */
#include "allreduce/overlap.h"

#include "ddp/watchdog.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* On the CPU the matrices stay in a core's own cache; on a GPU a product must take longer than its launch. */
size_t overlap_timing_edge(const struct device *device)
{
    return device->asynchronous ? 1024 : 64;
}

/* The computation: so many products y = x w^T. */
struct work {
    const struct device *device;
    float *x, *w, *y;
    size_t edge, products;
};

static struct work work_create(const struct device *device)
{
    struct work work = {.device = device, .edge = overlap_timing_edge(device)};
    float **const matrix[] = {&work.x, &work.w, &work.y};
    for (int i = 0; i < 3; i++)
        *matrix[i] = device->allocate(work.edge * work.edge * sizeof(float));
    return work;
}

static void work_destroy(struct work *work)
{
    work->device->release(work->x);
    work->device->release(work->w);
    work->device->release(work->y);
}

/* Issues the computation and returns stamps before and behind it. */
struct stretch {
    int64_t begin, end;
};

static struct stretch compute(const struct work *work)
{
    struct stretch stretch = {.begin = work->device->stamp()};
    for (size_t i = 0; i < work->products; i++)
        work->device->linear_forward(work->y, work->x, work->w, work->edge, work->edge, work->edge);
    stretch.end = work->device->stamp();
    return stretch;
}

/* ---- one run of each kind ---- */

/* What a round measures, in seconds. */
enum part { COMM_ALONE, COMM_ALONE_SPAN, COMPUTE_ALONE, COMPUTE_ALONE_SPAN, BOTH, BOTH_COMPUTE, BOTH_SPAN, PARTS };

static double seconds_since(int64_t start)
{
    return 1e-9 * (double)(clock_now_ns() - start);
}

/* Once the device is at rest: makes the times of stamps and spans known. */
static void settle(struct endpoint *e)
{
    e->device->stamps_end();
    timeline_settle(&e->timeline, e->device->stamp_ns);
}

static double stretch_seconds(const struct endpoint *e, struct stretch stretch)
{
    return 1e-9 * (double)(e->device->stamp_ns(stretch.end) - e->device->stamp_ns(stretch.begin));
}

/* Of the collective that was just joined, from post to completion. */
static double span_seconds(struct endpoint *e)
{
    const struct lane *lane = &e->timeline.lane[LANE_COMMUNICATION];
    const struct span *span = &lane->span[lane->n - 1];
    double seconds = 1e-9 * (double)(span->end_ns - span->start_ns);
    timeline_clear(&e->timeline);
    return seconds;
}

static void run_comm(struct endpoint *e, const struct collective *c, double part[PARTS])
{
    e->device->stamps_begin();
    int64_t start = clock_now_ns();
    e->comm->join(e->comm, e->comm->start(e->comm, c));
    e->device->synchronize();
    part[COMM_ALONE] = seconds_since(start);
    settle(e);
    part[COMM_ALONE_SPAN] = span_seconds(e);
}

static void run_compute(struct endpoint *e, const struct work *work, double part[PARTS])
{
    e->device->stamps_begin();
    int64_t start = clock_now_ns();
    struct stretch computed = compute(work);
    e->device->synchronize();
    part[COMPUTE_ALONE] = seconds_since(start);
    settle(e);
    part[COMPUTE_ALONE_SPAN] = stretch_seconds(e, computed);
}

static void run_both(struct endpoint *e, const struct collective *c, const struct work *work, double part[PARTS])
{
    e->device->stamps_begin();
    int64_t start = clock_now_ns();
    long ticket = e->comm->start(e->comm, c);
    struct stretch computed = compute(work);
    e->comm->join(e->comm, ticket);
    e->device->synchronize();
    part[BOTH] = seconds_since(start);
    settle(e);
    part[BOTH_COMPUTE] = stretch_seconds(e, computed);
    part[BOTH_SPAN] = span_seconds(e);
}

/* The three kinds in an order that turns with the round; part[PARTS] becomes the mean over ranks. */
static void run_round(struct endpoint *e, const struct collective *c, const struct work *work, size_t round,
                      double part[PARTS])
{
    double mine[PARTS], *all = allocate((size_t)e->job->size * PARTS, sizeof *all);
    for (size_t i = 0; i < 3; i++) {
        job_barrier(e->job);
        watchdog_mark(e->comm->watchdog, clock_now_ns(), (long)round);
        switch ((round + i) % 3) {
        case 0:
            run_comm(e, c, mine);
            break;
        case 1:
            run_compute(e, work, mine);
            break;
        default:
            run_both(e, c, work, mine);
        }
    }
    job_gather(e->job, mine, sizeof mine, all);
    for (int p = 0; p < PARTS; p++) {
        part[p] = 0;
        for (int r = 0; r < e->job->size; r++)
            part[p] += all[r * PARTS + p] / e->job->size;
    }
    free(all);
}

/* ---- all rounds ---- */

/* Makes the computation about as long as the collective alone; returns how many rounds to run. */
static size_t calibrate(struct endpoint *e, const struct collective *c, struct work *work, size_t rounds)
{
    enum { TRIES = 5, PRODUCTS = 100 };
    const double budget_s = 1, least = 10, most = 200;
    double part[PARTS], comm = INFINITY, product = INFINITY;
    work->products = PRODUCTS;
    for (int i = 0; i < TRIES; i++) {
        job_barrier(e->job);
        watchdog_mark(e->comm->watchdog, clock_now_ns(), i);
        run_comm(e, c, part);
        run_compute(e, work, part);
        comm = fmin(comm, part[COMM_ALONE]);
        product = fmin(product, part[COMPUTE_ALONE] / PRODUCTS);
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
    c.buffer = e->buffer;
    timing_words(timing, words);
    watchdog_begin(e->comm->watchdog, "overlap round", words);
    struct work work = work_create(e->device);
    size_t n = calibrate(e, &c, &work, rounds);
    enum { COMM, COMPUTE, TOGETHER, OVERLAP, COMPUTE_SLOWDOWN, COMM_SLOWDOWN, SERIES };
    double *series = allocate(n * SERIES, sizeof *series), part[PARTS];
    for (size_t i = 0; i < n; i++) {
        run_round(e, &c, &work, i, part);
        series[COMM * n + i] = part[COMM_ALONE];
        series[COMPUTE * n + i] = part[COMPUTE_ALONE];
        series[TOGETHER * n + i] = part[BOTH];
        series[OVERLAP * n + i] = overlap_timing_ratio(part[COMPUTE_ALONE], part[COMM_ALONE], part[BOTH]);
        series[COMPUTE_SLOWDOWN * n + i] = part[BOTH_COMPUTE] / part[COMPUTE_ALONE_SPAN];
        series[COMM_SLOWDOWN * n + i] = part[BOTH_SPAN] / part[COMM_ALONE_SPAN];
    }
    watchdog_rest(e->comm->watchdog);
    struct overlap_timing o = {
        .collective = timing->collective,
        .bytes = timing->bytes,
        .products = work.products,
        .comm = stats_estimate(series + COMM * n, n),
        .compute = stats_estimate(series + COMPUTE * n, n),
        .both = stats_estimate(series + TOGETHER * n, n),
        .overlap = stats_estimate(series + OVERLAP * n, n),
        .compute_slowdown = stats_estimate(series + COMPUTE_SLOWDOWN * n, n),
        .comm_slowdown = stats_estimate(series + COMM_SLOWDOWN * n, n),
    };
    free(series);
    work_destroy(&work);
    return o;
}
