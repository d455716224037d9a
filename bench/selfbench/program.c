/* program.c - the command line, the device and the table of figures of a measuring program of one process. */
#include "selfbench/program.h"

#include "base/files.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/version.h"
#include "kernels/device_cuda.h"
#include "kernels/error.h"
#include "kernels/reexec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(field) offsetof(struct program, field)

/* clang-format off */
static const struct option rows[] = {
    {.name = "threads", .kind = &option_count, .offset = FIELD(threads), .initial = "1", .low = 1, .high = 1024,
     .help = "of each operation on the CPU"},
    {.name = "quick", .kind = &option_flag, .offset = FIELD(quick),
     .help = "small sizes and few repeats, to see that it runs"},
    {.name = "tsv", .kind = &option_path, .offset = FIELD(tsv_path), .initial = "",
     .help = "also write the figures to this file, separated by tabs"},
};
/* clang-format on */

int program_error(const struct program *program, int status)
{
    fprintf(stderr, "%s: %s\n", program->name, error_text());
    return status;
}

/* Says what computes, and on stderr what is wrong with its matrix products, which nothing else here would show. */
static void describe_cpu(struct program *program)
{
    struct blas_facts blas;
    char text[400];
    blas_describe(&blas);
    blas_measure(&blas);
    snprintf(program->on, sizeof program->on, "cpu, %zu thread%s, %s", program->threads, text_plural(program->threads),
             products_words(&blas, text));
    if (products_replaced(&blas, text))
        fprintf(stderr, "%s: %s\n", program->name, text);
    if (products_warning(&blas, text))
        fprintf(stderr, "%s: warning: %s\n", program->name, text);
}

int program_open(struct program *program, const struct option_section *own, size_t sections, const char *words,
                 int argc, char *const argv[])
{
    struct option_table table = {0};
    blas_choose_kernels();
    reexec_if_needed(argv);
    option_table_add(&table, open_device_alone_options(&program->options));
    for (size_t i = 0; i < sections; i++)
        option_table_add(&table, own[i]);
    option_table_add(&table, (struct option_section){.title = "Measuring", OPTION_ROWS(rows), .base = program});
    if (option_table_parse(&table, argc, argv))
        return program_error(program, 2);
    if (table.help) {
        printf("Usage: %s [OPTION VALUE]...\n", program->name);
        option_table_help(stdout, &table, HELP_ALL);
        printf("\n%s", words);
        return EXIT_SUCCESS;
    }
    if (table.version) {
        printf("ddpbench %s\n", version_text());
        return EXIT_SUCCESS;
    }
    if (*program->tsv_path && files_check_path("tsv", program->tsv_path, "# ddpbench "))
        return program_error(program, 1);
    if (open_device_alone(&program->opened, &program->options, (int)program->threads))
        return program_error(program, 1);
    if (program->opened.on_gpu)
        open_device_words(&program->opened, program->on);
    else
        describe_cpu(program);
    if (!*program->tsv_path)
        return -1;
    program->tsv = fopen(program->tsv_path, "w");
    if (!program->tsv) {
        error_report("--tsv %s: cannot write it: %s", program->tsv_path, strerror(errno));
        return program_error(program, 1);
    }
    fprintf(program->tsv, "# ddpbench %s built with CUDA: %s; on %s\n", version_text(), accelerator_cuda.built,
            program->on);
    return -1;
}

int program_close(struct program *program)
{
    if (!program->tsv)
        return EXIT_SUCCESS;
    int wrong = ferror(program->tsv);
    if (fclose(program->tsv) || wrong) {
        error_report("--tsv %s: could not write all of it", program->tsv_path);
        return program_error(program, 1);
    }
    return EXIT_SUCCESS;
}

void *random_numbers(const struct device *device, size_t number_bytes, size_t n, double low, double high)
{
    static uint32_t state = 2463534242u;
    float *host = allocate(n, sizeof *host), *floats = device->allocate(n * sizeof *floats);
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u; /* Knuth, TAOCP 2, 3.3.4 */
        host[i] = (float)(low + (high - low) * (double)(state >> 8) * 0x1p-24);
    }
    device->upload(floats, host, n * sizeof *host);
    free(host);
    if (number_bytes == sizeof *floats)
        return floats;
    void *array = device->allocate(n * number_bytes);
    device->pack_bf16(array, floats, n);
    device->synchronize();
    device->release(floats);
    return array;
}

struct spread sample_spread(const double *sample, size_t n)
{
    return (struct spread){stats_median(sample, n), stats_quantile(sample, n, 0), stats_quantile(sample, n, 1)};
}

const char *spread_words(char text[128], const double *sample, size_t n, int decimals)
{
    struct spread s = sample_spread(sample, n);
    snprintf(text, 128, "median %.*f, min %.*f, max %.*f, n %zu", decimals, s.median, decimals, s.least, decimals,
             s.most, n);
    return text;
}
