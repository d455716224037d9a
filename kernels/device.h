/* device.h - the operations of a training step, as a table of functions that each kind of processor fills in.
 *
 * A device runs operations in the order issued. On the CPU, an operation is complete when its function returns; on
 * other devices, `synchronize` waits for all operations issued so far. Arrays are row-major in the device's own memory.
 * `float` arrays are fp32; `void` arrays are of the device's compute type, fp32 or bfloat16: activations, their
 * gradients, and the weights that layers read. Sums are computed in fp32 or wider for every type. Letters mean the same
 * everywhere: B sequences, T tokens of each, N = B * T rows, C width of the model (d_model), H heads, D = C / H, F
 * width of the feed-forward (d_ff), V vocabulary. "+=" marks an output that is added to; every other output is
 * overwritten. Outputs never overlap inputs unless stated otherwise. Operations return no errors: a failure, for
 * example of memory, is fatal. */
#ifndef KERNELS_DEVICE_H
#define KERNELS_DEVICE_H

#include <stddef.h>
#include <stdint.h>

/* Values that change from step to step, stored in device memory as an array of SCALARS floats. */
enum scalar {
    SCALAR_LEARNING_RATE,
    SCALAR_STEP,      /* the optimizer's step number, 1 in the first step */
    SCALAR_CLIP,      /* the factor that the optimizer applies to gradients: 1 without clipping */
    SCALAR_GRAD_NORM, /* the gradient's norm, written by grad_norm */
    SCALARS
};

struct adamw {
    float beta1, beta2, epsilon, weight_decay;
};

/* Precision of matrix products and attention, and the compute type: fp32 arrays with fp32 products; fp32 arrays whose
 * products round their inputs to TF32; bfloat16 arrays. */
enum precision { PRECISION_FP32, PRECISION_TF32, PRECISION_BF16, PRECISIONS };
extern const char *const precision_name[PRECISIONS + 1]; /* fp32, tf32, bf16; then NULL */

struct accelerator;

struct device {
    const char *name;                      /* "cpu", or the accelerator's name */
    const struct accelerator *accelerator; /* NULL: the device is the CPU */
    enum precision precision;
    size_t compute_bytes;   /* bytes of one number of the compute type: 4 or 2 */
    size_t most_head_width; /* the widest head that attention allows; 0: no limit */
    int asynchronous;       /* 1: operations return before they are complete */
    int host_reads_memory;  /* 1: the host may use the device's memory after synchronize */

    /* ---- memory ---- */
    void *(*allocate)(size_t bytes); /* returns zeroed memory, aligned to 64 bytes or more; fatal if there is none */
    void (*release)(void *memory);   /* memory may be NULL */
    /* upload and download copy in order with the operations. from_host may be reused once upload returns; the host
     * waits only when it is far ahead of the device. */
    void (*upload)(void *to, const void *from_host, size_t bytes);
    void (*download)(void *to_host, const void *from, size_t bytes); /* waits until the data has arrived */
    void (*synchronize)(void);

    /* ---- time ---- */
    /* Returns the time, in ns of clock.h, at which all operations issued so far are complete; or, if that is not known
     * yet, a ticket below 0, from which stamp_ns gets the time later. On a traced device (device_traced.h), the next
     * operation begins at this stamp, and so excludes any wait before the stamp. An unused stamp costs a GPU one
     * event. */
    int64_t (*stamp)(void);
    /* stamps_begin forgets all tickets; stamps_end finds the times of all tickets since stamps_begin, and may be called
     * repeatedly. Both functions wait for the device and compare its clock with the host's, so never call them within a
     * step. */
    void (*stamps_begin)(void);
    void (*stamps_end)(void);
    int64_t (*stamp_ns)(int64_t ticket);

    /* ---- asynchronous copies, for communication by the host ---- */
    /* Allocates host memory (pinned, for a GPU) for fast copies; fatal when memory runs out. */
    void *(*allocate_host)(size_t bytes);
    void (*release_host)(void *memory);
    /* Each copy sets a mark when it is complete. staging_create makes the marks [0, marks), which can be set any number
     * of times; only one user may have marks at a time. stage_out copies after all operations issued so far, stage_in
     * at once; both return before they have copied. Call stage_out from the thread that issues operations, stage_in
     * from any one thread. */
    void (*staging_create)(size_t marks);
    void (*staging_destroy)(void);
    void (*stage_out)(void *to_host, const void *from, size_t bytes, size_t mark);
    void (*stage_in)(void *to, const void *from_host, size_t bytes, size_t mark);
    /* Returns 1 if the last copy issued with this mark is complete, else 0. Any thread may call it. */
    int (*stage_reached)(size_t mark);

