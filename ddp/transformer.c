/* transformer.c - forward and backward of the transformer, as mirrored sequences of calls. */
#include "ddp/transformer.h"

#include "kernels/bf16.h"
#include "kernels/error.h"
#include "kernels/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Activations that forward keeps for backward, all in activations.memory. N = B * T. `void` arrays have the device's
 * compute type. */
struct layer {
    void *x;    /* (N, C) the residual stream before attention */
    void *n1;   /* (N, C) x after norm 1 */
    float *r1;  /* (N) scale of n1 (1 / RMS) */
    void *vkq;  /* (N, 3C) v, k and q of each token, in the order of their weights; k and q are rotated */
    void *att;  /* (N, C) attention's output */
    float *lse; /* (B, H, T) logarithms of attention's sums of exponentials */
    void *mid;  /* (N, C) the residual stream after attention */
    void *n2;   /* (N, C) mid after norm 2 */
    float *r2;  /* (N) scale of n2 (1 / RMS) */
    void *ga;   /* (N, 2F) g = w3 n2 and a = w1 n2 of each token */
    void *h;    /* (N, F) silu(a) * g */
};

struct activations {
    struct layer *layer; /* [L] */
    void *x, *n;         /* (N, C) each; x: residual stream after the last layer; n: x after the last norm */
    float *r;            /* (N) scale of n (1 / RMS) */
    void *logits;        /* (N, P) logits, which the loss replaces by their gradient; P: V with padding */
    float *rope;         /* (T, D / 2, 2) cosines and sines of RoPE's angles */
    void *dx, *dn;       /* (N, C) each; dx: gradient of the residual stream; dn: gradient of a norm's output */
    void *datt;          /* (N, C) gradient of att */
    void *dvkq;          /* (N, 3C) gradient of vkq */
    void *dh;            /* (N, F) gradient of h */
    char *memory;        /* device memory for all activations; `used` bytes of it are taken */
    size_t used;
};

/* ---- layout of tensors and memory ---- */

