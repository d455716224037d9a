/* program.c - the command line and the device of the single-process programs in selfbench/. */
#include "selfbench/program.h"

#include "base/text.h"
#include "kernels/error.h"
#include "kernels/reexec.h"

#include <stdio.h>
#include <stdlib.h>

static const struct option rows[] = {
    {.name = "quick",
     .kind = &option_flag,
     .offset = offsetof(struct program, quick),
     .help = "small sizes and few repeats, to see that it runs"},
};

int program_error(const struct program *program, int status)
{
    fprintf(stderr, "%s: %s\n", program->name, error_text());
    return status;
}

/* Describes CPU, threads and BLAS library in program->on; warns on stderr if matrix products are slow on this CPU. */
static void describe_cpu(struct program *program)
{
    struct blas_facts blas;
    char text[400];
    blas_describe(&blas);
    blas_measure(&blas);
    snprintf(program->on, sizeof program->on, "cpu, %d thread%s, %s", program->threads,
             text_plural((size_t)program->threads), products_words(&blas, text));
    if (products_replaced(&blas, text))
        fprintf(stderr, "%s: %s\n", program->name, text);
    if (products_warning(&blas, text))
        fprintf(stderr, "%s: warning: %s\n", program->name, text);
    program->blas = blas;
}

int program_open(struct program *program, const struct option_section *own, size_t sections, const char *usage,
                 int argc, char *const argv[])
{
    struct option_table *table = &program->table;
    blas_choose_kernels();
    reexec_if_needed(argv);
    option_table_add(table, option_section_at(device_section, &program->options));
    option_table_remove(table, "share-gpu");
    for (size_t i = 0; i < sections; i++)
        option_table_add(table, own[i]);
    option_table_add(table, (struct option_section){.title = "Measuring", OPTION_ROWS(rows), .base = program});
    int printed = option_table_begin(table, usage, "", argc, argv);
    if (printed)
        return printed < 0 ? program_error(program, 2) : EXIT_SUCCESS;
    program->threads = host_threads(program->options.threads, 1);
    if (program->threads < 0 || open_device_alone(&program->opened, &program->options, program->threads))
        return program_error(program, 1);
    if (program->opened.on_gpu)
        open_device_words(&program->opened, program->on);
    else
        describe_cpu(program);
    return -1;
}

void *random_numbers(const struct device *device, size_t number_bytes, size_t n, double low, double high)
{
    static uint32_t state = 2463534242u;
    size_t drawn = n < (size_t)1 << 22 ? n : (size_t)1 << 22;
    float *host = allocate(drawn, sizeof *host), *floats = device->allocate(n * sizeof *floats);
    for (size_t i = 0; i < drawn; i++) {
        state = state * 1664525u + 1013904223u; /* constants from Knuth, TAOCP 2, 3.3.4 */
        host[i] = (float)(low + (high - low) * (double)(state >> 8) * 0x1p-24);
    }
    device->upload(floats, host, drawn * sizeof *host);
    free(host);
    for (size_t at = drawn; at < n; at += drawn)
        device->copy(floats + at, floats, n - at < drawn ? n - at : drawn);
    if (number_bytes == sizeof *floats)
        return floats;
    void *array = device->allocate(n * number_bytes);
    device->pack_bf16(array, floats, n);
    device->synchronize();
    device->release(floats);
    return array;
}
