/* checkpoint.h - writes the state of training to a file, and reads it back.
 *
 * Only rank 0 writes, as is usual for DDP, because all ranks hold the same weights and moments under a strategy that
 * reduces gradients and does not shard. If the strategy shards, the ranks gather what each of them updates, bucket by
 * bucket, while rank 0 writes. Under the strategy `none` the file holds rank 0's weights and moments. The other ranks
 * wait for rank 0 in the phase `checkpoint`. Without that wait they would wait in the next step's reduction, and the
 * time to write the file would count as communication. The wait does not lengthen the step.
 *
 * The file contains struct checkpoint_header and then three arrays of `floats` fp32 numbers (weights, AdamW's first
 * moments, AdamW's second moments), all in the byte order of the machine. Each array holds the tensors in the order of
 * the model's arena (model.h), without gaps and padding. The learning rate and the position in the data follow from the
 * step. A file at the path is never incomplete. */
#ifndef DDP_CHECKPOINT_H
#define DDP_CHECKPOINT_H

#include "ddp/job.h"
#include "ddp/optimizer.h"
#include "ddp/reducer.h"

#include <stdint.h>

struct checkpoint_header {
    char magic[8];    /* "DDPBENCH" */
    uint64_t version; /* 2 */
    uint64_t vocabulary, width, layers, heads, ff;
    uint64_t floats; /* elements of each array: the model's number of parameters */
    uint64_t seed;   /* seed of the initial weights and of the order of the data */
    int64_t step;    /* the next step of the schedule */
    int64_t update;  /* AdamW's step number in the next step, counted from 1 */
};

/* When and where to save checkpoints; a zeroed struct saves none. */
struct checkpoint {
    size_t every; /* steps from one checkpoint to the next; 0: saves no checkpoints */
    const struct job *job;
    uint64_t seed;
    char path[640];

    void *piece;    /* host memory of checkpoint_piece_bytes() bytes, on rank 0; owned by the trainer */
    int failed;     /* 1 on every rank once a write has failed: no further checkpoints are saved */
    size_t saved;   /* number of checkpoints saved */
    double seconds; /* on rank 0: total time to write the saved checkpoints */
};

/* The content of a checkpoint. Owns nothing. */
struct training_state {
    const struct model *model;
    const struct optimizer *optimizer;
    const struct reducer *reducer; /* its owned ranges determine which moments this rank has */
    long step, update;
};

/* Return the size in bytes of a checkpoint file whose arrays have `floats` numbers each, and of checkpoint->piece. */
size_t checkpoint_bytes(size_t floats);
size_t checkpoint_piece_bytes(void);

/* Tests whether a checkpoint is due before the given step. */
int checkpoint_is_due(const struct checkpoint *checkpoint, long step);

/* Saves the state. All ranks call it; returns when rank 0 has written the file. A failure sets `failed` on every rank,
 * and is reported on rank 0. */
void checkpoint_save(struct checkpoint *checkpoint, struct training_state state);

/* Saves one checkpoint, reads it back and compares it with memory. All ranks call it, before anything is timed. Does
 * nothing if no checkpoint will be due. Returns 0; or -1, reported on rank 0. */
int checkpoint_try(struct checkpoint *checkpoint, struct training_state state);

/* Writes the state to a temporary file and renames it once it is on disk. Needs checkpoint->piece. Waits for the
 * device. If the strategy shards, the other ranks call checkpoint_take_part meanwhile. Returns 0; or -1, reported, and
 * an earlier file at the path is unchanged. */
int checkpoint_write(const char *path, const struct checkpoint *checkpoint, struct training_state state);
void checkpoint_take_part(struct training_state state);

/* Compares a file with the state bit for bit. Needs checkpoint->piece, and allocates memory for a second piece. If the
 * strategy shards, the other ranks call checkpoint_take_part meanwhile. Returns 0 if they are equal; or -1, reported.
 */
int checkpoint_compare(const char *path, const struct checkpoint *checkpoint, struct training_state state);

/* Reads a file of the same model and seed into the arrays, the step and the update of the state. Call trainer_set_step
 * afterwards. Returns 0; or -1, reported: the file cannot be read, is not a checkpoint of this version, is incomplete,
 * or has another model or seed; the state is then unchanged, unless reading failed midway. */
int checkpoint_restore(const char *path, const struct checkpoint *checkpoint, struct training_state *state);

#endif
