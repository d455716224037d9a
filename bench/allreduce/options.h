/* options.h - the command line of `ddpbench allreduce`. */
#ifndef BENCH_ALLREDUCE_OPTIONS_H
#define BENCH_ALLREDUCE_OPTIONS_H

#include "allreduce/tables.h"
#include "training/training.h"

#define MESSAGE_MOST_BYTES 1099511627776.0 /* 1 TiB */

struct allreduce_options {
    /* sizes: from min to max, each the last times the factor; or, where step_bytes is above 0, plus that */
    size_t min_bytes, max_bytes, step_bytes;
    double step_factor;
    const char *sizes;    /* or a list; "": none */
    int sizes_from_model; /* or 1: what is sent for `workload` */
    struct workload workload;
    struct collective_choice choice;
    struct timing_options timing;
    int overlap;                           /* 1: overlaps are measured instead of timings */
    size_t show_cpu_time, show_iterations; /* 0 or 1, in the table */
    const char *output_file;               /* "": none */
    struct device_options device;
    struct comm_options comm;
    struct results_options results;
    struct monitor_options monitor;
};

/* Makes the table that fills the options, parses argv (argv[0] is the command's name) strictly, and checks what can be
 * checked without ranks. Returns 0; or -1, reported. */
int allreduce_options_parse(struct allreduce_options *options, struct option_table *table, int argc,
                            char *const argv[]);

struct sizes {
    size_t *bytes; /* [n], increasing */
    size_t n;
};

/* Makes *sizes, zeroed before, as the options say; the caller frees its bytes. Returns 0; or -1, reported. */
int allreduce_sizes(struct sizes *sizes, struct allreduce_options *options);

/* Checks the rest, once the largest message and the ranks are known. Returns 0; or -1, reported. */
int allreduce_options_fit(const struct allreduce_options *options, size_t most_bytes, int ranks);

/* Prints the help that was asked for. */
void allreduce_options_help(FILE *out, const struct option_table *table);

#endif
