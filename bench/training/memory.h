/* memory.h - what a run will need, by part, known before anything is allocated. */
#ifndef BENCH_TRAINING_MEMORY_H
#define BENCH_TRAINING_MEMORY_H

#include "ddp/job.h"
#include "ddp/model.h"
#include "machine/machine.h"
#include "training/options.h"

enum memory_part {
    MEMORY_WEIGHTS, /* the weights, and the copy that every block starts from */
    MEMORY_GRADIENTS,
    MEMORY_OPTIMIZER,     /* AdamW's two moments */
    MEMORY_ACTIVATIONS,   /* what forward keeps for backward, and scratch */
    MEMORY_COMMUNICATION, /* staged buffers, and the temporary copy that MPI makes while it reduces */
    MEMORY_RECORDS,       /* the spans of a block's steps, and one sample of every block */
    MEMORY_PARTS
};
extern const char *const memory_part_name[MEMORY_PARTS];

enum { DISCARDED_STEPS = 2 }; /* at the start of a block, not timed */

/* What a run keeps for a capture of its steps; zeroed: nothing. */
struct recording {
    int operations, allocations; /* 1: of the device, as spans */
    double buffer_mb;            /* for captured spans, MiB a rank */
    const char *gpu_option;      /* an option that was given and is for GPUs alone; NULL: none */
};

/* Steps whose spans the buffer of a recording holds, of the epochs' steps at most. */
size_t memory_capture_room(const struct recording *recording, const struct training_options *options,
                           const struct model *model);

/* Spans of each lane that a run has room for. */
void memory_spans(const struct recording *recording, const struct training_options *options, const struct model *model,
                  size_t spans[TIMELINE_LANES]);

/* Bytes of one rank by part, from a planned model. */
void memory_estimate(size_t bytes[MEMORY_PARTS], const struct recording *recording,
                     const struct training_options *options, const struct model *model, int ranks);
/* Their sum. */
size_t memory_total(const size_t bytes[MEMORY_PARTS]);

/* Returns 0 if what the ranks of this machine need together fits into what it has; or -1, reported, with the parts. */
int memory_check(const size_t bytes[MEMORY_PARTS], const struct job *job);

/* The same for a GPU that so many ranks compute on: all parts but the records lie in its memory. */
int memory_check_gpu(const size_t bytes[MEMORY_PARTS], const struct gpu_facts *gpu, int ranks);

#endif
