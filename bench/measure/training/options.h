/* options.h - the options of every command that trains, and the rows of the comparison that follow from them. */
#ifndef BENCH_MEASURE_TRAINING_OPTIONS_H
#define BENCH_MEASURE_TRAINING_OPTIONS_H

#include "ddp/model.h"
#include "ddp/step.h"
#include "harness/harness.h"
#include "import/import.h"
#include "results/verdict.h"

enum { MAX_IMPLEMENTATIONS = 64, IMPLEMENTATION_LABEL = 120 };

/* A bucket size: the caps of a plan, and as --bucket-size-mb takes them, such as 25 or 1+4+25+last0.25. */
enum { BUCKET_WORDS = 50 };
struct bucket_size {
    char words[BUCKET_WORDS];
    struct bucket_caps caps;
};

/* Parses the words of a bucket size. option: the option that has them; before: what an error message puts before "sizes
 * in MiB". Returns 0; or -1, reported. */
int bucket_size_parse(struct bucket_size *size, const char *option, const char *before, const char *words);

/* --implementations: a list of NAME or LABEL=NAME, where NAME may be NAME:SIZE with a bucket size, and is NAME:N for a
 * strategy with a number; or `all`: every strategy without a number, labelled with its name. */
struct strategy_list {
    int n;
    struct named_strategy {
        char label[41];
        const struct strategy *strategy;
        size_t number;           /* 0: the strategy has none */
        struct bucket_size size; /* words "": the sizes of --bucket-size-mb */
    } item[MAX_IMPLEMENTATIONS];
};
extern const struct option_kind option_strategies;

/* --bucket-size-mb: the sizes given; or, if automatic is 1, a single size that workload_check chooses. */
struct bucket_sizes {
    int n, automatic;
    struct bucket_size item[MAX_IMPLEMENTATIONS];
};
extern const struct option_kind option_buckets;

/* --shard: what is divided among the ranks. */
enum sharding { SHARD_OPTIMIZER, SHARD_GRADIENTS, SHARDINGS };
extern const char *const sharding_name[SHARDINGS + 1]; /* optimizer, gradients, NULL */

/* --inject-delay: which rank sleeps at the start of which phase, and for how long. */
struct delays {
    int n;
    struct delay {
        int rank;
        double ms;
        enum step_phase phase;
    } item[16];
};
extern const struct option_kind option_delay;

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

/* --model-from: a user's model. A file with sizes of ddpbench's own transformer sets those of the workload; any other
 * model is replayed (ddp/replayed.h). */
struct model_from {
    const char *files; /* "": there is none */
    int compute;       /* enum replayed_compute */
    int on_gpus;
    double time_scale, backward_ms;
    struct imported read;        /* profile.tensors 0: nothing is replayed; workload_release frees it */
    struct step_compute typical; /* the step that is replayed, if read.profile.steps is not 0 */
};

/* A model, and how its gradients are reduced. */
struct workload {
    struct model_from from;
    enum preset_number preset; /* workload_use_preset replaces PRESET_AUTO */
    size_t vocab_size;         /* 0: not set yet; workload_check then sets it by the kind of data */
    size_t context_length, d_model, num_layers, num_heads, d_ff;
    char from_preset[200]; /* sizes that the command line did not give, such as "num-layers 4, d-ff 1024" */
    struct strategy_list strategies;
    struct bucket_sizes bucket_sizes;
    unsigned wire_dtypes; /* a set of 1 << COMM_FLOAT32 and 1 << COMM_BF16 */
    unsigned shard;       /* a set of 1 << enum sharding */
};

/* A row of the comparison: a strategy and a variant of it, a label, and a bucket size if the strategy has buckets. */
struct implementation {
    char label[IMPLEMENTATION_LABEL];
    const struct strategy *strategy;
    enum variant variant;
    struct bucket_size size; /* words "": the strategy has no buckets */
    size_t number;           /* N of NAME:N; 0 if the strategy has no number */
    int traced;              /* 1: while the row runs, the device's operations are recorded */
    int after_backward;      /* 1: the row's collectives wait until backward ends (the control without overlap) */
    int captured;            /* 1: a profile captures the row; the uncaptured rows right after it are its controls */
    const char *twin_of;     /* label of a row of another strategy that runs the same operations; NULL: none */
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
    int infers;              /* 1: forward_only, and each step saves its predictions (ddp/inference.h) */
    size_t checkpoint_every; /* steps from one checkpoint to the next; 0: no checkpoints */
    enum regime regime;
    size_t rounds, steps_per_block; /* rounds: number, or least number with --resolve; steps_per_block 0: not given */
    double resolve, max_minutes;    /* resolve: in percent; 0: exactly `rounds` rounds are run */
    int attainable;
    struct delays delays;

    /* the fields below are set by the command and by training_options_check */
    struct implementation implementation[MAX_IMPLEMENTATIONS];
    int n;
    int keep_block_steps;             /* 1: blocks keep their length even if time is short, as rows that average need */
    size_t warmup_steps, block_steps; /* warmup_steps: in all warm-up epochs; block_steps: timed steps in a block */
    long block_start;                 /* step of the learning-rate schedule at which each block begins */
};

