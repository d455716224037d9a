/* test_data.c - training data: every kind of source, the order of sequences, their division over ranks, and errors.
 *
 * Token i of a test file has the value i. With context length T, a row that starts with n T is therefore sequence n,
 * and batches show the order of sequences. */
#include "ddp/data.h"

#include "kernels/error.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAGIC = 20240520, MAGIC_32 = 20240801 };

static char path[128], bin_path[128];

static void set_up(void)
{
    const char *folder = scratch_make();
    snprintf(path, sizeof path, "%s/text", folder);
    snprintf(bin_path, sizeof bin_path, "%s/shard.bin", folder);
    error_clear();
}

static void write_file(const char *name, const void *content, size_t bytes)
{
    FILE *file = fopen(name, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(content, 1, bytes, file), bytes);
    ck_assert_int_eq(fclose(file), 0);
}

/* Writes n tokens 0, 1, 2, ... as a shard, with `token` at index `at`; unless magic is 0, after magic, version, count.
 * Tokens have 32 bits with MAGIC_32, otherwise 16. */
static void write_shard(size_t n, size_t at, unsigned token, int magic, int version, int count)
{
    size_t width = magic == MAGIC_32 ? 4 : 2;
    unsigned char *content = kept(calloc(1024 + width * n, 1)), *to = content + (magic ? 1024 : 0);
    int32_t header[3] = {magic, version, count};
    if (magic)
        memcpy(content, header, sizeof header);
    for (size_t i = 0; i < n; i++) {
        unsigned value = i == at ? token : (unsigned)i;
        for (size_t byte = 0; byte < width; byte++)
            to[width * i + byte] = (unsigned char)(value >> 8 * byte);
    }
    write_file(bin_path, content, (size_t)(to - content) + width * n);
}

static void write_counting_shard(size_t n)
{
    write_shard(n, n, 0, 0, 0, 0);
}

/* Numbers of workers, on which the tokens of a batch must not depend; larger tests run with each. */
static const int ways[] = {1, 0, 3, 12};
enum { WAYS = sizeof ways / sizeof *ways };
static int way;

static struct data_options options_for(const char *name, size_t vocabulary, size_t T, size_t batch)
{
    return (struct data_options){.path = name,
                                 .vocabulary = vocabulary,
                                 .context_length = T,
                                 .global_batch = batch,
                                 .micro_batches = 1,
                                 .seed = 1,
                                 .rank = 0,
                                 .ranks = 1,
                                 .workers = ways[way]};
}

static struct data *open_data(const struct data_options *options)
{
    struct data *data = NULL;
    ck_assert_msg(data_create(&data, options) == 0, "%s", error_text());
    ck_assert_ptr_nonnull(data);
    ck_assert_str_eq(error_text(), "");
    return data;
}

/* Checks that the batch has every place once, by token, and equal tokens by place. */
static void check_order(const struct batch *batch, size_t n)
{
    const int32_t *order = batch->order, *token = batch->input;
    ck_assert_ptr_eq(order, batch->input + 2 * n);
    for (size_t i = 0; i < n; i++) {
        ck_assert(order[i] >= 0 && (size_t)order[i] < n);
        ck_assert(i == 0 || token[order[i - 1]] < token[order[i]] ||
                  (token[order[i - 1]] == token[order[i]] && order[i - 1] < order[i]));
    }
}

/* Returns the batches of some steps, joined over ranks, [steps, global_batch, T]. Also checks that each target is its
 * input shifted by one token, and the order of the input's tokens. */
static int32_t *joined(struct data_options options, int ranks, size_t micro_batches, size_t steps)
{
    size_t T = options.context_length, B = options.global_batch / (size_t)ranks / micro_batches, part = B * T;
    int32_t *all = kept(malloc(steps * options.global_batch * T * sizeof *all));
    options.ranks = ranks;
    options.micro_batches = micro_batches;
    for (options.rank = 0; options.rank < ranks; options.rank++) {
        struct data *data = open_data(&options);
        for (size_t i = 0; i < steps * micro_batches; i++) {
            struct batch batch = data_next(data);
            const int32_t *input = batch.input, *target = batch.target;
            size_t step = i / micro_batches, place = (size_t)options.rank * micro_batches + i % micro_batches;
            memcpy(all + step * options.global_batch * T + place * part, input, part * sizeof *input);
            for (size_t b = 0; b < B; b++)
                ck_assert_mem_eq(target + b * T, input + b * T + 1, (T - 1) * sizeof *input);
            check_order(&batch, part);
        }
        data_destroy(data);
    }
    return all;
}

