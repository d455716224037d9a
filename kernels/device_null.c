/* device_null.c - a device whose operations do nothing. */
#include "kernels/device_null.h"

#include "kernels/clock.h"
#include "kernels/error.h"

#include <stdlib.h>

static void *null_allocate(size_t bytes)
{
    return allocate(bytes, 1);
}
static void null_upload(void *to, const void *from, size_t bytes)
{
    (void)to, (void)from, (void)bytes;
}
static void null_synchronize(void) {}
static void null_range_begin(const char *name, int number)
{
    (void)name, (void)number;
}
__attribute__((format(printf, 1, 2))) static void null_annotation_begin(const char *format, ...)
{
    (void)format;
}
static void null_zero(float *x, size_t n)
{
    (void)x, (void)n;
}
static void null_copy(float *to, const float *from, size_t n)
{
    (void)to, (void)from, (void)n;
}
static void null_pack(uint16_t *to, const float *from, size_t n)
{
    (void)to, (void)from, (void)n;
}
static void null_unpack(float *to, const uint16_t *from, size_t n, size_t rows, size_t stride)
{
    (void)to, (void)from, (void)n, (void)rows, (void)stride;
}
static void null_embedding_forward(void *y, const void *x, const int32_t *token, size_t N, size_t C)
{
    (void)y, (void)x, (void)token, (void)N, (void)C;
}
static void null_embedding_backward(float *y, const void *x, const int32_t *token, const int32_t *order, size_t N,
                                    size_t C, size_t V, int accumulate)
{
    (void)y, (void)x, (void)token, (void)order, (void)N, (void)C, (void)V, (void)accumulate;
}
static void null_linear_forward(void *y, const void *a, const void *b, size_t N, size_t I, size_t O)
{
    (void)y, (void)a, (void)b, (void)N, (void)I, (void)O;
}
static void null_linear_residual(void *y, const void *residual, const void *a, const void *b, size_t N, size_t I,
                                 size_t O)
{
    (void)y, (void)residual, (void)a, (void)b, (void)N, (void)I, (void)O;
}
static void null_linear_input(void *y, const void *a, const void *b, size_t N, size_t I, size_t O, int accumulate)
{
    (void)y, (void)a, (void)b, (void)N, (void)I, (void)O, (void)accumulate;
}
static void null_linear_weight(float *y, const void *a, const void *b, size_t N, size_t I, size_t O, int accumulate)
{
    (void)y, (void)a, (void)b, (void)N, (void)I, (void)O, (void)accumulate;
}
static void null_norm_forward(void *y, float *rstd, const void *x, const void *w, size_t N, size_t C)
{
    (void)y, (void)rstd, (void)x, (void)w, (void)N, (void)C;
}
static void null_norm_backward(void *dx, float *dw, const void *dy, const void *x, const void *w, const float *rstd,
                               size_t N, size_t C, int accumulate, int accumulate_weight)
{
    (void)dx, (void)dw, (void)dy, (void)x, (void)w, (void)rstd, (void)N, (void)C, (void)accumulate,
        (void)accumulate_weight;
}
static void null_rope_forward(void *q, void *k, const float *rope, size_t B, size_t T, size_t H, size_t D,
                              size_t stride)
{
    (void)q, (void)k, (void)rope, (void)B, (void)T, (void)H, (void)D, (void)stride;
}
static void null_attention_forward(void *o, float *lse, const void *q, const void *k, const void *v, size_t B, size_t T,
                                   size_t H, size_t D, size_t stride)
{
    (void)o, (void)lse, (void)q, (void)k, (void)v, (void)B, (void)T, (void)H, (void)D, (void)stride;
}
static void null_attention_backward(void *dq, void *dk, void *dv, const void *d_o, const void *o, const float *lse,
                                    const void *q, const void *k, const void *v, const float *rope, size_t B, size_t T,
                                    size_t H, size_t D, size_t stride)
{
    (void)dq, (void)dk, (void)dv, (void)d_o, (void)o, (void)lse, (void)q, (void)k, (void)v, (void)rope, (void)B,
        (void)T, (void)H, (void)D, (void)stride;
}
static void null_swiglu_forward(void *h, const void *a, const void *g, size_t N, size_t F, size_t stride)
{
    (void)h, (void)a, (void)g, (void)N, (void)F, (void)stride;
}
static void null_swiglu_backward(void *da, void *dg, const void *dh, const void *a, const void *g, size_t N, size_t F,
                                 size_t stride)
{
    (void)da, (void)dg, (void)dh, (void)a, (void)g, (void)N, (void)F, (void)stride;
}
static void null_cross_entropy(float *loss, void *logits, const int32_t *target, size_t N, size_t V, size_t stride,
                               float loss_scale, float grad_scale)
{
    (void)loss, (void)logits, (void)target, (void)N, (void)V, (void)stride, (void)loss_scale, (void)grad_scale;
}
static void null_grad_norm(float *scalars, const float *g, size_t n, float max_norm)
{
    (void)scalars, (void)g, (void)n, (void)max_norm;
}
static void null_adamw(float *w, void *compute_w, float *m, float *v, const float *g, size_t n, const float *scalars,
                       const struct adamw *adamw)
{
    (void)w, (void)compute_w, (void)m, (void)v, (void)g, (void)n, (void)scalars, (void)adamw;
}
static void null_axpby(float *y, const float *x, size_t n, float a, float b)
{
    (void)y, (void)x, (void)n, (void)a, (void)b;
}
static void null_low_rank_left(float *p, float *e, const float *g, const float *q, size_t R, size_t I, size_t O)
{
    (void)p, (void)e, (void)g, (void)q, (void)R, (void)I, (void)O;
}
static void null_low_rank_right(float *q, float *p, const float *e, size_t R, size_t I, size_t O)
{
    (void)q, (void)p, (void)e, (void)R, (void)I, (void)O;
}
static void null_low_rank_restore(float *g, float *e, const float *p, const float *q, size_t R, size_t I, size_t O,
                                  float share)
{
    (void)g, (void)e, (void)p, (void)q, (void)R, (void)I, (void)O, (void)share;
}
static int64_t null_stamp_ns(int64_t ticket)
{
    return ticket;
}
static void null_staging_create(size_t marks)
{
    (void)marks;
}
static void null_stage_copy(void *to, const void *from, size_t bytes, size_t mark)
{
    (void)to, (void)from, (void)bytes, (void)mark;
}
static int null_stage_reached(size_t mark)
{
    (void)mark;
    return 1;
}
static void null_phase(const char *name)
{
    (void)name;
}

