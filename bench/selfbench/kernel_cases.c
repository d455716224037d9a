/* kernel_cases.c - the operations that bench_kernels times, and the arrays that they work on. */
#include "selfbench/kernel_cases.h"

#include "kernels/error.h"
#include "kernels/operations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a common small language model; memory-bound operations work on rows of it. */
enum { C = 768, H = 12, D = 64, T = 512, V = 10000 };
enum { MOST_CASES = 64 };

/* Roles that keep all values bounded however often operations repeat: y and z are written, a and b hold numbers in
 * [-0.5, 0.5), v in [0, 1). Matrix products and attention use the front parts of the same arrays. */
struct kernel_arrays {
    const struct device *device;
    int threads;
    size_t half;                     /* numbers: where the second part of y, z and a begins, in attention */
    void *y, *z, *a, *b, *v;         /* of the compute type */
    float *y32, *z32, *a32, *v32;    /* where that is fp32, the same arrays */
    void *table, *w;                 /* [V, C], [C] */
    float *dtable, *dw, *rope_table; /* [V, C], [C], [T, D] */
    float *rstd, *lse, *scalars;
    int32_t *token;
};

/* ---- the operations ---- */

/* The reference for everything on the CPU: a plain loop, optimised as the compiler sees fit. */
static void run_loop(const struct kernel_arrays *x, const size_t *s)
{
#pragma omp parallel for num_threads(x->threads)
    for (size_t i = 0; i < s[0]; i++)
        x->y32[i] = x->a32[i];
}

static void run_zero(const struct kernel_arrays *x, const size_t *s)
{
    x->device->zero(x->y32, s[0]);
}
static void run_copy(const struct kernel_arrays *x, const size_t *s)
{
    x->device->copy(x->y32, x->a32, s[0]);
}
static void run_pack(const struct kernel_arrays *x, const size_t *s)
{
    x->device->pack_bf16(x->z, x->a32, s[0]);
}
static void run_unpack(const struct kernel_arrays *x, const size_t *s)
{
    x->device->unpack_bf16(x->y32, x->z, s[0]);
}
static void run_embedding_forward(const struct kernel_arrays *x, const size_t *s)
{
    x->device->embedding_forward(x->y, x->table, x->token, s[0], s[1]);
}
static void run_embedding_backward(const struct kernel_arrays *x, const size_t *s)
{
    x->device->embedding_backward(x->dtable, x->a, x->token, s[0], s[1]);
}
static void run_rmsnorm_forward(const struct kernel_arrays *x, const size_t *s)
{
    x->device->rmsnorm_forward(x->z, x->rstd, x->y, x->b, x->w, s[0], s[1]);
}
static void run_rmsnorm_backward(const struct kernel_arrays *x, const size_t *s)
{
    x->device->rmsnorm_backward(x->y, x->dw, x->a, x->b, x->w, x->rstd, s[0], s[1], 1);
}
static void run_rope(const struct kernel_arrays *x, const size_t *s)
{
    x->device->rope(x->y, x->rope_table, s[0], s[1], s[2], s[3], 0);
}
static void run_swiglu_forward(const struct kernel_arrays *x, const size_t *s)
{
    x->device->swiglu_forward(x->y, x->a, x->b, s[0]);
}
static void run_swiglu_backward(const struct kernel_arrays *x, const size_t *s)
{
    x->device->swiglu_backward(x->y, x->z, x->v, x->a, x->b, s[0]);
}
static void run_cross_entropy(const struct kernel_arrays *x, const size_t *s)
{
    x->device->cross_entropy(x->scalars, x->y, x->token, s[0], s[1], 1.0f, 1.0f);
}
static void run_grad_norm(const struct kernel_arrays *x, const size_t *s)
{
    x->device->grad_norm(x->scalars, x->a32, s[0], 0.0f);
}
static void run_adamw(const struct kernel_arrays *x, const size_t *s)
{
    static const struct adamw adamw = {0.9f, 0.999f, 1e-8f, 0.01f};
    void *narrow = x->device->compute_bytes < sizeof(float) ? x->y : NULL;
    x->device->adamw(x->y32, narrow, x->z32, x->v32, x->a32, s[0], x->scalars, &adamw);
}

