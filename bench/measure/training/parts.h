/* parts.h - the parts of a run that only training/ looks into. */
#ifndef BENCH_MEASURE_TRAINING_PARTS_H
#define BENCH_MEASURE_TRAINING_PARTS_H

#include "training/training.h"

/* Makes twice the room: the array series[n, room] becomes another one, [n, 2 room]. */
void series_grow(double **series, size_t n, size_t *room);

/* For blocks of that many steps; `judged` as in the struct. Release with losses_destroy. */
void losses_create(struct losses *losses, int steps, int judged);
void losses_destroy(struct losses *losses); /* a zeroed one is fine */

/* Takes this rank's loss of each step, mine[steps], of a block. must_agree: its strategy reduces the whole gradient in
 * fp32. All ranks call it and know the same afterwards. */
void losses_add(struct losses *losses, const struct job *job, const double *mine, int must_agree);

/* Spans of each lane that a run has room for. */
void memory_spans(const struct run *run, size_t spans[TIMELINE_LANES]);

/* Plans the model, and fills run->memory from that, before anything is allocated; stages: collectives are staged
 * through the host's memory. */
void memory_plan(struct run *run, int stages);
/* The sum of parts [from, to); and in words those that are not empty. */
size_t memory_total(const size_t bytes[MEMORY_PARTS], int from, int to);
const char *memory_words(const size_t bytes[MEMORY_PARTS], int from, int to, char text[256]);

/* Bytes that each rank may use, of its GPU (0 on the CPU) and of the host. */
struct memory_share {
    double gpu, host;
};
/* Where the least is left for a rank. All ranks call and know the same. */
struct memory_share memory_least(const struct job *job, const struct open_device *opened);

/* Returns 0 if the plans of all ranks fit into the memory that is free on this machine, and in their GPU; or -1,
 * reported, with the parts, and with sizes near to these that fit into `least`. */
int memory_check(const struct run *run, int stages, const struct memory_share *least);

#endif
