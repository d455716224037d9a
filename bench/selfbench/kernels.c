/* kernels.c - times every operation of a device on its own, next to the limit of its rate. The program judges nothing:
 * its exit status is 0 if it ran.
 *
 * Operations are timed by time stamps on the device, without waiting between them: the host issues a whole round before
 * the GPU has finished it. operations.h declares how many bytes and FLOP an operation needs at least, as
 * Hager and Eitzinger's TheBandwidthBenchmark (RRZE) does. */
#include "base/stats.h"
#include "ddp/data.h"
#include "ddp/transformer.h"
#include "kernels/device.h"
#include "kernels/error.h"
#include "kernels/gpu_peak.h"
#include "kernels/operations.h"
#include "selfbench/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sizes of the preset default, whose steps have ROWS tokens on one GPU; memory-bound operations work on rows of C or V
 * elements. SMALL: sizes of the preset laptop, whose steps have T tokens with a batch of 4. */
enum { C = 768, H = 12, D = 64, F = 3072, T = 512, V = 10000, PADDED_V = 10048, ROWS = 16384, RANK = 4 };
enum { SMALL_C = 256, SMALL_F = 1024, SMALL_V = 256, SMALL_PARAMETERS = 4327680 };
enum { GPT2_V = 50257, PADDED_GPT2_V = 50304 };
_Static_assert(PADDED_V % VOCABULARY_ALIGNMENT == 0 && PADDED_V - V < VOCABULARY_ALIGNMENT, "as padded");
_Static_assert(PADDED_GPT2_V % VOCABULARY_ALIGNMENT == 0 && PADDED_GPT2_V - GPT2_V < VOCABULARY_ALIGNMENT, "as padded");
enum { MOST_CASES = 80, MOST_ANGLES = 8192 * 64 };

/* What a rate is compared with: the bandwidth of a copy, the highest rate of the linear_* cases, or the peak of the
 * device: a GPU's published one, or that of the CPU's vector units. */
enum limit { COPY, LINEAR, PEAK };

struct kernel_case {
    const char *name;         /* name of the operation, or "copy_loop" */
    enum operation operation; /* OPERATIONS: the copy loop */
    size_t size[4];           /* in the order of operation_facts[].sizes */
    double bytes, flops;
    enum limit limit;
    size_t copy;     /* index of the copy, if the limit is COPY */
    int calls;       /* calls between two time stamps */
    double *seconds; /* [rounds] seconds of a call */
    int32_t *order;  /* embedding_backward: [size[0]] the order of its tokens */
};

/* The arrays of the operations. Operations write y and z, and only read a and b, whose values are in [-0.5, 0.5), so
 * that values stay bounded over any number of repeats (low_rank_left adds 0.5 a call at most); v is in [0, 1).
 * Attention uses both halves of y, z and a. */
struct kernel_arrays {
    void *y, *z, *a, *b, *v;      /* [numbers] values of the compute type */
    float *y32, *z32, *a32, *v32; /* [numbers] fp32 values; equal to y, z, a and v if the compute type is fp32 */
    void *table, *w;              /* table: [V, C]; w: [C] */
    float *dtable, *dw, *rope;    /* dtable: [V, C]; dw: [C]; rope: [MOST_ANGLES, 2] */
    float *rstd, *lse, *scalars;
    int32_t *token; /* the first T are of a vocabulary of SMALL_V, the others of V */
};

struct bench {
    struct program program;
    size_t array_mib, rounds; /* values of --array-mib and --rounds */
    size_t array_bytes;       /* bytes of an array of a memory-bound operation */
    size_t rows;              /* rows of C numbers, enough for every case */
    size_t numbers;           /* numbers in an array, enough for every case */
    struct kernel_arrays arrays;
    struct kernel_case item[MOST_CASES];
    size_t n, copy; /* copy: the next memory-bound case is compared with item[copy] */
};

