/* run.h - what a command that trains consists of: the harness, the engine that steps, and all that was measured. */
#ifndef BENCH_MEASURE_TRAINING_RUN_H
#define BENCH_MEASURE_TRAINING_RUN_H

#include "training/attainable.h"
#include "training/block.h"
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
    const struct training_options *options;
    struct recording recording;
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
    struct block_counts counts;
    int complete; /* 1: measuring is over, so the next summary is the last one */
};

/* A command that trains. */
struct training {
    struct harness harness;
    struct engine engine;
    struct run run;
};

#endif