TEST(equal_tokens_stay_in_order)
{
    enum { N = 6, V = 1000 };
    static const struct {
        int32_t token[N], order[N];
    } cases[] = {{{3, 1, 3, 0, 1, 3}, {3, 1, 4, 0, 2, 5}},
                 {{7, 7, 7, 7, 7, 7}, {0, 1, 2, 3, 4, 5}},
                 {{999, 500, 400, 2, 1, 0}, {5, 4, 3, 2, 1, 0}}};
    int32_t order[N], count[V];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        batch_sort(order, count, cases[i].token, N, V);
        ck_assert_mem_eq(order, cases[i].order, sizeof order);
    }
}

/* ---- sources ---- */

TEST(kinds_by_name)
{
    ck_assert_int_eq(data_kind_of("synthetic"), DATA_SYNTHETIC);
    ck_assert_int_eq(data_kind_of("./synthetic"), DATA_BYTES);
    ck_assert_int_eq(data_kind_of("a/shard.bin"), DATA_TOKENS);
    ck_assert_int_eq(data_kind_of(".bin"), DATA_TOKENS);
    ck_assert_int_eq(data_kind_of("shard.bin.txt"), DATA_BYTES);
    ck_assert_int_eq(data_kind_of("bin"), DATA_BYTES);
    ck_assert_int_eq(data_kind_of(""), DATA_BYTES);
    data_destroy(NULL);
}

TEST(shards_of_every_kind)
{
    enum { T = 3 }; /* one step takes all sequences */
    static const struct {
        int magic, tokens;
    } shards[] = {{0, 60001}, {MAGIC, 60001}, {MAGIC_32, 66001}}; /* tokens need all bytes of 16 bits, and more */
    for (size_t k = 0; k < sizeof shards / sizeof *shards; k++) {
        const size_t TOKENS = (size_t)shards[k].tokens, BATCH = TOKENS / T;
        write_shard(TOKENS, TOKENS, 0, shards[k].magic, 1, shards[k].tokens);
        struct data_options options = options_for(bin_path, 66001, T, BATCH);
        struct data *data = open_data(&options);
        ck_assert_uint_eq(data_tokens(data), TOKENS);
        struct batch batch = data_next(data);
        const int32_t *input = batch.input, *target = batch.target;
        int wrong = 0;
        for (size_t b = 0; b < BATCH; b++) {
            wrong += input[b * T] % T != 0;
            for (size_t t = 0; t < T; t++)
                wrong += input[b * T + t] != input[b * T] + (int)t || target[b * T + t] != input[b * T] + (int)t + 1;
        }
        ck_assert_int_eq(wrong, 0);
        data_destroy(data);
    }
}

/* All synthetic tokens are about equally frequent (chi-square with 40 degrees of freedom is below its 1e-6 point),
 * another seed gives other tokens, and no two sequences are equal. */
TEST(synthetic_tokens)
{
    enum { V = 41, T = 50, BATCH = 40, STEPS = 10, N = T * BATCH * STEPS };
    struct data_options options = options_for("synthetic", V, T, BATCH);
    int32_t *one = joined(options, 1, 1, STEPS), *again = joined(options, 1, 1, STEPS);
    options.seed = 2;
    int32_t *other = joined(options, 1, 1, STEPS);
    ck_assert_mem_eq(one, again, N * sizeof *one);
    double count[V] = {0}, chi_square = 0;
    int equal = 0;
    for (int i = 0; i < N; i++) {
        ck_assert(one[i] >= 0 && one[i] < V);
        count[one[i]]++;
        equal += one[i] == other[i];
    }
    for (int v = 0; v < V; v++)
        chi_square += (count[v] - N / (double)V) * (count[v] - N / (double)V) / (N / (double)V);
    ck_assert_double_lt(chi_square, 97);
    ck_assert_double_gt(chi_square, 10);
    ck_assert_int_lt(equal, N / V * 2); /* one token in V is equal by chance */
    for (int i = 0; i < BATCH * STEPS; i++)
        for (int j = 0; j < i; j++)
            ck_assert(memcmp(one + i * T, one + j * T, T * sizeof *one) != 0);
    struct data *data = open_data(&options);
    ck_assert_uint_eq(data_tokens(data), 0);
    data_destroy(data);
}

/* ---- order and sharing ---- */