static void run_linear_forward(const struct kernel_arrays *x, const size_t *s)
{
    x->device->linear_forward(x->y, x->a, x->b, s[0], s[1], s[2]);
}
static void run_linear_backward_input(const struct kernel_arrays *x, const size_t *s)
{
    x->device->linear_backward_input(x->y, x->a, x->b, s[0], s[1], s[2], 0);
}
static void run_linear_backward_weight(const struct kernel_arrays *x, const size_t *s)
{
    x->device->linear_backward_weight(x->y32, x->a, x->b, s[0], s[1], s[2]);
}

static void *second_half(const struct kernel_arrays *x, void *array)
{
    return (char *)array + x->half * x->device->compute_bytes;
}
static void run_attention_forward(const struct kernel_arrays *x, const size_t *s)
{
    x->device->attention_forward(x->z, x->lse, x->a, x->b, x->v, s[0], s[1], s[2], s[3]);
}
/* Follows forward of the same sizes, whose o and lse it reads. */
static void run_attention_backward(const struct kernel_arrays *x, const size_t *s)
{
    x->device->attention_backward(x->y, second_half(x, x->y), second_half(x, x->z), second_half(x, x->a), x->z, x->lse,
                                  x->a, x->b, x->v, s[0], s[1], s[2], s[3]);
}

/* ---- the cases ---- */

typedef void run_function(const struct kernel_arrays *arrays, const size_t *size);

static struct kernel_case *declare_case(struct kernel_cases *cases, enum operation operation, run_function *run,
                                        const size_t size[4])
{
    static const char *const wide_name[PRECISIONS] = {"float32", "tf32", "bfloat16"};
    const struct operation_facts *facts = &operation_facts[operation];
    const struct device *device = cases->arrays->device;
    const char *letters = strcmp(facts->sizes, "BTHD") ? facts->sizes : "BHTD"; /* PyTorch's order */
    if (cases->n == MOST_CASES)
        FATAL("more than %d cases", MOST_CASES);
    struct kernel_case *k = &cases->item[cases->n++];
    *k = (struct kernel_case){.name = facts->name, .dtype = "float32", .run = run};
    memcpy(k->size, size, sizeof k->size);
    k->bytes = operation_amount(facts->bytes, facts->sizes, size, device->compute_bytes);
    k->flops = operation_amount(facts->flops, facts->sizes, size, device->compute_bytes);
    if (operation == OPERATION_ADAMW && device->compute_bytes < sizeof(float)) /* writes the narrow weights, too */
        k->bytes += (double)(device->compute_bytes * size[0]);
    int product = !strncmp(facts->name, "linear", 6) || !strncmp(facts->name, "attention", 9);
    k->memory_bound = !product;
    if (strchr(facts->bytes, 'e')) /* else it works on fp32 whatever the compute type */
        k->dtype = product || device->precision != PRECISION_TF32 ? wide_name[device->precision] : "float32";
    size_t at = 0;
    for (const char *letter = letters; *letter && at < sizeof k->sizes; letter++)
        at += (size_t)snprintf(k->sizes + at, sizeof k->sizes - at, "%s%c=%zu", at ? " " : "", *letter,
                               operation_size(facts->sizes, size, *letter));
    return k;
}

static void declare_memory_bound(struct kernel_cases *cases)
{
    size_t floats = cases->array_bytes / sizeof(float);
    size_t numbers = cases->array_bytes / cases->arrays->device->compute_bytes, N = numbers / C;
    const size_t wide[4] = {floats}, flat[4] = {numbers}, rows[4] = {N, C}, heads[4] = {N / T, T, H, D};
    const size_t logits[4] = {numbers / V, V};
    if (cases->arrays->device->host_reads_memory)
        declare_case(cases, OPERATION_COPY, run_loop, wide)->name = "copy loop";
    declare_case(cases, OPERATION_COPY, run_copy, wide);
    declare_case(cases, OPERATION_ZERO, run_zero, wide);
    declare_case(cases, OPERATION_PACK_BF16, run_pack, wide);
    declare_case(cases, OPERATION_UNPACK_BF16, run_unpack, wide);
    declare_case(cases, OPERATION_EMBEDDING_FORWARD, run_embedding_forward, rows);
    declare_case(cases, OPERATION_EMBEDDING_BACKWARD, run_embedding_backward, rows);
    declare_case(cases, OPERATION_RMSNORM_FORWARD, run_rmsnorm_forward, rows);
    declare_case(cases, OPERATION_RMSNORM_BACKWARD, run_rmsnorm_backward, rows);
    declare_case(cases, OPERATION_ROPE, run_rope, heads);
    declare_case(cases, OPERATION_SWIGLU_FORWARD, run_swiglu_forward, flat);
    declare_case(cases, OPERATION_SWIGLU_BACKWARD, run_swiglu_backward, flat);
    declare_case(cases, OPERATION_CROSS_ENTROPY, run_cross_entropy, logits);
    declare_case(cases, OPERATION_GRAD_NORM, run_grad_norm, wide);
    declare_case(cases, OPERATION_ADAMW, run_adamw, wide);
}

