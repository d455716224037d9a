/* kernels.c - times every operation of a device on its own, next to a copy. Prints and judges nothing: the exit
 * status is 0 if it ran.
 *
 * A case is an operation with arrays, sizes, and the bytes that it must move and the operations that it must do at
 * least (operations.h). Declaring both with a kernel is after Hager and Eitzinger's TheBandwidthBenchmark (RRZE). Cases
 * are timed by stamps of the device, and nothing waits between them: on a GPU the host issues a whole round ahead of
 * it. */
#include "kernels/error.h"
#include "kernels/operations.h"
#include "selfbench/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a common small language model; memory-bound operations work on rows of it. */
enum { C = 768, H = 12, D = 64, T = 512, V = 10000 };

struct kernel_case {
    const char *name;         /* of the operation, as in operations.h; or "copy loop" */
    enum operation operation; /* OPERATIONS: the loop */
    const char *dtype;        /* as PyTorch calls it: float32, tf32 or bfloat16 */
    char sizes[64];           /* "N=512 I=768 O=3072" */
    double bytes, flops;
    int memory_bound; /* compared with a copy */
    size_t size[4];   /* in the order of operations.h */
    int calls;        /* of each timed stretch */
    double *seconds;  /* [rounds] of a call */
};

/* Roles that keep all values bounded however often operations repeat: y and z are written, a and b hold numbers in
 * [-0.5, 0.5), v in [0, 1). Matrix products and attention use the front parts of the same arrays. */
struct kernel_arrays {
    size_t numbers;                  /* in each of y, z, a, b and v */
    size_t half_bytes;               /* where the second part of y, z and a begins, in attention */
    size_t heads;                    /* rows of heads in attention */
    void *y, *z, *a, *b, *v;         /* of the compute type */
    float *y32, *z32, *a32, *v32;    /* where that is fp32, the same arrays */
    void *table, *w;                 /* [V, C], [C] */
    float *dtable, *dw, *rope_table; /* [V, C], [C], [T, D] */
    float *rstd, *lse, *scalars;
    int32_t *token;
    void *memory[24]; /* [n], all of them, to be released */
    size_t n;
};

struct bench {
    struct program program;
    size_t array_mib, rounds;    /* options */
    const struct device *device; /* of the program */
    size_t array_bytes;          /* of the arrays that memory-bound operations work on */
    struct kernel_arrays arrays;
    struct kernel_case item[64];
    size_t n, copy; /* item[copy] is what memory-bound ones are compared with */
};

/* clang-format off */
static const struct option own_rows[] = {
    {.name = "array-mib", .kind = &option_count, .offset = offsetof(struct bench, array_mib), .initial = "0",
     .high = 65536,
     .help = "MiB of the arrays of memory-bound operations, at least; 0: 256, or 16 with --quick, which caches may "
     "hold"},
    {.name = "rounds", .common = 1, .kind = &option_count, .offset = offsetof(struct bench, rounds),
     .initial = "20", .low = 1, .high = 10000, .help = "that are timed"},
};
/* clang-format on */

static int is_product(const struct operation_facts *facts)
{
    return !strncmp(facts->name, "linear", 6) || !strncmp(facts->name, "attention", 9);
}

/* ---- the operations ---- */

