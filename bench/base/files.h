/* files.h - directories, reading files with limits, and writing files that get their name once they are complete. */
#ifndef BENCH_BASE_FILES_H
#define BENCH_BASE_FILES_H

#include "kernels/files.h"

#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

enum { FILES_PATH = 800 };

/* Makes a directory and its parents. Returns 0; or -1, reported with the option that named it. */
int files_make_directories(const char *option, const char *path);

/* Limits on reading: a file of lines, which may hold 100,000 steps, and a line. */
#define FILES_MOST_BYTES ((size_t)8 << 30)
#define FILES_MOST_LINE  ((size_t)4 << 20)

/* Opens a regular file of at most `most` bytes for reading, without waiting; the caller closes it. Or NULL, with the
 * reason as text. */
enum { FILES_WHY = 100 };
FILE *files_open(const char *path, size_t most, char why[FILES_WHY]);

/* Like getline, but returns a line longer than FILES_MOST_LINE in pieces. Returns the length; or -1 at the end or after
 * an error (ferror). */
ssize_t files_read_line(char **line, size_t *room, FILE *file);

/* Finds the paths that match directory/pattern, sorted; only the pattern has special characters (glob(3)). Returns how
 * many. Release *found with globfree in any case. */
size_t files_find(glob_t *found, const char *directory, const char *pattern);

/* A file that is being written: it has a temporary name until it is complete. */
struct new_file {
    char path[FILES_PATH], temporary[FILES_PATH + FILES_TEMPORARY]; /* temporary "": it is not open */
    struct gzFile_s *gzip;                                          /* compresses it; NULL: it is as it was written */
    int file;
};

/* Begins a file in a directory of this run, compressed by gzip or not. Returns 0; or -1, reported. */
int new_file_open(struct new_file *file, const char *path, int gzip);

/* Appends n bytes. Returns 0; or -1, reported. */
int new_file_write(struct new_file *file, const char *text, size_t n);

/* Gives the file its name, which replaces an older file; or removes it, if `failed` or if that fails: then the older
 * file stays. Returns 0; or -1, reported unless `failed`, also for a file that could not be opened. */
int new_file_end(struct new_file *file, int failed);

/* Writes text to directory/name in a directory of this run, completely or not at all. Returns 0; or -1, reported. */
int files_replace(const char *directory, const char *name, const char *text);

/* Checks that a path that an option named can be written, by writing a temporary file; call it before the work that
 * makes the content. A file that exists may be replaced only if it is empty, or if a line in its first FILES_MARKED
 * bytes begins with the mark, as in all files that this program writes there. Also removes temporary files of killed
 * processes from the directory. Returns 0; or -1, reported with the option. */
enum { FILES_MARKED = 1024 };
int files_check_path(const char *option, const char *path, const char *mark);

/* Writes text to a path that files_check_path allows, completely or not at all. Returns 0; or -1, reported. */
int files_replace_path(const char *option, const char *path, const char *mark, const char *text);

/* Locks a directory that an option named, until *lock is closed. Does nothing on a file system without locks, or with
 * *lock -1 if the directory cannot be opened. Returns 0; or -1, reported, if another process has locked it. */
int files_lock_directory(const char *option, const char *directory, int *lock);

/* Flushes the standard output. Returns 0; or -1, reported, if a part of it could not be written. */
int files_flush_stdout(void);

#endif
