/* training.h - trains every implementation in blocks, in turn, on the same model, and samples their times: the base of
 * the benchmark, of tune and of the profile. */
#ifndef BENCH_MEASURE_TRAINING_TRAINING_H
#define BENCH_MEASURE_TRAINING_TRAINING_H

#include "training/attainable.h"
#include "training/describe.h"
#include "training/memory.h"
#include "training/recorder.h"
#include "training/rounds.h"
#include "training/telemetry.h"

/* What runs the steps. */
struct engine {
    struct recorder recorder;
    struct comm *comm;
    struct model model;
    struct reducer *reducer; /* [implementations] */
    struct trainer trainer;
};

/* What is measured, and the samples of it. */
struct run {
    const struct training_options *options;
    struct recording recording;
    size_t memory[MEMORY_PARTS]; /* estimated bytes of a rank */
    struct blas_facts blas;      /* on the CPU: the matrix products of rank slowest_products (products_measure) */
    int slowest_products;
    long steps_run; /* by this process, of all implementations */

    struct measurements measurements;
    size_t planned; /* rounds, as far as is known; equal to those of the measurements when all have been run */
    char resting[MAX_IMPLEMENTATIONS]; /* 1: the implementation has no blocks in the rounds to come */
    double warm_step;                  /* about the seconds of a step on the slowest rank */
    struct losses losses;
    struct block_counts counts;
};

/* A command that trains. Functions take what they need of it. */
struct training {
    struct harness harness;
    struct engine engine;
    struct run run;
};

/* Opens the harness, plans the model, checks that it fits into memory, and opens data, communication backend and
 * results (harness_open_results), so that the heading is known. Set run.recording beforehand. Returns 0; or -1 on every
 * rank, reported by rank 0. End with training_close in either case, as after training_set_up. */
int training_plan(struct training *training, const struct job *job, const struct run_options *options,
                  const char *option, const char *given, const char *below);

/* Prints on stderr of rank 0, for the CPU, how long a step is estimated to take, and `steps` of them, or, with a limit
 * above 0 in seconds, when the rounds end: the operations of the model at half the rate of matrix products alone, which
 * is about what steps reach. All ranks call. */
void training_print_estimate(const struct training *training, size_t steps, double limit);

/* Allocates what is planned, writes run.json for that mode and command, and starts the monitors. Returns as
 * training_plan does. */
int training_set_up(struct training *training, const char *mode, const struct command *command);

/* Releases everything; returns as harness_close does. */
int training_close(struct training *training, int status, int print_directory);

#endif