/* Asks the device for the operation; the loop runs at once. */
static void run_case(const struct bench *b, const struct kernel_case *k)
{
    static const struct adamw adamw = {0.9f, 0.999f, 1e-8f, 0.01f};
    const struct kernel_arrays *x = &b->arrays;
    const struct device *d = b->device;
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
        d->embedding_backward(x->dtable, x->a, x->token, s[0], s[1]);
        break;
    case OPERATION_LINEAR_FORWARD:
        d->linear_forward(x->y, x->a, x->b, s[0], s[1], s[2]);
        break;
    case OPERATION_LINEAR_BACKWARD_INPUT:
        d->linear_backward_input(x->y, x->a, x->b, s[0], s[1], s[2], 0);
        break;
    case OPERATION_LINEAR_BACKWARD_WEIGHT:
        d->linear_backward_weight(x->y32, x->a, x->b, s[0], s[1], s[2]);
        break;
    case OPERATION_RMSNORM_FORWARD:
        d->rmsnorm_forward(x->z, x->rstd, x->y, x->b, x->w, s[0], s[1]);
        break;
    case OPERATION_RMSNORM_BACKWARD:
        d->rmsnorm_backward(x->y, x->dw, x->a, x->b, x->w, x->rstd, s[0], s[1], 1);
        break;
    case OPERATION_ROPE:
        d->rope(x->y, x->rope_table, s[0], s[1], s[2], s[3], 0);
        break;
    case OPERATION_ATTENTION_FORWARD:
        d->attention_forward(x->z, x->lse, x->a, x->b, x->v, s[0], s[1], s[2], s[3]);
        break;
    case OPERATION_ATTENTION_BACKWARD: /* follows forward of the same sizes, whose o and lse it reads */
        d->attention_backward(x->y, (char *)x->y + half, (char *)x->z + half, (char *)x->a + half, x->z, x->lse, x->a,
                              x->b, x->v, s[0], s[1], s[2], s[3]);
        break;
    case OPERATION_SWIGLU_FORWARD:
        d->swiglu_forward(x->y, x->a, x->b, s[0]);
        break;
    case OPERATION_SWIGLU_BACKWARD:
        d->swiglu_backward(x->y, x->z, x->v, x->a, x->b, s[0]);
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
#pragma omp parallel for num_threads((int)b->program.threads)
        for (size_t i = 0; i < s[0]; i++)
            x->y32[i] = x->a32[i];
    }
}

/* ---- the cases ---- */

