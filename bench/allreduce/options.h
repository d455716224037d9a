/* options.h - the command line of `ddpbench allreduce`. */
#ifndef BENCH_ALLREDUCE_OPTIONS_H
#define BENCH_ALLREDUCE_OPTIONS_H

#include "training/training.h"

/* Which of the ranks' times counts in each iteration; the numbers are nccl-tests'. */
enum sweep_average { AVERAGE_RANK0, AVERAGE_MEAN, AVERAGE_MIN, AVERAGE_MAX, AVERAGES };
extern const char *const sweep_average_name[AVERAGES];

struct sweep_options {
    enum comm_kind kind;
    /* sizes, in bytes of the whole message */
    size_t min_bytes, max_bytes, step_bytes;
    double step_factor;
    const char *size_list;
    int sizes_from_model;
    /* what is sent */
    const char *dtypes, *ops;
    size_t root;
    /* how it is measured */
    size_t iters, warmup_iters, run_cycles; /* iters 0: by the time they take */
    size_t check, average, report_cputime, show_iterations;
    double timeout_s;
    int nonblocking;
    int overlap;
    size_t flip_bit; /* counted from 1; 0: none is flipped */
    const char *output, *label, *output_file;
    int monitor_cpu, monitor_gpu;
    int help, version;
    struct options model; /* for sizes_from_model; its progress and threads count always */

    /* made from the above by sweep_options_parse */
    size_t *size; /* [sizes], not yet rounded to whole elements; release with sweep_options_destroy */
    size_t sizes;
    int use_dtype[COMM_DTYPES], use_op[COMM_OPS];
};

/* Parses argv (argv[0] is the command's name) strictly, and makes the list of sizes. Returns 0; or -1, reported. */
int sweep_options_parse(struct sweep_options *options, int argc, char *const argv[]);
void sweep_options_destroy(struct sweep_options *options); /* zeroed ones are fine */

/* What can be checked only with the number of ranks. Returns 0; or -1, reported. */
int sweep_options_fit(const struct sweep_options *options, int ranks);

/* Prints every option with its default and meaning. */
void sweep_options_help(FILE *out);

/* As options_each. */
void sweep_options_each(const struct sweep_options *options,
                        void (*each)(void *context, const char *name, const char *value, int is_text), void *context);

#endif