/* clang-format off */
static const struct option rows[] = {
    {.name = "array-mib", .kind = &option_count, .offset = offsetof(struct bench, array_mib), .initial = "0",
     .high = 65536,
     .help = "MiB of the arrays of memory-bound operations, at least; 0: 256, or 16 with --quick, which caches may "
     "hold"},
    {.name = "rounds", .common = 1, .kind = &option_count, .offset = offsetof(struct bench, rounds),
     .initial = "20", .low = 1, .high = 10000, .help = "timed rounds"},
};
/* clang-format on */

static void declare_memory_bound(struct bench *b);
static void declare_preset(struct bench *b);
static void declare_products(struct bench *b);
static void create_arrays(struct bench *b);
static void choose_algorithms(const struct bench *b);
static void measure_cases(struct bench *b);
static void print_figures(const struct bench *b);

int main(int argc, char *argv[])
{
    static struct bench b = {.program = {.name = "bench_kernels"}};
    const struct option_section own = {.title = "Sizes", OPTION_ROWS(rows), .base = &b};
    int status = program_open(&b.program, &own, 1,
                              "Usage: bench_kernels [OPTION VALUE]...\n\n"
                              "Times each operation of the device, next to the limit that it is judged by. On a GPU "
                              "products and attention have the sizes of bench/peers/torch_kernels.py.\n",
                              argc, argv);
    if (status >= 0)
        return status;
    size_t row = (size_t)T * C * sizeof(float); /* a sequence's T x C fp32 values: array_bytes is a multiple of it */
    size_t mib = b.array_mib ? b.array_mib : b.program.quick ? 16 : 256;
    b.array_bytes = ((mib << 20) + row - 1) / row * row;
    b.numbers = b.array_bytes / b.program.opened.device->compute_bytes;
    b.rows = b.numbers / C > ROWS ? b.numbers / C : ROWS;
    declare_memory_bound(&b);
    declare_preset(&b);
    declare_products(&b);
    create_arrays(&b);
    choose_algorithms(&b);
    measure_cases(&b);
    print_figures(&b);
    return EXIT_SUCCESS;
}

/* ---- the cases ---- */

/* clang-format off */
/* Memory-bound cases: on the CPU those of the preset laptop, whose arrays caches may hold; on a GPU default's. */
static const struct { int on_gpu; enum operation operation; size_t size[4]; } preset[] = {
    {0, OPERATION_RMSNORM_FORWARD, {T, SMALL_C}}, {0, OPERATION_RMSNORM_BACKWARD, {T, SMALL_C}},
    {0, OPERATION_SWIGLU_FORWARD, {T, SMALL_F}}, {0, OPERATION_SWIGLU_BACKWARD, {T, SMALL_F}},
    {0, OPERATION_CROSS_ENTROPY, {T, SMALL_V}}, {0, OPERATION_ADAMW, {SMALL_PARAMETERS}},
    {1, OPERATION_EMBEDDING_FORWARD, {ROWS, C}}, {1, OPERATION_EMBEDDING_BACKWARD, {ROWS, C, V}},
    {1, OPERATION_RMSNORM_FORWARD, {ROWS, C}}, {1, OPERATION_RMSNORM_BACKWARD, {ROWS, C}},
    {1, OPERATION_ROPE_FORWARD, {ROWS / T, T, H, D}}, {1, OPERATION_SWIGLU_FORWARD, {ROWS, F}},
    {1, OPERATION_SWIGLU_BACKWARD, {ROWS, F}}, {1, OPERATION_CROSS_ENTROPY, {ROWS, V}}};
/* Rows: 0 and 1 with --quick; 0 to 5 on the CPU, products of the presets laptop and default; from 2 on a GPU. Of these,
 * default computes {C, C}, {F, C}, and those of the second line: v, k and q; both inputs of SwiGLU; padded logits. */
static const size_t weight[][2] = { /* I, O */
    {SMALL_C, SMALL_C}, {SMALL_C, SMALL_F}, {C, C}, {C, F}, {F, C}, {C, V},
    {C, 3 * C}, {C, 2 * F}, {C, PADDED_V},
    {C, GPT2_V}, {C, PADDED_GPT2_V}, {1600, 1600}, {1600, 6400}, {6400, 1600}};