TEST_EACH(joined_batch_is_the_same_for_any_ranks, WAYS)
{
    enum { T = 5, BATCH = 24, STEPS = 7, N = STEPS * BATCH * T };
    write_counting_shard(500); /* 99 sequences are not a multiple of a step: an epoch ends within a step */
    unsigned char text[500];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (unsigned char)(i * i % 251);
    write_file(path, text, sizeof text);
    const char *source[] = {"synthetic", path, bin_path};
    for (int s = 0; s < 3; s++) {
        way = 0;
        int32_t *alone = joined(options_for(source[s], 500, T, BATCH), 1, 1, STEPS);
        way = _i;
        struct data_options options = options_for(source[s], 500, T, BATCH);
        for (int ranks = 1; ranks <= 4; ranks++)
            for (size_t micro_batches = 1; micro_batches <= 6; micro_batches++) {
                if (BATCH % ((size_t)ranks * micro_batches) != 0)
                    continue;
                int32_t *together = joined(options, ranks, micro_batches, STEPS);
                ck_assert_mem_eq(alone, together, N * sizeof *alone);
            }
    }
}

/* Checks that an epoch serves each sequence once, to exactly one rank, and that later epochs repeat the same order. */
static void check_epochs(size_t sequences, size_t batch, int ranks)
{
    enum { T = 3 };
    size_t epochs = 3, steps = (epochs * sequences + batch - 1) / batch;
    write_counting_shard(sequences * T + 1 + sequences % T); /* the last few tokens fill no sequence */
    struct data_options options = options_for(bin_path, 65536, T, batch);
    int32_t *all = joined(options, ranks, 1, steps);
    unsigned char *seen = kept(calloc(sequences, 1));
    for (size_t i = 0; i < steps * batch; i++) {
        int32_t first = all[i * T];
        ck_assert(first % T == 0 && (size_t)first < sequences * T);
        if (i < sequences)
            ck_assert_int_eq(seen[first / T]++, 0);
        else
            ck_assert_int_eq(first, all[(i - sequences) * T]);
    }
}

TEST(each_sequence_once_an_epoch)
{
    static const size_t sequences[] = {1, 2, 3, 4, 5, 12, 16, 17, 64, 65, 100, 1000, 4099};
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
        for (int ranks = 1; ranks <= 4; ranks++)
            for (size_t k = 1; k <= 3; k++) {
                size_t batch = k * (size_t)ranks * (1 + sequences[i] / 100); /* some batches do not divide an epoch */
                if (batch <= sequences[i])
                    check_epochs(sequences[i], batch, ranks);
            }
}

TEST(seed_decides_the_order)
{
    enum { T = 2, N = 1000 };
    write_counting_shard(N * T + 1);
    struct data_options options = options_for(bin_path, 65536, T, N);
    int32_t *row[3];
    for (uint64_t seed = 0; seed < 3; seed++) {
        options.seed = seed;
        row[seed] = joined(options, 1, 1, 1);
        int32_t *again = joined(options, 1, 1, 1);
        ck_assert_mem_eq(row[seed], again, N * T * sizeof *again);
    }
    for (int a = 0; a < 3; a++) {
        int in_place = 0, neighbours = 0, same = 0;
        for (int i = 0; i < N; i++) { /* in random order each count is 1 on average, and above 10 once in 1e8 runs */
            in_place += row[a][i * T] == i * T;
            neighbours += i > 0 && row[a][i * T] == row[a][(i - 1) * T] + T;
            same += row[a][i * T] == row[(a + 1) % 3][i * T];
        }
        ck_assert_int_lt(in_place, 10);
        ck_assert_int_lt(neighbours, 10);
        ck_assert_int_lt(same, 10);
    }
}

/* ---- seek, and lifetime of a batch ---- */

/* Checks that the next micro-batch, input and target, is number i of those recorded in all[][part]. */
static void check_served(struct data *data, const int32_t *all, size_t part, size_t i)
{
    struct batch batch = data_next(data);
    ck_assert_mem_eq(batch.input, all + i * part, part * sizeof *all);
    ck_assert_mem_eq(batch.target, batch.input + 1, sizeof *all);
}

