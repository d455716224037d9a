/* kernel_cases.c - the operations that bench_kernels times, and the arrays that they work on. */
#include "selfbench/kernel_cases.h"

#include "kernels/error.h"
#include "selfbench/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a common small language model; memory-bound operations work on rows of it. */
enum { C = 768, H = 12, D = 64, T = 512, V = 10000 };
enum { MOST_CASES = 64 };

static int is_product(const struct operation_facts *facts)
{
    return !strncmp(facts->name, "linear", 6) || !strncmp(facts->name, "attention", 9);
}

/* Roles that keep all values bounded however often operations repeat: y and z are written, a and b hold numbers in
 * [-0.5, 0.5), v in [0, 1). Matrix products and attention use the front parts of the same arrays. */
struct kernel_arrays {
    const struct device *device;
    int threads;
    size_t numbers;               /* in each of y, z, a, b and v */
    size_t half_bytes;            /* where the second part of y, z and a begins, in attention */
    size_t heads, angles;         /* rows of heads, and angles of RoPE, in attention */
    void *y, *z, *a, *b, *v;      /* of the compute type */
    float *y32, *z32, *a32, *v32; /* where that is fp32, the same arrays */
    void *table, *w;              /* [V, C], [C] */
    float *dtable, *dw, *rope;    /* [V, C], [C], [angles, 2] */
    float *rstd, *lse, *scalars;
    int32_t *token;
    void *memory[24]; /* [n], all of them, to be released */
    size_t n;
};

void kernel_case_run(const struct kernel_arrays *x, const struct kernel_case *k)
{
    static const struct adamw adamw = {0.9f, 0.999f, 1e-8f, 0.01f};
    const struct device *d = x->device;
    const size_t *s = k->size, half = x->half_bytes;
    switch (k->operation) {
    case OPERATION_ZERO:
        d->zero(x->y32, s[0]);
        break;
    case OPERATION_COPY:
        d->copy(x->y32, x->a32, s[0]);
        break;
    case OPERATION_PACK_BF16:
        d->pack_bf16(x->z, x->a32, s[0]);
        break;
    case OPERATION_UNPACK_BF16:
        d->unpack_bf16(x->y32, x->z, s[0]);
        break;
    case OPERATION_EMBEDDING_FORWARD:
        d->embedding_forward(x->y, x->table, x->token, s[0], s[1]);
        break;
    case OPERATION_EMBEDDING_BACKWARD:
        d->embedding_backward(x->dtable, x->a, x->token, s[0], s[1], s[2], 0);
        break;
    case OPERATION_LINEAR_FORWARD:
        d->linear_forward(x->y, x->a, x->b, s[0], s[1], s[2]);
        break;
    case OPERATION_LINEAR_BACKWARD_INPUT:
        d->linear_backward_input(x->y, x->a, x->b, s[0], s[1], s[2], 0);
        break;
    case OPERATION_LINEAR_BACKWARD_WEIGHT:
        d->linear_backward_weight(x->y32, x->a, x->b, s[0], s[1], s[2], 0);
        break;
    case OPERATION_RMSNORM_FORWARD:
        d->rmsnorm_forward(x->z, x->rstd, x->y, x->b, x->w, s[0], s[1]);
        break;
    case OPERATION_RMSNORM_BACKWARD:
        d->rmsnorm_backward(x->y, x->dw, x->a, x->b, x->w, x->rstd, s[0], s[1], 1, 0);
        break;
    case OPERATION_ATTENTION_FORWARD:
        d->attention_forward(x->z, x->lse, x->a, x->b, x->v, x->rope, s[0], s[1], s[2], s[3], s[2] * s[3]);
        break;
    case OPERATION_ATTENTION_BACKWARD: /* follows forward of the same sizes, whose o and lse it reads */
        d->attention_backward(x->y, (char *)x->y + half, (char *)x->z + half, (char *)x->a + half, x->z, x->lse, x->a,
                              x->b, x->v, x->rope, s[0], s[1], s[2], s[3], s[2] * s[3]);
        break;
    case OPERATION_SWIGLU_FORWARD:
        d->swiglu_forward(x->y, x->a, x->b, s[0], s[1], s[1]);
        break;
    case OPERATION_SWIGLU_BACKWARD:
        d->swiglu_backward(x->y, x->z, x->v, x->a, x->b, s[0], s[1], s[1]);
        break;
    case OPERATION_CROSS_ENTROPY:
        d->cross_entropy(x->scalars, x->y, x->token, s[0], s[1], 1.0f, 1.0f);
        break;
    case OPERATION_GRAD_NORM:
        d->grad_norm(x->scalars, x->a32, s[0], 0.0f);
        break;
    case OPERATION_ADAMW:
        d->adamw(x->y32, x->y == x->y32 ? NULL : x->y, x->z32, x->v32, x->a32, s[0], x->scalars, &adamw);
        break;
    case OPERATIONS: /* the reference for everything on the CPU: a plain loop, optimised as the compiler sees fit */
#pragma omp parallel for num_threads(x->threads)
        for (size_t i = 0; i < s[0]; i++)
            x->y32[i] = x->a32[i];
    }
}

