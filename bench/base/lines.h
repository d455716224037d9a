/* lines.h - a file of comma-separated values that grows by whole lines, so that it is valid whenever the run
 * ends.
 */
#ifndef BENCH_BASE_LINES_H
#define BENCH_BASE_LINES_H

#include "base/files.h"

#include <sys/types.h>

struct csv {
    char path[FILES_PATH];
    int file;          /* -1: none */
    off_t length;      /* of its whole lines */
    int error;         /* errno of the first write that failed; 0 */
    size_t at, fields; /* characters and fields of the line that is being put together */
    char text[1024];   /* more of a line are dropped */
};

/* Opens directory/name, or directory/name_<host>.csv if host is not empty, and writes the line of column names. Returns
 * 0; or -1, reported. name is without ".csv". */
int csv_open(struct csv *csv, const char *directory, const char *name, const char *host, const char *columns);

/* Adds a field to the line: a number, empty if it is not finite; or text, in which commas, quotes and control
 * characters become spaces. */
void csv_number(struct csv *csv, int decimals, double value);
void csv_text(struct csv *csv, const char *text);

/* Ends the line and writes it, whole or not at all. After a write has failed nothing is written any more. */
void csv_end_line(struct csv *csv);

/* Returns 0; or -1, reported, if a line could not be written. A closed one is fine. */
int csv_close(struct csv *csv);

#endif
