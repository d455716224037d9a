/* kernels.c - times every operation of a device on its own, next to a copy. Prints and judges nothing: the exit
 * status is 0 if it ran.
 *
 * Operations are timed by stamps of the device, and nothing waits between them: on a GPU the host issues a whole round
 * ahead of it. */
#include "kernels/error.h"
#include "selfbench/kernel_cases.h"
#include "selfbench/program.h"

#include <math.h>
#include <stdlib.h>

struct bench {
    struct program program;
    size_t array_mib, rounds; /* options */
    const struct device *device;
    struct kernel_cases cases;
    int *calls;      /* [cases.n] of each timed stretch */
    double *seconds; /* [cases.n, rounds] of a call */
};

/* clang-format off */
static const struct option rows[] = {
    {.name = "array-mib", .kind = &option_count, .offset = offsetof(struct bench, array_mib), .initial = "0",
     .high = 65536,
     .help = "MiB of the arrays of memory-bound operations, at least; 0: 256, or 16 with --quick, which caches may "
     "hold"},
    {.name = "rounds", .common = 1, .kind = &option_count, .offset = offsetof(struct bench, rounds),
     .initial = "20", .low = 1, .high = 10000, .help = "that are timed"},
};
/* clang-format on */

static void measure_cases(struct bench *b);
static void print_figures(const struct bench *b);

int main(int argc, char *argv[])
{
    struct bench b = {.program = {.name = "bench_kernels"}};
    struct option_section own = {.title = "Sizes", OPTION_ROWS(rows), .base = &b};
    int status = program_open(&b.program, &own, 1,
                              "Times each operation of the device next to a copy. On a GPU products and attention have "
                              "the sizes of\nbench/peers/torch_kernels.py, and --tsv the columns of its table.\n",
                              argc, argv);
    if (status >= 0)
        return status;
    if (!b.array_mib)
        b.array_mib = b.program.quick ? 16 : 256;
    b.device = b.program.opened.device;
    kernel_cases_create(&b.cases, b.device, (int)b.program.threads, b.array_mib, b.program.quick);
    b.calls = allocate(b.cases.n, sizeof *b.calls);
    b.seconds = allocate(b.cases.n * b.rounds, sizeof *b.seconds);
    measure_cases(&b);
    print_figures(&b);
    free(b.calls);
    free(b.seconds);
    kernel_cases_destroy(&b.cases);
    return program_close(&b.program);
}

/* ---- measuring ---- */

/* Runs every case calls[i] times in a row; seconds of a call go to out[i * stride]. An untimed copy goes first, so that
 * the device is still busy while the first cases are issued. */
static void time_round(const struct bench *b, const int *calls, double *out, size_t stride)
{
    size_t n = b->cases.n;
    int64_t *stamp = allocate(2 * n, sizeof *stamp);
    b->device->stamps_begin();
    kernel_case_run(b->cases.arrays, &b->cases.item[b->cases.copy]);
    for (size_t i = 0; i < n; i++) {
        stamp[2 * i] = b->device->stamp();
        for (int call = 0; call < calls[i]; call++)
            kernel_case_run(b->cases.arrays, &b->cases.item[i]);
        stamp[2 * i + 1] = b->device->stamp();
    }
    b->device->stamps_end();
    for (size_t i = 0; i < n; i++)
        out[i * stride] =
            1e-9 * (double)(b->device->stamp_ns(stamp[2 * i + 1]) - b->device->stamp_ns(stamp[2 * i])) / calls[i];
    free(stamp);
}

/* Two rounds warm up; the second decides how often a case must run to fill 2 ms, 20 times at most. */
static void measure_cases(struct bench *b)
{
    double *once = allocate(b->cases.n, sizeof *once);
    for (size_t i = 0; i < b->cases.n; i++)
        b->calls[i] = 1;
    time_round(b, b->calls, once, 1);
    time_round(b, b->calls, once, 1);
    for (size_t i = 0; i < b->cases.n; i++)
        b->calls[i] = (int)fmax(1, fmin(20, 2e-3 / fmax(once[i], 1e-6)));
    for (size_t round = 0; round < b->rounds; round++)
        time_round(b, b->calls, b->seconds + round, b->rounds);
    free(once);
}

/* ---- figures ---- */

struct case_timing {
    struct spread seconds; /* of a call */
    struct spread ratio;   /* of bytes per second to those of the copy in the same round */
};

