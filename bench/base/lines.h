/* lines.h - a file that grows by whole lines, so it is valid whenever the run ends; and comma-separated values. */
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

/* A line of comma-separated values under construction; all members are 0 at first. */
struct csv_line {
    size_t length, fields;
    char text[1024]; /* a longer line is cut off */
};

/* csv_add_numbers adds n fields; a number that is not finite becomes an empty field. csv_add_text adds one field, with
 * spaces in place of commas, quotes and control characters. */
void csv_add_numbers(struct csv_line *line, int decimals, size_t n, const double *value);
void csv_add_text(struct csv_line *line, const char *text);

/* Appends the line to the file (lines_append), then empties the line for the next one. */
void csv_end_line(struct csv_line *line, struct lines *lines);

#endif
