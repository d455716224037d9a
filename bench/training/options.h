/* options.h - what is trained and how it is timed, as the command line says it. */
#ifndef BENCH_TRAINING_OPTIONS_H
#define BENCH_TRAINING_OPTIONS_H

#include "base/option_table.h"
#include "ddp/comm.h"
#include "ddp/model.h"
#include "ddp/step.h"
#include "machine/machine.h"
#include "monitor/monitor.h"
#include "results/results.h"
#include "training/implementations.h"

/* A model, and what its strategies send. */
struct workload {
    size_t vocab_size; /* 0 until workload_check: what the data says */
    size_t context_length, d_model, num_layers, num_heads, d_ff;
    double rope_theta;
    struct strategy_list strategies;
    struct bucket_sizes bucket_sizes;
    enum comm_dtype grad_dtype; /* COMM_FLOAT32 or COMM_BF16 */
};

enum regime { REGIME_ACTIVE, REGIME_WARMUP };

struct training_options {
    struct workload workload;
    size_t batch_size, batch_size_per_rank; /* global; or per rank when that is not 0 */
    size_t grad_accumulation;
    const char *data;
    size_t seed;
    size_t num_epochs, warmup_epochs, steps_per_epoch;
    double lr, max_norm, weight_decay;
    int log_grad_norm;
    enum regime regime;
    size_t rounds, steps_per_block; /* steps_per_block 0: the epochs of the regime */
    int attainable;
    struct delay delay;

    /* made from the above, by the command and by training_options_check */
    struct implementation implementation[MAX_IMPLEMENTATIONS];
    int n;
    size_t warmup_steps, block_steps; /* steps of warm-up epochs; timed steps of a block */
};

/* What a run takes, whichever command it is of. */
struct run_options {
    struct training_options training;
    struct device_options device;
    struct comm_options comm;
    struct monitor_options monitor;
    struct results_options results;
};

/* The sections of a table that fill these structures. */
struct option_section workload_model_options(struct workload *workload);
struct option_section workload_strategy_options(struct workload *workload);
void training_options_add(struct option_table *table, struct training_options *options);

/* Checks the model's sizes, and takes the vocabulary from the data where none was given. 0, or -1, reported. */
int workload_check(struct workload *workload, const char *data);
/* The sizes of one rank's part of a micro-batch, for model_plan. */
struct model_sizes workload_sizes(const struct workload *workload, size_t batch);

/* Checks what can be checked without ranks, and sets warmup_steps and block_steps: the steps of the regime's epochs,
 * but at most most_block_steps (0: no limit), unless --steps-per-block was given. 0, or -1, reported. */
int training_options_check(struct training_options *options, size_t most_block_steps);

/* Fits the options to a number of ranks: sets batch_size to the global batch. 0; or -1, reported, for a batch that does
 * not divide (the message says which sizes fit), or a rank that there is not. */
int training_options_fit(struct training_options *options, int ranks);

/* Prints what --implementations takes. */
void training_options_help_implementations(FILE *out);

#endif
