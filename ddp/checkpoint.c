/* checkpoint.c - writes the state of training, and reads it back. */
#include "ddp/checkpoint.h"

#include "ddp/read_fully.h"
#include "ddp/watchdog.h"
#include "kernels/clock.h"
#include "kernels/error.h"
#include "kernels/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARRAYS = 3, PIECE = 1 << 22 }; /* PIECE: floats in a piece, 16 MiB */
static const char *const array_name[ARRAYS] = {"weights", "first moments", "second moments"};

size_t checkpoint_bytes(size_t floats)
{
    return sizeof(struct checkpoint_header) + ARRAYS * floats * sizeof(float);
}

size_t checkpoint_piece_bytes(void)
{
    return PIECE * sizeof(float);
}

static struct checkpoint_header header_of(const struct checkpoint *c, struct training_state t)
{
    const struct model_sizes *sizes = &t.model->sizes;
    return (struct checkpoint_header){.magic = {'D', 'D', 'P', 'B', 'E', 'N', 'C', 'H'},
                                      .version = 2,
                                      .vocabulary = sizes->vocabulary,
                                      .width = sizes->width,
                                      .layers = sizes->layers,
                                      .heads = sizes->heads,
                                      .ff = sizes->ff,
                                      .floats = t.model->parameters,
                                      .seed = c->seed,
                                      .step = t.step,
                                      .update = t.update};
}

/* A part of a tensor of one of the three arrays (weights, first moments, second moments). The file stores pieces one
 * after another: array by array, and in each the tensors in the order of the arena, without the arena's gaps. */
struct piece {
    int array, tensor;
    size_t first, n; /* floats [first, first + n) of the tensor; n is 0 after the last piece */
    size_t at;       /* the number of floats before the piece in the file */
};

/* Returns the piece that follows a piece; NULL: the first one. */
static struct piece next_piece(struct training_state t, const struct piece *before)
{
    const int last = t.model->tensors - 1; /* the arena begins with this tensor */
    struct piece piece = {.tensor = last};
    if (before) {
        piece = *before;
        piece.at += piece.n;
        piece.first += piece.n;
        if (piece.first == t.model->tensor[piece.tensor].count) {
            piece.first = 0;
            piece.tensor--;
        }
        if (piece.tensor < 0) {
            piece.tensor = last;
            piece.array++;
        }
    }
    const struct tensor *tensor = &t.model->tensor[piece.tensor];
    size_t left = piece.array < ARRAYS ? tensor->count - piece.first : 0;
    piece.n = left < PIECE ? left : PIECE;
    return piece;
}

/* ---- shards ---- */

static float *array_of(struct training_state t, int array)
{
    float *const whole[ARRAYS] = {t.model->weight, t.optimizer->m, t.optimizer->v};
    return whole[array];
}

/* Returns this rank's part of a bucket in an array: weights are stored whole, moments range after range. */
static float *own_part(struct training_state t, int array, int bucket)
{
    const struct owned_range *own = reducer_range_of(t.reducer, bucket);
    return array_of(t, array) + (array == 0 ? own->offset : own->at);
}

/* Returns a piece in device memory. With shards, all ranks call it for all pieces in turn, and the call for a bucket's
 * first piece gathers the whole bucket. It is gathered into the gradient, which is not needed any more and whose gaps
 * stay zero. A piece lies in one bucket, because buckets consist of whole matrices. */
static const float *fetch_piece(struct training_state t, const struct piece *piece)
{
    size_t offset = t.model->tensor[piece->tensor].offset + piece->first;
    if (!t.reducer->traits->shards)
        return array_of(t, piece->array) + offset;
    int number = reducer_bucket_of(t.reducer, piece->tensor);
    size_t begin = t.reducer->plan.bucket[number].offset;
    float *gathered = t.model->gradient + begin;
    const struct collective gather = {
        .kind = COMM_ALL_GATHER, .buffer = gathered, .count = reducer_range_of(t.reducer, number)->count, .index = -1};
    if (offset == begin) {
        t.model->device->copy(gathered + (size_t)t.reducer->comm->rank * gather.count,
                              own_part(t, piece->array, number), gather.count);
        t.model->device->synchronize();
        t.reducer->comm->call(t.reducer->comm, &gather, 1);
    }
    return t.model->gradient + offset;
}

/* Copies a piece from host memory to the device. If the strategy shards, copies only the part of moments that this rank
 * owns. */