    /* ---- names for profilers ---- */
    /* Ends the current phase of a step and begins phase `name`, for the vendor's profilers; NULL: begins none. */
    void (*phase)(const char *name);
    /* range_begin and range_end mark a part of the model, for example "attention" of layer 3 (-1: there is only one).
     * The range contains the operations issued between the two calls; ranges nest. The name is a string that outlives
     * the run. A call costs almost nothing unless the device is traced or a profiler runs. */
    void (*range_begin)(const char *name, int number);
    void (*range_end)(void);
    /* Begins and ends a range for the vendor's profilers only, such as an epoch, a step or a collective, named by
     * printf's format. A traced device does not record it. */
    void (*annotation_begin)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    void (*annotation_end)(void);

    /* ---- moving numbers ---- */
    void (*zero)(float *x, size_t n);                     /* x[n] = 0 */
    void (*copy)(float *to, const float *from, size_t n); /* to[n] = from[n] */
    /* Converts fp32 to bfloat16; rounds to nearest, ties to even; NaN stays NaN. */
    void (*pack_bf16)(uint16_t *to, const float *from, size_t n);
    /* Widens bfloat16 to fp32, and sums `rows` (>= 1) arrays, which begin every `stride` numbers, in order and in fp32:
     * to[n] = sum over r of from[r * stride + i]. NaN stays NaN. */
    void (*unpack_bf16)(float *to, const uint16_t *from, size_t n, size_t rows, size_t stride);

    /* ---- layers ---- */
    /* x[N, C] = row token[i] of table[V, C]. */
    void (*embedding_forward)(void *x, const void *table, const int32_t *token, size_t N, size_t C);
    /* If accumulate is 0, first sets dtable[V, C] to 0. Then adds each row i of dx[N, C] to row token[i] of dtable; the
     * sum over equal tokens is in the order of rows. order[N]: the numbers of the rows sorted by their tokens, rows of
     * equal tokens in ascending order. */
    void (*embedding_backward)(float *dtable, const void *dx, const int32_t *token, const int32_t *order, size_t N,
                               size_t C, size_t V, int accumulate);

    /* y[N, O] = x[N, I] * w[O, I]^T. */
    void (*linear_forward)(void *y, const void *x, const void *w, size_t N, size_t I, size_t O);
    /* y[N, O] = residual[N, O] + x[N, I] * w[O, I]^T; y is not residual. */
    void (*linear_residual_forward)(void *y, const void *residual, const void *x, const void *w, size_t N, size_t I,
                                    size_t O);
    /* dx[N, I] = dy[N, O] * w[O, I], or += when accumulate is not 0. */
    void (*linear_backward_input)(void *dx, const void *dy, const void *w, size_t N, size_t I, size_t O,
                                  int accumulate);
    /* dw[O, I] = dy[N, O]^T * x[N, I], or += when accumulate is not 0. */
    void (*linear_backward_weight)(float *dw, const void *dy, const void *x, size_t N, size_t I, size_t O,
                                   int accumulate);

    /* y[N, C] = x[N, C] * rstd * w[C] with rstd[N] = 1 / sqrt(mean(x^2 over C) + RMSNORM_EPSILON), rstd kept for
     * backward. Source: Zhang and Sennrich, Root Mean Square Layer Normalization, 2019, arXiv:1910.07467. */
    void (*rmsnorm_forward)(void *y, float *rstd, const void *x, const void *w, size_t N, size_t C);
    /* With n = x * rstd: dx[N, C] = rstd * (dy * w - n * mean(dy * w * n over C)), or += when accumulate is not 0;
     * dw[C] = sum over N of dy * n, or += when accumulate_weight is not 0. */
    void (*rmsnorm_backward)(void *dx, float *dw, const void *dy, const void *x, const void *w, const float *rstd,
                             size_t N, size_t C, int accumulate, int accumulate_weight);

    /* Rotates q and k in place: each pair (x[2i], x[2i+1]) of each head by the angle t * theta^(-2i/D) of its position
     * t; rope[T, D/2, 2] holds the cosine and sine of each angle, and is aligned to 8 bytes. q and k are [H, D] for
     * each token, `stride` numbers from one token to the next, at least H * D. Source: Su et al., RoFormer, 2021,
     * arXiv:2104.09864. */
    void (*rope_forward)(void *q, void *k, const float *rope, size_t B, size_t T, size_t H, size_t D, size_t stride);
    /* Causal attention of each head, softmax(q k^T / sqrt(D)) v over earlier and equal positions. o is [B, T, H, D]; q,
     * k and v have a stride as in rope_forward. lse[B, H, T], the logarithm of each row's sum of exponentials, is kept
     * for backward. Works tile by tile; no T x T matrix exists. Source: Dao et al., FlashAttention, 2022,
     * arXiv:2205.14135. */
    void (*attention_forward)(void *o, float *lse, const void *q, const void *k, const void *v, size_t B, size_t T,
                              size_t H, size_t D, size_t stride);
    /* Gradients of rope_forward and attention_forward together. q and k are as rotated by rope_forward, and dq and dk
     * are gradients with respect to the values before the rotation; dq, dk, dv, q, k and v have the same stride. */
    void (*attention_backward)(void *dq, void *dk, void *dv, const void *d_o, const void *o, const float *lse,
                               const void *q, const void *k, const void *v, const float *rope, size_t B, size_t T,
                               size_t H, size_t D, size_t stride);

