/* timing.c - times one collective at one message size. */
#include "allreduce/timing.h"

#include "allreduce/payload.h"
#include "base/text.h"
#include "ddp/comm_create.h"
#include "ddp/watchdog.h"
#include "kernels/clock.h"
#include "kernels/error.h"
#include "machine/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const rank_time_name[RANK_TIMES] = {"rank 0", "mean of ranks", "fastest rank", "slowest rank"};
const char *const blocking_name[BLOCKINGS] = {"auto", "queued calls", "blocking calls", "non-blocking calls"};

enum { STRETCHES = 10 };

/* ---- the endpoint ---- */

/* Returns how many floats a buffer for a message has: rounded up, since buffers are cleared as floats. */
static size_t buffer_floats(size_t message_bytes)
{
    return (message_bytes + sizeof(float) - 1) / sizeof(float);
}

int endpoint_create(struct endpoint *e, const struct job *job, const struct device *device,
                    const struct comm_options *options, size_t most_bytes)
{
    enum { IN_FLIGHT = 8 };
    size_t bytes = buffer_floats(most_bytes) * sizeof(float);
    *e = (struct endpoint){.job = job, .device = device};
    e->comm = comm_create(job, device, NULL, IN_FLIGHT, options);
    if (!e->comm)
        return -1;
    e->in = e->comm->allocate(e->comm, bytes);
    e->buffer = e->comm->allocate(e->comm, bytes);
    e->host_in = device->host_reads_memory ? e->in : device->allocate_host(bytes);
    e->host_buffer = device->host_reads_memory ? e->buffer : device->allocate_host(bytes);
    return 0;
}

void endpoint_destroy(struct endpoint *e)
{
    if (e->device && !e->device->host_reads_memory) {
        e->device->release_host(e->host_in);
        e->device->release_host(e->host_buffer);
    }
    if (e->comm) {
        e->comm->release(e->comm, e->in);
        e->comm->release(e->comm, e->buffer);
        e->comm->destroy(e->comm);
    }
    *e = (struct endpoint){0};
}

/* ---- choosing the collectives ---- */

void timing_words(const struct collective_timing *t, char words[TIMING_WORDS])
{
    char size[CELL];
    int reduced = comm_reduces(t->collective.kind);
    snprintf(words, TIMING_WORDS, "%s of %s (%s%s%s, %s)", comm_kind_name[t->collective.kind],
             text_memory(size, t->bytes), t->dtype, reduced ? " " : "", reduced ? t->op : "",
             t->in_place ? "in place" : "out of place");
}

struct collective_timing *timing_create(const struct collective_choice *choice, const size_t *bytes, size_t sizes,
                                        int ranks, int in_place_only, size_t *n)
{
    enum comm_kind kind = choice->kind;
    size_t parts = comm_parts(kind, ranks);
    unsigned ops = comm_reduces(kind) ? choice->ops : 1;
    struct collective_timing *timing = allocate(sizes * COMM_DTYPES * COMM_OPS * 2, sizeof *timing);
    *n = 0;
    for (int d = 0; d < COMM_DTYPES; d++)
        for (int op = 0; op < COMM_OPS; op++) {
            struct collective c = {
                .kind = kind, .dtype = (enum comm_dtype)d, .op = (enum comm_op)op, .root = (int)choice->root};
            size_t whole = comm_dtype_bytes(c.dtype) * parts;
            for (size_t i = 0; i < sizes && choice->dtypes >> d & ops >> op & 1; i++) {
                size_t count = bytes[i] / whole ? bytes[i] / whole : 1;
                if (count == c.count)
                    continue;
                c.count = count;
                for (int in_place = kind == COMM_BROADCAST || in_place_only; in_place < 2; in_place++)
                    timing[(*n)++] = (struct collective_timing){.collective = c,
                                                                .in_place = in_place,
                                                                .dtype = comm_dtype_name[d],
                                                                .op = comm_reduces(kind) ? comm_op_name[op] : "none",
                                                                .placement = in_place ? "in_place" : "out_of_place",
                                                                .root = kind == COMM_BROADCAST ? c.root : -1,
                                                                .bytes = count * whole,
                                                                .wrong = NAN};
            }
        }
    return timing;
}

void timing_destroy(struct collective_timing *timing, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(timing[i].seconds);
    free(timing);
}

/* ---- one cycle ---- */

enum blocking timing_blocking(const struct endpoint *e, enum blocking asked)
{
    if (asked != BLOCKING_AUTO)
        return asked;
    return e->comm->on_device ? BLOCKING_NO : BLOCKING_YES;
}

/* Runs n iterations, which are complete on return. */
static void iterate(struct endpoint *e, const struct collective *c, enum blocking blocking, size_t n)
{
    if (blocking != BLOCKING_YIELDS)
        e->comm->call(e->comm, c, n);
    else
        for (size_t i = 0; i < n; i++) {
            e->comm->run_blocking(e->comm, c);
            e->device->synchronize();
        }
}

