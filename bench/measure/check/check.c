/* check.c - checks that this build works here: launcher, ranks, collectives and products on each device, clocks, files.
 */
#include "check/check.h"

#include "allreduce/allreduce.h"
#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "ddp/alignment.h"
#include "ddp/device_limits.h"
#include "kernels/bf16.h"
#include "kernels/clock.h"
#include "kernels/error.h"
#include "kernels/launcher.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct check_options {
    const char *directory;
    struct harness_options harness;
};

/* clang-format off */
static const struct option rows[] = {
    {.name = "output", .common = 1, .kind = &option_path, .offset = offsetof(struct check_options, directory),
     .initial = ".", .help = "directory in which to check that files can be written: the one that holds results"},
};
/* clang-format on */

/* WARNING: ddpbench works, but measures less well than it could. */
enum result { OK, WARNING, FAILED, RESULTS };

/* A running check; all ranks count the same. */
struct check {
    const struct job *job;
    const struct check_options *options;
    struct harness harness;
    int count[RESULTS];
};

/* Counts a result, the same on every rank; rank 0 prints it. */
static void __attribute__((format(printf, 4, 5)))
say(struct check *c, enum result result, const char *name, const char *format, ...)
{
    static const char *const word[] = {"ok", "warning", "FAILED"};
    va_list values;
    c->count[result]++;
    if (c->job->rank)
        return;
    printf("%-8s %-12s ", word[result], name);
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    putchar('\n');
    fflush(stdout);
}

/* Returns the largest of the ranks' numbers, each of which may be NAN: then the result is INFINITY. */
static double largest(const struct check *c, double value)
{
    return job_max(c->job, isfinite(value) ? value : INFINITY);
}

/* ---- the ranks ---- */

/* If a launcher started several ranks that are separate jobs of MPI, job_begin has ended the program. */
static void check_launcher(struct check *c)
{
    const char *variable = launcher_rank_variable(), *library = job_library();
    const int length = (int)strcspn(library, ",");
    /* Slurm sets PMI_RANK, too, but only Hydra MPI_LOCALRANKID */
    const int foreign =
        strstr(library, "Open MPI") ? getenv("MPI_LOCALRANKID") != NULL : variable && !strncmp(variable, "OMPI_", 5);
    char by[CELL] = "no launcher";
    if (launcher_started_this())
        snprintf(by, sizeof by, "a launcher that sets %s", variable ? variable : "no rank");
    say(c, foreign ? FAILED : OK, "launcher", "%d rank%s on %d host%s, started by %s; the program's MPI is %.*s%s",
        c->job->size, text_plural((size_t)c->job->size), c->job->hosts, text_plural((size_t)c->job->hosts), by, length,
        library, foreign ? ", not the launcher's: use the mpirun of that MPI" : "");
}

/* job_begin has compared what must be equal. */
static void check_ranks(struct check *c)
{
    const cJSON *difference = json_first(c->harness.ranks, "rank_differences");
    const int differ = job_from_first(c->job, difference != NULL, 0), crowded = c->harness.comm.progress.crowded;
    if (differ)
        say(c, WARNING, "ranks", "%s%s", difference ? difference->valuestring : "",
            difference && difference->next ? ", and more differs" : "");
    else if (job_max(c->job, crowded) > 0)
        say(c, WARNING, "ranks", "more threads than logical CPUs: times will vary");
    else
        say(c, OK, "ranks", "%s; a rank has %d thread%s and %.4g logical CPU%s",
            c->job->size > 1 ? "equal versions, command lines, libraries and CPUs" : "one, with nothing to compare",
            c->harness.threads, text_plural((size_t)c->harness.threads), c->job->cores, c->job->cores > 1 ? "s" : "");
}

/* Finds the least difference between two readings of the clock that differ. */
static void check_clocks(struct check *c)
{
    enum { READS = 1000, MOST_READS = 100000000 };
    const double coarse_ns = 10e3; /* phases of a small model's step last this long */
    struct clock_sample sample = {0};
    int64_t least = INT64_MAX, last = clock_now_ns();
    for (int reads = 0; reads < READS || (least == INT64_MAX && reads < MOST_READS); reads++) {
        int64_t now = clock_now_ns();
        least = now > last && now - last < least ? now - last : least;
        last = now;
    }
    job_compare_clocks(c->job, clock_now_ns, &sample);
    double step = largest(c, (double)least), error = largest(c, (double)sample.residual_ns);
    char known[80] = "";
    if (job_max(c->job, c->job->clock) > 0)
        snprintf(known, sizeof known, "; the clocks of all hosts are known to %.1f us", 1e-3 * error);
    say(c, step < coarse_ns ? OK : FAILED, "clocks", "steps of %.0f ns%s%s", step, known,
        step < coarse_ns ? "" : ": too coarse to time the phases of a step");
}

