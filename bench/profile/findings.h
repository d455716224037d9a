/* findings.h - what a profile's figures mean: whether communication was hidden, and where time could be saved. */
#ifndef BENCH_PROFILE_FINDINGS_H
#define BENCH_PROFILE_FINDINGS_H

#include "profile/controls.h"
#include "profile/figures.h"

/* What was profiled, and on what. */
struct profile_facts {
    const char *label; /* of the implementation */
    const struct strategy *strategy;
    int buckets;                     /* of its plan */
    int ranks, hosts, machine_ranks; /* all; their hosts; those on rank 0's machine */
    int on_gpu, comm_on_device;      /* ranks compute on GPUs; communication is the device's own work (struct comm) */
    int threads;                     /* of a rank */
    double cores_per_rank;
    double tokens, flops; /* of a step: tokens of all ranks; of the model */
    size_t block_steps;   /* timed steps of a block */
    size_t memory_bytes;  /* of rank 0's GPU or machine; 0 if unknown */
    size_t peak_bytes;    /* the largest open_device_memory of a rank so far */
};

enum level { LEVEL_NOTE, LEVEL_WARNING, LEVEL_HIGH };
extern const char *const level_name[];

struct finding {
    const char *name;
    enum level level;
    double value, threshold; /* percent */
    char text[320];          /* the figure in words: of what, which ranks */
    const char *advice;
};

/* Whether overlap happened, in one line, and why if not. */
struct overlap_verdict {
    const char *overlap; /* "yes", "no", "unclear" or "n/a" */
    char text[640];
};

struct findings {
    struct overlap_verdict verdict;
    int n;
    struct finding finding[8]; /* of each name at most one */
};

/* Compares the figures with the thresholds. controls may have no round yet. */
void findings_create(struct findings *findings, const struct profile_facts *facts, const struct thresholds *thresholds,
                     const struct profile_figures *figures, const struct collectives *collectives,
                     const struct controls *controls);

#endif
