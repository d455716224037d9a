/* files.h - writes files: repeats calls that a signal interrupted, and replaces a file only by one that is complete. */
#ifndef KERNELS_FILES_H
#define KERNELS_FILES_H

#include <stddef.h>

/* Creates a regular file to write to, or opens one that is empty and has no other hard link; anything else of that
 * name, also a symbolic link, is left alone. Returns its descriptor; or -1 with errno: EEXIST where the name is taken.
 */
int files_create(const char *path);

/* Returns 0; or -1 with errno. Either way the descriptor is closed. */
int files_close(int file);

/* Writes n bytes, in as many calls as it takes. Returns 0; or -1 with errno, and then some may be written. */
int files_write(int file, const void *bytes, size_t n);

/* Begins a file that is to have a path: creates an empty one in the same directory, under a name of its own, which goes
 * into temporary[size]; a path and FILES_TEMPORARY more fit. The file is locked while it is open, and removed if a
 * signal ends the process. Returns its descriptor, for files_publish or files_abandon; or -1 with errno. */
enum { FILES_TEMPORARY = 24 };
int files_begin(char *temporary, size_t size, const char *path);

/* Syncs a file to the disk, gives it its path, in place of a file that has it, and closes it. Returns 0; or -1 with
 * errno, and then it is removed, unless only closing it failed. */
int files_publish(int file, const char *temporary, const char *path);

/* Closes and removes a file. Returns 0; or -1 with errno, as when a disk was found to be full. */
int files_abandon(int file, const char *temporary);

/* Writes a whole file, or leaves the older one. Does not sync it, so that it can be replaced every second. Returns 0;
 * or -1 with errno. */
int files_put(const char *path, const void *bytes, size_t n);

/* Removes the files that killed processes have begun in a directory and left: those that no process has locked. */
void files_remove_left(const char *directory);

#endif
