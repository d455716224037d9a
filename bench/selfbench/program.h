/* program.h - the command line and the device of a measuring program of one process. */
#ifndef BENCH_SELFBENCH_PROGRAM_H
#define BENCH_SELFBENCH_PROGRAM_H

#include "machine/machine.h"

struct program {
    const char *name; /* set by the caller; the other fields are filled by program_open */
    struct device_options options;
    int threads; /* of an operation on the CPU */
    int quick;
    struct open_device opened;
    char on[300]; /* the device in words, such as "NVIDIA H200, bf16" or "cpu, 1 thread" */
};

/* Reads the command line, whose options are the program's own and those of all programs, and opens the device. Returns
 * -1 to go on, or the exit status: 0 after --help, whose text ends with `words`, and after --version; 2, reported on
 * stderr, for a bad command line; 1, reported on stderr, if the device cannot be opened. */
int program_open(struct program *program, const struct option_section *own, size_t sections, const char *words,
                 int argc, char *const argv[]);

/* Prints the reported error on stderr; returns the status. */
int program_error(const struct program *program, int status);

/* n numbers in the device's memory, drawn evenly from [low, high); the caller releases them. number_bytes: 4 for fp32,
 * 2 for bf16. */
void *random_numbers(const struct device *device, size_t number_bytes, size_t n, double low, double high);

#endif
