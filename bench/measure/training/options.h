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
    size_t vocab_size;         /* 0 until workload_check sets it from the kind of data */
    size_t context_length, d_model, num_layers, num_heads, d_ff;
    double rope_theta;
    struct strategy_list strategies;
    struct bucket_sizes bucket_sizes;
    enum comm_dtype grad_dtype; /* COMM_FLOAT32 or COMM_BF16 */
};

enum regime { REGIME_ACTIVE, REGIME_WARMUP };
extern const char *const regime_name[]; /* "active", "warmup" */
enum { DISCARDED_STEPS = 2 };           /* untimed steps at the start of a block */

struct training_options {
    struct workload workload;
    size_t batch_size, batch_size_per_rank; /* batch_size: all ranks' batch together; 0: not given */
    size_t grad_accumulation;
    const char *data;
    size_t seed, data_workers, prefetch; /* prefetch: micro-batches that each worker prepares ahead */
    size_t num_epochs, warmup_epochs, steps_per_epoch;
    double lr, max_norm, weight_decay;
    int log_grad_norm;
    size_t checkpoint_every; /* steps between checkpoints; 0: none */
    enum regime regime;
    size_t rounds, steps_per_block; /* rounds: minimum with --resolve; steps_per_block 0: the regime's epochs */
    double resolve, max_minutes;    /* resolve: percent; 0: `rounds` rounds exactly */
    int attainable;
    struct delays delays;

    /* the fields below are set by the command and by training_options_check */
    struct implementation implementation[MAX_IMPLEMENTATIONS];
    int n;
    size_t warmup_steps, block_steps; /* warmup_steps: in all warm-up epochs; block_steps: timed steps in a block */
    long block_start;                 /* step of the learning-rate schedule at which each block begins */
};

/* The options of every command that trains. */
struct run_options {
    struct training_options training;
    struct harness_options harness;
};

/* The option sections that fill these structs. */
struct option_section workload_model_options(struct workload *workload);
struct option_section workload_strategy_options(struct workload *workload);
void run_options_add(struct option_table *table, struct run_options *options); /* all sections */

/* Set the sizes that were not given from --preset (auto: `default` on GPUs, otherwise `laptop`). The second function
 * also sets the batch. */
void workload_use_preset(struct workload *workload, const struct option_table *table, const char *data, int on_gpus);
void training_options_use_preset(struct training_options *options, const struct option_table *table, int on_gpus);
void workload_help_presets(FILE *out);

/* Checks the sizes of the model, and sets those that were not given: the vocabulary by the kind of data; the bucket
 * size to BUCKET_DEFAULT_BYTES, or to a quarter of the gradient if that is less. Returns 0; or -1, reported. */
enum { BUCKET_DEFAULT_BYTES = 25 << 20 }; /* PyTorch's default */
int workload_check(struct workload *workload, const char *data);

/* The model sizes for one rank's part of a micro-batch, as model_plan takes them. */
struct model_sizes workload_sizes(const struct workload *workload, size_t batch);

/* Makes all checks that do not need the number of ranks, and sets the steps of a block: --steps-per-block, or all steps
 * of the regime's epochs but at most most_block_steps (0: no limit). captures 1: the run also trains all epochs, for a
 * profile. Returns 0; or -1, reported. */
int training_options_check(struct training_options *options, const struct option_table *table, size_t most_block_steps,
                           int captures);

/* Sets batch_size to the global batch. Returns 0; or -1, reported, if the batch is not divisible by the ranks, or a
 * delay names a rank that does not exist. */
int training_options_fit(struct training_options *options, int ranks);

#endif
