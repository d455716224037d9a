/* inference.h - a step of inference: a batch is read, the model computes, and its predictions are saved to a file. */
#ifndef DDP_INFERENCE_H
#define DDP_INFERENCE_H

#include "ddp/source.h"

struct trainer;

/* What a trainer that infers works on, beside input, weights and activations; without `directory` it trains. */
struct inference {
    const char *directory; /* the files are predictions/rank_<r>_step_<n>.csv in it; the caller owns the text */
    int rank;
    int keeps;                     /* 1: the file of a step stays; 0: it is removed when it is complete */
    void *output;                  /* memory of the host for the model's output (source->output_bytes) */
    struct prediction *prediction; /* [B, T] */
};

/* Allocate and release the memory, if there is a directory; inference_create also creates `predictions`. */
void inference_create(struct trainer *trainer);
void inference_destroy(struct trainer *trainer);

/* Infers one step in the phases data_loading, forward_pass, which ends when the device has computed, and save_results:
 * the predictions reach the host, and are written to a new file, which is closed. Records spans and loss as step_run
 * does. A file that cannot be written is removed, and ends the job. */
void inference_run(struct trainer *trainer, int slot);

#endif