/* Rows: 0 and 1 with --quick; 0 to 5 on the CPU, from 5 on a GPU. Row 0 is laptop's, row 5 default's. */
static const size_t attention[][3] = { /* T, H, D */
    {128, 4, 64}, {128, 8, 32}, {32, 12, 64}, {2048, 4, 64}, {T, 6, 128}, {T, H, D},
    {512, 32, 64}, {512, 16, 128}, {2048, 32, 64}, {2048, 16, 128}, {8192, 32, 64}, {8192, 16, 128}};
/* clang-format on */

static enum limit limit_of(const struct operation_facts *facts)
{
    return !strncmp(facts->name, "linear", 6) ? PEAK : !strncmp(facts->name, "attention", 9) ? LINEAR : COPY;
}

/* Adds a case; operation OPERATIONS is the copy loop, with which the cases after it are compared. */
static void declare_case(struct bench *b, int operation, const size_t size[4])
{
    const struct operation_facts *facts = &operation_facts[operation < OPERATIONS ? operation : OPERATION_COPY];
    size_t e = b->program.opened.device->compute_bytes;
    if (b->n == MOST_CASES)
        FATAL("more than %d cases", MOST_CASES);
    b->copy = operation == OPERATIONS ? b->n : b->copy;
    struct kernel_case *k = &b->item[b->n++];
    *k = (struct kernel_case){.name = operation < OPERATIONS ? facts->name : "copy_loop",
                              .operation = (enum operation)operation,
                              .bytes = operation_amount(facts->bytes, facts->sizes, size, e),
                              .flops = operation_amount(facts->flops, facts->sizes, size, e),
                              .limit = limit_of(facts),
                              .copy = b->copy,
                              .calls = 1,
                              .seconds = allocate(b->rounds, sizeof *k->seconds)};
    memcpy(k->size, size, sizeof k->size);
    if (operation == OPERATION_ADAMW && e < sizeof(float)) /* AdamW also writes the bf16 weights */
        k->bytes += (double)(e * size[0]);
}

/* Returns how many numbers apart rows of logits begin in a model with this vocabulary. */
static size_t stride_of_logits(size_t vocabulary)
{
    return transformer_padded_vocabulary(&(struct model_sizes){.vocabulary = vocabulary});
}

/* Adds the memory-bound cases. On the CPU the copy that they are compared with is a plain loop. */
static void declare_memory_bound(struct bench *b)
{
    size_t N = b->numbers / C;
    const size_t wide[4] = {b->array_bytes / sizeof(float), 1}, rows_of_c[4] = {N, C}, table[4] = {N, C, V},
                 logits[4] = {b->numbers / stride_of_logits(V), V},
                 many_logits[4] = {b->numbers / stride_of_logits(GPT2_V), GPT2_V}, heads[4] = {N / T, T, H, D},
                 low_rank[4] = {RANK, C, N};
    if (b->program.opened.on_gpu)
        b->copy = OPERATION_COPY;
    else
        declare_case(b, OPERATIONS, wide);
    for (int o = 0; o < OPERATIONS; o++) {
        const char *letters = operation_facts[o].sizes;
        if (limit_of(&operation_facts[o]) == COPY)
            declare_case(b, o,
                         !strcmp(letters, "NC") || !strcmp(letters, "NF") ? rows_of_c
                         : !strcmp(letters, "NCV")                        ? table
                         : !strcmp(letters, "NV")                         ? logits
                         : !strcmp(letters, "BTHD")                       ? heads
                         : !strcmp(letters, "RIO")                        ? low_rank
                                                                          : wide);
    }
    declare_case(b, OPERATION_CROSS_ENTROPY, many_logits);
}

