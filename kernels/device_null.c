/* device_null.c - a device whose operations do nothing. */
#include "device_null.h"

#include "error.h"

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
static void null_unpack(float *to, const uint16_t *from, size_t n)
{
    (void)to, (void)from, (void)n;
}
static void null_add(float *y, const float *a, const float *b, size_t n)
{
    (void)y, (void)a, (void)b, (void)n;
}
static void null_embedding(float *y, const float *x, const int32_t *token, size_t N, size_t C)
{
    (void)y, (void)x, (void)token, (void)N, (void)C;
}
static void null_linear(float *y, const float *a, const float *b, size_t N, size_t I, size_t O)
{
    (void)y, (void)a, (void)b, (void)N, (void)I, (void)O;
}
static void null_linear_input(float *y, const float *a, const float *b, size_t N, size_t I, size_t O, int accumulate)
{
    (void)y, (void)a, (void)b, (void)N, (void)I, (void)O, (void)accumulate;
}
static void null_norm_forward(float *y, float *rstd, const float *x, const float *w, size_t N, size_t C)
{
    (void)y, (void)rstd, (void)x, (void)w, (void)N, (void)C;
}
static void null_norm_backward(float *dx, float *dw, const float *dy, const float *x, const float *w, const float *rstd,
                               size_t N, size_t C)
{
    (void)dx, (void)dw, (void)dy, (void)x, (void)w, (void)rstd, (void)N, (void)C;
}
static void null_rope(float *x, const float *table, size_t B, size_t T, size_t H, size_t D, int inverse)
{
    (void)x, (void)table, (void)B, (void)T, (void)H, (void)D, (void)inverse;
}
static void null_attention_forward(float *o, float *lse, const float *q, const float *k, const float *v, size_t B,
                                   size_t T, size_t H, size_t D)
{
    (void)o, (void)lse, (void)q, (void)k, (void)v, (void)B, (void)T, (void)H, (void)D;
}
static void null_attention_backward(float *dq, float *dk, float *dv, const float *d_o, const float *o, const float *lse,
                                    const float *q, const float *k, const float *v, size_t B, size_t T, size_t H,
                                    size_t D)
{
    (void)dq, (void)dk, (void)dv, (void)d_o, (void)o, (void)lse, (void)q, (void)k, (void)v, (void)B, (void)T, (void)H,
        (void)D;
}
static void null_swiglu_forward(float *h, const float *a, const float *g, size_t n)
{
    (void)h, (void)a, (void)g, (void)n;
}
static void null_swiglu_backward(float *da, float *dg, const float *dh, const float *a, const float *g, size_t n)
{
    (void)da, (void)dg, (void)dh, (void)a, (void)g, (void)n;
}
static void null_cross_entropy(float *loss, float *logits, const int32_t *target, size_t N, size_t V, float loss_scale,
                               float grad_scale)
{
    (void)loss, (void)logits, (void)target, (void)N, (void)V, (void)loss_scale, (void)grad_scale;
}
static void null_grad_norm(float *scalars, const float *g, size_t n, float max_norm)
{
    (void)scalars, (void)g, (void)n, (void)max_norm;
}
static void null_adamw(float *w, float *m, float *v, const float *g, size_t n, const float *scalars,
                       const struct adamw *adamw)
{
    (void)w, (void)m, (void)v, (void)g, (void)n, (void)scalars, (void)adamw;
}

static const struct device table = {
    .name = "null",
    .allocate = null_allocate,
    .release = free,
    .upload = null_upload,
    .download = null_upload,
    .synchronize = null_synchronize,
    .range_begin = null_range_begin,
    .range_end = null_synchronize,
    .zero = null_zero,
    .copy = null_copy,
    .pack_bf16 = null_pack,
    .unpack_bf16 = null_unpack,
    .add = null_add,
    .embedding_forward = null_embedding,
    .embedding_backward = null_embedding,
    .linear_forward = null_linear,
    .linear_backward_input = null_linear_input,
    .linear_backward_weight = null_linear,
    .rmsnorm_forward = null_norm_forward,
    .rmsnorm_backward = null_norm_backward,
    .rope = null_rope,
    .attention_forward = null_attention_forward,
    .attention_backward = null_attention_backward,
    .swiglu_forward = null_swiglu_forward,
    .swiglu_backward = null_swiglu_backward,
    .cross_entropy = null_cross_entropy,
    .grad_norm = null_grad_norm,
    .adamw = null_adamw,
};

const struct device *device_null(void)
{
    return &table;
}