    /* h[N, F] = a * sigmoid(a) * g; rows of a and g begin every `stride` numbers, at least F. Source: Shazeer, GLU
     * Variants Improve Transformer, 2020, arXiv:2002.05202. */
    void (*swiglu_forward)(void *h, const void *a, const void *g, size_t N, size_t F, size_t stride);
    /* da = dh * g * s * (1 + a * (1 - s)), dg = dh * a * s, with s = sigmoid(a); da, dg, a and g have the same stride,
     * and da may be a, and dg may be g. */
    void (*swiglu_backward)(void *da, void *dg, const void *dh, const void *a, const void *g, size_t N, size_t F,
                            size_t stride);

    /* loss[0] += loss_scale * sum over N of (log(sum of exp(logits[i, :])) - logits[i, target[i]]), and logits[N, V]
     * is replaced by its gradient (softmax - one at target) * grad_scale. logits is aligned to 16 bytes, and its rows
     * begin every `stride` numbers, a multiple of 8 and at least V; numbers V to stride of a row may be anything, also
     * NaN, and become 0. */
    void (*cross_entropy)(float *loss, void *logits, const int32_t *target, size_t N, size_t V, size_t stride,
                          float loss_scale, float grad_scale);

    /* ---- optimizer ---- */
    /* scalars[SCALAR_GRAD_NORM] = sqrt(sum of g[n]^2), summed in double in an order that depends only on n and the
     * device's threads; if max_norm > 0 also scalars[SCALAR_CLIP] = min(1, max_norm / (norm + 1e-6)), as PyTorch's
     * clip_grad_norm_; if max_norm is 0, SCALAR_CLIP is unchanged. */
    void (*grad_norm)(float *scalars, const float *g, size_t n, float max_norm);
    /* One AdamW step over all n elements, with G = g * scalars[SCALAR_CLIP], t = scalars[SCALAR_STEP] and lr =
     * scalars[SCALAR_LEARNING_RATE]: w *= 1 - lr * weight_decay; m = beta1 m + (1 - beta1) G; v = beta2 v + (1 - beta2)
     * G^2; w -= lr / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) + epsilon). compute_w[n] becomes w in the compute
     * type; NULL if that is fp32, because layers then read w itself. Source: Loshchilov and Hutter, Decoupled Weight
     * Decay Regularization, 2019, arXiv:1711.05101. */
    void (*adamw)(float *w, void *compute_w, float *m, float *v, const float *g, size_t n, const float *scalars,
                  const struct adamw *adamw);

    /* ---- strategies that train with other arithmetic ---- */
    void (*axpby)(float *y, const float *x, size_t n, float a, float b); /* y[n] = a * x[n] + b * y; x may be y */
    /* The three steps of an approximation of rank R of a gradient g[O, I]. e[O, I] holds what earlier approximations
     * left out. Source: Vogels et al., PowerSGD, NeurIPS 2019, arXiv:1905.13727.
     * left: e += g; p[R, O] = q[R, I] * e^T. */
    void (*low_rank_left)(float *p, float *e, const float *g, const float *q, size_t R, size_t I, size_t O);
    /* right: makes the rows of p[R, O] orthonormal by Gram-Schmidt, twice, because what the first pass leaves of a row
     * that depends on others is rounding error; a row of zeros stays zero. Then q[R, I] = p * e. */
    void (*low_rank_right)(float *q, float *p, const float *e, size_t R, size_t I, size_t O);
    /* restore: g = p^T * q; e -= share * g. */
    void (*low_rank_restore)(float *g, float *e, const float *p, const float *q, size_t R, size_t I, size_t O,
                             float share);
};

#define RMSNORM_EPSILON 1e-5f

/* Returns the CPU device: C with OpenMP, matrix products from a CBLAS, each operation on at most `threads` (>= 1)
 * threads. The table is static; a later call changes the number of threads for all users. */
const struct device *device_cpu(int threads);

#endif
