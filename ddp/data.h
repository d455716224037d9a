/* data.h - where tokens come from, and the threads that fetch the next batches while this one trains.
 *
 * A source is a row of sequences of T + 1 tokens. Sequence j of an epoch over the data is number perm(j), a
 * permutation fixed by the seed, and step s trains on the global batch of sequences [s * B, (s + 1) * B) of that
 * row, wrapping around at its end. Rank r of R takes the r-th part of each global batch, so the ranks read disjoint
 * sequences and the joined batch is the same however many ranks share it. */
#ifndef DDP_DATA_H
#define DDP_DATA_H

#include <stddef.h>
#include <stdint.h>

struct watchdog;

struct data_options {
    const char *path;      /* "synthetic" (uniform random tokens made from the seed), or a file: *.bin is a shard of
                              16-bit little-endian tokens, with or without llm.c's 1,024-byte header (int32 magic
                              20240520, version 1, token count); any other file is read as bytes */
    size_t vocabulary;     /* tokens must be below it */
    size_t context_length; /* T */
    size_t global_batch;   /* sequences in a step of all ranks */
    size_t micro_batches;  /* the batch of a rank is served in this many equal parts (gradient accumulation) */
    uint64_t seed;
    int rank, ranks; /* global_batch is a multiple of ranks * micro_batches */
    int workers;     /* threads that fetch; 0: data_next does it itself, while the caller waits */
    int prefetch;    /* micro-batches that each of them is ahead of the caller, at least 1; unused without workers */
    struct watchdog *watchdog; /* watches the waits for a batch; NULL: none does */
};

struct data; /* a source, its threads, and the micro-batches in memory */

/* Opens the source, checks its share of the tokens against the vocabulary (each rank a disjoint part of the file; of
 * a part that is larger than 2^28 tokens the begin, and the others when they are served) and starts fetching the first
 * batches. Returns 0; or -1, reported, with *data unchanged: the file cannot be read, is empty or shorter than one
 * global batch, is no token shard, or holds a token outside the vocabulary. */
int data_create(struct data **data, const struct data_options *options);
void data_destroy(struct data *data); /* stops the threads, also while they fetch; NULL is fine */

/* Bytes of the micro-batches in memory and of what is kept about each, with B as below: the one that was served last,
 * and workers * prefetch that are being fetched or wait. */
size_t data_bytes(size_t B, size_t T, int workers, int prefetch);

/* Hands over the next micro-batch of this rank: input[B, T] and target[B, T] (the input shifted by one token), with
 * B = global_batch / ranks / micro_batches. They stay valid until the next call; with workers, another one is fetched
 * in place of the one before at once. Which batches are served, and in which order, does not depend on workers and
 * prefetch. A file that can no longer be read is fatal. */
void data_next(struct data *data, const int32_t **input, const int32_t **target);

/* Goes to the start of a step: the next data_next serves the first micro-batch of that step. */
void data_seek(struct data *data, size_t step);

/* Tokens in the source; 0 for synthetic data, which has no end. */
size_t data_tokens(const struct data *data);

/* Whether a path is read as 16-bit tokens (".bin"), as bytes, or made up ("synthetic"), by the name alone. */
enum data_kind { DATA_SYNTHETIC, DATA_BYTES, DATA_TOKENS };
enum data_kind data_kind_of(const char *path);

#endif
