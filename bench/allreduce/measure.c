/* measure.c - times collectives over a range of sizes. */
#include "allreduce/measure.h"

#include "allreduce/payload.h"
#include "base/stats.h"
#include "base/text.h"
#include "ddp/comm_create.h"
#include "kernels/clock.h"
#include "kernels/error.h"
#include "training/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static int scatters(enum comm_kind kind)
{
    return kind == COMM_REDUCE_SCATTER || kind == COMM_ALL_GATHER;
}

static int reduces(enum comm_kind kind)
{
    return kind == COMM_ALL_REDUCE || kind == COMM_REDUCE_SCATTER;
}

const char *sweep_op(const struct collective *c)
{
    return reduces(c->kind) ? comm_op_name[c->op] : "none";
}

int sweep_root(const struct collective *c)
{
    return c->kind == COMM_BROADCAST ? c->root : -1;
}

void sweep_words(const struct measured *row, char words[SWEEP_WORDS])
{
    const struct collective *c = &row->collective;
    char size[CELL];
    snprintf(words, SWEEP_WORDS, "%s of %s (%s%s%s, %s)", comm_kind_name[c->kind], text_memory(size, row->bytes),
             comm_dtype_name[c->dtype], reduces(c->kind) ? " " : "", reduces(c->kind) ? comm_op_name[c->op] : "",
             row->in_place ? "in place" : "out of place");
}

/* A row for a size, unless the last one has as many elements. Messages are whole elements, and equal parts of ranks. */
static void add_rows(struct sweep *s, enum comm_dtype dtype, enum comm_op op, size_t bytes, size_t first)
{
    enum comm_kind kind = s->options->kind;
    size_t whole = comm_dtype_bytes(dtype) * (scatters(kind) ? (size_t)s->job->size : 1);
    size_t count = bytes / whole ? bytes / whole : 1;
    if (s->rows > first && s->row[s->rows - 1].collective.count == count)
        return;
    struct collective c = {.kind = kind, .dtype = dtype, .op = op, .count = count, .root = (int)s->options->root};
    for (int in_place = kind == COMM_BROADCAST || s->options->overlap; in_place < 2; in_place++)
        s->row[s->rows++] =
            (struct measured){.collective = c, .in_place = in_place, .bytes = count * whole, .wrong = -1};
}

size_t sweep_memory(const struct sweep_options *o, int ranks)
{
    enum { LONGEST_ELEMENT = 8 };
    size_t samples = (o->iters ? o->iters : 2000) * sizeof(double);
    return 2 * (o->size[o->sizes - 1] + LONGEST_ELEMENT * 1024) + samples * (2 * o->sizes + (size_t)ranks);
}

static void make_rows(struct sweep *s)
{
    const struct sweep_options *o = s->options;
    s->row = allocate(o->sizes * COMM_DTYPES * COMM_OPS * 2, sizeof *s->row);
    for (int d = 0; d < COMM_DTYPES; d++)
        for (int op = 0; op < COMM_OPS; op++) {
            size_t first = s->rows;
            if (!o->use_dtype[d] || (reduces(o->kind) ? !o->use_op[op] : op))
                continue;
            for (size_t i = 0; i < o->sizes; i++)
                add_rows(s, (enum comm_dtype)d, (enum comm_op)op, o->size[i], first);
        }
}

/* Buffers are cleared as floats. */
static size_t floats_of(size_t bytes)
{
    return (bytes + sizeof(float) - 1) / sizeof(float);
}

static void make_buffers(struct sweep *s)
{
    size_t most = 0;
    for (size_t i = 0; i < s->rows; i++)
        most = s->row[i].bytes > most ? s->row[i].bytes : most;
    most = floats_of(most) * sizeof(float);
    s->in = s->comm->allocate(s->comm, most);
    s->buffer = s->comm->allocate(s->comm, most);
    s->host_in = s->device->host_reads_memory ? s->in : s->device->allocate_host(most);
    s->host_buffer = s->device->host_reads_memory ? s->buffer : s->device->allocate_host(most);
}

