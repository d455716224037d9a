/* read_fully.h - reads a range of a file, repeating short and interrupted reads. */
#ifndef DDP_READ_FULLY_H
#define DDP_READ_FULLY_H

#include <stddef.h>

/* Reads bytes [offset, offset + bytes) of a file without changing the file's position. Returns 0; or -1 with errno,
 * which is 0 if the file is too short. */
int read_fully(int fd, void *to, size_t bytes, size_t offset);

#endif