/* Adds the memory-bound cases of a preset: on the CPU, each after a copy of as many bytes; on a GPU, unless --quick. */
static void declare_preset(struct bench *b)
{
    const int on_gpu = b->program.opened.on_gpu;
    for (size_t i = 0; i < sizeof preset / sizeof *preset && !(on_gpu && b->program.quick); i++) {
        const struct operation_facts *facts = &operation_facts[preset[i].operation];
        size_t e = b->program.opened.device->compute_bytes,
               bytes = (size_t)operation_amount(facts->bytes, facts->sizes, preset[i].size, e),
               needed = on_gpu ? bytes / e : bytes / 8; /* numbers of the largest array, at least */
        if (preset[i].on_gpu != on_gpu)
            continue;
        if (!on_gpu)
            declare_case(b, OPERATIONS, (const size_t[4]){bytes / 8});
        declare_case(b, (int)preset[i].operation, preset[i].size);
        b->numbers = needed > b->numbers ? needed : b->numbers;
    }
}

/* Adds the products that have these size letters (NIO or BTHD), with these sizes, and enlarges the arrays for them. */
static void declare_products_of(struct bench *b, const char *letters, const size_t size[4])
{
    const size_t needed[] = {2 * size[0] * size[1] * size[2] * size[3], size[0] * size[1], size[1] * size[2],
                             size[0] * size[2]};
    for (int o = 0; o < OPERATIONS; o++)
        if (limit_of(&operation_facts[o]) != COPY && !strcmp(operation_facts[o].sizes, letters))
            declare_case(b, o, size);
    for (int i = 0; i < 4; i++)
        b->numbers = needed[i] > b->numbers ? needed[i] : b->numbers;
}

/* Adds the products. On a GPU they have the sizes of bench/peers/torch_kernels.py, for comparison with PyTorch. */
static void declare_products(struct bench *b)
{
    const int large = b->program.opened.on_gpu && !b->program.quick, end = b->program.quick ? 2 : 6;
    const size_t tokens = large ? ROWS : T;
    for (int i = large ? 2 : 0; i < (large ? (int)(sizeof weight / sizeof *weight) : end); i++)
        declare_products_of(b, "NIO", (const size_t[4]){tokens, weight[i][0], weight[i][1]});
    for (int i = large ? 5 : 0; i < (large ? (int)(sizeof attention / sizeof *attention) : end); i++) {
        const size_t *of = attention[i], sequences = tokens > of[0] ? tokens / of[0] : 1;
        declare_products_of(b, "BTHD", (const size_t[4]){sequences, of[0], of[1], of[2]});
    }
}

/* ---- the arrays, which live until the program ends ---- */

static void *copy_to_device(const struct device *device, const void *host, size_t bytes)
{
    void *array = device->allocate(bytes);
    device->upload(array, host, bytes);
    device->synchronize();
    return array;
}

/* Sorts the tokens of each case of embedding_backward. */
static void create_orders(struct bench *b, const int32_t *token)
{
    int32_t *order = allocate(b->rows, sizeof *order), *count = allocate(V, sizeof *count);
    for (struct kernel_case *k = b->item; k < b->item + b->n; k++)
        if (k->operation == OPERATION_EMBEDDING_BACKWARD) {
            batch_sort(order, count, token, k->size[0], V);
            k->order = copy_to_device(b->program.opened.device, order, k->size[0] * sizeof *order);
        }
    free(order);
    free(count);
}

