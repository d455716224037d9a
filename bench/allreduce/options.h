/* options.h - the command line of `ddpbench allreduce`. */
#ifndef BENCH_ALLREDUCE_OPTIONS_H
#define BENCH_ALLREDUCE_OPTIONS_H

#include "allreduce/sizes.h"
#include "allreduce/tables.h"
#include "machine/machine.h"

struct allreduce_options {
    struct size_range range;
    struct size_list list; /* n 0: none was given */
    int sizes_from_model;  /* 1: of `workload` */
    struct workload workload;
    struct collective_choice choice;
    struct timing_options timing;
    int overlap; /* 1: overlaps are measured instead of timings */
    struct timing_view view;
    const char *output_file; /* "": none */
    struct device_options device;
    struct comm_options comm;
    struct results_options results;
    struct monitor_options monitor;
};

/* Makes the table that fills the options, parses argv (argv[0] is the command's name) strictly, and checks what can be
 * checked without ranks. Returns 0; or -1, reported. */
int allreduce_options_parse(struct allreduce_options *options, struct option_table *table, int argc,
                            char *const argv[]);

/* Checks the rest, once the largest message and the ranks are known. Returns 0; or -1, reported. */
int allreduce_options_fit(const struct allreduce_options *options, size_t most_bytes, int ranks);

/* Prints the help that was asked for. */
void allreduce_options_help(FILE *out, const struct option_table *table);

#endif
