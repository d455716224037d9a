/* device_traced.c - records every operation and range of a device, with a wrapper for each function. */
#include "kernels/device_traced.h"

#include "kernels/operations.h"

static const struct device *inner;
static struct timeline *timeline;
static int stamped;    /* for asynchronous devices; 1: times are stamps; 0: the device's tracer supplies them later */
static int64_t newest; /* the newest stamp; 0: no stamp yet */

enum { DEEPEST = 16 };
static struct span open_range[DEEPEST]; /* ranges that have not ended yet */
static int depth;

static int64_t traced_stamp(void)
{
    newest = inner->stamp();
    return newest;
}

static void traced_stamps_begin(void)
{
    inner->stamps_begin();
    newest = 0;
}

/* A point in the program: the times when the host and the device reach it. */
struct moment {
    int64_t host_ns, device_ns; /* device_ns: a time, a ticket, or 0 if the device's tracer will supply it */
};

/* Returns the current moment. On an asynchronous device with stamps, device_ns is the last stamp: an operation starts
 * where the previous one ended, because another event between two kernels would cost time. */
static struct moment moment_now(void)
{
    if (!inner->asynchronous) {
        int64_t now = inner->stamp();
        return (struct moment){now, now};
    }
    int64_t now = clock_now_ns();
    if (stamped && !newest)
        traced_stamp();
    return (struct moment){now, stamped ? newest : 0};
}

static void record_operation(enum operation operation, struct moment start, size_t a, size_t b, size_t c, size_t d)
{
    struct moment end = moment_now();
    if (inner->asynchronous && stamped)
        end.device_ns = traced_stamp();
    timeline_add(timeline, LANE_COMPUTE,
                 (struct span){.name = operation_facts[operation].name,
                               .queued_ns = start.host_ns,
                               .returned_ns = end.host_ns,
                               .start_ns = start.device_ns,
                               .end_ns = end.device_ns,
                               .size = {a, b, c, d},
                               .index = (int)operation});
}

static void range_begin(const char *name, int number)
{
    inner->range_begin(name, number);
    struct moment start = moment_now();
    if (depth < DEEPEST)
        open_range[depth] =
            (struct span){.name = name, .queued_ns = start.host_ns, .start_ns = start.device_ns, .index = number};
    depth++;
}

static void range_end(void)
{
    struct moment end = moment_now();
    inner->range_end();
    if (--depth >= DEEPEST)
        return;
    open_range[depth].returned_ns = end.host_ns;
    open_range[depth].end_ns = end.device_ns;
    timeline_add(timeline, LANE_HOST, open_range[depth]);
}

static void *traced_allocate(size_t bytes)
{
    void *memory = inner->allocate(bytes);
    timeline_add_memory(timeline, bytes, memory);
    return memory;
}

static void traced_zero(float *x, size_t n)
{
    struct moment start = moment_now();
    inner->zero(x, n);
    record_operation(OPERATION_ZERO, start, n, 0, 0, 0);
}

static void traced_copy(float *to, const float *from, size_t n)
{
    struct moment start = moment_now();
    inner->copy(to, from, n);
    record_operation(OPERATION_COPY, start, n, 0, 0, 0);
}

static void traced_pack_bf16(uint16_t *to, const float *from, size_t n)
{
    struct moment start = moment_now();
    inner->pack_bf16(to, from, n);
    record_operation(OPERATION_PACK_BF16, start, n, 0, 0, 0);
}

static void traced_unpack_bf16(float *to, const uint16_t *from, size_t n, size_t rows, size_t stride)
{
    struct moment start = moment_now();
    inner->unpack_bf16(to, from, n, rows, stride);
    record_operation(OPERATION_UNPACK_BF16, start, n, rows, 0, 0);
}

static void traced_embedding_forward(void *x, const void *table, const int32_t *token, size_t N, size_t C)
{
    struct moment start = moment_now();
    inner->embedding_forward(x, table, token, N, C);
    record_operation(OPERATION_EMBEDDING_FORWARD, start, N, C, 0, 0);
}

static void traced_embedding_backward(float *dtable, const void *dx, const int32_t *token, const int32_t *order,
                                      size_t N, size_t C, size_t V, int accumulate)
{
    struct moment start = moment_now();
    inner->embedding_backward(dtable, dx, token, order, N, C, V, accumulate);
    record_operation(OPERATION_EMBEDDING_BACKWARD, start, N, C, V, 0);
}

