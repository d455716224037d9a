/* program.h - the command line and the device of the single-process programs in selfbench/. */
#ifndef BENCH_SELFBENCH_PROGRAM_H
#define BENCH_SELFBENCH_PROGRAM_H

#include "machine/machine.h"

struct program {
    const char *name; /* set by the caller; the other fields are filled by program_open */
    struct option_table table;
    struct device_options options;
    int threads; /* CPU threads per operation */
    int quick;
    struct open_device opened;
    struct blas_facts blas; /* if the device is the CPU */
    char on[300];           /* the device in words, such as "NVIDIA H200, bf16" or "cpu, 1 thread" */
};

/* Reads the command line (own[sections]: the program's own options), and opens the device. Returns -1 to
 * continue, or the exit status: 0 after --help (`usage` begins the help) or --version; 2 for a bad command line, or 1
 * if the device cannot be opened, both reported on stderr. */
int program_open(struct program *program, const struct option_section *own, size_t sections, const char *usage,
                 int argc, char *const argv[]);

/* Prints the reported error on stderr. Returns `status`. */
int program_error(const struct program *program, int status);

/* Returns n uniform numbers from [low, high), which repeat after 4 Mi numbers, in device memory; the caller releases
 * them. number_bytes 4: fp32, 2: bf16. */
void *random_numbers(const struct device *device, size_t number_bytes, size_t n, double low, double high);

#endif
