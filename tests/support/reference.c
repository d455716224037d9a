/* reference.c - the operations of struct device in double, as plain loops over the formulas of device.h. */
#include "tests/support/reference.h"

#include <math.h>
#include <string.h>

/* Returns the float with bits b. Infinity becomes 2^128, the next power of two, so that distances to it are finite. */
static double magnitude(uint32_t b)
{
    float x;
    memcpy(&x, &b, sizeof x);
    return isinf(x) ? ldexp(1.0, 128) : (double)x;
}

uint16_t reference_pack_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t sign = bits >> 31 << 15, lower = bits << 1 >> 17 << 16, upper = lower + 0x10000u;
    if (isnan(x))
        return (uint16_t)(sign | lower >> 16 | 0x40u);
    if (isinf(x))
        return (uint16_t)(sign | 0x7F80u);
    double down = fabs((double)x) - magnitude(lower), up = magnitude(upper) - fabs((double)x);
    int lower_is_even = (lower >> 16 & 1u) == 0;
    int take_lower = down < up || (down == up && lower_is_even);
    return (uint16_t)(sign | (take_lower ? lower : upper) >> 16);
}

void reference_embedding_forward(double *x, const double *table, const int32_t *token, size_t N, size_t C)
{
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; c < C; c++)
            x[i * C + c] = table[(size_t)token[i] * C + c];
}

void reference_embedding_backward(double *dtable, const double *dx, const int32_t *token, size_t N, size_t C)
{
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; c < C; c++)
            dtable[(size_t)token[i] * C + c] += dx[i * C + c];
}

void reference_linear_forward(double *y, const double *x, const double *w, size_t N, size_t I, size_t O)
{
    for (size_t n = 0; n < N; n++)
        for (size_t o = 0; o < O; o++) {
            y[n * O + o] = 0.0;
            for (size_t i = 0; i < I; i++)
                y[n * O + o] += x[n * I + i] * w[o * I + i];
        }
}

void reference_linear_backward_input(double *dx, const double *dy, const double *w, size_t N, size_t I, size_t O,
                                     int accumulate)
{
    for (size_t n = 0; n < N; n++)
        for (size_t i = 0; i < I; i++) {
            if (!accumulate)
                dx[n * I + i] = 0.0;
            for (size_t o = 0; o < O; o++)
                dx[n * I + i] += dy[n * O + o] * w[o * I + i];
        }
}

void reference_linear_backward_weight(double *dw, const double *dy, const double *x, size_t N, size_t I, size_t O)
{
    for (size_t o = 0; o < O; o++)
        for (size_t i = 0; i < I; i++)
            for (size_t n = 0; n < N; n++)
                dw[o * I + i] += dy[n * O + o] * x[n * I + i];
}

void reference_rmsnorm_forward(double *y, double *rstd, const double *x, const double *w, size_t N, size_t C)
{
    for (size_t i = 0; i < N; i++) {
        double sum = 0.0;
        for (size_t c = 0; c < C; c++)
            sum += x[i * C + c] * x[i * C + c];
        rstd[i] = 1.0 / sqrt(sum / (double)C + (double)RMSNORM_EPSILON);
        for (size_t c = 0; c < C; c++)
            y[i * C + c] = x[i * C + c] * rstd[i] * w[c];
    }
}

void reference_rmsnorm_backward(double *dx, double *dw, const double *dy, const double *x, const double *w,
                                const double *rstd, size_t N, size_t C)
{
    for (size_t i = 0; i < N; i++) {
        double mean = 0.0;
        for (size_t c = 0; c < C; c++)
            mean += dy[i * C + c] * w[c] * x[i * C + c] * rstd[i] / (double)C;
        for (size_t c = 0; c < C; c++) {
            double n = x[i * C + c] * rstd[i];
            dx[i * C + c] += rstd[i] * (dy[i * C + c] * w[c] - n * mean);
            dw[c] += dy[i * C + c] * n;
        }
    }
}

