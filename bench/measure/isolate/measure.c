/* measure.c - measures a round: the links of all pairs at once; then on every member the same matrix products, and the
 * same copy in memory. Members that have less than a core each take turns with these, so that each has a core. */
#include "isolate/measure.h"

#include "ddp/device_limits.h"
#include "ddp/links.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_EDGE = 256 };

struct measure_work measure_work_for(int on_gpu, size_t cache_bytes)
{
    const size_t h100 = 50 << 20, least = 1 << 24, copy = 5 * (cache_bytes ? cache_bytes : h100);
    return on_gpu ? (struct measure_work){copy > least ? copy : least, 8192} : (struct measure_work){least, LEAST_EDGE};
}

static void multiply(const struct measure *m)
{
    size_t edge = m->work.edge;
    m->device->linear_forward(m->matrix[0], m->matrix[1], m->matrix[2], edge, edge, edge);
}

static void copy(const struct measure *m)
{
    m->device->copy(m->to, m->from, m->work.copy_bytes / sizeof(float));
}

/* Returns the seconds of one product or copy, of n that are timed together. */
static double time_of(const struct measure *m, void (*work)(const struct measure *m), size_t n)
{
    int64_t begin = clock_now_ns();
    for (size_t i = 0; i < n; i++)
        work(m);
    m->device->synchronize();
    return clock_seconds_since(begin) / (double)n;
}

/* Returns how many products or copies to time together, the same on every rank: the number that takes rank 0 about 5
 * ms, which is some time slices of the scheduler, so that other processes slow all ranks equally. */
static size_t choose_number(const struct measure *m, void (*work)(const struct measure *m))
{
    const double about_s = 5e-3;
    time_of(m, work, 1);
    return (size_t)job_from_first(m->job, (int)fmax(1, fmin(1000, about_s / time_of(m, work, 1))), 0);
}

/* Lowers the matrices' edge to the least with which a product takes rank 0 a millisecond, the same on every rank. */
static void choose_edge(struct measure *m)
{
    const double about_s = 1e-3;
    const size_t most = m->work.edge;
    for (m->work.edge = LEAST_EDGE; m->work.edge < most; m->work.edge *= 2) {
        time_of(m, multiply, 1); /* the first product of a size is slow */
        if (job_from_first(m->job, time_of(m, multiply, 1) >= about_s, 0))
            return;
    }
}

/* Computes products for a second, so that a GPU that its power or temperature holds back is measured in that state. */
static void warm_up(const struct measure *m)
{
    int64_t begin = clock_now_ns();
    while (clock_seconds_since(begin) < 1)
        time_of(m, multiply, 1);
}

void measure_create(struct measure *m)
{
    size_t edge = m->work.edge;
    m->message = m->comm->allocate(m->comm, m->bytes);
    m->from = m->device->allocate(m->work.copy_bytes);
    m->to = m->device->allocate(m->work.copy_bytes);
    for (int i = 0; i < 3; i++)
        m->matrix[i] = m->device->allocate(edge * edge * m->device->compute_bytes);
    if (m->job->rank == 0) {
        m->rank = allocate((size_t)m->members, sizeof *m->rank);
        m->sent = allocate((size_t)m->job->size, sizeof *m->sent);
        m->times = allocate((size_t)m->job->size, sizeof *m->times);
    }
    device_limits_fill(m->device, m->matrix[1], edge * edge);
    device_limits_fill(m->device, m->matrix[2], edge * edge);
    m->turns = (int)job_max(m->job, ceil(1 / fmin(1, m->job->cores)));
    choose_edge(m);
    if (m->device->asynchronous)
        warm_up(m);
    m->products = choose_number(m, multiply);
    m->copies = choose_number(m, copy);
}

void measure_destroy(struct measure *m)
{
    if (m->comm) {
        for (int i = 0; i < 3; i++)
            m->device->release(m->matrix[i]);
        m->device->release(m->from);
        m->device->release(m->to);
        m->comm->release(m->comm, m->message);
        m->comm->destroy(m->comm);
    }
    free(m->rank);
    free(m->sent);
    free(m->times);
    *m = (struct measure){0};
}

static void time_in_turn(const struct measure *m, struct member_times *mine)
{
    for (int turn = 0; turn < m->turns; turn++) {
        job_barrier(m->job);
        if (m->member < 0 || m->job->rank % m->turns != turn)
            continue;
        mine->product = (float)time_of(m, multiply, m->products);
        mine->copy = (float)time_of(m, copy, m->copies);
    }
}

/* Returns the rank of this rank's partner, which rank 0 sends; -1: it rests; NO_ROUND: there is no further round. */
enum { NO_ROUND = -2 };
static int find_partner(struct measure *m, const int *partner)
{
    int mine;
    for (int r = 0; r < m->job->size && m->job->rank == 0; r++)
        m->sent[r] = partner ? -1 : NO_ROUND;
    for (int i = 0; i < m->members && m->job->rank == 0 && partner; i++)
        m->sent[m->rank[i]] = partner[i] < 0 ? -1 : m->rank[partner[i]];
    job_scatter_first(m->job, m->sent, sizeof *m->sent, &mine);
    return mine;
}

void measure_write(struct measure *m, const char *name, int value, const struct measure_time *time, int times)
{
    size_t round = m->rounds++;
    if (value < 0)
        return;
    FILE *out = results_begin(m->results);
    fprintf(out, "{\"rank\":%d,\"part\":\"%s\",\"round\":%zu,\"%s\":%d", m->job->rank, m->part, round, name, value);
    for (int i = 0; i < times; i++)
        if (isfinite(time[i].seconds))
            fprintf(out, ",\"%s\":%.9g", time[i].name, time[i].seconds);
    fputs("}\n", out);
    m->status |= results_end(m->results);
}

int measure_round(struct measure *m, const int *partner, struct member_times *times)
{
    struct link_times link;
    struct member_times mine = {NAN, NAN, NAN, NAN};
    int with = find_partner(m, partner);
    if (with == NO_ROUND)
        return 0;
    links_time(m->job, m->comm, with, m->message, m->bytes, &link);
    mine.send = (float)link.send;
    mine.round_trip = (float)link.round_trip;
    time_in_turn(m, &mine);
    const struct measure_time of_rank[] = {
        {"send", mine.send}, {"round_trip", mine.round_trip}, {"product", mine.product}, {"copy", mine.copy}};
    measure_write(m, "partner", with, of_rank, 4);
    job_gather_first(m->job, &mine, sizeof mine, m->times);
    for (int i = 0; i < m->members && m->job->rank == 0; i++)
        times[i] = m->times[m->rank[i]];
    return 1;
}
