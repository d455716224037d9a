/* training.h - trains implementations in blocks, in turn, on the same model, and samples their times. */
#ifndef BENCH_MEASURE_TRAINING_TRAINING_H
#define BENCH_MEASURE_TRAINING_TRAINING_H

#include "training/attainable.h"
#include "training/memory.h"
#include "training/options.h"
#include "training/recorder.h"
#include "training/samples.h"

/* The objects that run training steps. */
struct engine {
    struct recorder recorder;
    struct comm *comm;
    struct model model;
    struct reducer *reducer; /* [implementations] */
    struct trainer trainer;
};

/* The settings of a run, and all that it has measured so far. */
struct run {
    const char *mode; /* "benchmark", "tune" or "profile" */
    const struct command *command;
    struct recording recording;
    const struct training_options *options;
    struct products_choice products;
    size_t memory[MEMORY_PARTS]; /* estimated bytes of each part of a rank's memory */
    struct blas_facts blas;      /* on the CPU: facts of the BLAS on rank `slowest_products` (products_measure) */
    int slowest_products;        /* rank whose matrix products are slowest relative to its CPU */
    size_t block_steps;          /* timed steps of a block: as the options say, or fewer if time is short */
    long steps_run;              /* number of steps run by this process, of all implementations */

    struct measurements measurements;
    size_t planned;                    /* planned rounds; measuring ends when measurements.rounds equals `planned` */
    char resting[MAX_IMPLEMENTATIONS]; /* 1: the implementation has no block in the next round */
    double seconds;                    /* time of all rounds so far */
    double warm_step;                  /* seconds of a typical step after the first one, on the slowest rank */
    struct losses losses;
    double final_loss[MAX_IMPLEMENTATIONS]; /* mean over ranks in the last step of the implementation's last block */
    size_t blocks;                          /* number of blocks so far */
    size_t peak_bytes;                      /* most bytes in use on this rank until the last block began */
    double comm_cpu_seconds, comm_seconds;  /* over the blocks of strategies that reduce: CPU time of this rank's
                                               communication thread in the timed steps, and seconds of these steps */
    int complete;                           /* 1: measuring is over, so the next summary is the last one */
};

/* A command that trains. */
struct training {
    struct harness harness;
    struct engine engine;
    struct run run;
};

/* ---- the course of a command. All ranks call these; they return 0, or -1 on every rank, reported by rank 0 ---- */

/* Opens the harness, plans the model, checks that it fits into memory, and opens data, communication backend and
 * results (option, given, below: see struct results_target). Afterwards the heading can be printed. Set mode, command
 * and recording of the run before the call. End with training_close, also after a failure. */
int training_plan(struct training *training, const struct job *job, const struct run_options *options,
                  const char *option, const char *given, const char *below);

/* Allocates the memory, writes run.json, and starts the monitors. */
int training_set_up(struct training *training);

/* What a command does between blocks and rounds. All ranks call each hook at the same points, except rounds_needed. */
struct run_hooks {
    void *context;
    /* Called once, before the first round; may be NULL. */
    void (*begin)(void *context);
    /* Called after a block, while its spans are in the timeline. Returns 0; or -1, reported, if writing failed. */
    int (*block)(void *context, const struct block *block);
    /* Writes the summary; called between rounds every 2 s, and once run.complete is set. Returns 0; or -1, reported. */
    int (*summary)(void *context);
    /* With --resolve, on rank 0: returns how many rounds are needed in all; once resolved, at most the rounds made. */
    double (*rounds_needed)(const struct measurements *measurements, const struct implementation *implementation,
                            double resolve);
    /* Called before the first round and after each round; may be NULL. seconds: time since the rounds began, on this
     * rank. Sets run->resting and run->planned, equally on all ranks; prints how long the run takes; shows progress. */
    void (*plan)(void *context, double seconds);
};

/* With skip 0, first tries a few steps, prints on stderr how long the rounds will take, and runs the planned rounds.
 * With either value, then stops the monitors, writes the last summary (hooks->summary), and checks the losses. After a
 * failure the samples of the first measurements.rounds rounds are complete. */
int training_measure(struct training *training, const struct run_hooks *hooks, int skip);

/* Closes and frees everything. Parameters and result are as for harness_close, which prints the result directory. */
int training_close(struct training *training, int status, int print_directory);

/* Calls the functions above in order, for a command whose results go to --output. */
int training_run(struct training *training, const struct job *job, const struct run_options *options,
                 const struct run_hooks *hooks);