static void create_arrays(struct bench *b)
{
    const struct device *d = b->program.opened.device;
    const size_t wide = sizeof(float), e = d->compute_bytes, n = b->numbers, N = b->rows;
    struct kernel_arrays *x = &b->arrays;
    x->y = random_numbers(d, e, n, -0.5, 0.5);
    x->z = random_numbers(d, e, n, -0.5, 0.5);
    x->a = random_numbers(d, e, n, -0.5, 0.5);
    x->b = random_numbers(d, e, n, -0.5, 0.5);
    x->v = random_numbers(d, e, n, 0, 1);
    x->y32 = e < wide ? random_numbers(d, wide, n, -0.5, 0.5) : x->y;
    x->z32 = e < wide ? random_numbers(d, wide, n, -0.5, 0.5) : x->z;
    x->a32 = e < wide ? random_numbers(d, wide, n, -0.5, 0.5) : x->a;
    x->v32 = e < wide ? random_numbers(d, wide, n, 0, 1) : x->v;
    x->table = random_numbers(d, e, (size_t)V * C, -0.5, 0.5);
    x->w = random_numbers(d, e, C, -0.5, 0.5);
    x->dtable = random_numbers(d, wide, (size_t)V * C, -0.5, 0.5);
    x->dw = random_numbers(d, wide, C, -0.5, 0.5);
    x->rstd = random_numbers(d, wide, N, 0.5, 1.5);
    x->lse = random_numbers(d, wide, n / D, 0, 1); /* shape [B, H, T] */

    float *turn = allocate(2 * MOST_ANGLES, sizeof *turn); /* repeated rotations keep the lengths of vectors */
    for (size_t i = 0; i < 2 * MOST_ANGLES; i += 2) {
        turn[i] = cosf((float)(i % 1000));
        turn[i + 1] = sinf((float)(i % 1000));
    }
    x->rope = copy_to_device(d, turn, 2 * MOST_ANGLES * sizeof *turn);
    free(turn);
    int32_t *token = allocate(N, sizeof *token);
    for (size_t i = 0; i < N; i++)
        token[i] = (int32_t)(i * 7919 % (i < T ? SMALL_V : V)); /* a prime step visits all, none twice in a row */
    x->token = copy_to_device(d, token, N * sizeof *token);
    create_orders(b, token);
    free(token);
    float scalars[SCALARS] = {[SCALAR_LEARNING_RATE] = 1e-3f, [SCALAR_STEP] = 10.0f, [SCALAR_CLIP] = 1.0f};
    x->scalars = copy_to_device(d, scalars, sizeof scalars);
}

/* ---- measuring ---- */

/* Chooses the algorithms of the products, which have the same number of rows, and prints the choice. */
static void choose_algorithms(const struct bench *b)
{
    struct products_choice choice;
    struct blas_weight weights[MOST_CASES];
    struct blas_products products = {.weight = weights};
    for (const struct kernel_case *k = b->item; k < b->item + b->n; k++)
        if (k->operation == OPERATION_LINEAR_FORWARD) {
            products.N = k->size[0];
            weights[products.n++] = (struct blas_weight){k->size[1], k->size[2]};
        }
    products_choose_algorithms(NULL, b->program.opened.device, &products, &choice);
    printf("%s%s", choice.words, *choice.words ? "\n" : "");
}

