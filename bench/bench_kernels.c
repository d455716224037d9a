/* bench_kernels.c - times every operation of the CPU device on its own, next to a plain copy loop. Prints, judges
 * nothing: the exit status says only whether it ran.
 *
 * What an operation must read and write at least, and compute, is declared beside its name, after Hager and
 * Eitzinger's TheBandwidthBenchmark (RRZE). */
#include "clock.h"
#include "device.h"
#include "stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The sizes of a common small language model; the arrays hold T * C * sequences floats, a row per token. */
enum { C = 768, F = 3072, H = 12, D = 64, T = 512, V = 10000, MAX_ROUNDS = 64, MAX_KERNELS = 32 };

static const struct device *device;
static int threads = 1;
static size_t sequences = 171, rounds = 20; /* 171: arrays of 256.5 MiB, far beyond any cache */
static size_t n, N, rows;                   /* floats of an array; rows of C; rows of V */

/* Roles that keep all values tame however often operations repeat: y and z are written, a and b hold numbers in
 * [-0.5, 0.5), v in [0, 1). Matrix products and attention use the front parts of the same arrays. */
static float *y, *z, *a, *b, *v, *table, *rope_table, *w, *rstd, *lse, *scalars;
static int32_t *token;

/* ---- the operations ---- */

/* What everything is compared with. The compiler may make of it what it likes. */
static void run_loop(void)
{
#pragma omp parallel for num_threads(threads)
    for (size_t i = 0; i < n; i++)
        y[i] = a[i];
}

static void run_zero(void)
{
    device->zero(y, n);
}
static void run_copy(void)
{
    device->copy(y, a, n);
}
static void run_pack(void)
{
    device->pack_bf16((uint16_t *)(void *)z, a, n);
}
static void run_unpack(void)
{
    device->unpack_bf16(y, (const uint16_t *)(const void *)z, n);
}
static void run_embedding_forward(void)
{
    device->embedding_forward(y, table, token, N, C);
}
static void run_embedding_backward(void)
{
    device->embedding_backward(table, a, token, N, C);
}
static void run_rmsnorm_forward(void)
{
    device->rmsnorm_forward(z, rstd, y, b, w, N, C);
}
static void run_rmsnorm_backward(void)
{
    device->rmsnorm_backward(y, dw, a, b, w, rstd, N, C, 1);
}
static void run_rope(void)
{
    device->rope(y, rope_table, sequences, T, H, D, 0);
}
static void run_swiglu_forward(void)
{
    device->swiglu_forward(y, a, b, n);
}
static void run_swiglu_backward(void)
{
    device->swiglu_backward(y, z, v, a, b, n);
}
static void run_cross_entropy(void)
{
    device->cross_entropy(scalars, y, token, rows, V, 1.0f, 1.0f);
}
static void run_grad_norm(void)
{
    device->grad_norm(scalars, a, n, 0.0f);
}
static void run_adamw(void)
{
    static const struct adamw adamw = {0.9f, 0.999f, 1e-8f, 0.01f};
    device->adamw(y, NULL, z, v, a, n, scalars, &adamw);
}

enum { ACTIVATION = T * C }; /* q, k, v, and their gradients, lie one after the other in an array */
static void run_linear_forward(void)
{
    device->linear_forward(y, a, b, T, C, F);
}
static void run_linear_backward_input(void)
{
    device->linear_backward_input(y, a, b, T, C, F, 0);
}
static void run_linear_backward_weight(void)
{
    device->linear_backward_weight(y, a, b, T, C, F);
}
static void run_attention_forward(void)
{
    device->attention_forward(z, lse, a, a + ACTIVATION, a + 2 * ACTIVATION, 1, T, H, D);
}
static void run_attention_backward(void)
{
    device->attention_backward(y, y + ACTIVATION, y + 2 * ACTIVATION, b, z, lse, a, a + ACTIVATION, a + 2 * ACTIVATION,
                               1, T, H, D);
}

struct kernel {
    const char *name;
    char shape[40];
    double bytes, flops; /* an exponential, a root and a division count as one operation each */
    void (*run)(void);
    int bandwidth; /* bound by memory: compared with the loop */
    double seconds[MAX_ROUNDS];
};
static struct kernel kernels[MAX_KERNELS];
static size_t kernel_count;

static void declare(const char *name, const char *shape, double bytes, double flops, void (*run)(void), int bandwidth)
{
    struct kernel *k = &kernels[kernel_count++];
    *k = (struct kernel){.name = name, .bytes = bytes, .flops = flops, .run = run, .bandwidth = bandwidth};
    snprintf(k->shape, sizeof k->shape, "%s", shape);
}

