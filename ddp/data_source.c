/* data_source.c - sources of tokens, and the order of their sequences. */
#include "ddp/data_source.h"

#include "ddp/read_fully.h"
#include "kernels/error.h"
#include "kernels/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* llm.c's token shards: a header of 256 int32 (this program reads the first three), then the tokens. */
static const struct {
    int32_t magic;
    size_t token_bytes;
} shards[] = {{20240520, 2}, {20240801, 4}}; /* for the tokenizers of GPT-2 and of Llama 3 */
#define LLM_C_YEAR         2024              /* every file of llm.c begins with a date of this year, such as 20240520 */
#define SHARD_VERSION      1
#define SHARD_HEADER_BYTES 1024

#define SCAN_TOKENS 65536             /* tokens that check_tokens reads at a time */
#define SCAN_MOST   ((size_t)1 << 28) /* the most tokens checked at the start; this takes less than a second */

/* ---- random numbers that depend only on the seed and a position, and so are the same on every rank ---- */

static uint64_t random_at(uint64_t seed, uint64_t a, uint64_t b)
{
    const uint64_t step = RANDOM_STEP;
    return random_bits(random_bits(random_bits(seed + step) + a * step) + (b + 1) * step);
}

/* Returns the position of i < n after a shuffle of 0..n-1 determined by the seed. A Feistel network (Luby and Rackoff,
 * SIAM J. Comput. 17 (1988) 373-386) permutes the numbers below a power of 4 that is at most 4 n; repeating it until
 * the result is below n gives a permutation of n without a table (Black and Rogaway, CT-RSA 2002). */
static size_t permute(size_t i, size_t n, uint64_t seed)
{
    enum { ROUNDS = 6 };
    int half = 1; /* number of bits in one half of i */
    while (half < 32 && (uint64_t)n > (uint64_t)1 << 2 * half)
        half++;
    const uint64_t mask = ((uint64_t)1 << half) - 1;
    uint64_t x = i;
    do {
        uint64_t left = x >> half, right = x & mask;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            uint64_t next = left ^ (random_at(seed, round, right) & mask);
            left = right;
            right = next;
        }
        x = left << half | right;
    } while (x >= n);
    return (size_t)x;
}

/* ---- reading tokens ---- */

/* Reads tokens [position, position + n) of a file; raw is scratch memory. Returns the first index in token[n] of a
 * token outside the vocabulary, or n if there is none; or n + 1 if reading failed, with errno as read_fully sets it. */
static size_t read_tokens(const struct source *source, int32_t *token, unsigned char *raw, size_t n, size_t position)
{
    size_t width = source->token_bytes, good = n;
    if (read_fully(source->fd, raw, n * width, source->header_bytes + position * width))
        return n + 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t value = 0;
        for (size_t byte = width; byte-- > 0;)
            value = value << 8 | raw[i * width + byte];
        token[i] = (int32_t)value;
        if (value >= source->vocabulary && good == n)
            good = i;
    }
    return good;
}

/* Describes, in text[bytes], the error for which read_tokens(..., n, position) returned `good`. */
static void describe_bad_token(char *text, size_t bytes, const struct source *source, const int32_t *token, size_t n,
                               size_t good, size_t position)
{
    if (good < n)
        snprintf(text, bytes, "--data %s: token %u at position %zu is not below the vocabulary of %zu (--vocab-size)",
                 source->path, (unsigned)token[good], position + good, source->vocabulary);
    else if (errno)
        snprintf(text, bytes, "--data %s: cannot read tokens %zu to %zu: %s", source->path, position, position + n - 1,
                 strerror(errno));
    else
        snprintf(text, bytes, "--data %s: the file ends before token %zu, but had %zu tokens when it was opened",
                 source->path, position + n - 1, source->tokens);
}

/* ---- opening ---- */

enum data_kind data_kind_of(const char *path)
{
    size_t n = strlen(path);
    if (!strcmp(path, "synthetic"))
        return DATA_SYNTHETIC;
    return n >= 4 && !strcmp(path + n - 4, ".bin") ? DATA_TOKENS : DATA_BYTES;
}

/* Sets source->token_bytes and header_bytes from the header of a token file, if it has one, after checking the header
 * and the size of the file. Returns 0; or -1, reported. */
