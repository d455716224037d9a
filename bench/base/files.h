/* files.h - makes directories, reads files of limited size, and writes files that appear once complete. */
#ifndef BENCH_BASE_FILES_H
#define BENCH_BASE_FILES_H

#include "kernels/files.h"

#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

enum { FILES_PATH = 800 };

/* Makes a directory and its parents. Returns 0; or -1, reported with the option that gave the path. */
int files_make_directories(const char *option, const char *path);

/* Limits for reading, in bytes: the size of a file that is read line by line, and the length of a line. */
#define FILES_MOST_BYTES ((size_t)8 << 30)
#define FILES_MOST_LINE  ((size_t)4 << 20)

/* Opens a regular file of at most `most` bytes for reading; does not wait if the path is a pipe. The caller closes the
 * file. On failure returns NULL and writes the reason to `why`. */
enum { FILES_WHY = 100 };
FILE *files_open(const char *path, size_t most, char why[FILES_WHY]);

/* Like getline, but returns a line above FILES_MOST_LINE in pieces. Returns the length; -1: end or error (ferror). */
ssize_t files_read_line(char **line, size_t *room, FILE *file);

/* Finds the paths that match directory/pattern, sorted. Special characters (glob(3)) work in the pattern only. Returns
 * the number of paths. Release *found with globfree in any case. */
size_t files_find(glob_t *found, const char *directory, const char *pattern);

/* A file that is being written: it has a temporary name until it is complete. */
struct new_file {
    char path[FILES_PATH], temporary[FILES_PATH + FILES_TEMPORARY]; /* temporary: "" if the file is not open */
    struct gzFile_s *gzip;                                          /* compresses the text; NULL: no compression */
    int file;
};

/* Begins a file that will replace `path`; gzip: compressed. Returns 0; or -1, reported. Call new_file_end even then. */
int new_file_open(struct new_file *file, const char *path, int gzip);

/* Appends n bytes. Returns 0; or -1, reported. */
int new_file_write(struct new_file *file, const char *text, size_t n);

/* Gives the complete file its name, and so replaces an older file. If `failed`, or if renaming fails, removes the new
 * file and keeps the older file. Returns 0; or -1, reported unless `failed` or the file was never opened. */
int new_file_end(struct new_file *file, int failed);

/* Writes text to directory/name completely or not at all; replaces any file there. Returns 0; or -1, reported. */
int files_replace(const char *directory, const char *name, const char *text);

/* A path that a command uses, and the option that gave it. */
struct named_path {
    const char *option;
    const char *path; /* NULL, "" and "-" (standard output): none */
    const char *mark; /* of a file to write: how it begins; NULL: a directory, or a file to read */
};

/* Checks the paths of a command. Call it before anything is measured, with all paths that options name. No two paths
 * may lead to the same file, even if spelled differently, and no path may lie below a file to write. A file to write
 * must be in a directory that can be written. If the file exists, it is replaced only if it begins with the mark, as
 * all files that this program writes there do; an empty file is therefore refused. Also removes temporary files of
 * killed processes from the directories of such files. Returns 0; or -1, reported with the option. */
int files_check_named(const struct named_path *named, size_t n);

/* The part of files_check_named that checks an existing file. Returns 0; or -1, reported. */
int files_check_replaced(const struct named_path *named);

/* Writes text to a path that files_check_named allows, completely or not at all. Returns 0; or -1, reported. */
int files_replace_named(struct named_path named, const char *text);

/* Locks the directory given to an option until *lock is closed. Does nothing on a file system without locks. If the
 * directory cannot be opened, only sets *lock to -1. Returns 0; or -1, reported, if another process has locked it. */
int files_lock_directory(const char *option, const char *directory, int *lock);

/* Flushes standard output. Returns 0; or -1, reported, if any output could not be written. */
int files_flush_stdout(void);

#endif
