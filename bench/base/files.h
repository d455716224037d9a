/* files.h - directories, and files that appear under their name when they are complete, or not at all. */
#ifndef BENCH_BASE_FILES_H
#define BENCH_BASE_FILES_H

#include "kernels/files.h"

#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

enum { FILES_PATH = 800 };

/* Makes a directory and those above it. Returns 0; or -1, reported with the option that named it. */
int files_make_directories(const char *option, const char *path);

/* The length of the longest part at the begin of a path that there is. */
size_t files_there(const char *path);

/* Removes a directory and those above it, as long as they are empty and the path longer than `there`, which is from
 * files_there before they were made; none of them if one is named `..`. */
void files_remove_empty(const char *path, size_t there);

/* What is read at most: of a file of lines, which may be those of 100,000 steps, and of a line. */
#define FILES_MOST_BYTES ((size_t)8 << 30)
#define FILES_MOST_LINE  ((size_t)4 << 20)

/* Opens a regular file of at most `most` bytes to be read, at once; the caller closes it. NULL with the reason in
 * words: a pipe, a device or a directory is none. */
enum { FILES_WHY = 100 };
FILE *files_open(const char *path, size_t most, char why[FILES_WHY]);

/* getline, with a longer line in pieces of FILES_MOST_LINE: its length, or -1 at the end or a failure (ferror). */
ssize_t files_read_line(char **line, size_t *room, FILE *file);

/* The paths directory/pattern that there are, in the order of their names; what is special to glob(3) is so in the
 * pattern alone. Returns how many; release *found with globfree in any case. */
size_t files_find(glob_t *found, const char *directory, const char *pattern);

/* A file that is being written, under a temporary name until it is complete. */
struct new_file {
    char path[FILES_PATH], temporary[FILES_PATH + FILES_TEMPORARY];
    const char *option, *mark;      /* of new_file_open_named; NULL */
    struct new_file_buffer *buffer; /* what is not written yet; NULL when it is closed */
    int file;
};

/* Begins a file in a directory of this run's own, compressed by gzip or not. Returns 0; or -1, reported. */
int new_file_open(struct new_file *file, const char *path, int gzip);

/* The same at any path that files_check_path would allow, which is checked now and once more at the end. The option
 * (NULL: none named it) and the mark have to stay. */
int new_file_open_named(struct new_file *file, const char *option, const char *path, const char *mark);

/* Appends n bytes. Returns 0; or -1 with errno: then abandon it. */
int new_file_write(struct new_file *file, const char *text, size_t n);

/* Gives the file its name. Returns 0; or -1, reported, with nothing left behind and a file that was there before still
 * there. */
int new_file_commit(struct new_file *file);

/* Leaves nothing behind. Returns 0; or -1 with errno, as when a disk was found to be full. */
int new_file_abandon(struct new_file *file);

/* Puts text into directory/name of this run's own, complete or not at all. Returns 0; or -1, reported. */
int files_replace(const char *directory, const char *name, const char *text);

/* Checks that a path that an option named can be written, by trying it, which leaves nothing behind; for use before the
 * work whose results it is to hold. A file that exists may be replaced only if it is empty, or if the mark begins a
 * line in its first FILES_MARKED bytes, as in all files that this program writes there. Also removes what killed
 * processes left in the directory. Returns 0; or -1, reported with the option. */
enum { FILES_MARKED = 1024 };
int files_check_path(const char *option, const char *path, const char *mark);

/* files_replace by new_file_open_named. Returns 0; or -1, reported. */
int files_replace_path(const char *option, const char *path, const char *mark, const char *text);

/* Locks a directory that an option named until *lock is closed. Where it cannot be opened *lock is -1, and a file
 * system without locks does without. Returns 0; or -1, reported, if another process has locked it. */
int files_lock_directory(const char *option, const char *directory, int *lock);

/* Writes out what was printed to the standard output. Returns 0; or -1, reported, if any of it could not be written. */
int files_flush_stdout(void);

#endif