/* ---- the cases ---- */

/* operation: OPERATIONS for the plain loop. */
static void declare_case(struct kernel_cases *cases, int operation, const size_t size[4])
{
    static const char *const wide_name[PRECISIONS] = {"float32", "tf32", "bfloat16"};
    const struct operation_facts *facts = &operation_facts[operation < OPERATIONS ? operation : OPERATION_COPY];
    const struct device *device = cases->arrays->device;
    const char *letters = strcmp(facts->sizes, "BTHD") ? facts->sizes : "BHTD"; /* PyTorch's order */
    if (cases->n == MOST_CASES)
        FATAL("more than %d cases", MOST_CASES);
    struct kernel_case *k = &cases->item[cases->n++];
    *k = (struct kernel_case){operation < OPERATIONS ? facts->name : "copy loop", .dtype = "float32"};
    k->operation = (enum operation)operation;
    memcpy(k->size, size, sizeof k->size);
    k->bytes = operation_amount(facts->bytes, facts->sizes, size, device->compute_bytes);
    k->flops = operation_amount(facts->flops, facts->sizes, size, device->compute_bytes);
    if (operation == OPERATION_ADAMW && device->compute_bytes < sizeof(float)) /* writes the narrow weights, too */
        k->bytes += (double)(device->compute_bytes * size[0]);
    k->memory_bound = !is_product(facts);
    if (strchr(facts->bytes, 'e')) /* else it works on fp32 whatever the compute type */
        k->dtype = !k->memory_bound || device->precision != PRECISION_TF32 ? wide_name[device->precision] : "float32";
    size_t at = 0;
    for (const char *letter = letters; *letter && at < sizeof k->sizes; letter++)
        at += (size_t)snprintf(k->sizes + at, sizeof k->sizes - at, "%s%c=%zu", at ? " " : "", *letter,
                               operation_size(facts->sizes, size, *letter));
}

static void declare_memory_bound(struct kernel_cases *cases)
{
    size_t floats = cases->array_bytes / sizeof(float);
    size_t numbers = cases->array_bytes / cases->arrays->device->compute_bytes, N = numbers / C;
    const size_t wide[4] = {floats}, rows[4] = {N, C}, table[4] = {N, C, V}, logits[4] = {numbers / V, V};
    if (cases->arrays->device->host_reads_memory)
        declare_case(cases, OPERATIONS, wide);
    else
        cases->copy = OPERATION_COPY;
    for (int o = 0; o < OPERATIONS; o++) {
        const struct operation_facts *facts = &operation_facts[o];
        const char *letters = facts->sizes;
        if (!is_product(facts))
            declare_case(cases, o,
                         !strcmp(letters, "NC") || !strcmp(letters, "NF") ? rows
                         : !strcmp(letters, "NCV")                        ? table
                         : !strcmp(letters, "NV")                         ? logits
                                                                          : wide);
    }
}

/* The products of those sizes, N I O or B T H D; the arrays must hold what they work on. */
static void declare_products_of(struct kernel_cases *cases, const char *letters, const size_t size[4])
{
    struct kernel_arrays *x = cases->arrays;
    size_t heads = size[0] * size[1] * size[2], activation = heads * size[3];
    size_t needed[] = {2 * activation, size[0] * size[1], size[1] * size[2], size[0] * size[2]};
    for (int o = 0; o < OPERATIONS; o++)
        if (is_product(&operation_facts[o]) && !strcmp(operation_facts[o].sizes, letters))
            declare_case(cases, o, size);
    for (int i = 0; i < 4; i++)
        x->numbers = needed[i] > x->numbers ? needed[i] : x->numbers;
    activation *= x->device->compute_bytes;
    x->half_bytes = activation > x->half_bytes ? activation : x->half_bytes;
    x->heads = activation && heads > x->heads ? heads : x->heads;
    x->angles = activation && size[1] * size[3] / 2 > x->angles ? size[1] * size[3] / 2 : x->angles;
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
        declare_products_of(cases, "NIO", (const size_t[4]){T, C, 3072});
        declare_products_of(cases, "BTHD", (const size_t[4]){1, T, H, D});
        return;
    }
    for (int i = 0; i < 7 && weight[quick][i][0]; i++)
        declare_products_of(cases, "NIO", (const size_t[4]){tokens[quick], weight[quick][i][0], weight[quick][i][1]});
    for (int i = 0; i < 3 && context[quick][i]; i++)
        for (size_t d = 64, t = context[quick][i]; d <= 128; d *= 2)
            declare_products_of(cases, "BTHD", (const size_t[4]){tokens[quick] / t, t, width[quick] / d, d});
}

