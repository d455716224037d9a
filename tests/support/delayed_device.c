/* delayed_device.c - a device that delays every operation and copy. */
#include "tests/support/delayed_device.h"

#include "kernels/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* An address of the device is a host address with bit 62 set; no valid host address has that bit. */
#define HIDDEN ((uintptr_t)1 << 62)

/* A delayed operation or asynchronous copy: copies bytes, or writes zeros if `from` is NULL. */
struct late {
    char *to;
    const char *from;
    size_t bytes;
    void *own;    /* memory to free after the copy, or NULL */
    size_t after; /* for asynchronous copies: the number of operations that must be done first */
    size_t mark;
};

enum { MOST_LATE = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct late operation[MOST_LATE], copy[MOST_LATE];
static size_t operations, operations_done, copies, copies_done; /* counts; the i-th of each list is at i % MOST_LATE */
static size_t *last_copy, marks;                                /* last_copy[mark]: last copy's number, 0 for none */
static uint64_t dice = 1;
static int wrong, in_stage_in;

static char *shown(const void *device_memory)
{
    return (char *)((uintptr_t)device_memory ^ HIDDEN);
}

static void carry_out(const struct late *l)
{
    if (l->from)
        memcpy(l->to, l->from, l->bytes);
    else
        memset(l->to, 0, l->bytes);
    free(l->own);
}

static void add(struct late list[MOST_LATE], size_t *n, size_t done, struct late late)
{
    if (*n - done == MOST_LATE)
        FATAL("%zu operations or copies are delayed; there is no room for more", *n - done);
    list[(*n)++ % MOST_LATE] = late;
}

static void do_operations(void)
{
    while (operations_done < operations)
        carry_out(&operation[operations_done++ % MOST_LATE]);
}

/* Does a random number of operations and of copies, 0 to 3 each. So stage_reached may find a copy unfinished in one
 * call, and a later copy complete in the next call. */
static void roll(void)
{
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    for (uint64_t left = dice >> 62; left && operations_done < operations; left--)
        carry_out(&operation[operations_done++ % MOST_LATE]);
    for (uint64_t left = dice >> 60 & 3; left && copies_done < copies; left--)
        if (copy[copies_done % MOST_LATE].after <= operations_done)
            carry_out(&copy[copies_done++ % MOST_LATE]);
}

static void *delayed_allocate(size_t bytes)
{
    return shown(allocate(bytes + 1, 1));
}

static void delayed_release(void *memory)
{
    if (!memory)
        return;
    pthread_mutex_lock(&lock);
    do_operations();
    wrong += copies_done != copies;
    pthread_mutex_unlock(&lock);
    free(shown(memory));
}

static void delayed_upload(void *to, const void *from_host, size_t bytes)
{
    char *own = allocate(bytes + 1, 1);
    memcpy(own, from_host, bytes);
    pthread_mutex_lock(&lock);
    add(operation, &operations, operations_done, (struct late){shown(to), own, bytes, own, 0, 0});
    pthread_mutex_unlock(&lock);
}

static void delayed_zero(float *x, size_t n)
{
    pthread_mutex_lock(&lock);
    add(operation, &operations, operations_done, (struct late){shown(x), NULL, n * sizeof *x, NULL, 0, 0});
    pthread_mutex_unlock(&lock);
}

static void delayed_synchronize(void)
{
    pthread_mutex_lock(&lock);
    do_operations();
    pthread_mutex_unlock(&lock);
}

static void delayed_download(void *to_host, const void *from, size_t bytes)
{
    delayed_synchronize();
    memcpy(to_host, shown(from), bytes);
}

static void *delayed_allocate_host(size_t bytes)
{
    return allocate(bytes, 1);
}

static void delayed_release_host(void *memory)
{
    free(memory);
}

static void delayed_staging_create(size_t n)
{
    last_copy = allocate(n, sizeof *last_copy);
    marks = n;
}

static void delayed_staging_destroy(void)
{
    wrong += copies_done != copies;
    free(last_copy);
    marks = 0;
}

static void copy_later(void *to, const void *from, size_t bytes, size_t after, size_t mark)
{
    wrong += mark >= marks;
    add(copy, &copies, copies_done, (struct late){to, bytes ? from : "", bytes, NULL, after, mark});
    if (mark < marks)
        last_copy[mark] = copies;
}

static void delayed_stage_out(void *to_host, const void *from, size_t bytes, size_t mark)
{
    pthread_mutex_lock(&lock);
    copy_later(to_host, shown(from), bytes, operations, mark);
    pthread_mutex_unlock(&lock);
}

static void delayed_stage_in(void *to, const void *from_host, size_t bytes, size_t mark)
{
    pthread_mutex_lock(&lock);
    wrong += in_stage_in++;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    copy_later(shown(to), from_host, bytes, 0, mark);
    in_stage_in--;
    pthread_mutex_unlock(&lock);
}

static int delayed_stage_reached(size_t mark)
{
    pthread_mutex_lock(&lock);
    wrong += mark >= marks;
    roll();
    int reached = mark < marks && copies_done >= last_copy[mark];
    pthread_mutex_unlock(&lock);
    return reached;
}

const struct device *delayed_device(void)
{
    static const struct device table = {
        .name = "delayed",
        .compute_bytes = sizeof(float),
        .asynchronous = 1,
        .allocate = delayed_allocate,
        .release = delayed_release,
        .upload = delayed_upload,
        .download = delayed_download,
        .synchronize = delayed_synchronize,
        .allocate_host = delayed_allocate_host,
        .release_host = delayed_release_host,
        .staging_create = delayed_staging_create,
        .staging_destroy = delayed_staging_destroy,
        .stage_out = delayed_stage_out,
        .stage_in = delayed_stage_in,
        .stage_reached = delayed_stage_reached,
        .zero = delayed_zero,
    };
    return &table;
}

int delayed_device_wrong(void)
{
    pthread_mutex_lock(&lock);
    int n = wrong;
    pthread_mutex_unlock(&lock);
    return n;
}