/* ---- blocks: steps of an implementation from the same weights and data as in all blocks. All ranks call these ---- */

/* A measured block of `steps` = DISCARDED_STEPS + block_steps steps; `times` and `overlap` have [steps] elements. */
struct block {
    size_t number, round;
    int implementation;
    long first_step;                  /* number of the block's first step among all steps of this process */
    struct control_group_stops stops; /* by CPU quotas of this rank's control groups, during the block's steps */
    double other_cores; /* cores that other processes used, if a window of other_processes_watch ends now; else NAN */
    double seconds;     /* seconds of all timed steps together, on this rank */
    size_t peak_bytes;  /* most bytes in use on this rank during the block (open_device_memory); 0: unknown */
    struct step_times *times;
    struct overlap *overlap;
    float *record; /* [steps, RECORDS] loss and gradient norm of each step */
    double *loss;  /* [steps] loss of each step on this rank */
};

/* Prepares to run an implementation: restores the starting weights, sets the learning-rate schedule and the data to
 * step `step`, and empties the timeline. */
void block_start(struct training *training, int implementation, long step);

/* Runs a block, whose implementation, round and arrays are set. Fills it, and adds its sample, losses and counts. */
void block_run(struct training *training, struct block *block);

/* Runs a block, adds nothing to the samples, and returns on every rank its seconds a timed step on the slowest rank. */
double block_step_seconds(struct training *training, int implementation);

/* Runs a cold first step and stores its seconds in *first; then runs 1 to 9 more steps, until all steps have taken half
 * a second. Returns on every rank the median seconds of these further steps on the slowest rank. */
double block_try_steps(struct training *training, int implementation, double *first);

/* Sets error[implementations] to the gradient_error of each implementation in the first step of a block; for one that
 * approximates gradients, also in the last step. NAN: it does not reduce gradients, or the error was not measured. Call
 * it before the first block. All ranks get the same errors. */
struct gradient_errors {
    double first, last;
};
void block_gradient_errors(struct training *training, struct gradient_errors *error);

/* Returns the most bytes in use on this rank so far (open_device_memory). */
size_t training_peak_memory(const struct training *training);

/* ---- run.json and the summary ---- */

/* Writes run.json to a result directory. Returns 0; or -1 on every rank, reported by rank 0. */
int training_write_run_json(const struct training *training, const struct results *results);

/* Begins the summary, with the heading. epochs: the heading's sentence about which steps are trained; NULL: a sentence
 * about the regime. The caller owns the summary. */
cJSON *training_create_summary(const struct training *training, const char *epochs);

/* Adds to a summary notes about machine, losses and checkpoints, counts of blocks, and findings of monitors. */
void training_add_notes(const struct training *training, cJSON *summary);

/* For --dry-run: adds to the heading the model, the batch, the estimated memory and the work of a run whose options are
 * checked. captured: steps of all captures before the rounds. minutes: the limit of the rounds; 0: o->rounds are run.
 * Returns 0; or -1, reported. */
int training_dry_run(const struct run_options *options, const struct recording *recording, int ranks, int on_gpus,
                     size_t captured, double minutes, cJSON *summary);

/* Adds to the heading the order in which the first two rounds run the implementations. */
void training_add_order(const struct training_options *options, cJSON *summary);

/* Returns the tokens of a step on all ranks; NAN: the model is replayed from recorded times, which do not tell. */
double training_tokens(const struct training_options *options);

/* Returns the model's FLOP of a step on all ranks; NAN: unknown; the backward pass takes twice the FLOP of the forward
 * pass. */
double training_flops(const struct training_options *options, const struct model *model);

/* ---- rank_<r>_metrics.jsonl ---- */

/* Appends a line for each step of a block to this rank's metrics. Returns 0; or -1, reported. */
int telemetry_write_block(struct results *results, const struct training *training, const struct block *block);

/* Print members of a line's JSON object, each after a comma: a number (null if not finite); the times of a step, its
 * start counted from origin_ns; the overlap of a step (traced 1: also the figures that need spans of computation). */
void telemetry_print_number(FILE *out, const char *name, double value);
/* The gradient's norm before and after clipping to max_norm, by the formula in device.h. */
void telemetry_print_grad_norm(FILE *out, double norm, double max_norm);
void telemetry_print_times(FILE *out, int64_t origin_ns, const struct step_times *step);
void telemetry_print_overlap(FILE *out, const struct overlap *overlap, int traced, int on_device);

#endif