TEST_EACH(seek_goes_to_the_start_of_a_step, WAYS)
{
    enum { T = 4, BATCH = 6, MICRO = 3, STEPS = 20, PART = BATCH / MICRO * T };
    static const size_t targets[] = {0, 7, 7, 3, 16, 0, 1, 15, 2};
    way = _i;
    write_counting_shard(200);
    const char *source[] = {"synthetic", bin_path};
    for (int s = 0; s < 2; s++) {
        struct data_options options = options_for(source[s], 65536, T, BATCH);
        int32_t *all = joined(options, 1, MICRO, STEPS);
        options.micro_batches = MICRO;
        for (int created_anew = 0; created_anew < 2; created_anew++) {
            struct data *data = open_data(&options);
            for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
                data_seek(data, 11); /* only the last seek counts */
                data_seek(data, targets[i]);
                for (size_t j = 0; j < i; j++) /* reads i micro-batches, so that seeks come at any place in a step */
                    check_served(data, all, PART, targets[i] * MICRO + j);
                if (created_anew) {
                    data_destroy(data);
                    data = open_data(&options);
                }
            }
            data_destroy(data);
        }
    }
}

/* A batch stays unchanged until the next call of data_next, even after a seek. */
TEST_EACH(batch_stays_until_the_next_call, WAYS)
{
    enum { T = 64, BATCH = 8, STEPS = 30, PART = T * BATCH };
    const struct timespec pause = {0, 2000000}; /* far longer than a fetch takes */
    way = _i;
    struct data_options options = options_for("synthetic", 1000, T, BATCH);
    int32_t *all = joined(options, 1, 1, STEPS);
    struct data *data = open_data(&options);
    for (size_t i = 0; i < STEPS; i++) {
        data_seek(data, i);
        struct batch batch = data_next(data);
        if (i % 2)
            data_seek(data, i / 2);
        nanosleep(&pause, NULL);
        ck_assert_mem_eq(batch.input, all + i * PART, PART * sizeof *all);
        for (size_t b = 0; b < BATCH; b++)
            ck_assert_mem_eq(batch.target + b * T, batch.input + b * T + 1, (T - 1) * sizeof *all);
        check_order(&batch, PART);
    }
    data_destroy(data);
}

/* After a seek, batches that were being fetched before it are not served. */
TEST_EACH(seek_while_it_fetches, WAYS)
{
    enum { T = 256, BATCH = 128, STEPS = 8 };
    int32_t *all = joined(options_for("synthetic", 1000, T, BATCH), 1, 1, STEPS);
    struct timespec pause = {0, 0};
    way = _i;
    struct data_options options = options_for("synthetic", 1000, T, BATCH);
    struct data *data = open_data(&options);
    for (size_t i = 0; i < 100; i++) {
        data_seek(data, i * 5 % STEPS);
        pause.tv_nsec = (long)i % 7 * 40000;
        nanosleep(&pause, NULL);
        data_seek(data, i * 3 % STEPS);
        ck_assert_mem_eq(data_next(data).input, all + i * 3 % STEPS * BATCH * T, BATCH * T * sizeof *all);
    }
    data_destroy(data);
}

/* Data may be destroyed at any time: before the first batch, or while batches are being fetched. */
TEST_EACH(destroyed_while_it_fetches, WAYS)
{
    struct timespec pause = {0, 0};
    way = _i;
    struct data_options options = options_for("synthetic", 1000, 256, 512);
    for (int i = 0; i < 20; i++) {
        struct data *data = open_data(&options);
        pause.tv_nsec = i * 100000;
        nanosleep(&pause, NULL);
        if (i % 3)
            data_next(data);
        if (i % 3 > 1)
            data_seek(data, 5);
        data_destroy(data);
    }
}

/* ---- errors ---- */

/* Checks that data_create fails with a message of one line that contains these words, and leaves *data unchanged. */
static void refused(const struct data_options *options, const char *const *words)
{
    struct data *const before = (struct data *)&path;
    struct data *data = before;
    error_clear();
    ck_assert_int_eq(data_create(&data, options), -1);
    ck_assert_ptr_eq(data, before);
    for (; *words; words++)
        check_has(error_text(), *words);
    ck_assert_ptr_null(strchr(error_text(), '\n'));
    ck_assert_msg(!strncmp(error_text(), "--data ", 7), "%s", error_text());
    error_clear();
}
#define REFUSED(options, ...) refused(&(options), (const char *const[]){__VA_ARGS__, NULL})