static size_t round_up(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

size_t transformer_padded_vocabulary(const struct model_sizes *sizes)
{
    return round_up(sizes->vocabulary, VOCABULARY_ALIGNMENT);
}

static void register_tensors(struct model *model)
{
    size_t C = model->sizes.width, F = model->sizes.ff, V = model->sizes.vocabulary, L = model->sizes.layers;
    struct tensor *t = model->tensor = allocate(L * LAYER_TENSORS + 3, sizeof *t);
    tensor_set(t++, 0, V, C, 1, "token_embedding");
    for (int l = 0; l < (int)L; l++) {
        tensor_set(t++, l + 1, 1, C, 1, "layers.%d.norm1", l);
        tensor_set(t++, l + 1, C, C, 0, "layers.%d.q", l);
        tensor_set(t++, l + 1, C, C, 0, "layers.%d.k", l);
        tensor_set(t++, l + 1, C, C, 3, "layers.%d.v", l);
        tensor_set(t++, l + 1, C, C, 1, "layers.%d.o", l);
        tensor_set(t++, l + 1, 1, C, 1, "layers.%d.norm2", l);
        tensor_set(t++, l + 1, F, C, 0, "layers.%d.w1", l);
        tensor_set(t++, l + 1, F, C, 2, "layers.%d.w3", l);
        tensor_set(t++, l + 1, C, F, 1, "layers.%d.w2", l);
    }
    tensor_set(t++, (int)L + 1, 1, C, 1, "norm");
    tensor_set(t, (int)L + 1, V, C, 1, "output");
    t->padding = transformer_padded_vocabulary(&model->sizes) - V;
    model->tensors = (int)(t - model->tensor) + 1;
    for (int i = 0; i < model->tensors; i++)
        model->parameters += model->tensor[i].count;
    model->matmul_parameters = L * (4 * C * C + 3 * C * F) + V * C;
    model->arena = tensors_place(model->tensor, model->tensors, model->sizes.shards);
}

/* Returns memory for an activation, from activations.memory. Before that memory is allocated, only counts the bytes, so
 * that transformer_plan and allocate_activations agree. */
static void *take_memory(struct model *model, size_t bytes)
{
    enum { ALIGNMENT = 256 };
    struct activations *A = model->activations;
    size_t whole = round_up(bytes, ALIGNMENT);
    if (!A->memory) {
        model->activation_bytes += whole;
        return NULL;
    }
    A->used += whole;
    return A->memory + (A->used - whole);
}

static void cut_activations(struct model *model)
{
    const struct model_sizes *s = &model->sizes;
    struct activations *A = model->activations;
    const size_t e = model->compute_bytes, f = sizeof(float); /* e: bytes of the compute type; f: bytes of a float */
    size_t N = s->batch * s->context, NC = N * s->width, NF = N * s->ff;
    for (size_t l = 0; l < s->layers; l++) {
        A->layer[l] = (struct layer){
            .x = take_memory(model, e * NC),
            .n1 = take_memory(model, e * NC),
            .r1 = take_memory(model, f * N),
            .vkq = take_memory(model, e * 3 * NC),
            .att = take_memory(model, e * NC),
            .lse = take_memory(model, f * N * s->heads),
            .mid = take_memory(model, e * NC),
            .n2 = take_memory(model, e * NC),
            .r2 = take_memory(model, f * N),
            .ga = take_memory(model, e * 2 * NF),
            .h = take_memory(model, e * NF),
        };
    }
    A->x = take_memory(model, e * NC);
    A->n = take_memory(model, e * NC);
    A->r = take_memory(model, f * N);
    A->logits = take_memory(model, e * N * transformer_padded_vocabulary(s));
    A->rope = take_memory(model, f * s->context * (s->width / s->heads));
    A->dx = take_memory(model, e * NC);
    A->dn = take_memory(model, e * NC);
    A->datt = take_memory(model, e * NC);
    A->dvkq = take_memory(model, e * 3 * NC);
    A->dh = take_memory(model, e * NF);
}

static void upload_rope(struct model *model)
{
    const double theta = 10000; /* base of the rotary position angles */
    size_t T = model->sizes.context, D = model->sizes.width / model->sizes.heads;
    float *table = allocate(T * D, sizeof *table);
    for (size_t t = 0; t < T; t++)
        for (size_t i = 0; i < D / 2; i++) {
            double angle = (double)t * pow(theta, -2.0 * (double)i / (double)D);
            table[t * D + 2 * i] = (float)cos(angle);
            table[t * D + 2 * i + 1] = (float)sin(angle);
        }
    model->device->upload(((struct activations *)model->activations)->rope, table, T * D * sizeof *table);
    free(table);
}

static void allocate_activations(struct model *model)
{
    struct activations *A = model->activations;
    A->memory = model->device->allocate(model->activation_bytes);
    cut_activations(model);
    upload_rope(model);
}

static void destroy_activations(struct model *model)
{
    struct activations *A = model->activations;
    if (model->device)
        model->device->release(A->memory);
    free(A->layer);
    free(A);
}

/* ---- initial weights ---- */

/* Returns quantiles of a normal distribution truncated at 3 standard deviations: number i is the (i + 1/2) / QUANTILES
 * quantile. Each is found by Newton's method from the previous quantile. The caller frees them. */
enum { QUANTILES = 1 << 16 };
static float *normal_quantiles(void)
{
    const double within = erf(3 / sqrt(2));
    float *quantile = allocate(QUANTILES, sizeof *quantile);
    double x = -3;
    for (int i = 0; i < QUANTILES / 2; i++) {
        double below = (1 - within) / 2 + within * (i + 0.5) / QUANTILES;
        for (int again = 0; again < 4; again++)
            x -= (erfc(-x / sqrt(2)) / 2 - below) * exp(x * x / 2) * sqrt(2 * 3.14159265358979323846);
        quantile[i] = (float)x;
        quantile[QUANTILES - 1 - i] = (float)-x;
    }
    return quantile;
}

static void initialize(struct model *model, uint64_t seed)
{
    float *quantile = normal_quantiles();
    for (int i = 0; i < model->tensors; i++) {
        const struct tensor *t = &model->tensor[i];
        float deviation = i == 0 ? 1 : (float)sqrt(2 / (double)(t->rows + t->columns));
        uint64_t state = (seed << 20) + (uint64_t)i * 0x2545f4914f6cdd1d, bits = 0;
        float *w = allocate(t->count, sizeof *w);
        for (size_t j = 0; j < t->count; j++, bits >>= 16) {
            if (j % 4 == 0)
                bits = random_bits(state += RANDOM_STEP);
            w[j] = t->rows == 1 ? 1 : deviation * quantile[bits % QUANTILES];
        }
        model->device->upload(model->weight + t->offset, w, t->count * sizeof *w);
        free(w);
    }
    free(quantile);
    model_weights_changed(model);
}

/* ---- forward ---- */

/* Returns the address of element `at` of an array of the compute type. */
static void *element(const struct model *model, void *array, size_t at)
{
    return (char *)array + at * model->compute_bytes;
}

/* Returns a tensor of the weights that layers read, in the compute type. */
static const void *layer_weight(const struct model *model, int tensor)
{
    return element(model, model_read_weight(model), model->tensor[tensor].offset);
}

static void announce_use(const struct forward_hook *hook, int tensor)
{
    if (hook)
        hook->before(hook->context, tensor);
}

static void forward(struct model *model, const int32_t *input, const int32_t *target, float *loss, float loss_scale,
                    float grad_scale, const struct forward_hook *hook)
{
    const struct device *d = model->device;
    const struct model_sizes *s = &model->sizes;
    struct activations *A = model->activations;
    size_t B = s->batch, T = s->context, N = B * T, C = s->width, H = s->heads, D = C / H, F = s->ff, V = s->vocabulary;
    size_t P = transformer_padded_vocabulary(s);

    announce_use(hook, 0);
    d->range_begin("embedding", -1);
    d->embedding_forward(s->layers ? A->layer[0].x : A->x, layer_weight(model, 0), input, N, C);
    d->range_end();
    for (size_t l = 0; l < s->layers; l++) {
        struct layer *a = &A->layer[l];
        void *next = l + 1 < s->layers ? a[1].x : A->x;
        int w = 1 + (int)l * LAYER_TENSORS;

        announce_use(hook, w + ATTENTION_O);
        d->range_begin("attention", (int)l);
        d->rmsnorm_forward(a->n1, a->r1, a->x, layer_weight(model, w + NORM1), N, C);
        d->linear_forward(a->vkq, a->n1, layer_weight(model, w + ATTENTION_V), N, C, 3 * C);
        d->rope_forward(element(model, a->vkq, 2 * C), element(model, a->vkq, C), A->rope, B, T, H, D, 3 * C);
        d->attention_forward(a->att, a->lse, element(model, a->vkq, 2 * C), element(model, a->vkq, C), a->vkq, B, T, H,
                             D, 3 * C);
        d->linear_residual_forward(a->mid, a->x, a->att, layer_weight(model, w + ATTENTION_O), N, C, C);
        d->range_end();

        announce_use(hook, w + FEED_FORWARD_W2);
        d->range_begin("feed_forward", (int)l);
        d->rmsnorm_forward(a->n2, a->r2, a->mid, layer_weight(model, w + NORM2), N, C);
        d->linear_forward(a->ga, a->n2, layer_weight(model, w + FEED_FORWARD_W3), N, C, 2 * F);
        d->swiglu_forward(a->h, element(model, a->ga, F), a->ga, N, F, 2 * F);
        d->linear_residual_forward(next, a->mid, a->h, layer_weight(model, w + FEED_FORWARD_W2), N, F, C);
        d->range_end();
    }
    announce_use(hook, model->tensors - 1);
    d->range_begin("output", -1);
    d->rmsnorm_forward(A->n, A->r, A->x, layer_weight(model, model->tensors - 2), N, C);
    d->linear_forward(A->logits, A->n, layer_weight(model, model->tensors - 1), N, C, P);
    d->cross_entropy(loss, A->logits, target, N, V, P, loss_scale, grad_scale);
    d->range_end();
}

static size_t output_bytes(const struct model *model)
{
    const struct model_sizes *s = &model->sizes;
    return s->batch * s->context * transformer_padded_vocabulary(s) * model->compute_bytes;
}

/* Returns number i of an array of the compute type. */
static float number_at(const void *array, size_t compute_bytes, size_t i)
{
    return compute_bytes == sizeof(float) ? ((const float *)array)[i] : bf16_widen(((const uint16_t *)array)[i]);
}

/* The loss has replaced the logits by softmax - 1 at the target. */
static void predict(struct model *model, const int32_t *target, void *output, struct prediction *prediction)
{
    const struct model_sizes *s = &model->sizes;
    size_t N = s->batch * s->context, V = s->vocabulary, P = transformer_padded_vocabulary(s), e = model->compute_bytes;
    model->device->download(output, ((struct activations *)model->activations)->logits, output_bytes(model));
    for (size_t i = 0; i < N; i++) {
        struct prediction *p = &prediction[i];
        p->of_target = number_at(output, e, i * P + (size_t)target[i]) + 1;
        p->token = target[i];
        p->probability = p->of_target;
        for (size_t v = 0; v < V; v++) {
            float probability = number_at(output, e, i * P + v);
            if (probability > p->probability) {
                p->token = (int32_t)v;
                p->probability = probability;
            }
        }
    }
}

/* ---- backward: mirrors forward's calls; computes the gradient of a weight before that of the layer's input, so that
 * the weight's gradient is announced earlier ---- */

/* Returns where the gradient of the matrix that begins with `tensor` is written. */
static float *place_gradient(const struct model *model, const struct gradient_hook *hook, int tensor)
{
    return hook && hook->place ? hook->place(hook->context, tensor) : model->gradient + model->tensor[tensor].offset;
}

static void announce_gradient(const struct gradient_hook *hook, int tensor)
{
    if (hook && hook->ready)
        hook->ready(hook->context, tensor);
}

static void announce_end_of_part(const struct gradient_hook *hook)
{
    if (hook && hook->after)
        hook->after(hook->context);
}

/* Arguments for functions that compute gradients of weights. */
struct backward_pass {
    int accumulate; /* 1: adds to the gradient of earlier micro-batches; 0: overwrites it */
    const struct gradient_hook *hook;
};

/* Computes the gradient dw of the matrix that begins with `tensor` in the arena, and announces each of its tensors. */
static void weight_gradient(struct model *model, const struct backward_pass *pass, int tensor, float *dw,
                            const void *dy, const void *x)
{
    const struct tensor *t = &model->tensor[tensor];
    size_t N = model->sizes.batch * model->sizes.context;
    model->device->linear_backward_weight(dw, dy, x, N, t->columns, tensor_matrix_rows(t), pass->accumulate);
    for (int i = 0; i < t->joined; i++)
        announce_gradient(pass->hook, tensor - i);
}

static void norm_gradient(struct model *model, const struct backward_pass *pass, int tensor, float *dw, void *dx,
                          const void *dy, const void *x, const float *rstd, int accumulate)
{
    size_t N = model->sizes.batch * model->sizes.context;
    model->device->rmsnorm_backward(dx, dw, dy, x, layer_weight(model, tensor), rstd, N, model->sizes.width, accumulate,
                                    pass->accumulate);
    announce_gradient(pass->hook, tensor);
}

static void backward(struct model *model, const int32_t *input, const int32_t *order, int accumulate,
                     const struct gradient_hook *hook)
{
    const struct backward_pass pass = {accumulate, hook};
    const struct device *d = model->device;
    const struct model_sizes *s = &model->sizes;
    struct activations *A = model->activations;
    size_t B = s->batch, T = s->context, N = B * T, C = s->width, H = s->heads, D = C / H, F = s->ff, V = s->vocabulary;
    void *dx = A->dx, *dn = A->dn;

    float *d_output = place_gradient(model, hook, model->tensors - 1);
    float *d_norm = place_gradient(model, hook, model->tensors - 2);
    d->range_begin("output", -1);
    weight_gradient(model, &pass, model->tensors - 1, d_output, A->logits, A->n);
    d->linear_backward_input(dn, A->logits, layer_weight(model, model->tensors - 1), N, C,
                             transformer_padded_vocabulary(s), 0);
    norm_gradient(model, &pass, model->tensors - 2, d_norm, dx, dn, A->x, A->r, 0);
    d->range_end();
    announce_end_of_part(hook);
    for (size_t l = s->layers; l-- > 0;) {
        struct layer *a = &A->layer[l];
        int w = 1 + (int)l * LAYER_TENSORS;
        void *dga = a->ga; /* overwrites g and a, which are no longer needed */

        float *dw2 = place_gradient(model, hook, w + FEED_FORWARD_W2);
        float *dw31 = place_gradient(model, hook, w + FEED_FORWARD_W3);
        float *d_norm2 = place_gradient(model, hook, w + NORM2);
        d->range_begin("feed_forward", (int)l);
        weight_gradient(model, &pass, w + FEED_FORWARD_W2, dw2, dx, a->h);
        d->linear_backward_input(A->dh, dx, layer_weight(model, w + FEED_FORWARD_W2), N, F, C, 0);
        d->swiglu_backward(element(model, dga, F), dga, A->dh, element(model, a->ga, F), a->ga, N, F, 2 * F);
        weight_gradient(model, &pass, w + FEED_FORWARD_W3, dw31, dga, a->n2);
        d->linear_backward_input(dn, dga, layer_weight(model, w + FEED_FORWARD_W3), N, C, 2 * F, 0);
        norm_gradient(model, &pass, w + NORM2, d_norm2, dx, dn, a->mid, a->r2, 1);
        d->range_end();
        announce_end_of_part(hook);

        float *dwo = place_gradient(model, hook, w + ATTENTION_O);
        float *dwvkq = place_gradient(model, hook, w + ATTENTION_V);
        float *d_norm1 = place_gradient(model, hook, w + NORM1);
        d->range_begin("attention", (int)l);
        weight_gradient(model, &pass, w + ATTENTION_O, dwo, dx, a->att);
        d->linear_backward_input(A->datt, dx, layer_weight(model, w + ATTENTION_O), N, C, C, 0);
        d->attention_backward(element(model, A->dvkq, 2 * C), element(model, A->dvkq, C), A->dvkq, A->datt, a->att,
                              a->lse, element(model, a->vkq, 2 * C), element(model, a->vkq, C), a->vkq, A->rope, B, T,
                              H, D, 3 * C);
        weight_gradient(model, &pass, w + ATTENTION_V, dwvkq, A->dvkq, a->n1);
        d->linear_backward_input(dn, A->dvkq, layer_weight(model, w + ATTENTION_V), N, C, 3 * C, 0);
        norm_gradient(model, &pass, w + NORM1, d_norm1, dx, dn, a->x, a->r1, 1);
        d->range_end();
        announce_end_of_part(hook);
    }
    float *d_embedding = place_gradient(model, hook, 0);
    d->range_begin("embedding", -1);
    d->embedding_backward(d_embedding, dx, input, order, N, C, V, accumulate);
    announce_gradient(hook, 0);
    d->range_end();
    announce_end_of_part(hook);
}

static size_t operations(const struct model *model)
{
    return 4 + 9 * model->sizes.layers + 4 + 12 * model->sizes.layers;
}

static size_t ranges(const struct model *model)
{
    return 2 * (2 + 2 * model->sizes.layers);
}

static double flops(const struct model *model, size_t tokens, int whole_attention)
{
    double attention = (whole_attention ? 12.0 : 6.0) * (double)model->sizes.layers * (double)model->sizes.width *
                       (double)model->sizes.context;
    return (6.0 * (double)model->matmul_parameters + attention) * (double)tokens;
}

static const struct source transformer = {.has_loss = 1,
                                          .allocate = allocate_activations,
                                          .destroy = destroy_activations,
                                          .initialize = initialize,
                                          .forward = forward,
                                          .backward = backward,
                                          .predict = predict,
                                          .output_bytes = output_bytes,
                                          .operations = operations,
                                          .ranges = ranges,
                                          .flops = flops};

void transformer_plan(struct model *model, const struct model_sizes *sizes, size_t compute_bytes)
{
    *model = (struct model){.source = &transformer, .sizes = *sizes, .compute_bytes = compute_bytes};
    register_tensors(model);
    struct activations *A = model->activations = allocate(1, sizeof *A);
    A->layer = allocate(sizes->layers, sizeof *A->layer);
    cut_activations(model);
}
