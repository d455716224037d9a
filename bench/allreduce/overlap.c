/* overlap.c - how much of a collective computation hides. */
#include "allreduce/overlap.h"

#include "kernels/clock.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* Of the square matrices of a product. On the CPU they stay in a core's own cache; on a GPU, which runs beside the
 * host, a product must take longer than its launch. */
static size_t edge_of(const struct device *device)
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
    struct work work = {.device = device, .edge = edge_of(device)};
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

static double since(int64_t start)
{
    return 1e-9 * (double)(clock_now_ns() - start);
}

/* All is done: makes the times of stamps known. */
static void settle(struct sweep *s)
{
    s->device->stamps_end();
    timeline_settle(&s->timeline, s->device->stamp_ns);
}

static double stretch_seconds(const struct sweep *s, struct stretch stretch)
{
    return 1e-9 * (double)(s->device->stamp_ns(stretch.end) - s->device->stamp_ns(stretch.begin));
}

/* From post to completion of the collective that was just joined. */
static double span_seconds(struct sweep *s)
{
    const struct lane *lane = &s->timeline.lane[LANE_COMMUNICATION];
    const struct span *span = &lane->span[lane->n - 1];
    double seconds = 1e-9 * (double)(span->end_ns - span->start_ns);
    timeline_clear(&s->timeline);
    return seconds;
}

static void run_comm(struct sweep *s, const struct collective *c, double part[PARTS])
{
    s->device->stamps_begin();
    int64_t start = clock_now_ns();
    s->comm->join(s->comm, s->comm->start(s->comm, c));
    s->device->synchronize();
    part[COMM_ALONE] = since(start);
    settle(s);
    part[COMM_ALONE_SPAN] = span_seconds(s);
}

static void run_compute(struct sweep *s, const struct work *work, double part[PARTS])
{
    s->device->stamps_begin();
    int64_t start = clock_now_ns();
    struct stretch computed = compute(work);
    s->device->synchronize();
    part[COMPUTE_ALONE] = since(start);
    settle(s);
    part[COMPUTE_ALONE_SPAN] = stretch_seconds(s, computed);
}

static void run_both(struct sweep *s, const struct collective *c, const struct work *work, double part[PARTS])
{
    s->device->stamps_begin();
    int64_t start = clock_now_ns();
    long ticket = s->comm->start(s->comm, c);
    struct stretch computed = compute(work);
    s->comm->join(s->comm, ticket);
    s->device->synchronize();
    part[BOTH] = since(start);
    settle(s);
    part[BOTH_COMPUTE] = stretch_seconds(s, computed);
    part[BOTH_SPAN] = span_seconds(s);
}

/* The three kinds in an order that turns with the round; part[PARTS] becomes the mean over ranks. */
static void run_round(struct sweep *s, const struct collective *c, const struct work *work, size_t round,
                      double part[PARTS])
{
    double mine[PARTS], *all = allocate((size_t)s->job->size * PARTS, sizeof *all);
    for (size_t i = 0; i < 3; i++) {
        job_barrier(s->job);
        watchdog_mark(s->comm->watchdog, clock_now_ns(), (long)round);
        switch ((round + i) % 3) {
        case 0:
            run_comm(s, c, mine);
            break;
        case 1:
            run_compute(s, work, mine);
            break;
        default:
            run_both(s, c, work, mine);
        }
    }
    job_gather(s->job, mine, sizeof mine, all);
    for (int p = 0; p < PARTS; p++) {
        part[p] = 0;
        for (int r = 0; r < s->job->size; r++)
            part[p] += all[r * PARTS + p] / s->job->size;
    }
    free(all);
}

/* ---- a size ---- */

