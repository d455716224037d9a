/* data.c - batches, and the threads that fetch them ahead. */
#include "ddp/data.h"

#include "ddp/data_source.h"
#include "kernels/error.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* One micro-batch, in the hands of the caller (the one served last) or of a worker (while it is busy), or waiting. */
struct slot {
    int32_t *input, *target; /* [B, T] */
    uint64_t number;         /* which micro-batch of the whole run this is, from 0 */
    int busy, ready;         /* a worker fills it; it is filled */
    char failure[1024];      /* why it could not be read, or "" */
};

/* What one thread needs to fetch: a worker, or the caller where there is none. */
struct worker {
    struct data *data;
    int32_t *row;       /* [T + 1] tokens of the sequence being fetched */
    unsigned char *raw; /* the same in the file's format */
    pthread_t thread;
};

/* The slots are a ring: the micro-batch after the one that was served last belongs into the slot after its, and so on
 * around to the one before it. A seek changes which numbers belong into the slots, not which slot is next. */
struct data {
    struct source source;
    size_t B;              /* sequences of a micro-batch */
    size_t global_batch;   /* sequences in a step of all ranks */
    size_t micro_batches;  /* in a step of this rank */
    size_t first;          /* of a global batch, the first sequence that is this rank's */
    struct worker *worker; /* [workers] */
    int workers, threads;  /* how many of them have threads: all, or of a single one none */
    struct slot *slot;     /* [slots] */
    size_t slots;
    pthread_mutex_t lock; /* guards what follows, and number, busy and ready of the slots */
    pthread_cond_t wanted, filled;
    uint64_t next; /* the micro-batch that data_next serves next */
    size_t served; /* the slot in the caller's hands */
    int stop;
};

/* ---- the workers ---- */

/* Fills a slot with the micro-batch of its number. */
static void fetch(const struct worker *worker, struct slot *slot)
{
    const struct data *data = worker->data;
    size_t T = data->source.T;
    uint64_t step = slot->number / data->micro_batches, micro_batch = slot->number % data->micro_batches;
    uint64_t place = step * data->global_batch + data->first + micro_batch * data->B;
    slot->failure[0] = 0;
    for (size_t b = 0; b < data->B; b++, place++) {
        if (source_read(&data->source, place, worker->row, worker->raw, slot->failure, sizeof slot->failure))
            return;
        memcpy(slot->input + b * T, worker->row, T * sizeof *worker->row);
        memcpy(slot->target + b * T, worker->row + 1, T * sizeof *worker->row);
    }
}

/* The slot that a worker should fill next, with the number that belongs into it; NULL: there is nothing to do. A slot
 * that is still filled with what a seek has made useless comes in its turn, when that is over. */
static struct slot *find_work(struct data *data)
{
    for (size_t ahead = 0; ahead + 1 < data->slots; ahead++) {
        struct slot *slot = &data->slot[(data->served + 1 + ahead) % data->slots];
        uint64_t number = data->next + ahead;
        if (slot->busy || (slot->ready && slot->number == number))
            continue;
        slot->number = number;
        return slot;
    }
    return NULL;
}

static void *fetch_ahead(void *argument)
{
    const struct worker *worker = argument;
    struct data *data = worker->data;
    pthread_mutex_lock(&data->lock);
    while (!data->stop) {
        struct slot *slot = find_work(data);
        if (!slot) {
            pthread_cond_wait(&data->wanted, &data->lock);
            continue;
        }
        slot->busy = 1;
        slot->ready = 0;
        pthread_mutex_unlock(&data->lock);
        fetch(worker, slot);
        pthread_mutex_lock(&data->lock);
        slot->busy = 0;
        slot->ready = 1;
        pthread_cond_signal(&data->filled);
    }
    pthread_mutex_unlock(&data->lock);
    return NULL;
}