int sweep_create(struct sweep *s, int core_to_spare)
{
    enum { IN_FLIGHT = 8 };
    const struct sweep_options *o = s->options;
    size_t spans[TIMELINE_LANES] = {[LANE_HOST] = 1, [LANE_COMMUNICATION] = 16, [LANE_COMPUTE] = 1};
    struct comm_options how = {.library = o->model.comm,
                               .progress = o->model.mpi_progress,
                               .core_to_spare = core_to_spare,
                               .shares_gpu = o->model.device.share_gpu,
                               .nccl_max_ctas = o->model.nccl_max_ctas,
                               .timeout_s = o->timeout_s};
    make_rows(s);
    timeline_create(&s->timeline, spans);
    /* spans are read with --overlap alone, and recording them costs */
    s->comm = comm_create(s->job, s->device, o->overlap ? &s->timeline : NULL, IN_FLIGHT, &how);
    if (!s->comm)
        return -1;
    make_buffers(s);
    return 0;
}

void sweep_destroy(struct sweep *s)
{
    for (size_t i = 0; i < s->rows; i++) {
        free(s->row[i].seconds);
        free(s->row[i].overlapped);
    }
    free(s->row);
    free(s->link);
    if (s->device && !s->device->host_reads_memory) {
        s->device->release_host(s->host_in);
        s->device->release_host(s->host_buffer);
    }
    if (s->comm) {
        s->comm->release(s->comm, s->in);
        s->comm->release(s->comm, s->buffer);
        s->comm->destroy(s->comm);
    }
    timeline_destroy(&s->timeline);
}

/* ---- one row ---- */

static void call(struct sweep *s, const struct collective *c)
{
    if (s->options->nonblocking) {
        s->comm->run_blocking(s->comm, c);
        s->device->synchronize();
    } else
        s->comm->call(s->comm, c);
}

/* Moves what the host has written to where collectives find it, and back, where these are different places. */
static void to_device(const struct sweep *s, const struct measured *row)
{
    if (s->device->host_reads_memory)
        return;
    if (!row->in_place)
        s->device->upload(s->in, s->host_in, row->bytes);
    s->device->upload(s->buffer, s->host_buffer, row->bytes);
    s->device->synchronize();
}

static void to_host(const struct sweep *s, const struct measured *row)
{
    if (!s->device->host_reads_memory)
        s->device->download(s->host_buffer, s->buffer, row->bytes);
}

/* Where the host finds a collective's result. */
static unsigned char *result_of(const struct sweep *s, const struct collective *c)
{
    return (unsigned char *)s->host_buffer + ((char *)comm_result(s->comm, c) - (char *)c->buffer);
}

static void flip_bit(const struct sweep *s, const struct collective *c)
{
    size_t bits = 8 * comm_dtype_bytes(c->dtype) * payload_result(c, s->job->size);
    size_t bit = (s->options->flip_bit - 1) % bits;
    if (s->options->flip_bit && s->job->rank == 0)
        result_of(s, c)[bit / 8] ^= (unsigned char)(1 << bit % 8);
}

static void check(struct sweep *s, struct measured *row, const struct collective *c, const char *what)
{
    struct payload payload = {
        .collective = *c, .rank = s->job->rank, .ranks = s->job->size, .rounds_average = s->comm->rounds_average};
    double wrong = 0;
    for (size_t i = 0; i < s->options->check; i++) {
        payload.round = (unsigned)i & 0xffff;
        payload_fill(&payload, row->in_place ? NULL : s->host_in, s->host_buffer);
        to_device(s, row);
        watchdog_begin(s->comm->watchdog, "check", what);
        watchdog_mark(s->comm->watchdog, clock_now_ns(), (long)i);
        call(s, c);
        watchdog_rest(s->comm->watchdog);
        to_host(s, row);
        flip_bit(s, c);
        wrong += (double)payload_wrong(&payload, result_of(s, c));
    }
    double *all = allocate((size_t)s->job->size, sizeof *all);
    job_gather(s->job, &wrong, sizeof wrong, all);
    row->wrong = s->options->check ? 0 : -1;
    for (int r = 0; r < s->job->size && s->options->check; r++)
        row->wrong += (long)all[r];
    free(all);
}

