/* device_limits.c - times a large matrix product and axpby on large arrays. */
#include "ddp/device_limits.h"

#include "kernels/clock.h"
#include "kernels/error.h"
#include "kernels/random.h"

#include <math.h>
#include <stdlib.h>

enum { REPEATS = 5, LEAST_SIDE = 256, MOST_SIDE = 8192, CALLS = 8 };
static const double product_seconds = 5e-3; /* a shorter product is repeated with sides twice as long */
static const double short_seconds = 2e-3, most_seconds = 0.5;

/* Operands: of a product y[n, n] = x[n, n] * x[n, n]^T, or of axpby on y[n] and x[n]. */
struct operands {
    const struct device *device;
    void *x, *y;
    size_t n;
};

static void multiply(const struct operands *o)
{
    o->device->linear_forward(o->y, o->x, o->x, o->n, o->n, o->n);
}

static void add(const struct operands *o)
{
    o->device->axpby(o->y, o->x, o->n, 0.5f, 0.5f);
}

/* Returns the least seconds that a call of `run` takes on this rank while all ranks call it: of REPEATS repetitions
 * after the first, or of fewer if they take long. Short calls are repeated, so that the time of a GPU's launch hardly
 * counts. */
static double least_seconds(const struct job *job, void (*run)(const struct operands *), const struct operands *o)
{
    double least = INFINITY, first = 0, sum = 0;
    for (int i = 0; i <= REPEATS && sum < most_seconds; i++) {
        int calls = i && first < short_seconds ? CALLS : 1;
        job_barrier(job);
        int64_t start = clock_now_ns();
        for (int c = 0; c < calls; c++)
            run(o);
        o->device->synchronize();
        double seconds = clock_seconds_since(start), slowest = job_max(job, seconds);
        least = fmin(least, seconds / calls);
        first = i ? first : slowest;
        sum += slowest;
    }
    return least;
}

static struct operands operands_of(const struct device *device, size_t n, size_t bytes)
{
    return (struct operands){device, device->allocate(bytes), device->allocate(bytes), n};
}

static void release(const struct operands *o)
{
    o->device->release(o->x);
    o->device->release(o->y);
}

void device_limits_fill(const struct device *device, void *x, size_t n)
{
    size_t words = n * device->compute_bytes / sizeof(uint16_t);
    uint16_t *word = allocate(words, sizeof *word);
    for (size_t i = 0; i < words; i++)
        word[i] = (uint16_t)((random_bits(i * RANDOM_STEP) & 0x807f) | 0x3f00);
    device->upload(x, word, words * sizeof *word);
    device->synchronize();
    free(word);
}

static double product_flops(const struct job *job, const struct device *device)
{
    for (size_t side = LEAST_SIDE;; side *= 2) {
        const struct operands o = operands_of(device, side, side * side * device->compute_bytes);
        device_limits_fill(device, o.x, side * side);
        double seconds = least_seconds(job, multiply, &o);
        int last = side == MOST_SIDE || job_max(job, seconds) > product_seconds;
        release(&o);
        if (last)
            return 2 * pow((double)side, 3) / seconds;
    }
}

static double memory_bandwidth(const struct job *job, const struct device *device, size_t bytes)
{
    const struct operands o = operands_of(device, bytes / sizeof(float), bytes);
    device->zero(o.x, o.n); /* so that each page has memory of its own */
    double seconds = least_seconds(job, add, &o);
    release(&o);
    return 3 * (double)(o.n * sizeof(float)) / seconds;
}

void device_limits_measure(struct device_limits *limits, const struct job *job, const struct device *device,
                           size_t caches, int sharing, size_t memory)
{
    const size_t least = (size_t)16 << 20, ranks = (size_t)sharing, most = memory / 64 / ranks;
    size_t bytes = 4 * caches / ranks;
    bytes = bytes > least ? bytes : least;
    double mean[] = {product_flops(job, device), memory_bandwidth(job, device, bytes < most ? bytes : most)};
    job_sum(job, mean, 2);
    *limits = (struct device_limits){mean[0] / job->size, mean[1] / job->size};
}
