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
    struct kernel_cases cases;
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

static void measure_cases(const struct bench *b);
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
    kernel_cases_create(&b.cases, b.program.opened.device, (int)b.program.threads, b.array_mib, b.program.quick);
    double *seconds = allocate(b.cases.n * b.rounds, sizeof *seconds);
    for (size_t i = 0; i < b.cases.n; i++)
        b.cases.item[i].seconds = seconds + i * b.rounds;
    measure_cases(&b);
    print_figures(&b);
    free(seconds);
    kernel_cases_destroy(&b.cases);
    return program_close(&b.program);
}

/* ---- measuring ---- */

/* Runs every case as often as it says, and keeps the seconds of a call. An untimed copy goes first, so that the device
 * is still busy while the first cases are issued. */
static void time_round(const struct bench *b, size_t round)
{
    const struct device *device = b->program.opened.device;
    struct kernel_case *k = b->cases.item;
    int64_t *stamp = allocate(2 * b->cases.n, sizeof *stamp);
    device->stamps_begin();
    kernel_case_run(b->cases.arrays, &k[b->cases.copy]);
    for (size_t i = 0; i < b->cases.n; i++) {
        stamp[2 * i] = device->stamp();
        for (int call = 0; call < k[i].calls; call++)
            kernel_case_run(b->cases.arrays, &k[i]);
        stamp[2 * i + 1] = device->stamp();
    }
    device->stamps_end();
    for (size_t i = 0; i < b->cases.n; i++)
        k[i].seconds[round] =
            1e-9 * (double)(device->stamp_ns(stamp[2 * i + 1]) - device->stamp_ns(stamp[2 * i])) / k[i].calls;
    free(stamp);
}

/* Two rounds warm up; the second decides how often a case must run to fill 2 ms, 20 times at most. */
static void measure_cases(const struct bench *b)
{
    struct kernel_case *end = b->cases.item + b->cases.n;
    for (struct kernel_case *k = b->cases.item; k < end; k++)
        k->calls = 1;
    time_round(b, 0);
    time_round(b, 0);
    for (struct kernel_case *k = b->cases.item; k < end; k++)
        k->calls = (int)fmax(1, fmin(20, 2e-3 / fmax(k->seconds[0], 1e-6)));
    for (size_t round = 0; round < b->rounds; round++)
        time_round(b, round);
}

/* ---- figures ---- */

/* Prints a case, and adds it to --tsv with the columns of bench/peers/torch_kernels.py and the ratio to the copy.
 * Returns the median of that ratio: bytes per second to those of the copy in the same round. */
static double print_case(const struct bench *b, const struct kernel_case *k)
{
    const struct kernel_case *copy = &b->cases.item[b->cases.copy];
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
        fprintf(tsv, "%s\t%s\t%s\t%s\t%.2f\t%.2f\t%zu\t%.4g\t%s", k->name, b->program.opened.device->name, k->dtype,
                k->sizes, 1e6 * s.median, 1e6 * s.least, b->rounds, 1e-9 * amount / s.median,
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
    const char *copy = b->cases.item[b->cases.copy].name;
    char slow[1024] = "";
    size_t at = 0;
    printf(
        "Operations on %s. Arrays of %.1f MiB; median of n = %zu rounds.\n"
        "A round runs every line (short ones several times in a row), in this order, so drift of the machine hits all\n"
        "alike. MB (10^6) and Gflop are what a call must move and compute: each array read or written once (+= "
        "twice),\n"
        "whatever caches do; attention counts its causal half. The ratio is GB/s over that of the %s in the\n"
        "same round, median over rounds.\n\n",
        b->program.on, (double)b->cases.array_bytes / 1048576.0, b->rounds, copy);
    printf("%-23s %-26s %9s %9s %9s %19s %8s %8s %6s\n", "operation", "sizes", "MB", "Gflop", "ms", "least..most",
           "GB/s", "TFLOP/s", "ratio");
    if (b->program.tsv)
        fprintf(b->program.tsv,
                "operation\tbackend\tdtype\tsizes\tus_median\tus_least\trepeats\trate\tunit\tcopy_ratio\t"
                "copy_ratio_least\tcopy_ratio_most\n");
    for (size_t i = 0; i < b->cases.n; i++) {
        const struct kernel_case *k = &b->cases.item[i];
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