/* Iterations that all ranks will time, from what one takes the slowest of them. */
static size_t aim_of(const struct sweep *s, double seconds)
{
    const double budget_s = 0.2, most = 2000, least = fmax(5, (double)s->options->run_cycles);
    double slowest = job_max(s->job, seconds);
    return s->options->iters ? s->options->iters : (size_t)fmax(least, fmin(most, budget_s / slowest));
}

static void reserve(struct measured *row, size_t more)
{
    if (row->n + more <= row->capacity)
        return;
    row->capacity = row->n + more;
    row->seconds = realloc(row->seconds, row->capacity * sizeof *row->seconds);
    if (!row->seconds)
        FATAL("no memory for %zu samples", row->capacity);
    memset(row->seconds + row->n, 0, more * sizeof *row->seconds); /* touched before they are timed */
}

/* Calls before the timed ones; returns the seconds of the fastest. */
static double warm_up(struct sweep *s, const struct collective *c)
{
    double fastest = INFINITY;
    for (size_t i = 0; i < s->options->warmup_iters; i++) {
        int64_t start = clock_now_ns();
        watchdog_mark(s->comm->watchdog, start, (long)i);
        call(s, c);
        fastest = fmin(fastest, 1e-9 * (double)(clock_now_ns() - start));
    }
    return fastest;
}

static void time_calls(struct sweep *s, const struct collective *c, double *seconds, size_t n)
{
    call(s, c); /* ranks leave a barrier one after the other */
    int64_t last = clock_now_ns();
    for (size_t i = 0; i < n; i++) {
        watchdog_mark(s->comm->watchdog, last, (long)i);
        call(s, c);
        int64_t now = clock_now_ns();
        seconds[i] = 1e-9 * (double)(now - last);
        last = now;
    }
}

void sweep_measure(struct sweep *s, struct measured *row, size_t cycle)
{
    struct collective c = row->collective;
    size_t cycles = s->options->run_cycles;
    char what[SWEEP_WORDS];
    c.in = row->in_place ? NULL : s->in;
    c.buffer = s->buffer;
    sweep_words(row, what);
    if (cycle == 0)
        check(s, row, &c, what);
    s->device->zero(s->in, floats_of(row->bytes)); /* sums in place stay what they are, however often */
    s->device->zero(s->buffer, floats_of(row->bytes));
    s->device->synchronize();

    watchdog_begin(s->comm->watchdog, "warm-up iteration", what);
    job_barrier(s->job);
    double fastest = warm_up(s, &c);
    if (!row->aim)
        row->aim = aim_of(s, fastest);
    size_t n = row->aim * (cycle + 1) / cycles - row->aim * cycle / cycles;
    reserve(row, n);

    watchdog_begin(s->comm->watchdog, "timed iteration", what);
    job_barrier(s->job);
    row->start_ns = clock_now_ns();
    double cpu = host_process_cpu_seconds();
    time_calls(s, &c, row->seconds + row->n, n);
    watchdog_rest(s->comm->watchdog);
    row->cpu_seconds += host_process_cpu_seconds() - cpu;
    row->n += n;
    row->last_n = n;
}

/* ---- figures ---- */

static struct spread spread_of(const double *x, size_t n)
{
    struct spread s = {INFINITY, 0, stats_median(x, n), stats_quantile(x, n, 0.95), stats_quantile(x, n, 0.99), 0};
    for (size_t i = 0; i < n; i++) {
        s.min = fmin(s.min, x[i]);
        s.max = fmax(s.max, x[i]);
        s.mean += x[i] / (double)n;
    }
    return s;
}

