/* training.h - trains implementations in blocks, in turn, on the same model, and samples their times. The benchmark,
 * tune and the profile are built on it. */
#ifndef BENCH_MEASURE_TRAINING_TRAINING_H
#define BENCH_MEASURE_TRAINING_TRAINING_H

#include "training/describe.h"
#include "training/run.h"

/* ---- the course of a command: plan, set up, measure, close. All ranks call each function, which returns 0; or -1 on
 * every rank, reported by rank 0 ---- */

/* Opens the harness, plans the model, checks that it fits into memory, and opens data, communication backend and
 * results (option, given, below: see struct results_target). Afterwards the heading can be printed. Set run.recording
 * before the call. End with training_close, also after a failure. */
int training_plan(struct training *training, const struct job *job, const struct run_options *options,
                  const char *option, const char *given, const char *below);

/* Allocates the memory, writes run.json (with the mode and command given), and starts the monitors. */
int training_set_up(struct training *training, const char *mode, const struct command *command);

/* What a command does between blocks and rounds. All ranks call each hook at the same points, except rounds_needed. */
struct run_hooks {
    void *context;
    /* Called once, before the first round; may be NULL. */
    void (*begin)(void *context);
    /* Called after a block, whose spans are still in the timeline. Returns 0; or -1, reported, if writing failed. */
    int (*block)(void *context, const struct block *block);
    /* Writes the summary; called between rounds every 2 s, and once run.complete is set. Returns 0; or -1, reported. */
    int (*summary)(void *context);
    /* With --resolve, on rank 0: returns how many rounds are needed in all; once resolved, at most the rounds made. */
    double (*rounds_needed)(const struct measurements *measurements, const struct implementation *implementation,
                            double resolve);
    /* Called before the first round and after each round; may be NULL. seconds: time since the rounds began, on this
     * rank. Sets run->resting and run->planned, to the same values on all ranks; prints how long the run will take; and
     * shows its progress. */
    void (*plan)(void *context, double seconds);
};

/* With skip 0, first tries a few steps, prints on stderr how long the rounds will take, and runs the planned rounds.
 * With either value, then stops the monitors, writes the last summary (hooks->summary), and checks the losses. After a
 * failure the samples of the first measurements.rounds rounds are complete. */
int training_measure(struct training *training, const struct run_hooks *hooks, int skip);

/* Closes and frees everything. Parameters and result are as for harness_close, which prints the result directory. */
int training_close(struct training *training, int status, int print_directory);

/* Calls the functions above in order, for a command whose results go to --output. */
int training_run(struct training *training, const char *mode, const struct job *job, const struct run_options *options,
                 const struct command *command, const struct run_hooks *hooks);

/* ---- rank_<r>_metrics.jsonl ---- */

/* Appends a line to this rank's metrics for each step of a block. Returns 0; or -1, reported. */
int telemetry_write_block(struct results *results, const struct training *training, const struct block *block);

/* Print members of a line's JSON object, each after a comma: a number (null if not finite); the times of a step, its
 * start counted from origin_ns; the overlap of a step (traced 1: also the figures that need spans of computation). */
void telemetry_print_number(FILE *out, const char *name, double value);
/* The gradient's norm before and after clipping to max_norm, by the formula in device.h. */
void telemetry_print_grad_norm(FILE *out, double norm, double max_norm);
void telemetry_print_times(FILE *out, int64_t origin_ns, const struct step_times *step);
void telemetry_print_overlap(FILE *out, const struct overlap *overlap, int traced, int on_device);

#endif