static void store_piece(struct training_state t, const struct piece *piece, const float *from)
{
    size_t begin = t.model->tensor[piece->tensor].offset + piece->first, end = begin + piece->n;
    if (!t.reducer->traits->shards || piece->array == 0) {
        t.model->device->upload(array_of(t, piece->array) + begin, from, piece->n * sizeof *from);
        return;
    }
    int bucket = reducer_bucket_of(t.reducer, piece->tensor);
    const struct owned_range *own = reducer_range_of(t.reducer, bucket);
    size_t own_end = own->offset + own->count, first = own->offset > begin ? own->offset : begin;
    size_t last = own_end < end ? own_end : end;
    if (first < last)
        t.model->device->upload(own_part(t, piece->array, bucket) + (first - own->offset), from + (first - begin),
                                (last - first) * sizeof *from);
}

void checkpoint_take_part(struct training_state t)
{
    struct piece piece;
    for (piece = next_piece(t, NULL); t.reducer->traits->shards && piece.n; piece = next_piece(t, &piece))
        (void)fetch_piece(t, &piece);
}

/* ---- writing ---- */

/* Writes the state. After an error, or if fd is -1, only takes part in the gathers of the ranks. */
static int write_state(int fd, const struct checkpoint *c, struct training_state t)
{
    int why = fd < 0 ? errno : 0;
    const struct checkpoint_header header = header_of(c, t);
    struct piece piece;
    if (!why && files_write(fd, &header, sizeof header))
        why = errno;
    for (piece = next_piece(t, NULL); piece.n && (!why || t.reducer->traits->shards); piece = next_piece(t, &piece)) {
        const float *on_device = fetch_piece(t, &piece);
        if (why)
            continue;
        t.model->device->download(c->piece, on_device, piece.n * sizeof(float));
        why = files_write(fd, c->piece, piece.n * sizeof(float)) ? errno : 0;
    }
    errno = why;
    return why ? -1 : 0;
}

int checkpoint_write(const char *path, const struct checkpoint *c, struct training_state t)
{
    char temporary[sizeof c->path + FILES_TEMPORARY];
    int fd = files_begin(temporary, sizeof temporary, path), why = 0;
    if (write_state(fd, c, t)) {
        why = errno;
        if (fd >= 0)
            (void)files_abandon(fd, temporary);
    } else if (!why && files_publish(fd, temporary, path)) {
        why = errno;
    }
    if (!why)
        return 0;
    return error_report("--checkpoint-every: cannot write the %.1f MB of %s: %s",
                        1e-6 * (double)checkpoint_bytes(t.model->parameters), path, strerror(why));
}

/* ---- reading ---- */

/* Reads bytes [offset, offset + bytes) of the file. Returns 0; or -1, reported. */
static int read_part(int fd, const char *path, void *to, size_t bytes, size_t offset)
{
    if (!read_fully(fd, to, bytes, offset))
        return 0;
    return error_report("checkpoint %s: cannot read it: %s", path, errno ? strerror(errno) : "it became shorter");
}

/* Reads a piece of the arrays. Returns 0; or -1, reported. */
static int read_piece(int fd, const char *path, void *to, const struct piece *piece)
{
    return read_part(fd, path, to, piece->n * sizeof(float),
                     sizeof(struct checkpoint_header) + piece->at * sizeof(float));
}

/* Checks that the header h, of a file of `bytes` bytes, has the same model and seed as `ours`. Returns 0; or -1,
 * reported. */
static int check_header(const char *path, const struct checkpoint_header *h, size_t bytes,
                        const struct checkpoint_header ours)
{
    if (memcmp(h->magic, ours.magic, sizeof h->magic) != 0)
        return error_report("checkpoint %s: is not a checkpoint of ddpbench", path);
    if (h->version != ours.version)
        return error_report("checkpoint %s: is of version %llu; only version %llu can be read", path,
                            (unsigned long long)h->version, (unsigned long long)ours.version);
    if (h->vocabulary != ours.vocabulary || h->width != ours.width || h->layers != ours.layers ||
        h->heads != ours.heads || h->ff != ours.ff || h->floats != ours.floats || h->seed != ours.seed)
        return error_report("checkpoint %s: is of another model or seed: vocabulary %llu, d_model %llu, %llu layers, "
                            "%llu heads, d_ff %llu, seed %llu",
                            path, (unsigned long long)h->vocabulary, (unsigned long long)h->width,
                            (unsigned long long)h->layers, (unsigned long long)h->heads, (unsigned long long)h->ff,
                            (unsigned long long)h->seed);
    if (bytes != checkpoint_bytes(ours.floats))
        return error_report("checkpoint %s: has %zu bytes and not %zu; was it copied completely?", path, bytes,
                            checkpoint_bytes(ours.floats));
    return 0;
}

