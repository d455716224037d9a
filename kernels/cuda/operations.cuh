/* operations.cuh - the operations of the CUDA device, as device.h describes them.
 *
 * Operations on arrays of the compute type are templates, for float and bf16. Those that multiply matrices read
 * cuda_precision, too, because float products may be rounded to TF32. */
#ifndef KERNELS_CUDA_OPERATIONS_CUH
#define KERNELS_CUDA_OPERATIONS_CUH

#include "kernels/cuda/kernel.cuh"

extern "C" {
#include "kernels/device.h"
}

extern enum precision cuda_precision;

void cuda_zero(float *x, size_t n);
void cuda_copy(float *to, const float *from, size_t n);
void cuda_pack_bf16(uint16_t *to, const float *from, size_t n);
void cuda_unpack_bf16(float *to, const uint16_t *from, size_t n, size_t rows, size_t stride);

template <typename Number>
void cuda_embedding_forward(void *x, const void *table, const int32_t *token, size_t N, size_t C);
template <typename Number>
void cuda_embedding_backward(float *dtable, const void *dx, const int32_t *token, const int32_t *order, size_t N,
                             size_t C, size_t V, int accumulate);

template <typename Number>
void cuda_linear_forward(void *y, const void *x, const void *w, size_t N, size_t I, size_t O);
template <typename Number>
void cuda_linear_residual_forward(void *y, const void *residual, const void *x, const void *w, size_t N, size_t I,
                                  size_t O);
template <typename Number>
void cuda_linear_backward_input(void *dx, const void *dy, const void *w, size_t N, size_t I, size_t O, int accumulate);
template <typename Number>
void cuda_linear_backward_weight(float *dw, const void *dy, const void *x, size_t N, size_t I, size_t O,
                                 int accumulate);

template <typename Number>
void cuda_rmsnorm_forward(void *y, float *rstd, const void *x, const void *w, size_t N, size_t C);
template <typename Number>
void cuda_rmsnorm_backward(void *dx, float *dw, const void *dy, const void *x, const void *w, const float *rstd,
                           size_t N, size_t C, int accumulate, int accumulate_weight);

template <typename Number>
void cuda_rope_forward(void *q, void *k, const float *rope, size_t B, size_t Tokens, size_t H, size_t D, size_t stride);
template <typename Number>
void cuda_attention_forward(void *o, float *lse, const void *q, const void *k, const void *v, size_t B, size_t Tokens,
                            size_t H, size_t D, size_t stride);
template <typename Number>
void cuda_attention_backward(void *dq, void *dk, void *dv, const void *d_o, const void *o, const float *lse,
                             const void *q, const void *k, const void *v, const float *rope, size_t B, size_t Tokens,
                             size_t H, size_t D, size_t stride);

template <typename Number>
void cuda_swiglu_forward(void *h, const void *a, const void *g, size_t N, size_t F, size_t stride);
template <typename Number>
void cuda_swiglu_backward(void *da, void *dg, const void *dh, const void *a, const void *g, size_t N, size_t F,
                          size_t stride);

template <typename Number>
void cuda_cross_entropy(float *loss, void *logits, const int32_t *target, size_t N, size_t V, size_t stride,
                        float loss_scale, float grad_scale);

void cuda_grad_norm(float *scalars, const float *g, size_t n, float max_norm);
template <typename Number>
void cuda_adamw(float *w, void *compute_w, float *m, float *v, const float *g, size_t n, const float *scalars,
                const struct adamw *adamw);

void cuda_axpby(float *y, const float *x, size_t n, float a, float b);
void cuda_low_rank_left(float *p, float *e, const float *g, const float *q, size_t R, size_t I, size_t O);
void cuda_low_rank_right(float *q, float *p, const float *e, size_t R, size_t I, size_t O);
void cuda_low_rank_restore(float *g, float *e, const float *p, const float *q, size_t R, size_t I, size_t O,
                           float share);

#endif
