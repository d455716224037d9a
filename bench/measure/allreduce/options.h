/* options.h - the command line of `ddpbench allreduce`. */
#ifndef BENCH_MEASURE_ALLREDUCE_OPTIONS_H
#define BENCH_MEASURE_ALLREDUCE_OPTIONS_H

#include "allreduce/nominal.h"
#include "allreduce/tables.h"
#include "training/training.h"

struct message_sizes {
    size_t *bytes; /* [n], increasing */
    size_t n;
};

struct allreduce_options {
    /* sizes: from min to max, each the last times the factor; or, where step_bytes is above 0, plus that */
    size_t min_bytes, max_bytes, step_bytes;
    double step_factor;
    const char *sizes;    /* or a list; "": none */
    int sizes_from_model; /* or 1: what is sent for `workload` */
    struct workload workload;
    struct message_sizes messages; /* what these come to */
    struct collective_choice choice;
    struct timing_options timing;
    int overlap;                           /* 1: overlaps are measured instead of timings */
    struct nominal nominal;                /* rate of the link */
    size_t show_cpu_time, show_iterations; /* 0 or 1, in the table */
    const char *output_file;               /* "": none */
    struct device_options device;
    struct comm_options comm;
    struct results_options results;
    struct monitor_options monitor;
};

/* Makes the table that fills the options, parses argv (argv[0] is the command's name) strictly, makes the sizes of
 * messages but for those of a model, and checks what can be checked without ranks. The caller frees messages.bytes in
 * any case. Returns 0; or -1, reported. */
int allreduce_options_parse(struct allreduce_options *options, struct option_table *table, int argc,
                            char *const argv[]);

/* Checks the rest, such as that listed sizes hold whole elements, and makes the sizes of a model's messages, once it is
 * known how many ranks there are and whether they compute on GPUs. Returns 0; or -1, reported. */
int allreduce_options_fit(struct allreduce_options *options, const struct option_table *table, int ranks, int on_gpus);

#endif