static void traced_linear_forward(void *y, const void *x, const void *w, size_t N, size_t I, size_t O)
{
    struct moment start = moment_now();
    inner->linear_forward(y, x, w, N, I, O);
    record_operation(OPERATION_LINEAR_FORWARD, start, N, I, O, 0);
}

static void traced_linear_residual_forward(void *y, const void *residual, const void *x, const void *w, size_t N,
                                           size_t I, size_t O)
{
    struct moment start = moment_now();
    inner->linear_residual_forward(y, residual, x, w, N, I, O);
    record_operation(OPERATION_LINEAR_RESIDUAL_FORWARD, start, N, I, O, 0);
}

static void traced_linear_backward_input(void *dx, const void *dy, const void *w, size_t N, size_t I, size_t O,
                                         int accumulate)
{
    struct moment start = moment_now();
    inner->linear_backward_input(dx, dy, w, N, I, O, accumulate);
    record_operation(OPERATION_LINEAR_BACKWARD_INPUT, start, N, I, O, 0);
}

static void traced_linear_backward_weight(float *dw, const void *dy, const void *x, size_t N, size_t I, size_t O,
                                          int accumulate)
{
    struct moment start = moment_now();
    inner->linear_backward_weight(dw, dy, x, N, I, O, accumulate);
    record_operation(OPERATION_LINEAR_BACKWARD_WEIGHT, start, N, I, O, 0);
}

static void traced_rmsnorm_forward(void *y, float *rstd, const void *x, const void *w, size_t N, size_t C)
{
    struct moment start = moment_now();
    inner->rmsnorm_forward(y, rstd, x, w, N, C);
    record_operation(OPERATION_RMSNORM_FORWARD, start, N, C, 0, 0);
}

static void traced_rmsnorm_backward(void *dx, float *dw, const void *dy, const void *x, const void *w,
                                    const float *rstd, size_t N, size_t C, int accumulate, int accumulate_weight)
{
    struct moment start = moment_now();
    inner->rmsnorm_backward(dx, dw, dy, x, w, rstd, N, C, accumulate, accumulate_weight);
    record_operation(OPERATION_RMSNORM_BACKWARD, start, N, C, 0, 0);
}

static void traced_rope_forward(void *q, void *k, const float *rope, size_t B, size_t T, size_t H, size_t D,
                                size_t stride)
{
    struct moment start = moment_now();
    inner->rope_forward(q, k, rope, B, T, H, D, stride);
    record_operation(OPERATION_ROPE_FORWARD, start, B, T, H, D);
}

static void traced_attention_forward(void *o, float *lse, const void *q, const void *k, const void *v, size_t B,
                                     size_t T, size_t H, size_t D, size_t stride)
{
    struct moment start = moment_now();
    inner->attention_forward(o, lse, q, k, v, B, T, H, D, stride);
    record_operation(OPERATION_ATTENTION_FORWARD, start, B, T, H, D);
}

static void traced_attention_backward(void *dq, void *dk, void *dv, const void *d_o, const void *o, const float *lse,
                                      const void *q, const void *k, const void *v, const float *rope, size_t B,
                                      size_t T, size_t H, size_t D, size_t stride)
{
    struct moment start = moment_now();
    inner->attention_backward(dq, dk, dv, d_o, o, lse, q, k, v, rope, B, T, H, D, stride);
    record_operation(OPERATION_ATTENTION_BACKWARD, start, B, T, H, D);
}

static void traced_swiglu_forward(void *h, const void *a, const void *g, size_t N, size_t F, size_t stride)
{
    struct moment start = moment_now();
    inner->swiglu_forward(h, a, g, N, F, stride);
    record_operation(OPERATION_SWIGLU_FORWARD, start, N, F, 0, 0);
}

static void traced_swiglu_backward(void *da, void *dg, const void *dh, const void *a, const void *g, size_t N, size_t F,
                                   size_t stride)
{
    struct moment start = moment_now();
    inner->swiglu_backward(da, dg, dh, a, g, N, F, stride);
    record_operation(OPERATION_SWIGLU_BACKWARD, start, N, F, 0, 0);
}

static void traced_cross_entropy(float *loss, void *logits, const int32_t *target, size_t N, size_t V, size_t stride,
                                 float loss_scale, float grad_scale)
{
    struct moment start = moment_now();
    inner->cross_entropy(loss, logits, target, N, V, stride, loss_scale, grad_scale);
    record_operation(OPERATION_CROSS_ENTROPY, start, N, V, 0, 0);
}

