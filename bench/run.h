/* run.h - benchmark mode: every implementation in turn on the same model, and what came of it. */
#ifndef RUN_H
#define RUN_H

#include "comparison.h"
#include "host.h"
#include "job.h"
#include "losses.h"
#include "memory.h"

enum { DISCARDED_STEPS = 2 }; /* at the start of a block, not timed */

/* Everything that a benchmark is made of, and what the results say about it. */
struct run {
    const struct job *job;
    const struct options *options;
    int argc;
    char *const *argv;

    int threads;
    double cores_per_rank;
    struct host_facts host;
    size_t memory[MEMORY_PARTS];

    struct model model;
    struct data *data;
    struct timeline timeline;
    struct comm *comm;
    struct sync *sync; /* [options->n] */
    struct trainer trainer;

    struct measurements measurements;
    struct losses losses;
    size_t blocks, foreign_blocks; /* blocks measured; of these beside foreign work of a quarter core or more */
    double other_cores;            /* the most cores that others used during a block */
    double comm_cpu_seconds;       /* of rank 0's communication thread, in the timed steps of strategies that reduce, */
    double comm_seconds;           /* which took so long together */
    int dropped_spans;
};

/* Runs the whole benchmark and writes its results. Returns 0; or -1 when something went wrong that rank 0 has said;
 * what was measured until then has been written and printed. All ranks call it and get the same answer. */
int run_benchmark(const struct job *job, const struct options *options, int argc, char *const argv[]);

#endif
