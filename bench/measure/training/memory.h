/* memory.h - estimates the memory that a run needs, part by part, before it is allocated. */
#ifndef BENCH_MEASURE_TRAINING_MEMORY_H
#define BENCH_MEASURE_TRAINING_MEMORY_H

#include "ddp/model.h"
#include "machine/machine.h"
#include "training/options.h"
#include "training/recorder.h"

enum memory_part {
    MEMORY_WEIGHTS, /* the weights, and the copy that every block starts from */
    MEMORY_GRADIENTS,
    MEMORY_OPTIMIZER,     /* AdamW's two moments */
    MEMORY_ACTIVATIONS,   /* what forward keeps for backward; and scratch memory */
    MEMORY_COMMUNICATION, /* strategies' copies of the gradient for sending; MPI's temporary copy while it reduces */
    MEMORY_STAGING,       /* MPI with GPUs: host copies of all gradients that are sent, and MPI's temporary copy */
    MEMORY_DATA,          /* micro-batches */
    MEMORY_RECORDS, /* times and spans of a block's steps; the samples of all blocks; on rank 0 also the piece of a
                       checkpoint that is being written */
    MEMORY_PROGRAM, /* the program and its libraries before anything above is allocated; not counted on a GPU */
    MEMORY_PARTS
};
extern const char *const memory_part_name[MEMORY_PARTS];

/* What the memory of a rank depends on, apart from options and model. On a GPU the parts before MEMORY_STAGING are in
 * the GPU's memory, the other parts in the host's. */
struct memory_conditions {
    int rank, ranks;
    int local_size;     /* number of ranks on this rank's host */
    int on_gpu, stages; /* stages 1: collectives go through host memory */
    const struct recording *recording;
};

/* Sets spans[i] to the number of spans that lane i needs room for: a block's, or a capture's if that is more. */
void memory_spans(const struct training_options *options, const struct model *model, const struct recording *recording,
                  size_t spans[TIMELINE_LANES]);

/* Returns the largest number of collectives in a step of any implementation. */
size_t memory_collectives(const struct training_options *options, const struct model *model);

/* Returns how many steps fit into the buffer for captured spans, at most the steps of all epochs. */
size_t memory_captured_steps(const struct training_options *options, const struct model *model,
                             const struct recording *recording);

/* Returns the bytes of the parts [from, to) together, and lists in words those above 0, with their sizes. */
enum { MEMORY_WORDS = 256 };
size_t memory_sum(const size_t bytes[MEMORY_PARTS], int from, int to, char words[MEMORY_WORDS]);

/* Checks that, if each rank needs bytes[], this machine has enough free memory for its ranks, and this rank's GPU for
 * the ranks that compute on it. Returns 0; or -1, reported with the bytes of each part. */
int memory_check(const struct job *job, const struct open_device *opened, const size_t bytes[MEMORY_PARTS]);

/* Plans a model whose numbers have compute_bytes, and estimates the memory of a rank that trains it. Returns 0; or -1,
 * reported, if the model is too large for any machine or --profile's options do not suit it; *model is then zeroed. */
int memory_plan(struct model *model, const struct memory_conditions *conditions, const struct training_options *options,
                size_t compute_bytes, size_t bytes[MEMORY_PARTS]);

#endif
