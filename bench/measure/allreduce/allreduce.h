/* allreduce.h - `ddpbench allreduce` and its command line. */
#ifndef BENCH_MEASURE_ALLREDUCE_ALLREDUCE_H
#define BENCH_MEASURE_ALLREDUCE_ALLREDUCE_H

#include "allreduce/tables.h"
#include "base/nominal.h"
#include "training/training.h"

struct message_sizes {
    size_t *bytes; /* [n], in increasing order */
    size_t n;
};

struct allreduce_options {
    /* a range of sizes: each is the previous one times step_factor, or plus step_bytes if that is above 0 */
    size_t min_bytes, max_bytes, step_bytes;
    double step_factor;
    const char *sizes;    /* "", or a list of sizes in place of the range */
    int sizes_from_model; /* 1: the sizes are those of the messages that training `workload` sends */
    struct workload workload;
    size_t parameters;             /* of the workload's model */
    struct message_sizes messages; /* the sizes to time, made from the fields above */
    struct collective_choice choice;
    struct timing_options timing;
    int overlap;                           /* 1: measure overlap with computation instead of times */
    struct nominal nominal;                /* nominal rate of the link */
    size_t show_cpu_time, show_iterations; /* 1: the table shows CPU times; statistics of the iterations */
    struct harness_options harness;
};

#define ALLREDUCE_SYNOPSIS "mpirun -n RANKS ddpbench allreduce" /* the command line, without its options */

/* Runs `ddpbench allreduce`, which measures the interconnect alone, without training. Returns the exit status. */
enum exit_status allreduce_main(const struct job *job, int argc, char *const argv[]);

/* Adds the options to a table. */
void allreduce_options_add(struct option_table *table, struct allreduce_options *options);

/* Checks the options for a number of ranks (on_gpus 1: which compute on GPUs), and makes the message sizes. line: the
 * struct allreduce_options. The caller frees messages.bytes in any case. Returns 0; or -1, reported. */
int allreduce_options_check(void *line, const struct option_table *table, int ranks, int on_gpus);

/* Whether collectives are right on one device with one communication library. */
struct collectives_check {
    char comm[16];            /* name of the library */
    size_t collectives;       /* number of collectives that were checked: kinds, types, operations, placements, sizes */
    double wrong;             /* wrong elements in the results of all ranks */
    char first[TIMING_WORDS]; /* the first collective with a wrong element; "": none */
};

/* Runs the collectives that the command offers with each type, operation and placement, on messages of 1 KiB, 100 KiB
 * and 3 MiB, and compares each element of the results with the correct one (payload.h). All ranks call and get the
 * same. Returns 0; or -1 on every rank, reported, if there is no such comm, and *check is then zeroed. */
int allreduce_check(const struct job *job, const struct device *device, const struct comm_options *options,
                    struct collectives_check *check);

#endif