static struct case_timing summarise(const struct bench *b, size_t i)
{
    size_t n = b->rounds, c = b->cases.copy;
    const double *own = b->seconds + i * n, *copy = b->seconds + c * n;
    double *ratio = allocate(n, sizeof *ratio);
    for (size_t r = 0; r < n; r++)
        ratio[r] = b->cases.item[i].bytes / own[r] / (b->cases.item[c].bytes / copy[r]);
    struct case_timing f = {sample_spread(own, n), sample_spread(ratio, n)};
    free(ratio);
    return f;
}

static void print_head(const struct bench *b)
{
    char words[300];
    printf(
        "Operations on %s. Arrays of %.1f MiB; median of n = %zu rounds.\n"
        "A round runs every line (short ones several times in a row), in this order, so drift of the machine hits all\n"
        "alike. MB (10^6) and Gflop are what a call must move and compute: each array read or written once (+= "
        "twice),\n"
        "whatever caches do; attention counts its causal half. The ratio is GB/s over that of the %s in the\n"
        "same round, median over rounds.\n\n",
        program_words(&b->program, words), (double)b->cases.array_bytes / 1048576.0, b->rounds,
        b->cases.item[b->cases.copy].name);
    printf("%-23s %-26s %9s %9s %9s %19s %8s %8s %6s\n", "operation", "sizes", "MB", "Gflop", "ms", "least..most",
           "GB/s", "TFLOP/s", "ratio");
}

static void print_case(const struct kernel_case *k, const struct case_timing *f)
{
    char spread[32];
    snprintf(spread, sizeof spread, "%.3f..%.3f", 1e3 * f->seconds.least, 1e3 * f->seconds.most);
    printf("%-23s %-26s %9.1f ", k->name, k->sizes, 1e-6 * k->bytes);
    if (k->memory_bound)
        printf("%9s %9.3f %19s %8.1f %8s %6.2f\n", "-", 1e3 * f->seconds.median, spread,
               1e-9 * k->bytes / f->seconds.median, "-", f->ratio.median);
    else
        printf("%9.2f %9.3f %19s %8.1f %8.3f %6s\n", 1e-9 * k->flops, 1e3 * f->seconds.median, spread,
               1e-9 * k->bytes / f->seconds.median, 1e-12 * k->flops / f->seconds.median, "-");
}

/* The columns of bench/peers/torch_kernels.py, and the ratio to the copy. */
static void write_case(const struct bench *b, const struct kernel_case *k, const struct case_timing *f)
{
    double amount = k->memory_bound ? k->bytes : k->flops;
    fprintf(b->program.tsv, "%s\t%s\t%s\t%s\t%.2f\t%.2f\t%zu\t%.4g\t%s", k->name, b->device->name, k->dtype, k->sizes,
            1e6 * f->seconds.median, 1e6 * f->seconds.least, b->rounds, 1e-9 * amount / f->seconds.median,
            k->memory_bound ? "GB/s" : "GFLOP/s");
    if (k->memory_bound)
        fprintf(b->program.tsv, "\t%.4g\t%.4g\t%.4g\n", f->ratio.median, f->ratio.least, f->ratio.most);
    else
        fprintf(b->program.tsv, "\tn/a\tn/a\tn/a\n");
}

static void print_figures(const struct bench *b)
{
    double enough = b->program.opened.on_gpu ? 0.8 : 0.5;
    const char *copy = b->cases.item[b->cases.copy].name;
    char slow[1024] = "";
    size_t at = 0;
    print_head(b);
    if (b->program.tsv)
        fprintf(b->program.tsv,
                "operation\tbackend\tdtype\tsizes\tus_median\tus_least\trepeats\trate\tunit\tcopy_ratio\t"
                "copy_ratio_least\tcopy_ratio_most\n");
    for (size_t i = 0; i < b->cases.n; i++) {
        const struct kernel_case *k = &b->cases.item[i];
        struct case_timing f = summarise(b, i);
        print_case(k, &f);
        if (b->program.tsv)
            write_case(b, k, &f);
        if (k->memory_bound && f.ratio.median < enough && at < sizeof slow)
            at += (size_t)snprintf(slow + at, sizeof slow - at, "%s%s", at ? ", " : "", k->name);
    }
    if (at)
        printf("\nBelow %.0f %% of the bandwidth of the %s: %s.\n", 100 * enough, copy, slow);
    else
        printf("\nEvery memory-bound operation reaches %.0f %% of the bandwidth of the %s or more.\n", 100 * enough,
               copy);
}
