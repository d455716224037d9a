/* replayed.c - passes the time of a recorded step, and writes known gradients. */
#include "ddp/replayed.h"

#include "kernels/clock.h"
#include "kernels/error.h"
#include "kernels/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A busy product is y[rows, WIDTH] = x[rows, WIDTH] * w[WIDTH, WIDTH]^T, of at most ROWS rows; WIDE: on a GPU, where a
 * product of WIDTH would hardly be longer than its launch. Gradient number i is number i mod PATTERN of a pattern. */
enum { WIDTH = 256, WIDE = 2048, ROWS = 4096, FEW_ROWS = 64, PATTERN = 262139 }; /* prime: shifts change the values */

struct state {
    double forward, *backward, update; /* as in struct replayed */
    int in_flops;
    enum replayed_compute compute;
    int rank;
    size_t width;
    void *x, *y, *w;          /* of products, in the compute type */
    float *pattern, *scalars; /* [PATTERN]; those of an optimizer, to measure it */
    /* measured seconds: of a product besides its rows; of a row; of a copied number; of an updated weight */
    double launch, row, copy, adamw;
    double debt; /* seconds that were passed too much (below 0) or too little so far */
    float scale; /* of the gradients, as forward got it */
};

/* ---- passing the time ---- */

static void multiply(const struct model *model, size_t rows)
{
    const struct state *s = model->activations;
    model->device->linear_forward(s->y, s->x, s->w, rows, s->width, s->width);
}

/* Writes floats [from, from + count) of the gradient, or adds them if accumulate is not 0. */
static void write_gradient(const struct model *model, float *to, size_t from, size_t count, int accumulate)
{
    const struct state *s = model->activations;
    for (size_t at = 0, n; at < count; at += n) {
        size_t first = (from + at) % PATTERN;
        n = count - at < PATTERN - first ? count - at : PATTERN - first;
        model->device->axpby(to + at, s->pattern + first, n, s->scale, accumulate ? 1 : 0);
    }
}

/* Computes for so many seconds, to the nearest row of a product; the rest is passed the next time. */
static void compute(const struct model *model, double seconds)
{
    struct state *s = model->activations;
    s->debt += seconds;
    if (s->compute == REPLAYED_SLEEP) {
        int64_t now = clock_now_ns();
        if (s->debt > 0)
            clock_sleep_until(now + (int64_t)(1e9 * s->debt));
        s->debt -= clock_seconds_since(now);
        return;
    }
    while (s->debt >= s->launch + FEW_ROWS * s->row) {
        double rows = fmin(ROWS, floor((s->debt - s->launch) / s->row));
        multiply(model, (size_t)rows);
        s->debt -= s->launch + rows * s->row;
    }
}

/* Operations that are measured. */
enum operation { FEW, MANY, COPY, ADAMW };

static void operate(const struct model *model, enum operation operation, size_t call)
{
    const struct state *s = model->activations;
    static const struct adamw adamw = {0.9f, 0.999f, 1e-8f, 0.01f};
    size_t n = model->arena < PATTERN ? model->arena : PATTERN, places = model->arena / n;
    float *weight = model->weight + call % places * n, *gradient = model->gradient ? model->gradient : model->weight;
    if (operation == COPY)
        model->device->axpby(weight, s->pattern, n, 1, 0);
    else if (operation == ADAMW) /* at several places of the arenas, as memory is not in the caches in a step */
        model->device->adamw(weight, NULL, gradient + call % places * n, gradient + (call + places / 2) % places * n,
                             s->pattern, n, s->scalars, &adamw);
    else
        multiply(model, operation == FEW ? FEW_ROWS : ROWS);
}

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the seconds of an operation: the median of several means. The caller sets the weights anew. */
static double measure(const struct model *model, enum operation operation)
{
    enum { SERIES = 15, CALLS = 4 };
    double mean[SERIES];
    for (size_t i = 0; i < SERIES; i++) {
        model->device->synchronize();
        int64_t start = clock_now_ns();
        for (size_t call = 0; call < CALLS; call++)
            operate(model, operation, i * CALLS + call);
        model->device->synchronize();
        mean[i] = clock_seconds_since(start) / CALLS;
    }
    qsort(mean, SERIES, sizeof *mean, compare_seconds);
    return mean[SERIES / 2];
}

static void calibrate(struct model *model)
{
    struct state *s = model->activations;
    double n = (double)(model->arena < PATTERN ? model->arena : PATTERN);
    if (s->compute == REPLAYED_BUSY || s->in_flops) { /* else no product is timed or run */
        for (int warm = 0; warm < 50; warm++)
            multiply(model, FEW_ROWS);
        double few = measure(model, FEW), many = measure(model, MANY);
        s->row = fmax((many - few) / (ROWS - FEW_ROWS), 1e-12);
        s->launch = fmax(0, few - FEW_ROWS * s->row);
    }
    s->copy = measure(model, COPY) / n;
    s->adamw = measure(model, ADAMW) / n;
    if (model->gradient)
        model->device->zero(model->gradient, model->arena);
    if (!s->in_flops)
        return;
    double flops = 2 * (double)s->width * (double)s->width / s->row; /* a second */
    for (int i = 0; i < model->tensors; i++)
        s->backward[i] /= flops;
    s->forward /= flops;
}

/* ---- the source ---- */

