/* tensors.h - the parameter tensors of a model: their shapes, and their places in the arenas of weights, gradients and
 * moments. These functions use no device. */
#ifndef DDP_TENSORS_H
#define DDP_TENSORS_H

#include <stddef.h>

struct tensor {
    char name[96];
    int layer;            /* 0: before the transformer blocks; l + 1: in block l; layers + 1: after the last block */
    size_t offset;        /* offset of the tensor in each arena, in floats */
    size_t rows, columns; /* [rows, columns]; a norm's weight is [1, C] */
    size_t count;         /* rows * columns */
    size_t padding;       /* rows of zeros after the tensor in each arena; matrix products include them */
    /* The number of tensors (this one and those registered just before it) that form one matrix. They have the same
     * input, so one product computes all of them, and they are adjacent in the arenas. 3 for v, joined with k and q; 2
     * for w3, joined with w1; 0 for a tensor in another tensor's matrix; 1 for all others. */
    int joined;
};
/* A tensor that begins a matrix starts at a multiple of TENSOR_ALIGNMENT x shards floats of the arena, and the arena
 * ends at such a multiple; the gaps stay zero. */
enum { TENSOR_ALIGNMENT = 16 };

/* Returns the rows, with padding, of the matrix that begins with this tensor in the arena; 0 if the tensor is part of
 * another tensor's matrix. */
size_t tensor_matrix_rows(const struct tensor *tensor);

/* Sets *tensor's name, by a printf format, layer and shape. */
void tensor_set(struct tensor *tensor, int layer, size_t rows, size_t columns, int joined, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Places n tensors in the arena, from the last to the first: in the order in which backward finishes their gradients.
 * shards: the most parts into which strategies cut a matrix. Returns the floats of the arena. */
size_t tensors_place(struct tensor *tensor, int n, size_t shards);

#endif
