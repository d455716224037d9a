/* one_rank.h - everything that one rank needs to train, for the programs that measure the program itself. */
#ifndef BENCH_SELFBENCH_ONE_RANK_H
#define BENCH_SELFBENCH_ONE_RANK_H

#include "ddp/step.h"

struct one_rank {
    struct model model;
    struct data *data;
    struct timeline timeline;
    struct comm *comm;
    struct reducer reducer;
    struct trainer trainer;
};

/* One rank with ddp_individual, the strategy with the most collectives, on synthetic data, all weights zero; with room
 * for the spans of that many traced steps. threaded: collectives go through a communication thread whose transport is
 * done at once. Release with one_rank_destroy. */
void one_rank_create(struct one_rank *rank, const struct device *device, const struct model_sizes *sizes, int threaded,
                     int steps);
void one_rank_destroy(struct one_rank *rank);

/* Spans recorded so far. */
size_t one_rank_spans(const struct one_rank *rank);

/* Microseconds of a step, mean over a block of so many steps that begins with an empty timeline. A step of a few
 * microseconds outruns the thread that fetches its data, as no real one does: before each step that thread is given 100
 * us, which are not counted. */
double one_rank_block_us(struct one_rank *rank, int steps);

#endif
