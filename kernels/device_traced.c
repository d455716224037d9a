/* device_traced.c - records every operation and range of a device; one function for each row of its table. */
#include "device_traced.h"

#include "operations.h"

static const struct device *inner;
static struct timeline *timeline;

enum { DEEPEST = 16 };
static struct span open_range[DEEPEST]; /* ranges that have begun and not ended */
static int depth;

static void record(enum operation operation, int64_t start_ns, size_t a, size_t b, size_t c, size_t d)
{
    timeline_add(
        timeline, LANE_COMPUTE,
        (struct span){
            operation_facts[operation].name, start_ns, start_ns, clock_now_ns(), {a, b, c, d}, (int)operation, 0});
}

static void range_begin(const char *name, int number)
{
    int64_t now = clock_now_ns();
    if (depth < DEEPEST)
        open_range[depth] = (struct span){.name = name, .queued_ns = now, .start_ns = now, .index = number};
    depth++;
}

static void range_end(void)
{
    if (--depth >= DEEPEST)
        return;
    open_range[depth].end_ns = clock_now_ns();
    timeline_add(timeline, LANE_HOST, open_range[depth]);
}

static void *traced_allocate(size_t bytes)
{
    void *memory = inner->allocate(bytes);
    int64_t now = clock_now_ns();
    timeline_add(timeline, LANE_MEMORY,
                 (struct span){"allocate", now, now, now, {bytes, (size_t)(uintptr_t)memory}, 0, 0});
    return memory;
}

static void traced_zero(float *x, size_t n)
{
    int64_t start_ns = clock_now_ns();
    inner->zero(x, n);
    record(OPERATION_ZERO, start_ns, n, 0, 0, 0);
}

static void traced_copy(float *to, const float *from, size_t n)
{
    int64_t start_ns = clock_now_ns();
    inner->copy(to, from, n);
    record(OPERATION_COPY, start_ns, n, 0, 0, 0);
}

static void traced_pack_bf16(uint16_t *to, const float *from, size_t n)
{
    int64_t start_ns = clock_now_ns();
    inner->pack_bf16(to, from, n);
    record(OPERATION_PACK_BF16, start_ns, n, 0, 0, 0);
}

static void traced_unpack_bf16(float *to, const uint16_t *from, size_t n)
{
    int64_t start_ns = clock_now_ns();
    inner->unpack_bf16(to, from, n);
    record(OPERATION_UNPACK_BF16, start_ns, n, 0, 0, 0);
}

static void traced_add(float *y, const float *a, const float *b, size_t n)
{
    int64_t start_ns = clock_now_ns();
    inner->add(y, a, b, n);
    record(OPERATION_ADD, start_ns, n, 0, 0, 0);
}

static void traced_embedding_forward(float *x, const float *table, const int32_t *token, size_t N, size_t C)
{
    int64_t start_ns = clock_now_ns();
    inner->embedding_forward(x, table, token, N, C);
    record(OPERATION_EMBEDDING_FORWARD, start_ns, N, C, 0, 0);
}

static void traced_embedding_backward(float *dtable, const float *dx, const int32_t *token, size_t N, size_t C)
{
    int64_t start_ns = clock_now_ns();
    inner->embedding_backward(dtable, dx, token, N, C);
    record(OPERATION_EMBEDDING_BACKWARD, start_ns, N, C, 0, 0);
}

static void traced_linear_forward(float *y, const float *x, const float *w, size_t N, size_t I, size_t O)
{
    int64_t start_ns = clock_now_ns();
    inner->linear_forward(y, x, w, N, I, O);
    record(OPERATION_LINEAR_FORWARD, start_ns, N, I, O, 0);
}

static void traced_linear_backward_input(float *dx, const float *dy, const float *w, size_t N, size_t I, size_t O,
                                         int accumulate)
{
    int64_t start_ns = clock_now_ns();
    inner->linear_backward_input(dx, dy, w, N, I, O, accumulate);
    record(OPERATION_LINEAR_BACKWARD_INPUT, start_ns, N, I, O, 0);
}

static void traced_linear_backward_weight(float *dw, const float *dy, const float *x, size_t N, size_t I, size_t O)
{
    int64_t start_ns = clock_now_ns();
    inner->linear_backward_weight(dw, dy, x, N, I, O);
    record(OPERATION_LINEAR_BACKWARD_WEIGHT, start_ns, N, I, O, 0);
}

static void traced_rmsnorm_forward(float *y, float *rstd, const float *x, const float *w, size_t N, size_t C)
{
    int64_t start_ns = clock_now_ns();
    inner->rmsnorm_forward(y, rstd, x, w, N, C);
    record(OPERATION_RMSNORM_FORWARD, start_ns, N, C, 0, 0);
}

