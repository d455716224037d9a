/* lines.h - a file that grows by whole lines, so it is valid whenever the run ends. */
#ifndef BENCH_BASE_LINES_H
#define BENCH_BASE_LINES_H

#include "base/files.h"

#include <sys/types.h>

struct lines {
    char path[FILES_PATH];
    int file;     /* descriptor; -1: closed */
    off_t length; /* bytes up to the end of the last whole line */
    int error;    /* errno of the first write that failed; 0: none */
};

/* Creates an empty file (files_create). Returns 0; or -1, reported. */
int lines_open(struct lines *lines, const char *path);

/* Appends a text of whole lines completely or not at all. After a failure nothing more is written. Returns 0; or -1,
 * not reported here: lines_report and lines_close report it. */
int lines_append(struct lines *lines, const char *text, size_t length);

/* Returns 0; or -1, reported, if a write has failed. */
int lines_report(const struct lines *lines);

/* Closes the file, unless it is closed. Returns 0; or -1, reported, if a write has failed. */
int lines_close(struct lines *lines);

#endif
