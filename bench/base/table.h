/* table.h - one description of a column, from which words and JSON are made.
 *
 * A table is made once, from an array of structures, as JSON that holds its columns and its rows; that is kept in
 * summary.json, and whoever prints it, now or from the file years later, prints the same words. */
#ifndef BENCH_BASE_TABLE_H
#define BENCH_BASE_TABLE_H

#include <cJSON.h>
#include <stddef.h>
#include <stdio.h>

enum column_kind {
    COLUMN_NAME,    /* const char *; NULL: an empty cell */
    COLUMN_CHARS,   /* char[], ended by 0 */
    COLUMN_COUNT,   /* size_t */
    COLUMN_INT,     /* int */
    COLUMN_REAL,    /* double; NAN: n/a */
    COLUMN_INTERVAL /* double[2], or COLUMN_ENDS, printed as [low, high]; NAN: n/a, both: an empty cell */
};

struct column {
    const char *key;     /* its name in JSON; an interval has <key>_low and <key>_high */
    const char *heading; /* in words, lines parted by a newline; NULL: the column is not printed */
    enum column_kind kind;
    size_t offset;    /* of its field in a row's structure */
    const char *unit; /* of the number as it is kept: s, B, B/s, 1; NULL for text */
    double scale;     /* what is printed is the number times this; 0: 1 */
    int width;        /* in characters, at least; below 0: at the left edge of the cell */
    int decimals;     /* of a printed number; below 0: so many significant digits, at most 5 of them decimals */
};

/* The offset of the ends of an interval that are two doubles of a structure, one after the other; it does not compile
 * where they are not. */
#define COLUMN_ENDS(type, low, high)                                                                                   \
    (offsetof(type, low) + 0 * sizeof(char[offsetof(type, high) == offsetof(type, low) + sizeof(double) ? 1 : -1]))

/* An array of columns, as the members of a table. */
#define TABLE_COLUMNS(array) .column = (array), .columns = sizeof(array) / sizeof *(array)
/* An array of n rows, likewise. */
#define TABLE_ROWS(array, n) .row = (array), .rows = (n), .row_bytes = sizeof *(array)

enum { TABLE_NOTES = 6 };

struct table {
    const char *key;   /* its name in JSON */
    const char *title; /* printed above; NULL or "": none */
    const struct column *column;
    size_t columns;
    const void *row; /* [rows] structures of row_bytes each */
    size_t rows, row_bytes;
    size_t shown;                             /* rows that are printed at most; 0: all */
    const char *note[TABLE_NOTES];            /* paragraphs of whole sentences, printed below; NULL or "": none */
    int (*order)(const void *, const void *); /* of rows, as for qsort, where more than `shown`; NULL: as they are */
    int detail;                               /* printed only where somebody asks for all */
};

/* As a JSON object {key, title, columns, rows, notes}, with `shown` and `detail` unless 0; numbers as they are kept.
 * The caller owns it. Rows that are not shown are said to be in summary.json, or what a member `rest` names. */
cJSON *table_json(const struct table *table);

/* A structure as one more row of such an object, for a table that is printed as it grows; returns the row. */
cJSON *table_add_row(cJSON *table, const struct column *column, size_t columns, const void *row);

/* What of a table is printed: the columns that have a heading, and the first rows. The table owns all of it. */
enum { TABLE_COLUMNS_MOST = 32, TABLE_CELL = 160 };
struct table_view {
    const char *title, *rest;                      /* "": none; where the rows are that are not printed */
    const cJSON *column[TABLE_COLUMNS_MOST], *row; /* [columns]; the first row, and ->next leads to the others */
    const cJSON *note;                             /* the first string, and ->next leads to the others; NULL: none */
    int columns, rows, more;                       /* rows that are printed, and that are not */
};
struct table_view table_view(const cJSON *table);

/* One cell in words, on one line; row NULL: the heading, with its newlines. And whether it stands at the left edge. */
const char *table_cell(char cell[TABLE_CELL], const cJSON *column, const cJSON *row);
int table_is_left(const cJSON *column);

/* Prints an empty line, the title, headings, rows and notes. Title and notes are wrapped (text_wrap) behind a prefix.
 * What is no table prints nothing. */
void table_print(FILE *out, const char *prefix, const cJSON *table);

/* The same in parts, of a table that is printed as it grows: its columns are as wide as they are described. */
void table_print_head(FILE *out, const char *prefix, const cJSON *table);
void table_print_row(FILE *out, const cJSON *table, const cJSON *row);
void table_print_notes(FILE *out, const char *prefix, const cJSON *table);

#endif