/* ---- the arrays ---- */

/* Evenly from [low, low + 1). */
static void *new_numbers(struct kernel_arrays *x, size_t number_bytes, size_t n, double low)
{
    return x->memory[x->n++] = random_numbers(x->device, number_bytes, n, low, low + 1);
}

static void *new_copy(struct kernel_arrays *x, const void *host, size_t bytes)
{
    void *array = x->memory[x->n++] = x->device->allocate(bytes);
    x->device->upload(array, host, bytes);
    return array;
}

static void create_arrays(struct kernel_arrays *x, size_t bytes)
{
    const size_t wide = sizeof(float), e = x->device->compute_bytes, N = bytes / e / C;
    size_t floats = x->numbers > bytes / wide ? x->numbers : bytes / wide;
    x->y = new_numbers(x, e, x->numbers, -0.5);
    x->z = new_numbers(x, e, x->numbers, -0.5);
    x->a = new_numbers(x, e, x->numbers, -0.5);
    x->b = new_numbers(x, e, x->numbers, -0.5);
    x->v = new_numbers(x, e, x->numbers, 0);
    x->y32 = e < wide ? new_numbers(x, wide, floats, -0.5) : x->y;
    x->z32 = e < wide ? new_numbers(x, wide, floats, -0.5) : x->z;
    x->a32 = e < wide ? new_numbers(x, wide, floats, -0.5) : x->a;
    x->v32 = e < wide ? new_numbers(x, wide, floats, 0) : x->v;
    x->table = new_numbers(x, e, (size_t)V * C, -0.5);
    x->w = new_numbers(x, e, C, -0.5);
    x->dtable = new_numbers(x, wide, (size_t)V * C, -0.5);
    x->dw = new_numbers(x, wide, C, -0.5);
    x->rstd = new_numbers(x, wide, N, 0.5);
    x->lse = new_numbers(x, wide, x->heads, 0);

    float *turn = allocate(2 * x->angles, sizeof *turn); /* keeps what is turned again and again as long as it is */
    for (size_t i = 0; i < 2 * x->angles; i += 2) {
        turn[i] = cosf((float)(i % 1000));
        turn[i + 1] = sinf((float)(i % 1000));
    }
    x->rope = new_copy(x, turn, 2 * x->angles * sizeof *turn);
    free(turn);
    int32_t *token = allocate(N, sizeof *token);
    for (size_t i = 0; i < N; i++)
        token[i] = (int32_t)(i * 7919 % V); /* 7919 is prime: all tokens, none twice in a row */
    x->token = new_copy(x, token, N * sizeof *token);
    free(token);
    float scalars[SCALARS] = {[SCALAR_LEARNING_RATE] = 1e-3f, [SCALAR_STEP] = 10.0f, [SCALAR_CLIP] = 1.0f};
    x->scalars = new_copy(x, scalars, sizeof scalars);
}

void kernel_cases_create(struct kernel_cases *cases, const struct device *device, int threads, size_t array_mib,
                         int quick)
{
    size_t row = (size_t)T * C * sizeof(float); /* whole sequences, in fp32 and in bfloat16 */
    *cases = (struct kernel_cases){.array_bytes = ((array_mib << 20) + row - 1) / row * row};
    cases->item = allocate(MOST_CASES, sizeof *cases->item);
    cases->arrays = allocate(1, sizeof *cases->arrays);
    cases->arrays->device = device;
    cases->arrays->threads = threads;
    cases->arrays->numbers = cases->array_bytes / device->compute_bytes;
    declare_memory_bound(cases);
    declare_products(cases, quick);
    create_arrays(cases->arrays, cases->array_bytes);
}

void kernel_cases_destroy(struct kernel_cases *cases)
{
    for (size_t i = 0; i < cases->arrays->n; i++)
        cases->arrays->device->release(cases->arrays->memory[i]);
    free(cases->arrays);
    free(cases->item);
}