/* Opens a file and reads its header, which must match `ours`. Returns a file descriptor; or -1, reported. */
static int open_state(const char *path, const struct checkpoint_header ours, struct checkpoint_header *header)
{
    struct stat status;
    /* O_NONBLOCK: opening a pipe does not wait for a writer; S_ISREG below refuses the pipe */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status)) {
        error_report("checkpoint %s: cannot open it: %s", path, strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        error_report("checkpoint %s: is not a regular file", path);
    } else if ((size_t)status.st_size < sizeof *header) {
        error_report("checkpoint %s: is not a checkpoint of ddpbench: it has only %zu bytes", path,
                     (size_t)status.st_size);
    } else if (!read_part(fd, path, header, sizeof *header, 0) &&
               !check_header(path, header, (size_t)status.st_size, ours)) {
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

int checkpoint_compare(const char *path, const struct checkpoint *c, struct training_state t)
{
    struct checkpoint_header header;
    struct piece piece;
    int fd = open_state(path, header_of(c, t), &header), result = fd < 0 ? -1 : 0;
    if (!result && (header.step != t.step || header.update != t.update))
        result = error_report("checkpoint %s: has step %lld, update %lld, but the trainer is at step %ld, update %ld",
                              path, (long long)header.step, (long long)header.update, t.step, t.update);
    uint32_t *of_file = allocate(PIECE, sizeof *of_file), *of_memory = c->piece;
    for (piece = next_piece(t, NULL); piece.n && (!result || t.reducer->traits->shards);
         piece = next_piece(t, &piece)) {
        size_t at = 0;
        const float *on_device = fetch_piece(t, &piece);
        if (result)
            continue;
        result = read_piece(fd, path, of_file, &piece);
        t.model->device->download(of_memory, on_device, piece.n * sizeof *of_memory);
        while (!result && at < piece.n && of_file[at] == of_memory[at])
            at++;
        if (!result && at < piece.n)
            result = error_report("checkpoint %s: the file differs from memory, first in number %zu of %s in "
                                  "the %s: bits %08x and not %08x",
                                  path, piece.first + at, t.model->tensor[piece.tensor].name, array_name[piece.array],
                                  of_file[at], of_memory[at]);
    }
    free(of_file);
    if (fd >= 0)
        close(fd);
    return result;
}

int checkpoint_restore(const char *path, const struct checkpoint *c, struct training_state *t)
{
    struct checkpoint_header header;
    struct piece piece;
    int fd = open_state(path, header_of(c, *t), &header), result = 0;
    if (fd < 0)
        return -1;
    float *of_file = allocate(PIECE, sizeof *of_file);
    for (piece = next_piece(*t, NULL); !result && piece.n; piece = next_piece(*t, &piece)) {
        result = read_piece(fd, path, of_file, &piece);
        if (!result)
            store_piece(*t, &piece, of_file);
    }
    free(of_file);
    close(fd);
    if (!result) {
        model_weights_changed(t->model);
        t->step = (long)header.step;
        t->update = (long)header.update;
    }
    return result;
}

/* ---- when to save ---- */

int checkpoint_is_due(const struct checkpoint *c, long step)
{
    return c->every && !c->failed && step > 0 && (size_t)step % c->every == 0;
}

void checkpoint_save(struct checkpoint *c, struct training_state t)
{
    const double slowest = 10e6; /* bytes per second; the watchdog tolerates a file system that is this slow */
    double grace_s = (double)checkpoint_bytes(t.model->parameters) / slowest;
    t.model->device->synchronize(); /* afterwards this rank has no collective in flight, and may use MPI */
    int64_t start = clock_now_ns();
    watchdog_wait(c->job->watchdog, "writing a checkpoint", 0, grace_s);
    int failed = c->job->rank == 0 && checkpoint_write(c->path, c, t);
    if (c->job->rank)
        checkpoint_take_part(t);
    watchdog_arrived(c->job->watchdog);
    double seconds = 1e-9 * (double)(clock_now_ns() - start);
    c->failed = job_from_first(c->job, failed, grace_s);
    if (!c->failed) {
        c->seconds += seconds;
        c->saved++;
    }
}

int checkpoint_try(struct checkpoint *c, struct training_state t)
{
    if (!c->every)
        return 0;
    checkpoint_save(c, t);
    if (!c->failed && c->job->rank)
        checkpoint_take_part(t);
    return c->failed || (c->job->rank == 0 && checkpoint_compare(c->path, c, t)) ? -1 : 0;
}
