/* options.h - the options of every command that trains: the model, and how it is trained and timed. */
#ifndef BENCH_MEASURE_TRAINING_OPTIONS_H
#define BENCH_MEASURE_TRAINING_OPTIONS_H

#include "ddp/model.h"
#include "harness/harness.h"
#include "training/implementations.h"

enum preset_number {
    PRESET_AUTO,
    PRESET_LAPTOP,
    PRESET_DEFAULT,
    PRESET_GPT2_SMALL,
    PRESET_GPT2_MEDIUM,
    PRESET_GPT2_LARGE,
    PRESET_GPT2_XL,
    PRESETS
};
extern const char *const preset_name[PRESETS + 1]; /* the last is NULL */

/* A model, and how its gradients are reduced. */
struct workload {
    enum preset_number preset; /* workload_use_preset replaces PRESET_AUTO */
    size_t vocab_size;         /* 0: not set yet; workload_check then sets it by the kind of data */
    size_t context_length, d_model, num_layers, num_heads, d_ff;
    char from_preset[200]; /* sizes that the command line did not give, such as "num-layers 4, d-ff 1024" */
    struct strategy_list strategies;
    struct bucket_sizes bucket_sizes;
    unsigned wire_dtypes; /* a set of 1 << COMM_FLOAT32 and 1 << COMM_BF16 */
    unsigned shard;       /* a set of 1 << enum sharding */
};

enum regime { REGIME_ACTIVE, REGIME_WARMUP };
extern const char *const regime_name[]; /* "active", "warmup" */
enum { DISCARDED_STEPS = 2 };           /* untimed steps at the start of a block */

struct training_options {
    struct workload workload;
    size_t batch_size, batch_size_per_rank; /* sequences in a step: on all ranks; on each rank (0: not given) */
    size_t grad_accumulation;
    const char *data;
    int data_digest; /* how ranks compare the data; main.c reads this option before the table does */
    size_t seed, data_workers;
    size_t num_epochs, warmup_epochs, steps_per_epoch;
    double lr, max_norm;
    int forward_only, update_in_backward;
    size_t checkpoint_every; /* steps from one checkpoint to the next; 0: no checkpoints */
    enum regime regime;
    size_t rounds, steps_per_block; /* rounds: number, or least number with --resolve; steps_per_block 0: not given */
    double resolve, max_minutes;    /* resolve: in percent; 0: exactly `rounds` rounds are run */
    int attainable;
    struct delays delays;

    /* the fields below are set by the command and by training_options_check */
    struct implementation implementation[MAX_IMPLEMENTATIONS];
    int n;
    int keep_block_steps;             /* 1: blocks keep their length even if time is short (training_rows_check) */
    size_t warmup_steps, block_steps; /* warmup_steps: in all warm-up epochs; block_steps: timed steps in a block */
    long block_start;                 /* step of the learning-rate schedule at which each block begins */
};

/* The options of every command that trains. */
struct run_options {
    struct training_options training;
    struct harness_options harness;
};

/* Return the option sections whose values are stored in *workload. */
struct option_section workload_model_options(struct workload *workload);
struct option_section workload_strategy_options(struct workload *workload);
void run_options_add(struct option_table *table, struct run_options *options); /* adds all sections */

/* Set each size that is not given on the command line to the preset's size (--preset; auto: `default` on GPUs, `laptop`
 * on CPUs). workload_use_preset sets the model's sizes; training_options_use_preset also sets the batch. */
void workload_use_preset(struct workload *workload, const struct option_table *table, const char *data, int on_gpus);
void training_options_use_preset(struct training_options *options, const struct option_table *table, int on_gpus);
void workload_help_presets(FILE *out); /* prints the list of presets for --help */

/* Checks the sizes of the model, and sets those that were not given: the vocabulary by the kind of data; the bucket
 * size to BUCKET_DEFAULT_BYTES, or to a quarter of the gradient if that is less. Returns 0; or -1, reported. */
enum { BUCKET_DEFAULT_BYTES = 25 << 20 }; /* PyTorch's default */
int workload_check(struct workload *workload, const char *data);

/* Adds the sizes of the model, and which of them come from a preset, to the heading of a summary. */
void workload_describe(const struct workload *workload, size_t parameters, cJSON *summary);

/* Returns the sizes for transformer_plan; batch: number of sequences in one rank's part of a micro-batch. */
struct model_sizes workload_sizes(const struct workload *workload, size_t batch);

/* Makes all checks that do not need the number of ranks. Sets block_steps to --steps-per-block if given; else to
 * most_block_steps if that is above 0 (in `warmup`, at most the steps of the warm-up); else to the steps of all epochs
 * of the regime. captures 1: the run also trains all epochs, for a profile. Returns 0; or -1, reported. */
int training_options_check(struct training_options *options, const struct option_table *table, size_t most_block_steps,
                           int captures);

/* Checks that block_steps and checkpoints suit the rows that average weights: a block must have a whole number of
 * intervals. Call it when the rows are made. Returns 0; or -1, reported. */
int training_rows_check(struct training_options *options);

/* Returns 1 if the run needs an array for the whole gradient: for a row that does not release it, or for checkpoints,
 * which are gathered in it. Call it when the rows are made. */
int training_needs_gradient(const struct training_options *options);

/* Sets batch_size to the global batch. Returns 0; or -1, reported, if the batch is not divisible by ranks x
 * micro-batches, or a delay names a rank that does not exist. */
int training_options_fit(struct training_options *options, int ranks);

#endif