static void traced_rmsnorm_backward(float *dx, float *dw, const float *dy, const float *x, const float *w,
                                    const float *rstd, size_t N, size_t C)
{
    int64_t start_ns = clock_now_ns();
    inner->rmsnorm_backward(dx, dw, dy, x, w, rstd, N, C);
    record(OPERATION_RMSNORM_BACKWARD, start_ns, N, C, 0, 0);
}

static void traced_rope(float *x, const float *table, size_t B, size_t T, size_t H, size_t D, int inverse)
{
    int64_t start_ns = clock_now_ns();
    inner->rope(x, table, B, T, H, D, inverse);
    record(OPERATION_ROPE, start_ns, B, T, H, D);
}

static void traced_attention_forward(float *o, float *lse, const float *q, const float *k, const float *v, size_t B,
                                     size_t T, size_t H, size_t D)
{
    int64_t start_ns = clock_now_ns();
    inner->attention_forward(o, lse, q, k, v, B, T, H, D);
    record(OPERATION_ATTENTION_FORWARD, start_ns, B, T, H, D);
}

static void traced_attention_backward(float *dq, float *dk, float *dv, const float *d_o, const float *o,
                                      const float *lse, const float *q, const float *k, const float *v, size_t B,
                                      size_t T, size_t H, size_t D)
{
    int64_t start_ns = clock_now_ns();
    inner->attention_backward(dq, dk, dv, d_o, o, lse, q, k, v, B, T, H, D);
    record(OPERATION_ATTENTION_BACKWARD, start_ns, B, T, H, D);
}

static void traced_swiglu_forward(float *h, const float *a, const float *g, size_t n)
{
    int64_t start_ns = clock_now_ns();
    inner->swiglu_forward(h, a, g, n);
    record(OPERATION_SWIGLU_FORWARD, start_ns, n, 0, 0, 0);
}

static void traced_swiglu_backward(float *da, float *dg, const float *dh, const float *a, const float *g, size_t n)
{
    int64_t start_ns = clock_now_ns();
    inner->swiglu_backward(da, dg, dh, a, g, n);
    record(OPERATION_SWIGLU_BACKWARD, start_ns, n, 0, 0, 0);
}

static void traced_cross_entropy(float *loss, float *logits, const int32_t *target, size_t N, size_t V,
                                 float loss_scale, float grad_scale)
{
    int64_t start_ns = clock_now_ns();
    inner->cross_entropy(loss, logits, target, N, V, loss_scale, grad_scale);
    record(OPERATION_CROSS_ENTROPY, start_ns, N, V, 0, 0);
}

static void traced_grad_norm(float *scalars, const float *g, size_t n, float max_norm)
{
    int64_t start_ns = clock_now_ns();
    inner->grad_norm(scalars, g, n, max_norm);
    record(OPERATION_GRAD_NORM, start_ns, n, 0, 0, 0);
}

static void traced_adamw(float *w, float *m, float *v, const float *g, size_t n, const float *scalars,
                         const struct adamw *adamw)
{
    int64_t start_ns = clock_now_ns();
    inner->adamw(w, m, v, g, n, scalars, adamw);
    record(OPERATION_ADAMW, start_ns, n, 0, 0, 0);
}

static struct device table = {
    .allocate = traced_allocate,
    .range_begin = range_begin,
    .range_end = range_end,
    .zero = traced_zero,
    .copy = traced_copy,
    .pack_bf16 = traced_pack_bf16,
    .unpack_bf16 = traced_unpack_bf16,
    .add = traced_add,
    .embedding_forward = traced_embedding_forward,
    .embedding_backward = traced_embedding_backward,
    .linear_forward = traced_linear_forward,
    .linear_backward_input = traced_linear_backward_input,
    .linear_backward_weight = traced_linear_backward_weight,
    .rmsnorm_forward = traced_rmsnorm_forward,
    .rmsnorm_backward = traced_rmsnorm_backward,
    .rope = traced_rope,
    .attention_forward = traced_attention_forward,
    .attention_backward = traced_attention_backward,
    .swiglu_forward = traced_swiglu_forward,
    .swiglu_backward = traced_swiglu_backward,
    .cross_entropy = traced_cross_entropy,
    .grad_norm = traced_grad_norm,
    .adamw = traced_adamw,
};

const struct device *device_traced(const struct device *device, struct timeline *to)
{
    inner = device;
    timeline = to;
    depth = 0;
    table.name = device->name;
    table.release = device->release;
    table.upload = device->upload;
    table.download = device->download;
    table.synchronize = device->synchronize;
    return &table;
}
