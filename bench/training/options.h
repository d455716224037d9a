/* options.h - the command line: one table row gives an option's parsing, bounds, default and help. */
#ifndef BENCH_TRAINING_OPTIONS_H
#define BENCH_TRAINING_OPTIONS_H

#include "base/option_table.h"
#include "ddp/comm.h"
#include "ddp/step.h"
#include "ddp/strategy.h"
#include "machine/open_device.h"
#include "spans/spans.h"

#include <stdint.h>
#include <stdio.h>

/* One row of the comparison: a strategy under a label, with its bucket size if it has one. */
struct implementation {
    char label[64];
    const struct strategy *strategy;
    double bucket_mb;   /* MiB; 0 for a strategy without buckets */
    int traced;         /* its operations are recorded */
    int after_backward; /* its collectives are put off until backward is over: the control for overlap */
};
enum { MAX_IMPLEMENTATIONS = 64 };

enum regime { REGIME_ACTIVE, REGIME_WARMUP };

/* One rank sleeps at the start of a phase of each of its steps; ms 0: none does. */
struct delay {
    int rank;
    double ms;
    enum phase phase;
};

/* Percentages at which a figure becomes a finding. */
struct thresholds {
    double busy, data_loading, exposed, memory;
};

struct options {
    /* workload */
    size_t batch_size, batch_size_per_rank; /* global; or per rank when that is not 0 */
    size_t grad_accumulation;
    size_t vocab_size; /* 0: what the data says */
    size_t context_length, d_model, num_layers, num_heads, d_ff;
    double rope_theta;
    const char *data;
    size_t seed;
    /* training */
    size_t num_epochs, warmup_epochs, steps_per_epoch;
    double lr, max_norm, weight_decay;
    int log_grad_norm;
    /* strategies */
    const char *implementations, *bucket_size_mb;
    enum comm_dtype grad_dtype;
    enum comm_library comm;
    struct comm_progress mpi_progress;
    size_t nccl_max_ctas; /* 0: NCCL's own choice */
    size_t threads;       /* 0: OMP_NUM_THREADS, or this rank's share of the cores */
    struct device_options device;
    /* benchmark */
    enum regime regime;
    size_t rounds, steps_per_block; /* steps_per_block 0: the epochs of the regime */
    int attainable;
    struct delay delay;
    double timeout_s;
    const char *output, *label;
    int monitor_cpu, monitor_gpu;
    /* profile */
    int profile;
    const char *profile_implementation, *profile_output_dir, *profile_activities, *profile_ranks;
    size_t profile_wait, profile_warmup, profile_active, profile_repeat; /* steps; active and repeat 0: all there is */
    double profile_buffer_mb;
    enum sort profile_sort;
    int record_shapes, with_flops, cuda_profiler_range, profile_memory, profile_counters, trace_gzip;
    struct thresholds thresholds;
    int help, version;

    /* made from the above by options_parse */
    struct implementation implementation[MAX_IMPLEMENTATIONS];
    int n;
    size_t warmup_steps, block_steps; /* steps of warm-up epochs; timed steps of a block */
};

/* Parses argv strictly, `--name value` or `--name=value`: whole words, ranges, units, known names; then checks what can
 * be checked without data or ranks. Strings point into argv. Returns 0; or -1, reported, with *options unspecified. */
int options_parse(struct options *options, int argc, char *const argv[]);

/* Fits the options to a number of ranks: sets batch_size to the global batch, and vocab_size if it was not given.
 * Returns 0; or -1, reported, for a batch that does not divide (the message says which sizes fit). */
int options_fit(struct options *options, int ranks);

/* Whether a rank is one of a list such as "0,3" or "all": 1 or 0; or -1, reported, if it is no list of ranks. */
int option_ranks(const char *text, int rank, int ranks);

/* The rows that describe the model, and those that describe strategies, for the table of another mode; and what
 * options_parse would check of them: makes the implementations. Returns 0, or -1, reported. */
struct option_section options_model(struct options *options);
struct option_section options_strategies(struct options *options);
int options_check_model(struct options *options);

/* Prints what --implementations takes. */
void options_help_implementations(FILE *out);

/* Prints every option with its default and meaning, and the strategies. */
void options_help(FILE *out);

/* Calls each with every option's name (without dashes) and value as text, as given or by default; is_text is 0 for
 * numbers, true and false. */
void options_each(const struct options *options,
                  void (*each)(void *context, const char *name, const char *value, int is_text), void *context);

#endif