/* Runs the collective once, on the test inputs number `round`. Returns the number of wrong elements on this rank. */
static size_t check_once(struct endpoint *e, enum blocking blocking, const struct collective_timing *t,
                         const struct collective *c, size_t round)
{
    const struct job *job = e->job;
    int copies = !e->device->host_reads_memory;
    struct payload payload = {.collective = *c,
                              .rank = job->rank,
                              .ranks = job->size,
                              .rounds_average = e->comm->rounds_average,
                              .round = (unsigned)round & 0xffff};
    payload_fill(&payload, t->in_place ? NULL : e->host_in, e->host_buffer);
    if (copies && !t->in_place)
        e->device->upload(e->in, e->host_in, t->bytes);
    if (copies) {
        e->device->upload(e->buffer, e->host_buffer, t->bytes);
        e->device->synchronize();
    }
    watchdog_mark(e->job->watchdog, (long)round);
    iterate(e, c, blocking, 1);
    if (copies)
        e->device->download(e->host_buffer, e->buffer, t->bytes);
    unsigned char *result = (unsigned char *)e->host_buffer + ((char *)comm_result(e->comm, c) - (char *)c->buffer);
    const char *flip = getenv("DDPBENCH_TEST_FLIP_BIT"); /* tests set this to flip a bit of rank 0's result */
    if (flip && job->rank == 0) {
        size_t bit = strtoul(flip, NULL, 10) % (8 * comm_dtype_bytes(c->dtype) * payload_result(c, job->size));
        result[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    return payload_wrong(&payload, result);
}

/* Returns into how many parts to split n iterations of `seconds` each; the clock is read after each part. Queued calls:
 * up to ten parts of 20 iterations or more, as in nccl-tests; more parts if one would exceed 1 s. Other calls: n. */
static size_t parts_of(const struct endpoint *e, enum blocking blocking, size_t n, double seconds)
{
    double parts = fmin(STRETCHES, floor((double)n / 20));
    if (timing_blocking(e, blocking) == BLOCKING_NO)
        return (size_t)fmin((double)n, fmax(parts, ceil((double)n * seconds)));
    return n;
}

static void time_calls(struct endpoint *e, const struct collective *c, enum blocking blocking, double *seconds,
                       size_t n, size_t parts)
{
    iterate(e, c, blocking, 1); /* not timed, since ranks leave a barrier at different times */
    int64_t last = clock_now_ns();
    for (size_t part = 0, i = 0; part < parts; part++) {
        size_t end = (part + 1) * n / parts, length = end - i;
        watchdog_mark(e->job->watchdog, (long)i);
        iterate(e, c, blocking, length);
        int64_t now = clock_now_ns();
        while (i < end)
            seconds[i++] = 1e-9 * (double)(now - last) / (double)length;
        last = now;
    }
}

/* Splits x[n], timed in `parts` parts, into up to ten stretches, and estimates the median of the stretches' means. */
static struct estimate median_of_means(const double *x, size_t n, size_t parts)
{
    double mean[STRETCHES] = {0};
    size_t stretches = parts < STRETCHES ? parts : STRETCHES;
    for (size_t k = 0; k < stretches; k++) {
        size_t first = k * n / stretches, end = (k + 1) * n / stretches;
        for (size_t i = first; i < end; i++)
            mean[k] += x[i] / (double)(end - first);
    }
    return stats_estimate(mean, stretches);
}

/* Returns whether the second half of x[n] takes about as long as the first, on every rank; 1 if there are few parts. A
 * link that lets a burst through before it limits the rate is far faster in the first calls. All ranks call. */
static int is_stable(const struct job *job, const double *x, size_t n, size_t parts)
{
    if (parts < STRETCHES)
        return 1;
    double first = median_of_means(x, n / 2, parts / 2).median;
    double second = median_of_means(x + n / 2, n - n / 2, parts / 2).median;
    return !(job_max(job, fabs(log(second / first))) > log(1.25));
}

/* Returns the collective with the endpoint's buffers. */
static struct collective with_buffers(const struct endpoint *e, const struct collective_timing *t)
{
    struct collective c = t->collective;
    c.in = t->in_place ? NULL : e->in;
    c.buffer = e->buffer;
    return c;
}

void timing_check(struct endpoint *e, enum blocking blocking, struct collective_timing *t, size_t times)
{
    const struct collective c = with_buffers(e, t);
    char words[TIMING_WORDS];
    timing_words(t, words);
    watchdog_doing(e->job->watchdog, "check # of %s", words);
    t->wrong = 0;
    for (size_t i = 0; i < times; i++)
        t->wrong += (double)check_once(e, blocking, t, &c, i);
    watchdog_doing(e->job->watchdog, "the evaluation of %s", words);
}

void timing_measure(struct endpoint *e, const struct timing_options *options, struct collective_timing *t, size_t cycle)
{
    const double budget_s = 0.2;
    double fastest = INFINITY; /* seconds of this rank's fastest warm-up call */
    const struct collective c = with_buffers(e, t);
    char words[TIMING_WORDS];
    timing_words(t, words);
    if (cycle == 0 && options->check)
        timing_check(e, options->blocking, t, options->check);
    /* zeros, since repeated sums in place of any other number would overflow */
    e->device->zero(e->in, buffer_floats(t->bytes));
    e->device->zero(e->buffer, buffer_floats(t->bytes));
    e->device->synchronize();

    watchdog_doing(e->job->watchdog, "warm-up iteration # of %s", words);
    job_barrier(e->job);
    for (size_t i = 0; i < options->warmup_iters; i++) {
        int64_t start = clock_now_ns();
        watchdog_mark(e->job->watchdog, (long)i);
        iterate(e, &c, options->blocking, 1);
        fastest = fmin(fastest, clock_seconds_since(start));
    }
    double slowest = job_max(e->job, fastest), least = fmax(5, (double)options->cycles);
    if (!t->planned)
        t->planned =
            options->iters ? options->iters : (size_t)fmax(least, fmin(TIMING_MOST_ITERATIONS, budget_s / slowest));
    size_t n = t->planned * (cycle + 1) / options->cycles - t->planned * cycle / options->cycles;
    if (!t->seconds)
        t->seconds = allocate(t->planned, sizeof *t->seconds);
    memset(t->seconds + t->n, 0, n * sizeof *t->seconds); /* maps the pages before the timed region */

    size_t parts = parts_of(e, options->blocking, n, slowest);
    int attempts = options->iters || options->cycles > 1 ? 1 : 5; /* a given number of iterations is not exceeded */
    double cpu;
    for (int attempt = 1;; attempt++) {
        watchdog_doing(e->job->watchdog, "timed iteration # of %s", words);
        job_barrier(e->job);
        t->start_ns = clock_now_ns();
        cpu = host_process_cpu_seconds();
        time_calls(e, &c, options->blocking, t->seconds + t->n, n, parts);
        cpu = host_process_cpu_seconds() - cpu;
        t->is_unstable = attempts > 1 && !is_stable(e->job, t->seconds + t->n, n, parts);
        if (attempt == attempts || !t->is_unstable)
            break;
        t->discarded += n; /* the next n iterations replace them */
    }
    watchdog_doing(e->job->watchdog, "the evaluation of %s", words);
    t->cpu_seconds += cpu;
    t->parts += parts;
    t->n += n;
    t->last_n = n;
}

/* ---- figures ---- */

/* Returns the time of iteration i, from the times all[ranks, n] of all ranks. */
static double time_of(enum rank_time time, const double *all, size_t n, int ranks, size_t i)
{
    double mean = 0, least = INFINITY, most = 0;
    for (int r = 0; r < ranks; r++) {
        double x = all[(size_t)r * n + i];
        mean += x / ranks;
        least = fmin(least, x);
        most = fmax(most, x);
    }
    return time == TIME_OF_RANK0 ? all[i] : time == TIME_MEAN ? mean : time == TIME_OF_FASTEST ? least : most;
}

void timing_finish(const struct job *job, enum rank_time time, struct collective_timing *t)
{
    int ranks = job->size;
    double sum[] = {t->cpu_seconds, t->wrong};
    double *all = allocate(t->n * (size_t)ranks, sizeof *all), *series = allocate(t->n, sizeof *series);
    job_gather(job, t->seconds, t->n * sizeof *all, all);
    job_sum(job, sum, 2);
    t->iterations.mean = 0;
    for (size_t i = 0; i < t->n; i++) {
        series[i] = time_of(time, all, t->n, ranks, i);
        t->iterations.mean += series[i] / (double)t->n;
    }
    t->iterations.min = stats_quantile(series, t->n, 0);
    t->iterations.median = stats_median(series, t->n);
    t->iterations.p95 = stats_quantile(series, t->n, 0.95);
    t->iterations.p99 = stats_quantile(series, t->n, 0.99);
    t->iterations.max = stats_quantile(series, t->n, 1);
    t->cpu_time = sum[0] / ranks / (double)t->n;
    t->wrong = sum[1];
    t->time = median_of_means(series, t->n, t->parts);
    t->half_width = fmax(t->time.ci_high / t->time.median - 1, 1 - t->time.ci_low / t->time.median);
    t->algbw = (double)t->bytes / t->time.median;
    t->busbw = t->algbw * comm_bus_factor(t->collective.kind, ranks);
    free(all);
    free(series);
}
