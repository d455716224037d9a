/* cupti_buffers.c - a growing pool of buffers. */
#include "kernels/cuda/cupti_buffers.h"

#include "kernels/error.h"

#include <pthread.h>
#include <string.h>

static struct {
    pthread_mutex_t lock; /* guards the members below */
    struct cupti_buffer *spare;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

void cupti_buffer_put(struct cupti_buffer *buffer)
{
    memset(buffer->bytes, 0, sizeof buffer->bytes);
    pthread_mutex_lock(&pool.lock);
    buffer->next = pool.spare;
    pool.spare = buffer;
    pthread_mutex_unlock(&pool.lock);
}

void cupti_buffers_make(void)
{
    enum { USUAL = 32 };
    static int made;
    for (; made < USUAL; made++) /* touches the buffers now, not in a timed region */
        cupti_buffer_put(allocate(1, sizeof(struct cupti_buffer)));
}

struct cupti_buffer *cupti_buffer_take(void)
{
    pthread_mutex_lock(&pool.lock);
    struct cupti_buffer *buffer = pool.spare;
    if (buffer)
        pool.spare = buffer->next;
    pthread_mutex_unlock(&pool.lock);
    return buffer ? buffer : allocate(1, sizeof *buffer);
}

struct cupti_buffer *cupti_buffer_of(unsigned char *bytes)
{
    return (struct cupti_buffer *)(void *)(bytes - offsetof(struct cupti_buffer, bytes));
}