static const struct device table = {
    .name = "null",
    .compute_bytes = sizeof(float),
    .host_reads_memory = 1,
    .allocate = null_allocate,
    .release = free,
    .upload = null_upload,
    .download = null_upload,
    .synchronize = null_synchronize,
    .stamp = clock_now_ns,
    .stamps_begin = null_synchronize,
    .stamps_end = null_synchronize,
    .stamp_ns = null_stamp_ns,
    .allocate_host = null_allocate,
    .release_host = free,
    .staging_create = null_staging_create,
    .staging_destroy = null_synchronize,
    .stage_out = null_stage_copy,
    .stage_in = null_stage_copy,
    .stage_reached = null_stage_reached,
    .phase = null_phase,
    .range_begin = null_range_begin,
    .range_end = null_synchronize,
    .annotation_begin = null_annotation_begin,
    .annotation_end = null_synchronize,
    .zero = null_zero,
    .copy = null_copy,
    .pack_bf16 = null_pack,
    .unpack_bf16 = null_unpack,
    .embedding_forward = null_embedding_forward,
    .embedding_backward = null_embedding_backward,
    .linear_forward = null_linear_forward,
    .linear_residual_forward = null_linear_residual,
    .linear_backward_input = null_linear_input,
    .linear_backward_weight = null_linear_weight,
    .rmsnorm_forward = null_norm_forward,
    .rmsnorm_backward = null_norm_backward,
    .rope_forward = null_rope_forward,
    .attention_forward = null_attention_forward,
    .attention_backward = null_attention_backward,
    .swiglu_forward = null_swiglu_forward,
    .swiglu_backward = null_swiglu_backward,
    .cross_entropy = null_cross_entropy,
    .grad_norm = null_grad_norm,
    .adamw = null_adamw,
    .axpby = null_axpby,
    .low_rank_left = null_low_rank_left,
    .low_rank_right = null_low_rank_right,
    .low_rank_restore = null_low_rank_restore,
};

const struct device *device_null(void)
{
    return &table;
}
