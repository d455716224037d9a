/* reference.h - reference versions of every operation of struct device, in double, as simple as possible.
 *
 * Loops follow the formulas of device.h one by one, without tiles, threads or tricks; arguments are those of device.h
 * with double for float. Tests also compare the backward operations with finite differences. */
#ifndef TESTS_SUPPORT_REFERENCE_H
#define TESTS_SUPPORT_REFERENCE_H

#include "kernels/device.h"

#include <stddef.h>
#include <stdint.h>

/* Returns the bfloat16 nearest to x (ties to even) by comparing distances; devices round by integer addition. */
uint16_t reference_pack_bf16(float x);

void reference_embedding_forward(double *x, const double *table, const int32_t *token, size_t N, size_t C);
void reference_embedding_backward(double *dtable, const double *dx, const int32_t *token, size_t N, size_t C);

void reference_linear_forward(double *y, const double *x, const double *w, size_t N, size_t I, size_t O);
void reference_linear_backward_input(double *dx, const double *dy, const double *w, size_t N, size_t I, size_t O,
                                     int accumulate);
void reference_linear_backward_weight(double *dw, const double *dy, const double *x, size_t N, size_t I, size_t O);

void reference_rmsnorm_forward(double *y, double *rstd, const double *x, const double *w, size_t N, size_t C);
void reference_rmsnorm_backward(double *dx, double *dw, const double *dy, const double *x, const double *w,
                                const double *rstd, size_t N, size_t C);

void reference_rope(double *x, const double *table, size_t B, size_t T, size_t H, size_t D, int inverse);

/* Attention: p[T] is scratch memory. */
void reference_attention_forward(double *o, double *lse, const double *q, const double *k, const double *v, double *p,
                                 size_t B, size_t T, size_t H, size_t D);
void reference_attention_backward(double *dq, double *dk, double *dv, const double *d_o, const double *o,
                                  const double *lse, const double *q, const double *k, const double *v, size_t B,
                                  size_t T, size_t H, size_t D);

void reference_swiglu_forward(double *h, const double *a, const double *g, size_t n);
void reference_swiglu_backward(double *da, double *dg, const double *dh, const double *a, const double *g, size_t n);

void reference_cross_entropy(double *loss, double *logits, const int32_t *target, size_t N, size_t V, double loss_scale,
                             double grad_scale);

void reference_grad_norm(double *scalars, const double *g, size_t n, double max_norm);
void reference_adamw(double *w, double *m, double *v, const double *g, size_t n, const double *scalars,
                     const struct adamw *adamw);

/* Makes the rows of p[R, O], which do not depend on one another, orthonormal by modified Gram-Schmidt. */
void reference_orthonormalise(double *p, size_t R, size_t O);

#endif