static void declare_linear(struct kernel_cases *cases, size_t N, size_t I, size_t O)
{
    const size_t size[4] = {N, I, O};
    declare_case(cases, OPERATION_LINEAR_FORWARD, run_linear_forward, size);
    declare_case(cases, OPERATION_LINEAR_BACKWARD_INPUT, run_linear_backward_input, size);
    declare_case(cases, OPERATION_LINEAR_BACKWARD_WEIGHT, run_linear_backward_weight, size);
}

static void declare_attention(struct kernel_cases *cases, size_t B, size_t t, size_t h, size_t d)
{
    const size_t size[4] = {B, t, h, d};
    declare_case(cases, OPERATION_ATTENTION_FORWARD, run_attention_forward, size);
    declare_case(cases, OPERATION_ATTENTION_BACKWARD, run_attention_backward, size);
}

/* On a GPU the sizes of bench/peers/torch_kernels.py, so that the two can be set side by side. */
static void declare_products(struct kernel_cases *cases, int quick)
{
    static const size_t context[2][3] = {{512, 2048, 8192}, {128, 256}}, tokens[2] = {16384, 512},
                        width[2] = {2048, 256},
                        weight[2][7][2] = {
                            {{C, C}, {C, 3072}, {3072, C}, {C, V}, {1600, 1600}, {1600, 6400}, {6400, 1600}},
                            {{256, 256}, {256, 1024}}};
    if (cases->arrays->device->host_reads_memory) {
        declare_linear(cases, T, C, 3072);
        declare_attention(cases, 1, T, H, D);
        return;
    }
    for (int i = 0; i < 7 && weight[quick][i][0]; i++)
        declare_linear(cases, tokens[quick], weight[quick][i][0], weight[quick][i][1]);
    for (int i = 0; i < 3 && context[quick][i]; i++)
        for (size_t d = 64; d <= 128; d *= 2)
            declare_attention(cases, tokens[quick] / context[quick][i], context[quick][i], width[quick] / d, d);
}

/* Numbers that each array must hold for the products, and rows of heads. */
static void size_arrays(const struct kernel_cases *cases, size_t *numbers, size_t *half, size_t *lse)
{
    *numbers = *half = *lse = 0;
    for (size_t i = 0; i < cases->n; i++) {
        const struct kernel_case *k = &cases->item[i];
        if (k->memory_bound)
            continue;
        size_t heads = k->size[0] * k->size[1] * k->size[2], activation = heads * k->size[3];
        size_t s[3] = {k->size[0] * k->size[1], k->size[1] * k->size[2], k->size[0] * k->size[2]};
        if (k->size[3] && activation > *half)
            *half = activation;
        if (k->size[3] && heads > *lse)
            *lse = heads;
        for (int j = 0; j < 3; j++)
            if (!k->size[3] && s[j] > *numbers)
                *numbers = s[j];
    }
    if (2 * *half > *numbers)
        *numbers = 2 * *half;
}

/* ---- the arrays ---- */

static void fill_uniform(float *x, size_t n, float low)
{
    static uint32_t state = 2463534242u;
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u; /* Knuth, TAOCP 2, 3.3.4 */
        x[i] = low + (float)(state >> 8) * 0x1p-24f;
    }
}