static void traced_grad_norm(float *scalars, const float *g, size_t n, float max_norm)
{
    struct moment start = moment_now();
    inner->grad_norm(scalars, g, n, max_norm);
    record_operation(OPERATION_GRAD_NORM, start, n, 0, 0, 0);
}

static void traced_adamw(float *w, void *compute_w, float *m, float *v, const float *g, size_t n, const float *scalars,
                         const struct adamw *adamw)
{
    struct moment start = moment_now();
    inner->adamw(w, compute_w, m, v, g, n, scalars, adamw);
    record_operation(OPERATION_ADAMW, start, n, 0, 0, 0);
}

static void traced_axpby(float *y, const float *x, size_t n, float a, float b)
{
    struct moment start = moment_now();
    inner->axpby(y, x, n, a, b);
    record_operation(OPERATION_AXPBY, start, n, 0, 0, 0);
}

static void traced_low_rank_left(float *p, float *e, const float *g, const float *q, size_t R, size_t I, size_t O)
{
    struct moment start = moment_now();
    inner->low_rank_left(p, e, g, q, R, I, O);
    record_operation(OPERATION_LOW_RANK_LEFT, start, R, I, O, 0);
}

static void traced_low_rank_right(float *q, float *p, const float *e, size_t R, size_t I, size_t O)
{
    struct moment start = moment_now();
    inner->low_rank_right(q, p, e, R, I, O);
    record_operation(OPERATION_LOW_RANK_RIGHT, start, R, I, O, 0);
}

static void traced_low_rank_restore(float *g, float *e, const float *p, const float *q, size_t R, size_t I, size_t O,
                                    float share)
{
    struct moment start = moment_now();
    inner->low_rank_restore(g, e, p, q, R, I, O, share);
    record_operation(OPERATION_LOW_RANK_RESTORE, start, R, I, O, 0);
}

static struct device table = {
    .allocate = traced_allocate,
    .range_begin = range_begin,
    .range_end = range_end,
    .zero = traced_zero,
    .copy = traced_copy,
    .pack_bf16 = traced_pack_bf16,
    .unpack_bf16 = traced_unpack_bf16,
    .embedding_forward = traced_embedding_forward,
    .embedding_backward = traced_embedding_backward,
    .linear_forward = traced_linear_forward,
    .linear_residual_forward = traced_linear_residual_forward,
    .linear_backward_input = traced_linear_backward_input,
    .linear_backward_weight = traced_linear_backward_weight,
    .rmsnorm_forward = traced_rmsnorm_forward,
    .rmsnorm_backward = traced_rmsnorm_backward,
    .rope_forward = traced_rope_forward,
    .attention_forward = traced_attention_forward,
    .attention_backward = traced_attention_backward,
    .swiglu_forward = traced_swiglu_forward,
    .swiglu_backward = traced_swiglu_backward,
    .cross_entropy = traced_cross_entropy,
    .grad_norm = traced_grad_norm,
    .adamw = traced_adamw,
    .axpby = traced_axpby,
    .low_rank_left = traced_low_rank_left,
    .low_rank_right = traced_low_rank_right,
    .low_rank_restore = traced_low_rank_restore,
};

const struct device *device_traced(const struct device *device, struct timeline *to, int stamps)
{
    inner = device;
    timeline = to;
    stamped = stamps;
    newest = 0;
    depth = 0;
    table.name = device->name;
    table.accelerator = device->accelerator;
    table.most_head_width = device->most_head_width;
    table.precision = device->precision;
    table.compute_bytes = device->compute_bytes;
    table.asynchronous = device->asynchronous;
    table.host_reads_memory = device->host_reads_memory;
    table.release = device->release;
    table.upload = device->upload;
    table.download = device->download;
    table.synchronize = device->synchronize;
    table.stamp = traced_stamp;
    table.stamps_begin = traced_stamps_begin;
    table.stamps_end = device->stamps_end;
    table.stamp_ns = device->stamp_ns;
    table.allocate_host = device->allocate_host;
    table.release_host = device->release_host;
    table.staging_create = device->staging_create;
    table.staging_destroy = device->staging_destroy;
    table.stage_out = device->stage_out;
    table.stage_in = device->stage_in;
    table.stage_reached = device->stage_reached;
    table.phase = device->phase;
    table.annotation_begin = device->annotation_begin;
    table.annotation_end = device->annotation_end;
    return &table;
}