/* Operations with their least traffic (each input read once, each output written once, "+=" counts twice) and work. */
static void declare_all(void)
{
    double e = (double)n, r = (double)N, logits = (double)rows * V;
    double product = (double)T * C * F, pairs = (double)H * D * T * (T + 1) / 2; /* a query sees T / 2 keys or so */
    char flat[40], wide[40], vocabulary[40], heads[40];
    snprintf(flat, sizeof flat, "n %zu", n);
    snprintf(wide, sizeof wide, "N %zu, C %d", N, C);
    snprintf(vocabulary, sizeof vocabulary, "N %zu, V %d", rows, V);
    snprintf(heads, sizeof heads, "B %zu, T %d, H %d, D %d", sequences, T, H, D);

    declare("copy loop", flat, 8 * e, 0, run_loop, 1);
    declare("zero", flat, 4 * e, 0, run_zero, 1);
    declare("copy", flat, 8 * e, 0, run_copy, 1);
    declare("pack_bf16", flat, 6 * e, 0, run_pack, 1);
    declare("unpack_bf16", flat, 6 * e, 0, run_unpack, 1);
    declare("embedding_forward", wide, 8 * e + 4 * r, 0, run_embedding_forward, 1);
    declare("embedding_backward", wide, 12 * e + 4 * r, e, run_embedding_backward, 1);
    declare("rmsnorm_forward", wide, 16 * e + 4 * r, 5 * e, run_rmsnorm_forward, 1);
    declare("rmsnorm_backward", wide, 16 * e + 4 * r, 11 * e, run_rmsnorm_backward, 1);
    declare("rope", heads, 8 * e, 3 * e, run_rope, 1);
    declare("swiglu_forward", flat, 12 * e, 6 * e, run_swiglu_forward, 1);
    declare("swiglu_backward", flat, 20 * e, 12 * e, run_swiglu_backward, 1);
    declare("cross_entropy", vocabulary, 8 * logits, 5 * logits, run_cross_entropy, 1);
    declare("grad_norm", flat, 4 * e, 2 * e, run_grad_norm, 1);
    declare("adamw", flat, 28 * e, 15 * e, run_adamw, 1);

    snprintf(wide, sizeof wide, "N %d, I %d, O %d", T, C, F);
    snprintf(heads, sizeof heads, "B 1, T %d, H %d, D %d", T, H, D);
    double operands = 4.0 * ((double)T * C + (double)C * F + (double)T * F);
    declare("linear_forward", wide, operands, 2 * product, run_linear_forward, 0);
    declare("linear_backward_input", wide, operands, 2 * product, run_linear_backward_input, 0);
    declare("linear_backward_weight", wide, operands + 4.0 * C * F, 2 * product, run_linear_backward_weight, 0);
    declare("attention_forward", heads, 16.0 * ACTIVATION + 4.0 * T * H, 4 * pairs, run_attention_forward, 0);
    declare("attention_backward", heads, 32.0 * ACTIVATION + 4.0 * T * H, 10 * pairs, run_attention_backward, 0);
}

/* ---- measuring ---- */

static void fill(float *x, size_t count, float low)
{
    uint32_t state = 2463534242u;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u; /* Knuth, TAOCP 2, 3.3.4 */
        x[i] = low + (float)(state >> 8) * 0x1p-24f;
    }
}

static void set_up(void)
{
    device = device_cpu(threads);
    N = sequences * T;
    n = N * C;
    rows = n / V;
    float **array[] = {&y, &z, &a, &b, &v};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++) {
        *array[i] = device->allocate(n * sizeof(float));
        fill(*array[i], n, i == 4 ? 0.0f : -0.5f);
    }
    table = device->allocate((size_t)V * C * sizeof(float));
    rope_table = device->allocate((size_t)T * D * sizeof(float));
    w = device->allocate((size_t)2 * C * sizeof(float));
    rstd = device->allocate(N * sizeof(float));
    lse = device->allocate((size_t)T * H * sizeof(float));
    scalars = device->allocate(SCALARS * sizeof(float));
    token = device->allocate(N * sizeof(int32_t));
    fill(table, (size_t)V * C, -0.5f);
    fill(rope_table, (size_t)T * D, -0.5f);
    fill(w, (size_t)2 * C, -0.5f);
    fill(rstd, N, 0.5f);
    for (size_t i = 0; i < N; i++)
        token[i] = (int32_t)(i * 7919 % V); /* 7919 is prime: all tokens, none twice in a row */
    scalars[SCALAR_LEARNING_RATE] = 1e-3f;
    scalars[SCALAR_STEP] = 10.0f;
    scalars[SCALAR_CLIP] = 1.0f;
}

static void tear_down(void)
{
    void *memory[] = {y, z, a, b, v, table, rope_table, w, rstd, lse, scalars, token};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        device->release(memory[i]);
}

