/* files.h - files that are written: calls that a signal interrupts are tried again. */
#ifndef KERNELS_FILES_H
#define KERNELS_FILES_H

#include <stddef.h>

/* Creates an empty regular file to write to, in place of whatever has that name: a pipe, a device or what a symbolic
 * link points at is not written to. Returns its descriptor; or -1 with errno. */
int files_create(const char *path);

/* Returns 0; or -1 with errno. Either way the descriptor is closed. */
int files_close(int file);

/* Writes n bytes, in as many calls as it takes. Returns 0; or -1 with errno, and then some may be written. */
int files_write(int file, const void *bytes, size_t n);

/* Closes a file that files_create made at `temporary`, and gives it its name, in place of a file that has it. Returns
 * 0; or -1 with errno, and then it is removed: EBUSY where another process has begun to write at `temporary`, too. */
int files_publish(int file, const char *temporary, const char *path);

/* Writes a whole file, or leaves the older one, by way of PATH.tmp. Returns 0; or -1 with errno. */
int files_put(const char *path, const void *bytes, size_t n);

#endif