void reference_rope(double *x, const double *table, size_t B, size_t T, size_t H, size_t D, int inverse)
{
    for (size_t b = 0; b < B; b++)
        for (size_t t = 0; t < T; t++)
            for (size_t h = 0; h < H; h++)
                for (size_t i = 0; i < D / 2; i++) {
                    double *pair = x + ((b * T + t) * H + h) * D + 2 * i;
                    double cosine = table[(t * (D / 2) + i) * 2], sine = table[(t * (D / 2) + i) * 2 + 1];
                    double even = pair[0], odd = pair[1];
                    if (inverse)
                        sine = -sine;
                    pair[0] = even * cosine - odd * sine;
                    pair[1] = even * sine + odd * cosine;
                }
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Returns the offset of head h of token t of sequence b in an array [B, T, H, D]. */
static size_t at(size_t b, size_t t, size_t h, size_t T, size_t H, size_t D)
{
    return ((b * T + t) * H + h) * D;
}

void reference_attention_forward(double *o, double *lse, const double *q, const double *k, const double *v, double *p,
                                 size_t B, size_t T, size_t H, size_t D)
{
    for (size_t b = 0; b < B; b++)
        for (size_t h = 0; h < H; h++)
            for (size_t t = 0; t < T; t++) {
                double max = -INFINITY, sum = 0.0, *out = o + at(b, t, h, T, H, D);
                for (size_t s = 0; s <= t; s++) {
                    p[s] = dot(q + at(b, t, h, T, H, D), k + at(b, s, h, T, H, D), D) / sqrt((double)D);
                    max = fmax(max, p[s]);
                }
                for (size_t s = 0; s <= t; s++)
                    sum += exp(p[s] - max);
                lse[(b * H + h) * T + t] = max + log(sum);
                for (size_t d = 0; d < D; d++) {
                    out[d] = 0.0;
                    for (size_t s = 0; s <= t; s++)
                        out[d] += exp(p[s] - max) / sum * v[at(b, s, h, T, H, D) + d];
                }
            }
}

void reference_attention_backward(double *dq, double *dk, double *dv, const double *d_o, const double *o,
                                  const double *lse, const double *q, const double *k, const double *v, size_t B,
                                  size_t T, size_t H, size_t D)
{
    double scale = 1.0 / sqrt((double)D);
    memset(dq, 0, B * T * H * D * sizeof *dq);
    memset(dk, 0, B * T * H * D * sizeof *dk);
    memset(dv, 0, B * T * H * D * sizeof *dv);
    for (size_t b = 0; b < B; b++)
        for (size_t h = 0; h < H; h++)
            for (size_t t = 0; t < T; t++)
                for (size_t s = 0; s <= t; s++) {
                    size_t from = at(b, t, h, T, H, D), to = at(b, s, h, T, H, D);
                    double p = exp(dot(q + from, k + to, D) * scale - lse[(b * H + h) * T + t]);
                    double dp = dot(d_o + from, v + to, D);
                    double ds = p * (dp - dot(d_o + from, o + from, D)) * scale;
                    for (size_t d = 0; d < D; d++) {
                        dq[from + d] += ds * k[to + d];
                        dk[to + d] += ds * q[from + d];
                        dv[to + d] += p * d_o[from + d];
                    }
                }
}

void reference_swiglu_forward(double *h, const double *a, const double *g, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h[i] = a[i] / (1.0 + exp(-a[i])) * g[i];
}

void reference_swiglu_backward(double *da, double *dg, const double *dh, const double *a, const double *g, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double s = 1.0 / (1.0 + exp(-a[i]));
        da[i] = dh[i] * g[i] * s * (1.0 + a[i] * (1.0 - s));
        dg[i] = dh[i] * a[i] * s;
    }
}

void reference_cross_entropy(double *loss, double *logits, const int32_t *target, size_t N, size_t V, double loss_scale,
                             double grad_scale)
{
    for (size_t i = 0; i < N; i++) {
        double max = -INFINITY, sum = 0.0, *row = logits + i * V;
        for (size_t c = 0; c < V; c++)
            max = fmax(max, row[c]);
        for (size_t c = 0; c < V; c++)
            sum += exp(row[c] - max);
        /* cppcheck-suppress invalidFunctionArg ; sum is at least 1, from the largest logit */
        *loss += loss_scale * (log(sum) + max - row[target[i]]);
        for (size_t c = 0; c < V; c++)
            row[c] = (exp(row[c] - max) / sum - (c == (size_t)target[i] ? 1.0 : 0.0)) * grad_scale;
    }
}

void reference_grad_norm(double *scalars, const double *g, size_t n, double max_norm)
{
    double norm = sqrt(dot(g, g, n));
    scalars[SCALAR_GRAD_NORM] = norm;
    if (max_norm > 0.0)
        scalars[SCALAR_CLIP] = fmin(1.0, max_norm / (norm + 1e-6));
}

void reference_adamw(double *w, double *m, double *v, const double *g, size_t n, const double *scalars,
                     const struct adamw *adamw)
{
    double lr = scalars[SCALAR_LEARNING_RATE], t = scalars[SCALAR_STEP];
    double beta1 = (double)adamw->beta1, beta2 = (double)adamw->beta2;
    for (size_t i = 0; i < n; i++) {
        double G = g[i] * scalars[SCALAR_CLIP];
        w[i] *= 1.0 - lr * (double)adamw->weight_decay;
        m[i] = beta1 * m[i] + (1.0 - beta1) * G;
        v[i] = beta2 * v[i] + (1.0 - beta2) * G * G;
        w[i] -= lr / (1.0 - pow(beta1, t)) * m[i] / (sqrt(v[i] / (1.0 - pow(beta2, t))) + (double)adamw->epsilon);
    }
}

void reference_orthonormalise(double *p, size_t R, size_t O)
{
    for (size_t i = 0; i < R; i++)
        for (size_t j = 0; j <= i; j++) { /* j == i: divides row i by its length */
            double product = 0;
            for (size_t k = 0; k < O; k++)
                product += p[i * O + k] * p[j * O + k];
            for (size_t k = 0; k < O; k++)
                p[i * O + k] = j == i ? p[i * O + k] / sqrt(product) : p[i * O + k] - product * p[j * O + k];
        }
}