/* Signals are for the training thread. */
static void start_thread(struct worker *worker)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&worker->thread, NULL, fetch_ahead, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        FATAL("cannot start a thread that reads data: %s", strerror(error));
}

/* ---- what the training thread calls ---- */

static size_t slots_for(int workers, int prefetch)
{
    return workers ? (size_t)workers * (size_t)prefetch + 1 : 1;
}

size_t data_bytes(size_t B, size_t T, int workers, int prefetch)
{
    return slots_for(workers, prefetch) * 2 * B * T * sizeof(int32_t);
}

int data_create(struct data **data, const struct data_options *options)
{
    struct source source;
    if (source_open(&source, options))
        return -1;
    struct data *d = allocate(1, sizeof *d);
    d->source = source;
    size_t rank_batch = options->global_batch / (size_t)options->ranks, T = source.T;
    d->B = rank_batch / options->micro_batches;
    d->global_batch = options->global_batch;
    d->micro_batches = options->micro_batches;
    d->first = rank_batch * (size_t)options->rank;
    d->slots = slots_for(options->workers, options->prefetch);
    d->slot = allocate(d->slots, sizeof *d->slot);
    for (struct slot *slot = d->slot; slot < d->slot + d->slots; slot++) {
        slot->input = allocate(d->B * T, sizeof *slot->input);
        slot->target = allocate(d->B * T, sizeof *slot->target);
    }
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->wanted, NULL);
    pthread_cond_init(&d->filled, NULL);
    d->threads = options->workers;
    d->workers = d->threads ? d->threads : 1;
    d->worker = allocate((size_t)d->workers, sizeof *d->worker);
    for (struct worker *worker = d->worker; worker < d->worker + d->workers; worker++) {
        worker->data = d;
        worker->row = allocate(T + 1, sizeof *worker->row);
        worker->raw = allocate(T + 1, 2);
        if (d->threads)
            start_thread(worker);
    }
    *data = d;
    return 0;
}

void data_destroy(struct data *data)
{
    if (!data)
        return;
    pthread_mutex_lock(&data->lock);
    data->stop = 1;
    pthread_cond_broadcast(&data->wanted);
    pthread_mutex_unlock(&data->lock);
    for (struct worker *worker = data->worker; worker < data->worker + data->workers; worker++) {
        if (data->threads)
            pthread_join(worker->thread, NULL);
        free(worker->row);
        free(worker->raw);
    }
    free(data->worker);
    pthread_cond_destroy(&data->wanted);
    pthread_cond_destroy(&data->filled);
    pthread_mutex_destroy(&data->lock);
    source_close(&data->source);
    for (struct slot *slot = data->slot; slot < data->slot + data->slots; slot++) {
        free(slot->input);
        free(slot->target);
    }
    free(data->slot);
    free(data);
}

void data_next(struct data *data, const int32_t **input, const int32_t **target)
{
    pthread_mutex_lock(&data->lock);
    struct slot *slot = &data->slot[(data->served + 1) % data->slots];
    if (!data->threads) {
        slot->number = data->next;
        fetch(data->worker, slot);
    }
    while (data->threads && (!slot->ready || slot->number != data->next))
        pthread_cond_wait(&data->filled, &data->lock);
    if (slot->failure[0])
        FATAL("%s", slot->failure); /* only now: a batch that nobody asks for may be unreadable */
    data->served = (size_t)(slot - data->slot);
    data->next++;
    pthread_mutex_unlock(&data->lock);
    pthread_cond_signal(&data->wanted); /* without the lock, which the thread that wakes up wants at once */
    *input = slot->input;
    *target = slot->target;
}

void data_seek(struct data *data, size_t step)
{
    pthread_mutex_lock(&data->lock);
    data->next = (uint64_t)step * data->micro_batches;
    pthread_cond_broadcast(&data->wanted);
    pthread_mutex_unlock(&data->lock);
}

size_t data_tokens(const struct data *data)
{
    return data->source.tokens;
}