/* Issues the operation to the device; the copy loop runs on the host immediately. */
static void run_case(const struct bench *b, const struct kernel_case *k)
{
    static const struct adamw adamw = {0.9f, 0.999f, 1e-8f, 0.01f};
    const struct device *d = b->program.opened.device;
    const struct kernel_arrays *x = &b->arrays;
    const size_t *s = k->size, half = b->numbers / 2 * d->compute_bytes;
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
        d->unpack_bf16(x->y32, x->z, s[0], s[1], s[0]);
        break;
    case OPERATION_EMBEDDING_FORWARD:
        d->embedding_forward(x->y, x->table, x->token, s[0], s[1]);
        break;
    case OPERATION_EMBEDDING_BACKWARD:
        d->embedding_backward(x->dtable, x->a, x->token, k->order, s[0], s[1], s[2], 0);
        break;
    case OPERATION_LINEAR_FORWARD:
        d->linear_forward(x->y, x->a, x->b, s[0], s[1], s[2]);
        break;
    case OPERATION_LINEAR_RESIDUAL_FORWARD:
        d->linear_residual_forward(x->y, x->z, x->a, x->b, s[0], s[1], s[2]);
        break;
    case OPERATION_LINEAR_BACKWARD_INPUT:
        d->linear_backward_input(x->y, x->a, x->b, s[0], s[1], s[2], 0);
        break;
    case OPERATION_LINEAR_BACKWARD_WEIGHT:
        d->linear_backward_weight(x->y32, x->a, x->b, s[0], s[1], s[2], 0);
        break;
    case OPERATION_RMSNORM_FORWARD:
        d->rmsnorm_forward(x->z, x->rstd, x->y, x->w, s[0], s[1]);
        break;
    case OPERATION_RMSNORM_BACKWARD:
        d->rmsnorm_backward(x->y, x->dw, x->a, x->b, x->w, x->rstd, s[0], s[1], 1, 0);
        break;
    case OPERATION_ROPE_FORWARD:
        d->rope_forward(x->y, x->z, x->rope, s[0], s[1], s[2], s[3], s[2] * s[3]);
        break;
    case OPERATION_ATTENTION_FORWARD:
        d->attention_forward(x->z, x->lse, x->a, x->b, x->v, s[0], s[1], s[2], s[3], s[2] * s[3]);
        break;
    case OPERATION_ATTENTION_BACKWARD: /* reads the o and lse of the forward case of the same sizes */
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
        d->cross_entropy(x->scalars, x->y, x->token, s[0], s[1], stride_of_logits(s[1]), 1.0f, 1.0f);
        break;
    case OPERATION_GRAD_NORM:
        d->grad_norm(x->scalars, x->a32, s[0], 0.0f);
        break;
    case OPERATION_ADAMW:
        d->adamw(x->y32, x->y == x->y32 ? NULL : x->y, x->z32, x->v32, x->a32, s[0], x->scalars, &adamw);
        break;
    case OPERATION_AXPBY:
        d->axpby(x->y32, x->a32, s[0], 0.5f, 0.5f);
        break;
    case OPERATION_LOW_RANK_LEFT:
        d->low_rank_left(x->z32, x->y32, x->a32, x->v32, s[0], s[1], s[2]);
        break;
    case OPERATION_LOW_RANK_RIGHT:
        d->low_rank_right(x->z32, x->y32, x->a32, s[0], s[1], s[2]);
        break;
    case OPERATION_LOW_RANK_RESTORE:
        d->low_rank_restore(x->y32, x->z32, x->a32, x->v32, s[0], s[1], s[2], 0.0f);
        break;
    case OPERATIONS: /* the copy on the CPU: a plain loop that only the compiler optimises */
#pragma omp parallel for num_threads(b->program.threads)
        for (size_t i = 0; i < s[0]; i++)
            x->y32[i] = x->a32[i];
    }
}

/* Runs each case k->calls times, and stores the seconds of a call. An untimed copy goes first, so that the device is
 * still busy while the first cases are issued. */
static void time_round(const struct bench *b, size_t round)
{
    const struct device *device = b->program.opened.device;
    const struct kernel_case *k = b->item;
    int64_t stamp[2 * MOST_CASES];
    device->stamps_begin();
    run_case(b, &k[b->item[0].copy]);
    for (size_t i = 0; i < b->n; i++) {
        stamp[2 * i] = device->stamp();
        for (int call = 0; call < k[i].calls; call++)
            run_case(b, &k[i]);
        stamp[2 * i + 1] = device->stamp();
    }
    device->stamps_end();
    for (size_t i = 0; i < b->n; i++)
        k[i].seconds[round] =
            1e-9 * (double)(device->stamp_ns(stamp[2 * i + 1]) - device->stamp_ns(stamp[2 * i])) / k[i].calls;
}

/* Two rounds warm up. The second determines how many calls of a case fill 2 ms; the limit is 20 calls. */
static void measure_cases(struct bench *b)
{
    time_round(b, 0);
    time_round(b, 0);
    for (struct kernel_case *k = b->item; k < b->item + b->n; k++)
        k->calls = (int)fmax(1, fmin(20, 2e-3 / fmax(k->seconds[0], 1e-6)));
    for (size_t round = 0; round < b->rounds; round++)
        time_round(b, round);
}

/* ---- figures ---- */

