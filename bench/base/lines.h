/* lines.h - a file that grows by whole lines, so that it is valid whenever the run ends; and lines of comma-separated
 * values for such a file. */
#ifndef BENCH_BASE_LINES_H
#define BENCH_BASE_LINES_H

#include "base/files.h"

#include <sys/types.h>

struct lines {
    char path[FILES_PATH];
    int file;     /* -1: none */
    off_t length; /* of its whole lines */
    int error;    /* errno of the first write that failed, ESTALE where another process has touched the file; 0 */
};

/* Creates the file, empty, in place of what has that name. Returns 0; or -1, reported. */
int lines_open(struct lines *lines, const char *path);

/* Whether the path still names the file, as it was left: nobody changed or removed it, or moved its directory. Returns
 * 0; or -1, reported, and from then on nothing is written any more. */
int lines_check(struct lines *lines);

/* Appends whole lines: all of the text, or nothing. After a failure, or when lines_check finds one, nothing is written
 * any more. Returns 0; or -1, which lines_report and lines_close report. */
int lines_append(struct lines *lines, const char *text, size_t length);

/* Reports a write that failed: returns -1; or 0 if none did. */
int lines_report(const struct lines *lines);

/* Returns 0; or -1, reported, if a write failed. A closed file is fine. */
int lines_close(struct lines *lines);

/* A line of comma-separated values that is being put together; zeroed to begin with. */
struct csv_line {
    size_t length, fields;
    char text[1024]; /* the rest of a longer line is dropped */
};

/* Adds fields: n numbers, empty where one is not finite; or a text, in which commas, quotes and control characters
 * become spaces. */
void csv_add_numbers(struct csv_line *line, int decimals, size_t n, const double *value);
void csv_add_text(struct csv_line *line, const char *text);

/* Ends the line and appends it to the file; then it is empty again. */
void csv_end_line(struct csv_line *line, struct lines *lines);

#endif
