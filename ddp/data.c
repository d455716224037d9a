/* data.c - serves batches, and runs the threads that fetch them in advance. */
#include "ddp/data.h"

#include "ddp/data_source.h"
#include "ddp/watchdog.h"
#include "kernels/error.h"
#include "kernels/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Memory for one micro-batch. The caller of data_next uses the slot served last; workers fill the busy slots. */
struct slot {
    struct batch batch;
    uint64_t number; /* index of the micro-batch in the whole run, from 0 */
    int busy, ready; /* busy: a worker is filling the slot; ready: the worker has finished or failed */
    int failed;      /* the micro-batch could not be read */
};

/* The state of one thread that fetches micro-batches. */
struct worker {
    struct data *data;
    int32_t *row;       /* [T + 1] tokens of the sequence being fetched */
    unsigned char *raw; /* the tokens of the sequence in the file's format */
    int32_t *count;     /* [vocabulary] scratch memory of batch_sort */
    pthread_t thread;
};

/* A source of tokens, the threads that read it, and a ring of slots, served in turn: micro-batch next + i belongs in
 * the slot i + 1 places after the one served last. data_seek changes `next`, but not which slot is served next. */
struct data {
    struct source source;
    size_t B;              /* sequences in a micro-batch */
    size_t global_batch;   /* sequences in one step, over all ranks */
    size_t micro_batches;  /* micro-batches of this rank in one step */
    size_t first;          /* the first sequence of this rank in a global batch */
    struct worker *worker; /* [workers + 1]; the last one has no thread: data_next uses it */
    int workers;
    struct slot *slot; /* [slots] */
    size_t slots;
    int32_t *tokens; /* [slots, BATCH_ARRAYS, B, T] */
    struct watchdog *watchdog;
    pthread_mutex_t lock; /* guards the members below, and number, busy and ready of the slots */
    pthread_cond_t wanted, filled;
    uint64_t next;    /* the micro-batch that data_next serves next */
    uint64_t planned; /* micro-batches in [next, planned) are fetched or being fetched */
    size_t served;    /* index of the slot served last */
    int stop;
};

struct batch batch_in(int32_t *memory, size_t tokens)
{
    return (struct batch){memory, memory + tokens, memory + 2 * tokens};
}

void batch_sort(int32_t *order, int32_t *count, const int32_t *token, size_t N, size_t V)
{
    int32_t next = 0; /* count[v] becomes the place of the next token v */
    memset(count, 0, V * sizeof *count);
    for (size_t i = 0; i < N; i++)
        count[token[i]]++;
    for (size_t v = 0; v < V; v++) {
        int32_t place = next;
        next += count[v];
        count[v] = place;
    }
    for (size_t i = 0; i < N; i++)
        order[count[token[i]]++] = (int32_t)i;
}

/* ---- the workers ---- */

/* Fills a slot with its micro-batch. Returns 0; or -1 with a message in failure if it cannot be read. */
static int fetch_batch(const struct worker *worker, struct slot *slot, char *failure, size_t failure_bytes)
{
    const struct data *data = worker->data;
    size_t T = data->source.T;
    uint64_t step = slot->number / data->micro_batches, micro_batch = slot->number % data->micro_batches;
    uint64_t place = step * data->global_batch + data->first + micro_batch * data->B;
    for (size_t b = 0; b < data->B; b++, place++) {
        if (source_read(&data->source, place, worker->row, worker->raw, failure, failure_bytes))
            return -1;
        memcpy(slot->batch.input + b * T, worker->row, T * sizeof *worker->row);
        memcpy(slot->batch.target + b * T, worker->row + 1, T * sizeof *worker->row);
    }
    batch_sort(slot->batch.order, worker->count, slot->batch.input, data->B * T, data->source.vocabulary);
    return 0;
}

/* Returns the slot that a worker should fill next, with its number set; NULL if there is nothing to do. Skips a slot
 * that a worker is still filling with a micro-batch from before a data_seek. */
