/* files.h - files that are written: calls that a signal interrupts are tried again, and a file that replaces another
 * appears when it is complete. */
#ifndef KERNELS_FILES_H
#define KERNELS_FILES_H

#include <stddef.h>

/* Opens a regular file that is not there yet, or is empty, to write to; what else has that name, also a link, stays as
 * it is. Returns its descriptor; or -1 with errno: EEXIST where the name is taken. */
int files_create(const char *path);

/* Returns 0; or -1 with errno. Either way the descriptor is closed. */
int files_close(int file);

/* Writes n bytes, in as many calls as it takes. Returns 0; or -1 with errno, and then some may be written. */
int files_write(int file, const void *bytes, size_t n);

/* Begins a file that shall have a path: an empty one in the same directory, under a name that no other file has, which
 * is put into temporary[size]; FILES_TEMPORARY more than the path are enough. It is locked as long as it is open, and
 * is removed if a signal ends the process. Returns its descriptor, for files_publish or files_abandon; or -1 with
 * errno.
 */
enum { FILES_TEMPORARY = 24 };
int files_begin(char *temporary, size_t size, const char *path);

/* Syncs a file to the disk, gives it its path, in place of a file that has it, and closes it. Returns 0; or -1 with
 * errno, and then it is removed, unless only closing it failed. */
int files_publish(int file, const char *temporary, const char *path);

/* Closes and removes a file. Returns 0; or -1 with errno, as when a disk was found to be full. */
int files_abandon(int file, const char *temporary);

/* Writes a whole file, or leaves the older one; does not sync it, so that it may be replaced every second. Returns 0;
 * or -1 with errno. */
int files_put(const char *path, const void *bytes, size_t n);

/* Removes from a directory what processes that were killed had begun there, and is no longer locked. */
void files_remove_left(const char *directory);

#endif
