/* read_fully.h - a part of a file, whole. */
#ifndef DDP_READ_FULLY_H
#define DDP_READ_FULLY_H

#include <stddef.h>

/* Reads the bytes [offset, offset + bytes) of a file, and leaves its position. Returns 0; or -1 with errno, which is 0
 * where the file ends before. */
int read_fully(int fd, void *to, size_t bytes, size_t offset);

#endif