/* Makes the computation about as long as the collective alone; returns how many rounds to run. */
static size_t calibrate(struct sweep *s, const struct collective *c, struct work *work)
{
    enum { TRIES = 5, PRODUCTS = 100 };
    const double budget_s = 1, least = 10, most = 200;
    double part[PARTS], comm = INFINITY, product = INFINITY;
    work->products = PRODUCTS;
    for (int i = 0; i < TRIES; i++) {
        job_barrier(s->job);
        watchdog_mark(s->comm->watchdog, clock_now_ns(), i);
        run_comm(s, c, part);
        run_compute(s, work, part);
        comm = fmin(comm, part[COMM_ALONE]);
        product = fmin(product, part[COMPUTE_ALONE] / PRODUCTS);
    }
    comm = job_max(s->job, comm);
    product = job_max(s->job, product);
    work->products = (size_t)fmax(1, floor(comm / product + 0.5));
    double round = 2 * comm + 2 * (double)work->products * product;
    return s->options->iters ? s->options->iters : (size_t)fmax(least, fmin(most, budget_s / round));
}

double sweep_overlap_percent(double compute, double comm, double both)
{
    return 100 - 100 * (both - compute) / comm;
}

struct overlapped sweep_overlap(struct sweep *s, const struct measured *row)
{
    char what[SWEEP_WORDS];
    struct collective c = row->collective;
    c.buffer = s->buffer;
    sweep_words(row, what);
    watchdog_begin(s->comm->watchdog, "overlap round", what);
    struct work work = work_create(s->device);
    size_t n = calibrate(s, &c, &work);
    enum { COMM, COMPUTE, TOGETHER, OVERLAP, COMPUTE_SLOWDOWN, COMM_SLOWDOWN, SERIES };
    double *series = allocate(n * SERIES, sizeof *series), part[PARTS];
    for (size_t i = 0; i < n; i++) {
        run_round(s, &c, &work, i, part);
        series[COMM * n + i] = part[COMM_ALONE];
        series[COMPUTE * n + i] = part[COMPUTE_ALONE];
        series[TOGETHER * n + i] = part[BOTH];
        series[OVERLAP * n + i] = sweep_overlap_percent(part[COMPUTE_ALONE], part[COMM_ALONE], part[BOTH]);
        series[COMPUTE_SLOWDOWN * n + i] = part[BOTH_COMPUTE] / part[COMPUTE_ALONE_SPAN];
        series[COMM_SLOWDOWN * n + i] = part[BOTH_SPAN] / part[COMM_ALONE_SPAN];
    }
    watchdog_rest(s->comm->watchdog);
    struct overlapped o = {
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

/* ---- the table ---- */

void sweep_overlap_head(FILE *out, const struct sweep *s)
{
    fprintf(out,
            "# %s, in place, started, %zu x %zu matrix products on one side, then joined; %s%s\n#\n"
            "#%11s %12s %6s %5s %10s %10s %10s %8s %-18s %9s %9s %6s\n#%11s %12s %6s %5s %10s %10s %10s %8s %-18s %9s "
            "%9s %6s\n",
            comm_kind_name[s->options->kind], edge_of(s->device), edge_of(s->device),
            s->comm->on_device ? "" : "progress ", s->comm->progress, "size", "count", "type", "redop", "compute",
            "comm", "both", "overlap", "[95 % interval]", "compute", "comm", "rounds", "(B)", "(elements)", "", "",
            "(us)", "(us)", "(us)", "(%)", "", "slowdown", "slowdown", "");
}

void sweep_overlap_row(FILE *out, const struct measured *row, const struct overlapped *o)
{
    char interval[48];
    snprintf(interval, sizeof interval, isfinite(o->overlap.ci_low) ? "[%.1f, %.1f]" : "[n < 6]", o->overlap.ci_low,
             o->overlap.ci_high);
    fprintf(out, "%12zu %12zu %6s %5s %10.1f %10.1f %10.1f %8.1f %-18s %9.2f %9.2f %6zu\n", row->bytes,
            row->collective.count, comm_dtype_name[row->collective.dtype], sweep_op(&row->collective),
            1e6 * o->compute.median, 1e6 * o->comm.median, 1e6 * o->both.median, o->overlap.median, interval,
            o->compute_slowdown.median, o->comm_slowdown.median, o->overlap.n);
}

void sweep_overlap_foot(FILE *out, const struct sweep *s)
{
    (void)s;
    fprintf(out, "# Medians over rounds of means over ranks. overlap = 100 - (both - compute) / comm x 100, as\n"
                 "# osu_iallreduce, not clamped: below 0 the two together take longer than one after the other.\n"
                 "# slowdown: time beside the other / alone.\n");
}
