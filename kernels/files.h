/* files.h - writes files, repeating interrupted calls, and replaces a file only by a complete one. */
#ifndef KERNELS_FILES_H
#define KERNELS_FILES_H

#include <stddef.h>

/* Creates a regular file to write to, or opens an empty one without other hard links. Returns its descriptor; or -1
 * with errno: EEXIST if anything else has that name, such as a symbolic link. */
int files_create(const char *path);

/* Closes the descriptor. Returns 0; or -1 with errno, but the descriptor is closed even then. */
int files_close(int file);

/* Writes n bytes, in as many calls as needed. Returns 0; or -1 with errno; some bytes may then have been written. */
int files_write(int file, const void *bytes, size_t n);

/* Begins a file that will replace the one at `path`: creates an empty file in the same directory and stores its name in
 * temporary[size], which needs FILES_TEMPORARY bytes more than the path. The file is locked while open, and removed if
 * a signal ends the process. Returns its descriptor, for files_publish or files_abandon; or -1 with errno. */
enum { FILES_TEMPORARY = 24 };
int files_begin(char *temporary, size_t size, const char *path);

/* Syncs the file to the disk, renames it to `path`, replacing any file there, and closes it. Returns 0; or -1 with
 * errno, and then the file is removed, unless only closing failed. */
int files_publish(int file, const char *temporary, const char *path);

/* Closes and removes the file. Returns 0; or -1 with errno, such as a full disk. */
int files_abandon(int file, const char *temporary);

/* Removes the temporary files that killed processes left in a directory: the temporary files that no process has
 * locked. */
void files_remove_left(const char *directory);

/* Runs a program of the PATH with `text` as its input and the descriptor `out` as its output. Returns its exit status
 * (255: a signal ended it); or -1 with errno: ENOENT if there is no such program. argument ends with NULL. */
int files_filter(char *const argument[], const char *text, int out);

#endif