static struct slot *find_work(struct data *data)
{
    if (data->planned < data->next)
        data->planned = data->next;
    for (uint64_t number = data->planned; number - data->next + 1 < data->slots; number++) {
        struct slot *slot = &data->slot[(data->served + 1 + (number - data->next)) % data->slots];
        int planned = slot->number == number && (slot->busy || slot->ready);
        if (!planned && slot->busy)
            continue; /* a worker is still filling the slot with a micro-batch from before a data_seek */
        data->planned += number == data->planned;
        if (!planned) {
            slot->number = number;
            return slot;
        }
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
        slot->failed = fetch_batch(worker, slot, NULL, 0) != 0;
        pthread_mutex_lock(&data->lock);
        slot->busy = 0;
        slot->ready = 1;
        pthread_cond_signal(&data->filled);
    }
    pthread_mutex_unlock(&data->lock);
    return NULL;
}

/* ---- functions for the training thread ---- */

size_t data_bytes(size_t B, size_t T, size_t V, int workers)
{
    return ((size_t)workers + 1) * (sizeof(struct slot) + (BATCH_ARRAYS * B * T + V) * sizeof(int32_t));
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
    d->slots = (size_t)options->workers + 1;
    d->slot = allocate(d->slots, sizeof *d->slot);
    d->tokens = allocate(d->slots, BATCH_ARRAYS * d->B * T * sizeof *d->tokens);
    for (size_t i = 0; i < d->slots; i++)
        d->slot[i].batch = batch_in(d->tokens + i * BATCH_ARRAYS * d->B * T, d->B * T);
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->wanted, NULL);
    pthread_cond_init(&d->filled, NULL);
    d->watchdog = options->watchdog;
    d->workers = options->workers;
    d->worker = allocate((size_t)d->workers + 1, sizeof *d->worker);
    for (struct worker *worker = d->worker; worker <= d->worker + d->workers; worker++) {
        worker->data = d;
        worker->row = allocate(T + 1, sizeof *worker->row);
        worker->raw = allocate(T + 1, source.token_bytes);
        worker->count = allocate(source.vocabulary, sizeof *worker->count);
        if (worker < d->worker + d->workers)
            threads_start(&worker->thread, fetch_ahead, worker, "a thread that reads data");
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
    for (struct worker *worker = data->worker; worker <= data->worker + data->workers; worker++) {
        if (worker < data->worker + data->workers)
            pthread_join(worker->thread, NULL);
        free(worker->row);
        free(worker->raw);
        free(worker->count);
    }
    free(data->worker);
    pthread_cond_destroy(&data->wanted);
    pthread_cond_destroy(&data->filled);
    pthread_mutex_destroy(&data->lock);
    source_close(&data->source);
    free(data->tokens);
    free(data->slot);
    free(data);
}

struct batch data_next(struct data *data)
{
    char failure[1024];
    pthread_mutex_lock(&data->lock);
    struct slot *slot = &data->slot[(data->served + 1) % data->slots];
    watchdog_wait(data->watchdog, "the next batch of --data", 0, 0);
    while (data->workers && (!slot->ready || slot->number != data->next))
        pthread_cond_wait(&data->filled, &data->lock);
    slot->number = data->next;
    /* A read that failed in a worker is fatal only when its batch is needed; reading again gives the message. */
    if ((!data->workers || slot->failed) && fetch_batch(&data->worker[data->workers], slot, failure, sizeof failure))
        FATAL("%s", failure);
    watchdog_arrived(data->watchdog);
    data->served = (size_t)(slot - data->slot);
    data->next++;
    pthread_mutex_unlock(&data->lock);
    pthread_cond_signal(&data->wanted); /* the signal follows the unlocking, because the woken thread locks at once */
    return slot->batch;
}

void data_seek(struct data *data, size_t step)
{
    pthread_mutex_lock(&data->lock);
    data->next = data->planned = (uint64_t)step * data->micro_batches;
    pthread_cond_broadcast(&data->wanted);
    pthread_mutex_unlock(&data->lock);
}

size_t data_tokens(const struct data *data)
{
    return data->source.tokens;
}
