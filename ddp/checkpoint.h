/* checkpoint.h - the state that training goes on from, in a file that is complete or not there.
 *
 * With a strategy that reduces, all ranks hold the same weights and moments, so rank 0 alone writes, as scripts for DDP
 * do; without (`none`) each rank has its own, of which the file has rank 0's. The others wait for it in the same phase:
 * without that they would wait in the next step's reduction, and the time of a file would be taken for that of a link.
 * The step takes as long either way.
 *
 * The file: struct checkpoint_header, then three arrays of `floats` fp32 numbers in the model's own layout (model.h):
 * weights, AdamW's first moments, its second ones; in the byte order of the machine. Learning rate and place in the
 * data follow from the step. */
#ifndef DDP_CHECKPOINT_H
#define DDP_CHECKPOINT_H

#include "ddp/job.h"
#include "kernels/device.h"

#include <stdint.h>

struct trainer;

struct checkpoint_header {
    char magic[8];    /* "DDPBENCH" */
    uint64_t version; /* 1 */
    uint64_t vocabulary, width, layers, heads, ff;
    uint64_t floats; /* of each array */
    uint64_t seed;   /* of the initial weights and the order of the data */
    int64_t step;    /* of the schedule, that comes next */
    int64_t update;  /* AdamW's number of that, from 1 */
};

/* When and where a trainer saves; zeroed: never. */
struct checkpoint {
    size_t every; /* steps of the schedule */
    const struct job *job;
    uint64_t seed;
    char path[640];

    void *piece; /* host memory for what is being written or compared, of rank 0; the trainer's */
    int failed;  /* on every rank: one could not be written, and no more are */
    size_t saved;
    double seconds; /* that rank 0 took for those that it saved, together */
};

/* The size of a file, and of `piece`. */
size_t checkpoint_bytes(size_t floats);
size_t checkpoint_piece_bytes(void);

/* After a step, on all ranks: if one is due, saves it; returns when rank 0 has. What went wrong is in `failed`, and
 * kept on rank 0 as a reported error. */
int checkpoint_is_due(const struct trainer *trainer);
void checkpoint_save(struct trainer *trainer);

/* On all ranks, before anything is timed: saves once, reads the file back and compares it with memory. Returns 0, also
 * where none will ever be due; or -1, reported on rank 0. */
int checkpoint_try(struct trainer *trainer);

/* Writes the state of a trainer that has a `piece`, by way of a temporary file, which is renamed when it is on disk.
 * Waits for the device. Returns 0; or -1, reported, and what was at the path before is still there. */
int checkpoint_write(const char *path, const struct trainer *trainer);

/* Returns 0 if the file holds the state of a trainer that has a `piece` bit for bit; or -1, reported. Takes memory for
 * another piece. */
int checkpoint_compare(const char *path, const struct trainer *trainer);

/* Replaces the state of a trainer of the same model and seed by that of the file. Returns 0; or -1, reported: it cannot
 * be read, is no checkpoint of this version, is incomplete, or is of another model or seed; the trainer is as it was
 * then, unless the file could not be read to its end. */
int checkpoint_restore(const char *path, struct trainer *trainer);

#endif