/* Writes a file and reads it again, as each rank does in a run. */
static int probe(const char *directory, int rank)
{
    char name[40], path[FILES_PATH], why[FILES_WHY], read[40] = "";
    snprintf(name, sizeof name, ".ddpbench-check-%d-%d", rank, (int)getpid());
    int n = snprintf(path, sizeof path, "%s/%s", directory, name);
    if (n < 0 || (size_t)n >= sizeof path)
        return error_report("--output: the path is too long");
    if (files_replace(directory, name, name))
        return -1;
    FILE *file = files_open(path, sizeof read, why);
    size_t got = file ? fread(read, 1, sizeof read - 1, file) : 0;
    if (file)
        fclose(file);
    unlink(path);
    return got && !strcmp(read, name) ? 0 : error_report("%s: what was written there cannot be read", path);
}

static void check_files(struct check *c)
{
    const char *directory = c->options->directory;
    struct statvfs system;
    char space[CELL], mine[200] = "", (*why)[200] = allocate((size_t)c->job->size, sizeof *why);
    int failed = 0;
    if (probe(directory, c->job->rank))
        snprintf(mine, sizeof mine, "%s", error_text());
    error_clear();
    job_gather(c->job, mine, sizeof mine, why);
    while (failed < c->job->size && !*why[failed])
        failed++; /* the first rank that failed */
    double bytes = statvfs(directory, &system) ? 0 : (double)system.f_bavail * (double)system.f_frsize;
    bytes = -job_max(c->job, -bytes);
    if (failed < c->job->size)
        say(c, FAILED, "files", "rank %d: %s: choose another directory with --output", failed, why[failed]);
    else
        say(c, OK, "files", "every rank can write to %s, where %s are free", directory,
            text_memory(space, (size_t)bytes));
    free(why);
}

/* ---- devices ---- */

static double widened(const struct device *device, const void *x, size_t i)
{
    return (double)(device->compute_bytes == 2 ? bf16_widen(((const uint16_t *)x)[i]) : ((const float *)x)[i]);
}

/* Returns the largest error of an element of y[N, O] = x[N, I] * w[O, I]^T, relative to the sum of the products' sizes,
 * and divided by what rounding allows: (I + 2) 2^-24, plus 2^-8 for types other than fp32 (8 bits of each factor). */
static double error_of_product(const struct device *device, size_t N, size_t I, size_t O)
{
    const size_t n[] = {N * I, O * I, N * O}, bytes = device->compute_bytes;
    const double allowed = (double)(I + 2) * 0x1p-24 + (device->precision == PRECISION_FP32 ? 0 : 0x1p-8);
    const size_t skipped = 101; /* w begins later in the sequence of numbers that also fills x */
    double most = 0;
    void *on[3], *host[3];
    for (int i = 0; i < 3; i++) {
        on[i] = device->allocate((n[i] + skipped) * bytes);
        host[i] = allocate(n[i] + skipped, bytes);
        device_limits_fill(device, on[i], n[i] + skipped);
    }
    device->download(host[1], on[1], (n[1] + skipped) * bytes);
    device->upload(on[1], (char *)host[1] + skipped * bytes, n[1] * bytes);
    device->linear_forward(on[2], on[0], on[1], N, I, O);
    device->synchronize();
    for (int i = 0; i < 3; i++)
        device->download(host[i], on[i], n[i] * bytes);
    for (size_t row = 0; row < N; row++)
        for (size_t column = 0; column < O; column++) {
            double sum = 0, sizes = 0;
            for (size_t i = 0; i < I; i++) {
                double product = widened(device, host[0], row * I + i) * widened(device, host[1], column * I + i);
                sum += product;
                sizes += fabs(product);
            }
            double error = fabs(widened(device, host[2], row * O + column) - sum) / sizes / allowed;
            most = error <= most ? most : isnan(error) ? INFINITY : error;
        }
    for (int i = 0; i < 3; i++) {
        device->release(on[i]);
        free(host[i]);
    }
    return most;
}

/* On the CPU products are slow if the BLAS has chosen kernels for another one. */
static void check_products(struct check *c, const struct device *device)
{
    struct blas_facts blas;
    char words[128], advice[400], at[CELL] = "";
    const int on_cpu = !device->accelerator;
    double error = largest(c, fmax(error_of_product(device, 33, 129, 65), error_of_product(device, 256, 512, 384)));
    const int slowest = on_cpu ? products_measure(c->job, &blas) : 0;
    const char *warning = on_cpu ? products_warning(&blas, advice) : NULL;
    if (on_cpu)
        snprintf(at, sizeof at, ", %.0f GFLOP/s on one thread of rank %d", blas.product_gflops, slowest);
    if (error > 1)
        say(c, FAILED, "products", "on %s: the error is %.2g times as large as rounding allows", device->name, error);
    else if (warning)
        say(c, WARNING, "products", "on %s: %s", device->name, warning);
    else
        say(c, OK, "products", "on %s (%s): right, the error is %.2g of what rounding allows%s", device->name,
            on_cpu ? products_words(&blas, words) : precision_name[device->precision], error, at);
}

