/* options.h - what is trained and how it is timed, as the command line says it. */
#ifndef BENCH_MEASURE_TRAINING_OPTIONS_H
#define BENCH_MEASURE_TRAINING_OPTIONS_H

#include "base/option_table.h"
#include "ddp/comm.h"
#include "ddp/model.h"
#include "ddp/step.h"
#include "ddp/strategy.h"
#include "machine/machine.h"
#include "results/results.h"

/* ---- the rows of a comparison, and the kinds of option that they are made from ---- */

enum { MAX_IMPLEMENTATIONS = 64, IMPLEMENTATION_LABEL = 80 };

/* One row of the comparison: a strategy under a label, with its bucket size if it has one. */
struct implementation {
    char label[IMPLEMENTATION_LABEL];
    const struct strategy *strategy;
    size_t bucket_bytes;   /* 0 for a strategy without buckets */
    char bucket_words[21]; /* the same as --bucket-size-mb takes it; "" */
    int traced;            /* its operations are recorded */
    int after_backward;    /* its collectives are put off until backward is over: the control for overlap */
    int captured;          /* a profile captures its steps; the rows up to the next captured one are its controls */
};

/* --implementations: names, each NAME or LABEL=NAME; or all, each strategy under its name. */
struct strategy_list {
    int n;
    struct {
        char label[41];
        const struct strategy *strategy;
    } item[MAX_IMPLEMENTATIONS];
};
extern const struct option_kind option_strategies;

/* --bucket-size-mb: sizes, with the words that they were given in; or one that is `auto`, of 0 bytes until
 * workload_check. The row's bounds are in MiB. */
struct bucket_sizes {
    int n;
    struct {
        char words[21];
        size_t bytes;
    } item[MAX_IMPLEMENTATIONS];
};
extern const struct option_kind option_buckets;

/* Ranks that sleep whenever a phase begins. */
struct delays {
    int n;
    struct delay {
        int rank;
        double ms;
        enum step_phase phase;
    } item[16];
};
extern const struct option_kind option_delay;

/* ---- options ---- */

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
extern const char *const preset_name[PRESETS + 1]; /* ended by NULL */

/* A model, and what its strategies send. */
struct workload {
    enum preset_number preset; /* PRESET_AUTO until workload_use_preset */
    char preset_words[120];    /* from there on: which, and why; "" where it gives no size */
    size_t vocab_size;         /* 0 until workload_check: what the data says */
    size_t context_length, d_model, num_layers, num_heads, d_ff;
    double rope_theta;
    struct strategy_list strategies;
    struct bucket_sizes bucket_sizes;
    enum comm_dtype grad_dtype; /* COMM_FLOAT32 or COMM_BF16 */
};

/* The rows of a comparison: each strategy once, one with buckets once for each of the workload's sizes; only several
 * sizes add theirs to the label. Returns how many; or -1, reported: too many, or none of them has a use for the bucket
 * sizes or the type of gradients that were asked for. */
int implementations_make(struct implementation row[MAX_IMPLEMENTATIONS], const struct strategy_list *strategies,
                         const struct workload *workload);

enum regime { REGIME_ACTIVE, REGIME_WARMUP };
enum { DISCARDED_STEPS = 2 }; /* at the start of a block, not timed */

struct training_options {
    struct workload workload;
    size_t batch_size, batch_size_per_rank; /* global; or per rank when that is not 0 */
    size_t grad_accumulation;
    const char *data;
    size_t seed, data_workers, prefetch; /* prefetch: micro-batches that each worker is ahead */
    size_t num_epochs, warmup_epochs, steps_per_epoch;
    double lr, max_norm, weight_decay;
    int forward_only, log_grad_norm;
    size_t checkpoint_every; /* steps; 0: never */
    enum regime regime;
    size_t rounds, steps_per_block; /* rounds: with resolve, the least; steps_per_block 0: the epochs of the regime */
    double resolve, max_minutes;    /* resolve: percent; 0: just those rounds */
    int attainable;
    struct delays delays;

    /* made from the above, by the command and by training_options_check */
    struct implementation implementation[MAX_IMPLEMENTATIONS];
    int n;
    size_t warmup_steps, block_steps; /* steps of warm-up epochs; timed steps of a block */
    long block_start;                 /* where the schedule stands when a block begins */
};

/* What a run takes, whichever command it is of. */
struct run_options {
    struct training_options training;
    struct device_options device;
    struct comm_options comm;
    struct monitor_options monitor;
    struct results_options results;
};

/* The sections of a table that fill these structures; and what --implementations takes, for the help. */
struct option_section workload_model_options(struct workload *workload);
struct option_section workload_strategy_options(struct workload *workload);
void run_options_add(struct option_table *table, struct run_options *options); /* all of them */
void training_options_help_implementations(FILE *out);

/* Gives the options of sizes that the table does not know to have been given (NULL: none was) the values of --preset;
 * auto is `default` where the run is on GPUs, otherwise `laptop`. The second sets the batch as well. */
void workload_use_preset(struct workload *workload, const struct option_table *table, const char *data, int on_gpus);
void training_options_use_preset(struct training_options *options, const struct option_table *table, int on_gpus);
void workload_help_presets(FILE *out);

/* Checks the model's sizes; takes the vocabulary from the data where none was given, and where no bucket size was, the
 * default one: BUCKET_DEFAULT_BYTES, or if that is less a quarter of the gradient. 0, or -1, reported. */
enum { BUCKET_DEFAULT_BYTES = 25 << 20 }; /* PyTorch's */
int workload_check(struct workload *workload, const char *data);
/* The sizes of one rank's part of a micro-batch, for model_plan. */
struct model_sizes workload_sizes(const struct workload *workload, size_t batch);

/* Checks what can be checked without ranks, and sets the steps: those of a block are the steps of the regime's epochs,
 * but at most most_block_steps (0: no limit), unless --steps-per-block was given. captures: besides blocks the run has
 * the steps of all epochs, those of the warm-up included, from which it captures some. 0, or -1, reported. */
int training_options_check(struct training_options *options, const struct option_table *table, size_t most_block_steps,
                           int captures);

/* Whether --checkpoint-every, if it was given, is due in those steps behind the first ones. 0, or -1, reported. */
int training_options_check_saved(const struct training_options *options, size_t first, size_t steps);

/* Fits the options to a number of ranks: sets batch_size to the global batch. 0; or -1, reported, for a batch that does
 * not divide (the message says which sizes fit), or a rank that there is not. */
int training_options_fit(struct training_options *options, int ranks);

#endif
