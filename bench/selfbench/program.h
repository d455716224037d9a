/* program.h - the command line, the device and the table of figures of a measuring program of one process. */
#ifndef BENCH_SELFBENCH_PROGRAM_H
#define BENCH_SELFBENCH_PROGRAM_H

#include "machine/machine.h"

#include <stdio.h>

struct program {
    const char *name; /* of the program; the other fields are filled by program_open */
    struct device_options options;
    size_t threads; /* of an operation on the CPU */
    int quick;
    const char *tsv_path;

    struct open_device opened;
    char on[300]; /* what it computes on, such as "NVIDIA H200, bf16" or "cpu, 1 thread" */
    FILE *tsv;    /* --tsv; NULL without it */
};

/* Reads the command line with the program's own sections besides the common ones, opens the device, and begins the file
 * of --tsv with a comment that names it. Returns -1 to go on, or the status to exit with: 0 after --help, whose text
 * ends with `words`, and --version; 2 for a bad command line, and 1 for what cannot be opened, reported on stderr. End
 * with program_close. */
int program_open(struct program *program, const struct option_section *own, size_t sections, const char *words,
                 int argc, char *const argv[]);

/* Prints the error that was reported on stderr; returns the status. */
int program_error(const struct program *program, int status);

/* Ends the file of --tsv. Returns the status to exit with: 0; or 1, reported on stderr, if it could not be written. */
int program_close(struct program *program);

/* n numbers in memory of the device, drawn evenly from [low, high); the caller releases them. number_bytes: of fp32, or
 * of the device's compute type. */
void *random_numbers(const struct device *device, size_t number_bytes, size_t n, double low, double high);

struct spread {
    double median, least, most;
};
struct spread sample_spread(const double *sample, size_t n);

/* "median 1.5, min 1.2, max 2.0, n 15", with so many decimals. */
const char *spread_words(char text[128], const double *sample, size_t n, int decimals);

#endif
