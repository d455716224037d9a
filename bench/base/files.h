/* files.h - directories, and files that appear under their name when they are complete, or not at all. */
#ifndef BENCH_BASE_FILES_H
#define BENCH_BASE_FILES_H

#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <zlib.h>

enum { FILES_PATH = 800 };

/* Makes a directory and those above it. Returns 0; or -1, reported with the option that named it. */
int files_make_directories(const char *option, const char *path);

/* Opens a regular file to be read; the caller closes it. NULL with the reason in words: one that is not regular, such
 * as a pipe, where opening would wait for a writer, is none. */
FILE *files_open(const char *path, const char **why);

/* The paths directory/pattern that there are, in the order of their names; what is special to glob(3) is so in the
 * pattern alone. Returns how many; release *found with globfree in any case. */
size_t files_find(glob_t *found, const char *directory, const char *pattern);

/* A file that is being written, under a temporary name until it is complete. */
struct new_file {
    char path[FILES_PATH], temporary[FILES_PATH + 8];
    gzFile file; /* zlib's, for plain text too; NULL when it is closed */
};

/* Begins a file, compressed by gzip or not. Returns 0; or -1, reported. */
int new_file_open(struct new_file *file, const char *path, int gzip);

/* Appends n bytes. Returns 0; or -1 with errno: then abandon it. */
int new_file_write(struct new_file *file, const char *text, size_t n);

/* Gives the file its name. Returns 0; or -1, reported, with nothing left behind and a file that was there before still
 * there. */
int new_file_commit(struct new_file *file);

/* Leaves nothing behind. */
void new_file_abandon(struct new_file *file);

/* Puts text into directory/name, complete or not at all. Returns 0; or -1, reported. */
int files_replace(const char *directory, const char *name, const char *text);

/* The same for a path that an option named. What is there and is no regular file stays: a device such as /dev/null must
 * not be replaced by a file. Returns 0; or -1, reported, with the option where the path is refused. */
int files_replace_path(const char *option, const char *path, const char *text);

/* Whether all that was printed to the standard output got there. 0; or -1, reported. */
int files_flush_stdout(void);

#endif
