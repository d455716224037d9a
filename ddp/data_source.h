/* data_source.h - sources of tokens, and the order of their sequences (see data.h). */
#ifndef DDP_DATA_SOURCE_H
#define DDP_DATA_SOURCE_H

#include "ddp/data.h"

struct source {
    enum data_kind kind;
    char *path;          /* owned by the source */
    int fd;              /* -1 for synthetic data */
    size_t header_bytes; /* offset of token 0 in the file */
    size_t token_bytes;  /* 1, 2 or 4 */
    size_t tokens;       /* 0 for synthetic data */
    size_t sequences;    /* sequences per epoch; 0 for synthetic data, which is endless */
    size_t vocabulary;
    size_t T; /* a sequence has T + 1 tokens */
    uint64_t seed;
};

/* Opens the source and checks it, as described at data_create. Returns 0; or -1, reported, and then nothing is open. */
int source_open(struct source *source, const struct data_options *options);
void source_close(struct source *source);

/* Fills row[T + 1] with the sequence at position `place` of the run; raw[token_bytes (T + 1)] is scratch memory. Any
 * thread may call it. Returns 0; or -1 with a message in failure (unless failure_bytes is 0) if the file has changed.
 */
int source_read(const struct source *source, uint64_t place, int32_t *row, unsigned char *raw, char *failure,
                size_t failure_bytes);

#endif