/* The options of every command that trains. */
struct run_options {
    struct training_options training;
    struct harness_options harness;
};

extern const struct option_section model_section, model_from_section, strategy_section; /* of a struct workload */
void run_options_add(struct option_table *table, struct run_options *options);          /* adds all sections */

/* Set each size that is not given on the command line to the preset's size (--preset; auto: `default` on GPUs, `laptop`
 * on CPUs). workload_use_preset sets the model's sizes; training_options_use_preset also sets the batch. With
 * --model-from both read the file, and refuse options that it replaces. Return 0; or -1, reported. */
int workload_use_preset(struct workload *workload, const struct option_table *table, const char *data, int on_gpus);
int training_options_use_preset(struct training_options *options, const struct option_table *table, int on_gpus);

/* ---- a user's model ---- */

/* Reads --model-from, sets the sizes of the workload, and refuses options of sizes that the file replaces. Returns 0;
 * or -1, reported. */
int workload_import(struct workload *workload, const struct option_table *table, int on_gpus);
void workload_release(struct workload *workload); /* frees what was read; a zeroed workload is fine */

/* Whether the model is replayed, not trained; and whether it has recorded times, so that tokens are not known. */
int workload_is_replayed(const struct workload *workload);
int workload_has_times(const struct workload *workload);

/* Plans the model (model.h) for `batch` sequences in one rank's part of a micro-batch. rank: decides the values of the
 * gradients of a replayed model. Release with model_destroy. */
void workload_plan(struct model *model, const struct workload *workload, size_t batch, size_t shards,
                   size_t compute_bytes, int rank);

/* Print the lists of presets and of strategies for --help. */
void workload_help_presets(FILE *out);
void implementations_help(FILE *out);

/* Checks the sizes of the model, and sets those that were not given: the vocabulary by the kind of data; the bucket
 * size to BUCKET_DEFAULT_BYTES, or to a quarter of the gradient if that is less. Returns 0; or -1, reported. */
enum { BUCKET_DEFAULT_BYTES = 25 << 20 }; /* PyTorch's default */
int workload_check(struct workload *workload, const char *data);

/* Adds the sizes of the model, and which of them come from a preset, to the heading of a summary. */
void workload_describe(const struct workload *workload, size_t parameters, cJSON *summary);

/* Returns the sizes for transformer_plan; batch: as for workload_plan. */
struct model_sizes workload_sizes(const struct workload *workload, size_t batch);

/* Makes all checks that do not need the number of ranks. Sets block_steps to --steps-per-block if given; else to
 * most_block_steps if that is above 0 (in `warmup`, at most the steps of the warm-up); else to the steps of all epochs
 * of the regime. captures 1: the run also trains all epochs, for a profile. Returns 0; or -1, reported. */
int training_options_check(struct training_options *options, const struct option_table *table, size_t most_block_steps,
                           int captures);

/* Sets batch_size to the global batch. Returns 0; or -1, reported, if the batch is not divisible by ranks x
 * micro-batches, or a delay names a rank that does not exist. */
int training_options_fit(struct training_options *options, int ranks);

/* Returns the sequences of one rank in a micro-batch, once training_options_fit has succeeded. */
static inline size_t training_options_micro_batch(const struct training_options *options, int ranks)
{
    return options->batch_size / (size_t)ranks / options->grad_accumulation;
}

/* ---- the rows of the comparison ---- */

/* Makes the rows: for each strategy, and each bucket size if it has buckets, a row of every variant that it has and
 * that wire_dtypes and shard ask for; update 1 adds a row that updates early. A row's label is the strategy's label;
 * then :SIZE if there are several sizes; then :update, or :bf16 or :gradients if the plain row exists, too. Returns how
 * many; or -1, reported, if too many, two have one label, or none uses the given sizes, types, shards or update. */
int implementations_make(struct implementation row[MAX_IMPLEMENTATIONS], const struct workload *workload, int update);

/* Returns the traits of a row's variant. */
static inline const struct traits *implementation_traits(const struct implementation *row)
{
    return row->strategy->traits[row->variant];
}

/* Returns 1 if a row may be the best: its strategy may be, and the row is not a twin of another. 0: it is a control. */
int implementation_is_compared(const struct implementation *row);

/* Sets twin_of in row[n], for `ranks` ranks, local_size on each host. If a row's strategy is replaced by another one
 * (strategy_used), it is the twin of that strategy's row with the same buckets, as only chance could rank the two. */
void implementations_mark_twins(struct implementation *row, int n, int ranks, int local_size);

/* Returns a verdict with the members that follow from the row with the shortest step (best; NULL: not known) and from
 * the time of a round. The caller sets the members that depend on the other rows and on the samples. */
struct verdict implementations_verdict(const struct implementation *best, double round_seconds);

/* Returns how many of n rows shard the optimizer's work (struct traits). */
int implementations_sharding(const struct implementation *row, int n);

/* Whether the run needs an array for the whole gradient: for rows that do not release it, or to gather checkpoints. */
int training_needs_gradient(const struct training_options *options);

#endif