static double sustained_of(const double *x, size_t n)
{
    enum { STRETCHES = 10 };
    double mean[STRETCHES] = {0};
    size_t stretches = n < STRETCHES ? n : STRETCHES;
    for (size_t k = 0; k < stretches; k++) {
        size_t first = k * n / stretches, end = (k + 1) * n / stretches;
        for (size_t i = first; i < end; i++)
            mean[k] += x[i] / (double)(end - first);
    }
    return stats_median(mean, stretches);
}

static double averaged(enum sweep_average average, const double *all, size_t n, int ranks, size_t i)
{
    double sum = 0, low = INFINITY, high = 0;
    for (int r = 0; r < ranks; r++) {
        double x = all[(size_t)r * n + i];
        sum += x;
        low = fmin(low, x);
        high = fmax(high, x);
    }
    return average == AVERAGE_RANK0  ? all[i]
           : average == AVERAGE_MEAN ? sum / ranks
           : average == AVERAGE_MIN  ? low
                                     : high;
}

void sweep_finish(const struct sweep *s, struct measured *row)
{
    int ranks = s->job->size;
    double *all = allocate(row->n * (size_t)ranks, sizeof *all), *series = allocate(row->n, sizeof *series);
    double *median = allocate((size_t)ranks, sizeof *median), *cpu = allocate((size_t)ranks, sizeof *cpu);
    job_gather(s->job, row->seconds, row->n * sizeof *all, all);
    job_gather(s->job, &row->cpu_seconds, sizeof *cpu, cpu);
    for (size_t i = 0; i < row->n; i++)
        series[i] = averaged((enum sweep_average)s->options->average, all, row->n, ranks, i);
    row->slowest_rank = 0;
    row->cpu_iteration = 0;
    for (int r = 0; r < ranks; r++) {
        median[r] = stats_median(all + (size_t)r * row->n, row->n);
        if (median[r] > median[row->slowest_rank])
            row->slowest_rank = r;
        row->cpu_iteration += cpu[r] / ranks / (double)row->n;
    }
    row->iterations = spread_of(series, row->n);
    row->ranks = spread_of(median, (size_t)ranks);
    row->sustained = sustained_of(series, row->n);
    row->algbw = (double)row->bytes / row->sustained;
    row->busbw = row->algbw * comm_bus_factor(row->collective.kind, ranks);
    free(all);
    free(series);
    free(median);
    free(cpu);
}

/* ---- the link ---- */

static int same_family(const struct measured *a, const struct measured *b)
{
    return a->collective.dtype == b->collective.dtype && a->collective.op == b->collective.op &&
           a->in_place == b->in_place;
}

/* Whether no row before this one is of its family. */
static int is_first(const struct sweep *s, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (same_family(&s->row[before], &s->row[i]))
            return 0;
    return 1;
}

void sweep_fit_links(struct sweep *s)
{
    double factor = comm_bus_factor(s->options->kind, s->job->size);
    double *bytes = allocate(s->rows, sizeof *bytes), *seconds = allocate(s->rows, sizeof *seconds);
    s->link = allocate((size_t)COMM_DTYPES * COMM_OPS * 2, sizeof *s->link);
    for (size_t first = 0; first < s->rows; first++) {
        struct sweep_link *link = &s->link[s->links];
        size_t n = 0;
        if (!is_first(s, first))
            continue;
        for (size_t i = first; i < s->rows; i++)
            if (same_family(&s->row[i], &s->row[first])) {
                bytes[n] = (double)s->row[i].bytes * factor;
                seconds[n++] = s->row[i].sustained;
            }
        link->first = &s->row[first];
        s->links += n <= SWEEP_LINK_SIZES && !link_model_fit(&link->model, bytes, seconds, n);
    }
    free(bytes);
    free(seconds);
}