/* Returns the median rate of a case, in bytes/s if its limit is that of a copy, else in FLOP/s. */
static double rate_of(const struct bench *b, const struct kernel_case *k)
{
    return (k->limit == COPY ? k->bytes : k->flops) / stats_median(k->seconds, b->rounds);
}

/* Returns the device's peak rate of products in FLOP/s; 0: unknown. */
static double peak_of(const struct program *p)
{
    return p->opened.on_gpu ? gpu_peak(p->opened.gpu.name, p->opened.device->precision)
                            : 1e9 * p->blas.vector_gflops * p->threads;
}

/* Returns the limit of a case's rate, in the unit of rate_of; 0: unknown. */
static double limiting_rate(const struct bench *b, const struct kernel_case *k)
{
    double highest = 0;
    if (k->limit != LINEAR)
        return k->limit == COPY ? rate_of(b, &b->item[k->copy]) : peak_of(&b->program);
    for (size_t i = 0; i < b->n; i++)
        if (b->item[i].limit == PEAK)
            highest = fmax(highest, rate_of(b, &b->item[i]));
    return highest;
}

static void print_case(const struct bench *b, const struct kernel_case *k)
{
    const char *letters = operation_facts[k->operation < OPERATIONS ? k->operation : OPERATION_COPY].sizes;
    const char *limit[] = {[COPY] = b->item[k->copy].name, [LINEAR] = "linear_*", [PEAK] = "peak"};
    const double median = stats_median(k->seconds, b->rounds), most = limiting_rate(b, k);
    char range[32], sizes[64], share[32] = "N/A";
    size_t at = 0;
    for (size_t i = 0; letters[i] && at < sizeof sizes; i++)
        at += (size_t)snprintf(sizes + at, sizeof sizes - at, "%s%c=%zu", i ? " " : "", letters[i], k->size[i]);
    snprintf(range, sizeof range, "%.3f..%.3f", 1e3 * stats_quantile(k->seconds, b->rounds, 0),
             1e3 * stats_quantile(k->seconds, b->rounds, 1));
    if (most > 0)
        snprintf(share, sizeof share, "%.2f", rate_of(b, k) / most);
    printf("%-23s %-22s %7.1f %8.2f %8.3f %18s %7.1f %8.4f %9s %5s\n", k->name, sizes, 1e-6 * k->bytes, 1e-9 * k->flops,
           1e3 * median, range, 1e-9 * k->bytes / median, 1e-12 * k->flops / median, limit[k->limit], share);
}

static void print_figures(const struct bench *b)
{
    const int on_gpu = b->program.opened.on_gpu;
    char peak[128] = "N/A, none is published for this GPU";
    if (peak_of(&b->program) > 0)
        snprintf(peak, sizeof peak, "%.4f TFLOP/s, %s", 1e-12 * peak_of(&b->program),
                 on_gpu ? "published for this GPU"
                        : "the multiply-adds of one thread between registers, measured at the start, x threads");
    printf(
        "Operations on %s. Arrays of %.1f MiB; median of n = %zu rounds.\n"
        "A round runs every line (short ones several times in a row), in this order, so drift of the machine\n"
        "affects all equally. MB (10^6) and Gflop are what a call must move and compute: each array read or written\n"
        "once (+= twice), whatever caches do; attention counts its causal half. share is the line's rate / its limit:\n"
        "  %-9s  the GB/s of %s\n"
        "  linear_*   the highest TFLOP/s of these lines\n"
        "  peak       %s\n\n",
        b->program.on, (double)b->array_bytes / 1048576.0, b->rounds, b->item[b->copy].name,
        on_gpu ? "this line" : "the nearest such line above", peak);
    printf("%-23s %-22s %7s %8s %8s %18s %7s %8s %9s %5s\n", "operation", "sizes", "MB", "Gflop", "ms", "least..most",
           "GB/s", "TFLOP/s", "limit", "share");
    for (size_t i = 0; i < b->n; i++)
        print_case(b, &b->item[i]);
}