/* Wrong shards are refused; the command-line test of the benchmark tests other errors of files. */
TEST(wrong_shards)
{
    struct data_options options = options_for(bin_path, 65536, 4, 3);
    write_counting_shard(12);
    REFUSED(options, "12 tokens", "needs 13", "--batch-size", "--context-length");
    write_counting_shard(13); /* just enough tokens for a batch */
    data_destroy(open_data(&options));
    int32_t magic = MAGIC;
    write_file(bin_path, "0123456789abcdefghijklmnopqrstuvw", 33);
    REFUSED(options, "33 bytes", "16-bit");
    write_shard(50, 50, 0, MAGIC, 2, 50);
    REFUSED(options, "version 2", "version 1");
    write_shard(50, 50, 0, MAGIC, 1, 51);
    REFUSED(options, "51 tokens of 16 bits", "100 bytes");
    write_shard(50, 50, 0, MAGIC, 1, 49);
    REFUSED(options, "49", "100");
    write_shard(50, 50, 0, MAGIC, 1, -1);
    REFUSED(options, "-1", "100");
    write_file(bin_path, &magic, sizeof magic);
    REFUSED(options, "header", "4 bytes");
    write_shard(50, 50, 0, MAGIC_32, 1, 100); /* the number of tokens that 16-bit tokens would give */
    REFUSED(options, "100 tokens of 32 bits", "200 bytes");
    static const int unknown[] = {20240326, 20240000, 20249999}; /* 20240326: a checkpoint of llm.c */
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        char words[64];
        write_shard(50, 50, 0, unknown[i], 1, 50);
        snprintf(words, sizeof words, "is a file of llm.c of an unknown kind: magic %d;", unknown[i]);
        REFUSED(options, words, "20240520", "20240801");
    }
    const int32_t tokens[7] = {20239999}; /* no date of 2024: 14 tokens of 16 bits, without a header */
    write_file(bin_path, tokens, sizeof tokens);
    data_destroy(open_data(&options));
}

/* Tokens beyond the vocabulary are named, even if they exceed 16 or 31 bits. */
TEST(tokens_beyond_the_vocabulary)
{
    static const struct {
        unsigned token;
        size_t vocabulary;
        int magic;
    } cases[] = {{50257, 50257, 0}, {50257, 50257, MAGIC}, {128256, 128256, MAGIC_32}, {UINT32_MAX, 70000, MAGIC_32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[128];
        struct data_options options = options_for(bin_path, cases[i].vocabulary, 4, 3);
        write_shard(50, 7, cases[i].token, cases[i].magic, 1, 50);
        snprintf(words, sizeof words, "token %u at position 7 is not below the vocabulary of %zu (--vocab-size)",
                 cases[i].token, cases[i].vocabulary);
        REFUSED(options, words);
    }
}

/* Exactly one rank finds a wrong token, wherever the token is. */
TEST(ranks_check_disjoint_parts)
{
    enum { TOKENS = 150001 }; /* each rank reads several times; 2, 3 and 4 do not divide TOKENS */
    static const size_t places[] = {0,     1,     37499, 37500, 49999,  50000,  65535,
                                    65536, 74999, 75000, 99999, 100000, 112500, 150000};
    char *text = kept(malloc(TOKENS)), position[64];
    memset(text, 'a', TOKENS);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        text[places[i]] = 'z';
        write_file(path, text, TOKENS);
        text[places[i]] = 'a';
        snprintf(position, sizeof position, "token 122 at position %zu ", places[i]);
        for (int ranks = 1; ranks <= 4; ranks++) {
            struct data_options options = options_for(path, 'b', 7, 12);
            int found = 0;
            options.ranks = ranks;
            for (options.rank = 0; options.rank < ranks; options.rank++) {
                struct data *data = NULL;
                error_clear();
                if (data_create(&data, &options) == -1) {
                    found++;
                    check_has(error_text(), position);
                }
                data_destroy(data);
            }
            ck_assert_int_eq(found, 1);
        }
    }
    error_clear();
}

/* A token that leaves the vocabulary after the file was checked ends the process with status 1, not with a crash. */
TEST_RANGE(a_token_that_changes_is_fatal, 1, 0, WAYS)
{
    static char text[20001];
    way = _i;
    memset(text, 'a', sizeof text);
    write_file(path, text, sizeof text);
    struct data_options options = options_for(path, 128, 200, 1);
    struct data *data = open_data(&options);
    int file = open(path, O_WRONLY);
    ck_assert_int_eq(pwrite(file, "\377", 1, 1000), 1);
    close(file);
    scratch_remove_all(); /* the expected exit skips the tear-down */
    for (int i = 0; i < 100; i++)
        data_next(data);
}

SUITE("data", set_up, scratch_remove_all)