static void allocate_arrays(struct model *model)
{
    struct state *s = model->activations;
    const struct device *d = model->device;
    float *pattern = allocate(PATTERN, sizeof *pattern);
    const float scalars[SCALARS] = {[SCALAR_LEARNING_RATE] = 0.001f, [SCALAR_STEP] = 1, [SCALAR_CLIP] = 1};
    uint64_t counter = (uint64_t)s->rank << 32;
    s->x = d->allocate(ROWS * s->width * model->compute_bytes);
    s->y = d->allocate(ROWS * s->width * model->compute_bytes);
    s->w = d->allocate(s->width * s->width * model->compute_bytes);
    s->pattern = d->allocate(PATTERN * sizeof *s->pattern);
    for (size_t i = 0; i < PATTERN; i++)
        pattern[i] = (float)(2 * random_uniform(&counter) - 1);
    d->upload(s->pattern, pattern, PATTERN * sizeof *pattern);
    s->scalars = d->allocate(sizeof scalars);
    d->upload(s->scalars, scalars, sizeof scalars);
    free(pattern);
    calibrate(model);
}

static void destroy(struct model *model)
{
    struct state *s = model->activations;
    if (model->device) {
        model->device->release(s->x);
        model->device->release(s->y);
        model->device->release(s->w);
        model->device->release(s->pattern);
        model->device->release(s->scalars);
    }
    free(s->backward);
    free(s);
}

/* Weights begin as zeros, on every rank. */
static void initialize(struct model *model, uint64_t seed)
{
    (void)seed;
    model->device->zero(model->weight, model->arena);
    model_weights_changed(model);
}

static void forward(struct model *model, const int32_t *input, const int32_t *target, float *loss, float loss_scale,
                    float grad_scale, const struct forward_hook *hook)
{
    struct state *s = model->activations;
    (void)input, (void)target, (void)loss_scale;
    s->scale = grad_scale;
    model->device->axpby(loss, s->pattern, 1, NAN, 0); /* there is none */
    s->debt = fmax(-1e-3, fmin(s->debt, 1e-3)); /* what the step before it did not pass; not a wait for other ranks */
    model->device->range_begin("forward", -1);
    for (int i = 0; i < model->tensors; i++) {
        if (hook)
            hook->before(hook->context, i);
        compute(model, s->forward * (double)model->tensor[i].count / (double)model->parameters);
    }
    model->device->range_end();
}

static void backward(struct model *model, const int32_t *input, const int32_t *order, int accumulate,
                     const struct gradient_hook *hook)
{
    struct state *s = model->activations;
    (void)input, (void)order;
    model->device->range_begin("backward", -1);
    for (int i = model->tensors - 1; i >= 0; i--) {
        size_t count = model->tensor[i].count;
        float *to = hook && hook->place ? hook->place(hook->context, i) : model->gradient + model->tensor[i].offset;
        compute(model, s->backward[i] - s->copy * (double)count);
        write_gradient(model, to, model->tensor[i].offset, count, accumulate);
        if (hook && hook->ready)
            hook->ready(hook->context, i);
        if (hook && hook->after)
            hook->after(hook->context);
    }
    model->device->range_end();
}

static void updated(struct model *model, size_t count)
{
    const struct state *s = model->activations;
    compute(model, fmax(0, s->update / (double)model->arena - s->adamw) * (double)count);
}

/* A product of ROWS rows takes at least 50 us, on the fastest devices. */
static size_t operations(const struct model *model)
{
    const struct state *s = model->activations;
    double times = s->forward + s->update;
    size_t pieces = 1 + (size_t)model->tensors; /* the loss, and updates */
    for (int i = 0; i < model->tensors; i++) {
        times += s->backward[i];
        pieces += 2 + 1 + model->tensor[i].count / PATTERN; /* one product in forward, one in backward, and copies */
    }
    return pieces + (size_t)(times / (s->in_flops ? 2.0 * ROWS * WIDTH * WIDTH : 50e-6));
}

static size_t ranges(const struct model *model)
{
    (void)model;
    return 2;
}

static double flops(const struct model *model, size_t tokens, int whole_attention)
{
    (void)model, (void)tokens, (void)whole_attention;
    return NAN;
}

static const struct source replayed_source = {.allocate = allocate_arrays,
                                              .destroy = destroy,
                                              .initialize = initialize,
                                              .forward = forward,
                                              .backward = backward,
                                              .updated = updated,
                                              .operations = operations,
                                              .ranges = ranges,
                                              .flops = flops};

void replayed_plan(struct model *model, const struct replayed *of, size_t compute_bytes)
{
    size_t n = (size_t)of->tensors;
    struct state *s = allocate(1, sizeof *s);
    *model =
        (struct model){.source = &replayed_source,
                       .sizes = {.batch = of->batch, .context = of->context, .vocabulary = 2, .shards = of->shards},
                       .tensor = allocate(n, sizeof *model->tensor),
                       .tensors = of->tensors,
                       .compute_bytes = compute_bytes,
                       .activations = s};
    memcpy(model->tensor, of->tensor, n * sizeof *model->tensor);
    model->arena = tensors_place(model->tensor, model->tensors, of->shards);
    *s = (struct state){.forward = of->forward,
                        .backward = allocate(n, sizeof *s->backward),
                        .update = of->update,
                        .in_flops = of->in_flops,
                        .compute = of->compute,
                        .rank = of->rank,
                        .width = of->on_gpu ? WIDE : WIDTH};
    for (size_t i = 0; i < n; i++) {
        model->parameters += model->tensor[i].count;
        s->backward[i] = of->backward ? of->backward[i] : 0;
    }
    model->activation_bytes = PATTERN * sizeof(float) + compute_bytes * (2 * ROWS + s->width) * s->width;
}
