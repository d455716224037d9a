/* data_source.h - sources of tokens, and the order that their sequences are visited in (data.h says which). */
#ifndef DDP_DATA_SOURCE_H
#define DDP_DATA_SOURCE_H

#include "ddp/data.h"

struct source {
    enum data_kind kind;
    char *path;          /* as it was given; the source's own */
    int fd;              /* -1 for synthetic data */
    size_t header_bytes; /* where token 0 is in the file */
    size_t token_bytes;  /* 1 or 2 */
    size_t tokens;       /* 0 for synthetic data */
    size_t sequences;    /* of an epoch; 0 for synthetic data, which has no end */
    size_t vocabulary;
    size_t T; /* tokens of a sequence, of which T + 1 are read */
    uint64_t seed;
};

/* Opens the source and checks it as data_create says; everything that can be wrong is found here. Returns 0; or -1,
 * reported, and then there is nothing to close. */
int source_open(struct source *source, const struct data_options *options);
void source_close(struct source *source);

/* Fills row[T + 1] with the sequence at a place of the row of all batches, by way of raw[2 (T + 1)]. Any thread may
 * call it. Returns 0; or -1 with words in failure (unless failure_bytes is 0): the file has changed. */
int source_read(const struct source *source, uint64_t place, int32_t *row, unsigned char *raw, char *failure,
                size_t failure_bytes);

#endif