/* Round 0 warms up and is overwritten by the first timed one. */
static void measure(void)
{
    for (size_t round = 0; round <= rounds; round++)
        for (size_t i = 0; i < kernel_count; i++) {
            int64_t start = clock_now_ns();
            kernels[i].run();
            device->synchronize();
            kernels[i].seconds[round ? round - 1 : 0] = (double)(clock_now_ns() - start) * 1e-9;
        }
}

/* ---- printing ---- */

static void print_head(void)
{
    printf(
        "Operations of the cpu device, %d thread%s. Arrays of %.1f MiB; median of n = %zu rounds after one untimed.\n"
        "A round runs every line once, in this order, so drift of the machine hits all alike. MB (10^6) and Mflop\n"
        "are declared: each input read once, each output written once (+= twice), whatever caches do. The ratio is\n"
        "GB/s over the copy loop's, median over rounds; the loop is `y[i] = x[i]`, with the flags of the rest.\n\n",
        threads, threads == 1 ? "" : "s", (double)n * 4.0 / 1048576.0, rounds);
    printf("%-23s %-27s %8s %8s %9s %19s %7s %8s %6s\n", "operation", "shape", "MB", "Mflop", "ms", "min..max", "GB/s",
           "GFLOP/s", "ratio");
}

/* GB/s of the kernel over the copy loop's of the same round, median over rounds. */
static double ratio_to_loop(const struct kernel *k)
{
    double ratio[MAX_ROUNDS];
    for (size_t r = 0; r < rounds; r++)
        ratio[r] = k->bytes / k->seconds[r] / (kernels[0].bytes / kernels[0].seconds[r]);
    return stats_median(ratio, rounds);
}

static void print_kernel(const struct kernel *k)
{
    double median = stats_median(k->seconds, rounds);
    char spread[32];
    snprintf(spread, sizeof spread, "%.3f..%.3f", stats_quantile(k->seconds, rounds, 0.0) * 1e3,
             stats_quantile(k->seconds, rounds, 1.0) * 1e3);
    printf("%-23s %-27s %8.1f %8.1f %9.3f %19s %7.1f ", k->name, k->shape, k->bytes * 1e-6, k->flops * 1e-6,
           median * 1e3, spread, k->bytes / median * 1e-9);
    if (k->flops > 0)
        printf("%8.1f ", k->flops / median * 1e-9);
    else
        printf("%8s ", "-");
    if (k->bandwidth)
        printf("%6.2f\n", ratio_to_loop(k));
    else
        printf("%6s\n", "-");
}

static void print_verdict(void)
{
    const char *separator = "\nBelow half of the copy loop's bandwidth: ";
    int slow = 0;
    for (size_t i = 0; i < kernel_count; i++)
        if (kernels[i].bandwidth && ratio_to_loop(&kernels[i]) < 0.5) {
            printf("%s%s", separator, kernels[i].name);
            separator = ", ";
            slow = 1;
        }
    printf("%s\n", slow ? "." : "\nEvery memory-bound operation reaches half of the copy loop's bandwidth or more.");
}

/* ---- options ---- */

static int usage(FILE *out, int status)
{
    fprintf(out, "usage: bench_kernels [--threads N] [--quick]\n"
                 "  --threads N  threads of each operation, 1 to 1024 (default 1)\n"
                 "  --quick      arrays of 16.5 MiB, which may fit a cache, instead of 256.5 MiB\n"
                 "  --help       this text\n");
    return status;
}

/* Returns -1 to go on, or the exit status. */
static int parse(int argc, char *argv[])
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = NULL;
        if (strcmp(word, "--help") == 0)
            return usage(stdout, EXIT_SUCCESS);
        if (strcmp(word, "--quick") == 0) {
            sequences = 11;
            continue;
        }
        if (strcmp(word, "--threads") == 0)
            value = i + 1 < argc ? argv[++i] : "";
        else if (strncmp(word, "--threads=", 10) == 0)
            value = word + 10;
        if (!value) {
            fprintf(stderr, "bench_kernels: unknown option '%s'\n", word);
            return usage(stderr, 2);
        }
        char *end;
        errno = 0;
        long number = strtol(value, &end, 10);
        if (value[0] < '0' || value[0] > '9' || *end || errno || number < 1 || number > 1024) {
            fprintf(stderr, "bench_kernels: --threads takes a whole number from 1 to 1024, not '%s'\n", value);
            return 2;
        }
        threads = (int)number;
    }
    return -1;
}

int main(int argc, char *argv[])
{
    int status = parse(argc, argv);
    if (status >= 0)
        return status;
    set_up();
    declare_all();
    measure();
    print_head();
    for (size_t i = 0; i < kernel_count; i++)
        print_kernel(&kernels[i]);
    print_verdict();
    tear_down();
    return EXIT_SUCCESS;
}