static int read_header(struct source *source, size_t file_bytes)
{
    unsigned char raw[12] = {0};
    int32_t field[3];
    size_t bytes = file_bytes < sizeof raw ? file_bytes : sizeof raw, kind = 0;
    if (read_fully(source->fd, raw, bytes, 0))
        return error_report("--data %s: cannot read it: %s", source->path,
                            errno ? strerror(errno) : "it became shorter");
    for (size_t i = 0; i < 3; i++)
        field[i] = (int32_t)(raw[4 * i] | (uint32_t)raw[4 * i + 1] << 8 | (uint32_t)raw[4 * i + 2] << 16 |
                             (uint32_t)raw[4 * i + 3] << 24);
    if (field[0] / 10000 != LLM_C_YEAR) { /* no header: tokens begin at byte 0 */
        source->token_bytes = 2;
        return file_bytes % 2 == 0 ? 0
                                   : error_report("--data %s: %zu bytes is an odd size; a .bin file without llm.c's "
                                                  "header holds 16-bit tokens",
                                                  source->path, file_bytes);
    }
    while (kind < sizeof shards / sizeof *shards && shards[kind].magic != field[0])
        kind++;
    if (kind == sizeof shards / sizeof *shards)
        return error_report(
            "--data %s: is a file of llm.c of an unknown kind: magic %d; allowed: token shards of magic "
            "%d (16-bit tokens) and %d (32-bit tokens)",
            source->path, (int)field[0], (int)shards[0].magic, (int)shards[1].magic);
    size_t width = shards[kind].token_bytes;
    if (file_bytes < SHARD_HEADER_BYTES)
        return error_report("--data %s: begins like a token shard with a header of %d bytes, but has only %zu bytes",
                            source->path, SHARD_HEADER_BYTES, file_bytes);
    if (field[1] != SHARD_VERSION)
        return error_report("--data %s: is a token shard of version %d; this program reads version %d", source->path,
                            (int)field[1], SHARD_VERSION);
    size_t token_bytes = file_bytes - SHARD_HEADER_BYTES;
    if (field[2] < 0 || (size_t)field[2] * width != token_bytes)
        return error_report("--data %s: its header promises %d tokens of %zu bits, but %zu bytes follow; was it copied "
                            "completely?",
                            source->path, (int)field[2], 8 * width, token_bytes);
    source->token_bytes = width;
    source->header_bytes = SHARD_HEADER_BYTES;
    return 0;
}

/* Opens the file and counts its tokens. With O_NONBLOCK opening does not wait for the
 * writer of a pipe; S_ISREG then refuses the pipe. */
static int open_file(struct source *source)
{
    struct stat status;
    source->fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (source->fd < 0 || fstat(source->fd, &status))
        return error_report("--data %s: cannot open it: %s (allowed: a file, or the word synthetic)", source->path,
                            strerror(errno));
    if (!S_ISREG(status.st_mode))
        return error_report("--data %s: is %s; allowed: a file, or the word synthetic", source->path,
                            S_ISDIR(status.st_mode) ? "a directory" : "not a regular file");
    size_t file_bytes = (size_t)status.st_size;
    if (file_bytes == 0)
        return error_report("--data %s: is empty", source->path);
    if (source->kind == DATA_TOKENS && read_header(source, file_bytes))
        return -1;
    source->tokens = (file_bytes - source->header_bytes) / source->token_bytes;
    return 0;
}

/* Checks the tokens of this rank's part of the file, at most SCAN_MOST, against the vocabulary. */
static int check_tokens(const struct source *source, int rank, int ranks)
{
    if ((uint64_t)source->vocabulary >> 8 * source->token_bytes)
        return 0; /* no token can be outside the vocabulary */
    size_t part = source->tokens / (size_t)ranks, position = part * (size_t)rank;
    size_t end = rank + 1 < ranks ? position + part : source->tokens;
    if (end - position > SCAN_MOST)
        end = position + SCAN_MOST;
    int32_t *token = allocate(SCAN_TOKENS, sizeof *token);
    unsigned char *raw = allocate(SCAN_TOKENS, source->token_bytes);
    int result = 0;
    while (position < end && !result) {
        size_t n = end - position < SCAN_TOKENS ? end - position : SCAN_TOKENS;
        size_t good = read_tokens(source, token, raw, n, position);
        if (good != n) {
            char text[1024];
            describe_bad_token(text, sizeof text, source, token, n, good, position);
            result = error_report("%s", text);
        }
        position += n;
    }
    free(token);
    free(raw);
    return result;
}

int source_open(struct source *source, const struct data_options *options)
{
    size_t T = options->context_length, batch = options->global_batch, bytes = strlen(options->path) + 1;
    *source = (struct source){.kind = data_kind_of(options->path),
                              .path = memcpy(allocate(bytes, 1), options->path, bytes), /* owned by the source */
                              .fd = -1,
                              .token_bytes = 1,
                              .T = T,
                              .vocabulary = options->vocabulary,
                              .seed = options->seed};
    if (source->kind == DATA_SYNTHETIC)
        return 0;
    int result = open_file(source);
    if (!result) {
        source->sequences = source->tokens ? (source->tokens - 1) / T : 0;
        if (source->sequences < batch)
            result = error_report("--data %s: has %zu tokens, but one batch needs %zu (--batch-size %zu times "
                                  "--context-length %zu, plus 1)",
                                  source->path, source->tokens, batch * T + 1, batch, T);
    }
    if (!result)
        result = check_tokens(source, options->rank, options->ranks);
    if (result)
        source_close(source);
    return result;
}

void source_close(struct source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    free(source->path);
}

/* ---- sequences ---- */

int source_read(const struct source *source, uint64_t place, int32_t *row, unsigned char *raw, char *failure,
                size_t failure_bytes)
{
    size_t n = source->T + 1;
    if (source->kind == DATA_SYNTHETIC) {
        for (size_t t = 0; t < n; t++)
            row[t] = (int32_t)((random_at(source->seed, place, t) >> 32) * source->vocabulary >> 32);
        return 0;
    }
    size_t position = permute(place % source->sequences, source->sequences, source->seed) * source->T;
    size_t good = read_tokens(source, row, raw, n, position);
    if (good == n)
        return 0;
    describe_bad_token(failure, failure_bytes, source, row, n, good, position);
    return -1;
}
