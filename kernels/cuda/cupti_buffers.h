/* cupti_buffers.h - memory for CUPTI's records on their way. */
#ifndef KERNELS_CUDA_CUPTI_BUFFERS_H
#define KERNELS_CUDA_CUPTI_BUFFERS_H

#include <stddef.h>

/* A record is some 50 bytes (calls) to 250 (kernels). */
struct cupti_buffer {
    struct cupti_buffer *next;
    size_t valid; /* bytes of records */
    unsigned char bytes[1 << 20];
};

/* Makes those that are usually enough, unless they were made before. They live as long as the program: CUPTI may still
 * hold one when tracing has ended. */
void cupti_buffers_make(void);

/* A zeroed one; a new one where none is spare, since some versions of CUPTI crash when they are given none, and others
 * drop records. Fatal when memory runs out. From any thread. */
struct cupti_buffer *cupti_buffer_take(void);

/* Takes one back and zeroes it. From any thread. */
void cupti_buffer_put(struct cupti_buffer *buffer);

/* The buffer whose member `bytes` is at that address: CUPTI gives back no more than that. */
struct cupti_buffer *cupti_buffer_of(unsigned char *bytes);

#endif