/* operation: OPERATIONS for the plain loop. */
static void declare_case(struct bench *b, int operation, const size_t size[4])
{
    static const char *const wide_name[PRECISIONS] = {"float32", "tf32", "bfloat16"};
    const struct operation_facts *facts = &operation_facts[operation < OPERATIONS ? operation : OPERATION_COPY];
    const struct device *device = b->device;
    const char *letters = strcmp(facts->sizes, "BTHD") ? facts->sizes : "BHTD"; /* PyTorch's order */
    if (b->n == sizeof b->item / sizeof *b->item)
        FATAL("more than %zu cases", b->n);
    struct kernel_case *k = &b->item[b->n++];
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

static void declare_memory_bound(struct bench *b)
{
    size_t floats = b->array_bytes / sizeof(float);
    size_t numbers = b->array_bytes / b->device->compute_bytes, N = numbers / C;
    const size_t wide[4] = {floats}, flat[4] = {numbers}, rows[4] = {N, C}, heads[4] = {N / T, T, H, D};
    const size_t logits[4] = {numbers / V, V};
    if (b->device->host_reads_memory)
        declare_case(b, OPERATIONS, wide);
    else
        b->copy = OPERATION_COPY;
    for (int o = 0; o < OPERATIONS; o++) {
        const struct operation_facts *facts = &operation_facts[o];
        const char *letters = facts->sizes;
        if (!is_product(facts))
            declare_case(b, o,
                         !strcmp(letters, "NC")      ? rows
                         : !strcmp(letters, "NV")    ? logits
                         : !strcmp(letters, "BTHD")  ? heads
                         : strchr(facts->bytes, 'e') ? flat
                                                     : wide);
    }
}

/* The products of those sizes, N I O or B T H D; the arrays must hold what they work on. */
static void declare_products_of(struct bench *b, const char *letters, const size_t size[4])
{
    struct kernel_arrays *x = &b->arrays;
    size_t heads = size[0] * size[1] * size[2], activation = heads * size[3];
    size_t needed[] = {2 * activation, size[0] * size[1], size[1] * size[2], size[0] * size[2]};
    for (int o = 0; o < OPERATIONS; o++)
        if (is_product(&operation_facts[o]) && !strcmp(operation_facts[o].sizes, letters))
            declare_case(b, o, size);
    for (int i = 0; i < 4; i++)
        x->numbers = needed[i] > x->numbers ? needed[i] : x->numbers;
    activation *= b->device->compute_bytes;
    x->half_bytes = activation > x->half_bytes ? activation : x->half_bytes;
    x->heads = activation && heads > x->heads ? heads : x->heads;
}

/* On a GPU the sizes of bench/peers/torch_kernels.py, so that the two can be set side by side. */
static void declare_products(struct bench *b)
{
    static const size_t context[2][3] = {{512, 2048, 8192}, {128, 256}}, tokens[2] = {16384, 512},
                        width[2] = {2048, 256},
                        weight[2][7][2] = {
                            {{C, C}, {C, 3072}, {3072, C}, {C, V}, {1600, 1600}, {1600, 6400}, {6400, 1600}},
                            {{256, 256}, {256, 1024}}};
    const int quick = b->program.quick;
    if (b->device->host_reads_memory) {
        declare_products_of(b, "NIO", (const size_t[4]){T, C, 3072});
        declare_products_of(b, "BTHD", (const size_t[4]){1, T, H, D});
        return;
    }
    for (int i = 0; i < 7 && weight[quick][i][0]; i++)
        declare_products_of(b, "NIO", (const size_t[4]){tokens[quick], weight[quick][i][0], weight[quick][i][1]});
    for (int i = 0; i < 3 && context[quick][i]; i++)
        for (size_t d = 64, t = context[quick][i]; d <= 128; d *= 2)
            declare_products_of(b, "BTHD", (const size_t[4]){tokens[quick] / t, t, width[quick] / d, d});
}

/* ---- the arrays ---- */

/* Evenly from [low, low + 1). */
static void *new_numbers(struct bench *b, size_t number_bytes, size_t n, double low)
{
    return b->arrays.memory[b->arrays.n++] = random_numbers(b->device, number_bytes, n, low, low + 1);
}

static void *new_copy(struct bench *b, const void *host, size_t bytes)
{
    void *array = b->arrays.memory[b->arrays.n++] = b->device->allocate(bytes);
    b->device->upload(array, host, bytes);
    return array;
}

static void create_arrays(struct bench *b)
{
    const size_t wide = sizeof(float), e = b->device->compute_bytes, N = b->array_bytes / e / C;
    struct kernel_arrays *x = &b->arrays;
    size_t floats = x->numbers > b->array_bytes / wide ? x->numbers : b->array_bytes / wide;
    x->y = new_numbers(b, e, x->numbers, -0.5);
    x->z = new_numbers(b, e, x->numbers, -0.5);
    x->a = new_numbers(b, e, x->numbers, -0.5);
    x->b = new_numbers(b, e, x->numbers, -0.5);
    x->v = new_numbers(b, e, x->numbers, 0);
    x->y32 = e < wide ? new_numbers(b, wide, floats, -0.5) : x->y;
    x->z32 = e < wide ? new_numbers(b, wide, floats, -0.5) : x->z;
    x->a32 = e < wide ? new_numbers(b, wide, floats, -0.5) : x->a;
    x->v32 = e < wide ? new_numbers(b, wide, floats, 0) : x->v;
    x->table = new_numbers(b, e, (size_t)V * C, -0.5);
    x->w = new_numbers(b, e, C, -0.5);
    x->dtable = new_numbers(b, wide, (size_t)V * C, -0.5);
    x->dw = new_numbers(b, wide, C, -0.5);
    x->rope_table = new_numbers(b, wide, (size_t)T * D, -0.5);
    x->rstd = new_numbers(b, wide, N, 0.5);
    x->lse = new_numbers(b, wide, x->heads, 0);

    int32_t *token = allocate(N, sizeof *token);
    for (size_t i = 0; i < N; i++)
        token[i] = (int32_t)(i * 7919 % V); /* 7919 is prime: all tokens, none twice in a row */
    x->token = new_copy(b, token, N * sizeof *token);
    free(token);
    float scalars[SCALARS] = {[SCALAR_LEARNING_RATE] = 1e-3f, [SCALAR_STEP] = 10.0f, [SCALAR_CLIP] = 1.0f};
    x->scalars = new_copy(b, scalars, sizeof scalars);
}

/* ---- measuring ---- */

/* Runs every case as often as it says, and keeps the seconds of a call. An untimed copy goes first, so that the device
 * is still busy while the first cases are issued. */
static void time_round(const struct bench *b, size_t round)
{
    const struct kernel_case *k = b->item;
    int64_t *stamp = allocate(2 * b->n, sizeof *stamp);
    b->device->stamps_begin();
    run_case(b, &k[b->copy]);
    for (size_t i = 0; i < b->n; i++) {
        stamp[2 * i] = b->device->stamp();
        for (int call = 0; call < k[i].calls; call++)
            run_case(b, &k[i]);
        stamp[2 * i + 1] = b->device->stamp();
    }
    b->device->stamps_end();
    for (size_t i = 0; i < b->n; i++)
        k[i].seconds[round] =
            1e-9 * (double)(b->device->stamp_ns(stamp[2 * i + 1]) - b->device->stamp_ns(stamp[2 * i])) / k[i].calls;
    free(stamp);
}

/* Two rounds warm up; the second decides how often a case must run to fill 2 ms, 20 times at most. */
static void measure_cases(struct bench *b)
{
    struct kernel_case *end = b->item + b->n;
    for (struct kernel_case *k = b->item; k < end; k++)
        k->calls = 1;
    time_round(b, 0);
    time_round(b, 0);
    for (struct kernel_case *k = b->item; k < end; k++)
        k->calls = (int)fmax(1, fmin(20, 2e-3 / fmax(k->seconds[0], 1e-6)));
    for (size_t round = 0; round < b->rounds; round++)
        time_round(b, round);
}

/* ---- figures ---- */

/* Prints a case, and adds it to --tsv with the columns of bench/peers/torch_kernels.py and the ratio to the copy.
 * Returns the median of that ratio: bytes per second to those of the copy in the same round. */
static double print_case(const struct bench *b, const struct kernel_case *k)
{
    const struct kernel_case *copy = &b->item[b->copy];
    FILE *tsv = b->program.tsv;
    double *ratio = allocate(b->rounds, sizeof *ratio), amount = k->memory_bound ? k->bytes : k->flops;
    char range[32];
    for (size_t r = 0; r < b->rounds; r++)
        ratio[r] = k->bytes / k->seconds[r] / (copy->bytes / copy->seconds[r]);
    struct spread s = sample_spread(k->seconds, b->rounds), to_copy = sample_spread(ratio, b->rounds);
    free(ratio);
    snprintf(range, sizeof range, "%.3f..%.3f", 1e3 * s.least, 1e3 * s.most);
    printf("%-23s %-26s %9.1f ", k->name, k->sizes, 1e-6 * k->bytes);
    if (k->memory_bound)
        printf("%9s %9.3f %19s %8.1f %8s %6.2f\n", "-", 1e3 * s.median, range, 1e-9 * k->bytes / s.median, "-",
               to_copy.median);
    else
        printf("%9.2f %9.3f %19s %8.1f %8.3f %6s\n", 1e-9 * k->flops, 1e3 * s.median, range, 1e-9 * k->bytes / s.median,
               1e-12 * k->flops / s.median, "-");
    if (tsv)
        fprintf(tsv, "%s\t%s\t%s\t%s\t%.2f\t%.2f\t%zu\t%.4g\t%s", k->name, b->device->name, k->dtype, k->sizes,
                1e6 * s.median, 1e6 * s.least, b->rounds, 1e-9 * amount / s.median,
                k->memory_bound ? "GB/s" : "GFLOP/s");
    if (tsv && k->memory_bound)
        fprintf(tsv, "\t%.4g\t%.4g\t%.4g\n", to_copy.median, to_copy.least, to_copy.most);
    else if (tsv)
        fprintf(tsv, "\tn/a\tn/a\tn/a\n");
    return to_copy.median;
}

static void print_figures(const struct bench *b)
{
    double enough = b->program.opened.on_gpu ? 0.8 : 0.5;
    const char *copy = b->item[b->copy].name;
    char slow[1024] = "";
    size_t at = 0;
    printf(
        "Operations on %s. Arrays of %.1f MiB; median of n = %zu rounds.\n"
        "A round runs every line (short ones several times in a row), in this order, so drift of the machine hits all\n"
        "alike. MB (10^6) and Gflop are what a call must move and compute: each array read or written once (+= "
        "twice),\n"
        "whatever caches do; attention counts its causal half. The ratio is GB/s over that of the %s in the\n"
        "same round, median over rounds.\n\n",
        b->program.on, (double)b->array_bytes / 1048576.0, b->rounds, copy);
    printf("%-23s %-26s %9s %9s %9s %19s %8s %8s %6s\n", "operation", "sizes", "MB", "Gflop", "ms", "least..most",
           "GB/s", "TFLOP/s", "ratio");
    if (b->program.tsv)
        fprintf(b->program.tsv,
                "operation\tbackend\tdtype\tsizes\tus_median\tus_least\trepeats\trate\tunit\tcopy_ratio\t"
                "copy_ratio_least\tcopy_ratio_most\n");
    for (size_t i = 0; i < b->n; i++) {
        const struct kernel_case *k = &b->item[i];
        double ratio = print_case(b, k);
        if (k->memory_bound && ratio < enough && at < sizeof slow)
            at += (size_t)snprintf(slow + at, sizeof slow - at, "%s%s", at ? ", " : "", k->name);
    }
    if (at)
        printf("\nBelow %.0f %% of the bandwidth of the %s: %s.\n", 100 * enough, copy, slow);
    else
        printf("\nEvery memory-bound operation reaches %.0f %% of the bandwidth of the %s or more.\n", 100 * enough,
               copy);
}

int main(int argc, char *argv[])
{
    struct bench b = {.program = {.name = "bench_kernels"}};
    struct option_section own = {.title = "Sizes", OPTION_ROWS(own_rows), .base = &b};
    int status = program_open(&b.program, &own, 1,
                              "Times each operation of the device next to a copy. On a GPU products and attention have "
                              "the sizes of\nbench/peers/torch_kernels.py, and --tsv the columns of its table.\n",
                              argc, argv);
    if (status >= 0)
        return status;
    if (!b.array_mib)
        b.array_mib = b.program.quick ? 16 : 256;
    size_t sequence = (size_t)T * C * sizeof(float); /* whole ones, in fp32 and in bfloat16 */
    b.device = b.program.opened.device;
    b.array_bytes = ((b.array_mib << 20) + sequence - 1) / sequence * sequence;
    b.arrays.numbers = b.array_bytes / b.device->compute_bytes;
    declare_memory_bound(&b);
    declare_products(&b);
    create_arrays(&b);
    double *seconds = allocate(b.n * b.rounds, sizeof *seconds);
    for (size_t i = 0; i < b.n; i++)
        b.item[i].seconds = seconds + i * b.rounds;
    measure_cases(&b);
    print_figures(&b);
    free(seconds);
    for (size_t i = 0; i < b.arrays.n; i++)
        b.device->release(b.arrays.memory[i]);
    return program_close(&b.program);
}
