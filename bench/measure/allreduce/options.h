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
    /* sizes from min to max, each the last times the factor; or plus step_bytes, if that is above 0 */
    size_t min_bytes, max_bytes, step_bytes;
    double step_factor;
    const char *sizes;    /* or a list; "": none */
    int sizes_from_model; /* or 1: the messages that are sent for `workload` */
    struct workload workload;
    struct message_sizes messages; /* made from the above */
    struct collective_choice choice;
    struct timing_options timing;
    int overlap;                           /* 1: overlaps are measured instead of timings */
    struct nominal nominal;                /* rate of the link */
    size_t show_cpu_time, show_iterations; /* 0 or 1, in the table */
    struct harness_options harness;
};

/* Adds the options to a table. */
void allreduce_options_add(struct option_table *table, struct allreduce_options *options);

/* Makes the sizes of messages and checks the options, for a number of ranks which compute on GPUs or not; line: the
 * struct allreduce_options. The caller frees messages.bytes in any case. Returns 0; or -1, reported. */
int allreduce_options_check(void *line, const struct option_table *table, int ranks, int on_gpus);

#endif
