/* data.h - reads or generates tokens, and fetches the next batches during training.
 *
 * A source is an array of sequences of T + 1 tokens. An epoch visits sequence perm(j) at position j; the seed
 * determines the permutation, which is the same in every epoch. Step s trains on a global batch, the G sequences at
 * positions [s * G, (s + 1) * G); a batch that reaches the end of an epoch continues in the next one. Rank r of R takes
 * the r-th part of each global batch, so ranks read disjoint sequences and the global batch is the same for any number
 * of ranks. */
#ifndef DDP_DATA_H
#define DDP_DATA_H

#include <stddef.h>
#include <stdint.h>

struct watchdog;

struct data_options {
    const char *path;      /* "synthetic" (uniform random tokens made from the seed), or a file. *.bin is a shard of
                              little-endian tokens. Without a header they have 16 bits; with llm.c's 1,024-byte header
                              (int32 magic, version 1, token count) they have 16 bits for magic 20240520 and 32 bits
                              for 20240801. Any other file is read as bytes */
    size_t vocabulary;     /* tokens must be smaller than this */
    size_t context_length; /* T, tokens in an input sequence */
    size_t global_batch;   /* sequences in one step, over all ranks */
    size_t micro_batches;  /* the batch of a rank is served in this many equal parts (gradient accumulation) */
    uint64_t seed;
    int rank, ranks; /* global_batch is a multiple of ranks * micro_batches */
    int workers;     /* threads that each fetch a micro-batch ahead; 0: data_next fetches, while the caller waits */
    struct watchdog *watchdog; /* limits how long data_next waits for a batch; NULL: no limit */
};

struct data; /* a source, its threads, and the micro-batches in memory */

/* A micro-batch: BATCH_ARRAYS arrays of [B, T], which lie one after another, so that one copy from `input` on moves all
 * of them to a device. */
enum { BATCH_ARRAYS = 3 };
struct batch {
    int32_t *input;  /* tokens */
    int32_t *target; /* the input shifted by one token */
    int32_t *order;  /* the numbers 0 to B * T - 1 of the tokens of `input`, as embedding_backward needs them: sorted by
                        token, those of equal tokens in ascending order */
};

/* Returns the batch of `tokens` tokens whose arrays are in memory[BATCH_ARRAYS * tokens]. */
struct batch batch_in(int32_t *memory, size_t tokens);

/* Sorts as in batch.order: order[N] becomes the numbers of the tokens token[N], which are below V, in O(N + V) steps.
 * Overwrites count[V]. */
void batch_sort(int32_t *order, int32_t *count, const int32_t *token, size_t N, size_t V);

/* Opens the source, checks this rank's part of the file against the vocabulary (at most 2^28 tokens; further ones are
 * checked when they are served) and starts to fetch the first batches. Returns 0; or -1, reported, with *data
 * unchanged, if the file cannot be read, is empty or shorter than one global batch, is not a token shard, or has a
 * token outside the vocabulary. */
int data_create(struct data **data, const struct data_options *options);
void data_destroy(struct data *data); /* ends the threads after fetches in progress; NULL is fine */

/* Returns the bytes of memory for micro-batches [B, T], the one served last and one for each worker, and for sorting
 * tokens below V. */
size_t data_bytes(size_t B, size_t T, size_t V, int workers);

/* Returns the next micro-batch of this rank, with B = global_batch / ranks / micro_batches. Its arrays, which the
 * caller only reads, are valid until the next call; workers then overwrite them. The batches and their order do not
 * depend on the number of workers. A file that can no longer be read is fatal. */
struct batch data_next(struct data *data);

/* Continues at the start of a step: the next data_next serves the first micro-batch of that step. */
void data_seek(struct data *data, size_t step);

/* Returns the number of tokens in the source; 0 for synthetic data, which is unlimited. */
size_t data_tokens(const struct data *data);

/* The format of a file, determined by the name of its path: tokens (".bin"), bytes, or none ("synthetic"). */
enum data_kind { DATA_SYNTHETIC, DATA_BYTES, DATA_TOKENS };
enum data_kind data_kind_of(const char *path);

#endif