static float *new_floats(const struct device *device, size_t n, float low)
{
    float *host = allocate(n, sizeof *host), *array = device->allocate(n * sizeof *array);
    fill_uniform(host, n, low);
    device->upload(array, host, n * sizeof *host);
    free(host);
    return array;
}

/* Of the compute type. */
static void *new_numbers(const struct device *device, size_t n, float low)
{
    float *floats = new_floats(device, n, low);
    if (device->compute_bytes == sizeof *floats)
        return floats;
    void *array = device->allocate(n * device->compute_bytes);
    device->pack_bf16(array, floats, n);
    device->synchronize();
    device->release(floats);
    return array;
}

static void create_arrays(struct kernel_arrays *x, size_t bytes, size_t needed, size_t lse)
{
    const struct device *device = x->device;
    size_t floats = bytes / sizeof(float), numbers = bytes / device->compute_bytes, N = numbers / C;
    int narrow = device->compute_bytes < sizeof(float);
    numbers = needed > numbers ? needed : numbers;
    floats = needed > floats ? needed : floats;
    x->y = new_numbers(device, numbers, -0.5f);
    x->z = new_numbers(device, numbers, -0.5f);
    x->a = new_numbers(device, numbers, -0.5f);
    x->b = new_numbers(device, numbers, -0.5f);
    x->v = new_numbers(device, numbers, 0.0f);
    x->y32 = narrow ? new_floats(device, floats, -0.5f) : x->y;
    x->z32 = narrow ? new_floats(device, floats, -0.5f) : x->z;
    x->a32 = narrow ? new_floats(device, floats, -0.5f) : x->a;
    x->v32 = narrow ? new_floats(device, floats, 0.0f) : x->v;
    x->table = new_numbers(device, (size_t)V * C, -0.5f);
    x->w = new_numbers(device, C, -0.5f);
    x->dtable = new_floats(device, (size_t)V * C, -0.5f);
    x->dw = new_floats(device, C, -0.5f);
    x->rope_table = new_floats(device, (size_t)T * D, -0.5f);
    x->rstd = new_floats(device, N, 0.5f);
    x->lse = new_floats(device, lse, 0.0f);

    int32_t *token = allocate(N, sizeof *token);
    for (size_t i = 0; i < N; i++)
        token[i] = (int32_t)(i * 7919 % V); /* 7919 is prime: all tokens, none twice in a row */
    x->token = device->allocate(N * sizeof *token);
    device->upload(x->token, token, N * sizeof *token);
    free(token);
    float scalars[SCALARS] = {[SCALAR_LEARNING_RATE] = 1e-3f, [SCALAR_STEP] = 10.0f, [SCALAR_CLIP] = 1.0f};
    x->scalars = device->allocate(sizeof scalars);
    device->upload(x->scalars, scalars, sizeof scalars);
}

void kernel_cases_create(struct kernel_cases *cases, const struct device *device, int threads, size_t array_mib,
                         int quick)
{
    size_t row = (size_t)T * C * sizeof(float), needed, lse; /* whole sequences, in fp32 and in bfloat16 */
    *cases = (struct kernel_cases){.array_bytes = ((array_mib << 20) + row - 1) / row * row};
    cases->item = allocate(MOST_CASES, sizeof *cases->item);
    cases->arrays = allocate(1, sizeof *cases->arrays);
    cases->arrays->device = device;
    cases->arrays->threads = threads;
    declare_memory_bound(cases);
    declare_products(cases, quick);
    size_arrays(cases, &needed, &cases->arrays->half, &lse);
    create_arrays(cases->arrays, cases->array_bytes, needed, lse);
}

void kernel_cases_destroy(struct kernel_cases *cases)
{
    struct kernel_arrays *x = cases->arrays;
    void *narrow[] = {x->y32, x->z32, x->a32, x->v32};
    void *memory[] = {x->y,      x->z,  x->a,          x->b,    x->v,   x->table,   x->w,
                      x->dtable, x->dw, x->rope_table, x->rstd, x->lse, x->scalars, x->token};
    for (size_t i = 0; x->device->compute_bytes < sizeof(float) && i < sizeof narrow / sizeof *narrow; i++)
        x->device->release(narrow[i]);
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        x->device->release(memory[i]);
    free(x);
    free(cases->item);
}
