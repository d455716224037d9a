/* cupti_buffers.h - buffers in which CUPTI delivers records. */
#ifndef KERNELS_CUDA_CUPTI_BUFFERS_H
#define KERNELS_CUDA_CUPTI_BUFFERS_H

#include <stddef.h>

/* A buffer for records, which take from about 50 bytes (calls) to 250 bytes (kernels) each. */
struct cupti_buffer {
    struct cupti_buffer *next;
    size_t valid; /* number of bytes that hold records */
    unsigned char bytes[1 << 20];
};

/* Allocates the usual number of buffers, unless they exist. Buffers are never freed: CUPTI may still hold one after
 * tracing has ended. */
void cupti_buffers_make(void);

/* Returns a zeroed buffer, newly allocated if none is free: without a buffer some versions of CUPTI crash and others
 * drop records. Fatal when memory runs out. Call it from any thread. */
struct cupti_buffer *cupti_buffer_take(void);

/* Zeroes a buffer and returns it to the pool. Call it from any thread. */
void cupti_buffer_put(struct cupti_buffer *buffer);

/* Returns the buffer whose member `bytes` is at that address. The address is all that CUPTI returns. */
struct cupti_buffer *cupti_buffer_of(unsigned char *bytes);

#endif