/* Checks the CPU's products by the library in use and, if runs may choose oneDNN, by oneDNN. */
static void check_cpu_products(struct check *c, const struct device *cpu)
{
    const int is_free = c->options->harness.device.blas == BLAS_AUTO;
    check_products(c, cpu);
    if (!is_free || job_max(c->job, blas_find(BLAS_ONEDNN) != NULL) > 0)
        return;
    blas_use(BLAS_ONEDNN);
    check_products(c, cpu);
    blas_use(BLAS_CBLAS);
}

static void check_collectives(struct check *c, const struct device *device, enum comm_library library, char name[16])
{
    struct comm_options options = c->harness.comm;
    struct collectives_check check;
    options.library = library;
    if (allreduce_check(c->job, device, &options, &check))
        say(c, FAILED, "collectives", "on %s by %s: see the error message", device->name, comm_library_name[library]);
    else if (check.wrong > 0)
        say(c, FAILED, "collectives", "on %s by %s: %.0f wrong elements, first in %s", device->name, check.comm,
            check.wrong, check.first);
    else
        say(c, OK, "collectives", "on %s by %s: every element of %zu collectives is right on %d rank%s", device->name,
            check.comm, check.collectives, c->job->size, text_plural((size_t)c->job->size));
    snprintf(name, 16, "%s", check.comm);
}

/* Checks the device that runs compute on by default, with each library that serves it, and the CPU. */
static void check_devices(struct check *c)
{
    struct harness *h = &c->harness;
    struct open_device cpu = h->opened;
    char used[16];
    if (*h->opened.why_cpu)
        say(c, WARNING, "device", "the CPU: %s", h->opened.why_cpu);
    if (h->opened.on_gpu) {
        check_products(c, h->opened.device);
        check_collectives(c, h->opened.device, h->comm.library, used);
        if (!strcmp(used, comm_library_name[COMM_NCCL]) && h->comm.library == COMM_AUTO)
            check_collectives(c, h->opened.device, COMM_MPI, used);
        if (open_device(&cpu, c->job, &(struct device_options){.kind = DEVICE_CPU}, h->threads)) {
            say(c, FAILED, "device", "the CPU: see the error message");
            return;
        }
    }
    check_cpu_products(c, cpu.device);
    check_collectives(c, cpu.device, h->opened.on_gpu ? COMM_MPI : h->comm.library, used);
}

/* ---- the command ---- */

static int run(void *line, const struct job *job, const struct command *command)
{
    struct check *c = line;
    (void)job, (void)command;
    if (harness_open(&c->harness, c->job, &c->options->harness))
        return harness_close(&c->harness, -1, 0);
    if (c->job->rank == 0)
        printf("ddpbench %s\n", version_text());
    check_launcher(c);
    check_ranks(c);
    check_devices(c);
    check_clocks(c);
    check_files(c);
    int failed = c->count[FAILED], warnings = c->count[WARNING], n = failed + warnings + c->count[OK];
    if (c->job->rank == 0)
        printf("%d of %d checks failed, with %d warning%s.\n", failed, n, warnings, text_plural((size_t)warnings));
    return harness_close(&c->harness, failed ? -1 : 0, 0);
}

static void print_help(const struct option_table *table)
{
    printf("Usage: " CHECK_SYNOPSIS " [OPTION VALUE]...\n");
    option_help_text(stdout, "\nChecks in some seconds that this build works here: that the launcher belongs to the "
                             "program's MPI, that ranks reach each other, that collectives and matrix products are "
                             "right on each device, that the BLAS suits the CPU, clocks and files. Prints a line for "
                             "each check; a warning does not change the exit status.\n");
    option_table_help(stdout, table, table->help);
}

enum exit_status check_main(const struct job *job, int argc, char *const argv[])
{
    struct check_options options = {0};
    struct check check = {.job = job, .options = &options};
    struct option_table table = {0};
    const struct harness_command command = {&check, &table, &options.harness, NULL, print_help, "a check failed", NULL,
                                            run,    ""};
    option_table_add(&table, (struct option_section){.title = "Check", OPTION_ROWS(rows), .base = &options});
    option_table_add(&table, option_section_at(device_section, &options.harness.device));
    option_table_add(&table, option_section_at(comm_section, &options.harness.comm));
    return harness_main(&command, job, argc, argv);
}
