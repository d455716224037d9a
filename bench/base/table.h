/* table.h - tables that are described once, kept as JSON, and printed from there.
 *
 * table_json makes JSON with columns and rows from an array of structures. summary.json keeps it; what is printed from
 * the file is the same as what the run printed. */
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
    const char *heading; /* one or more lines; NULL: the column is not printed */
    enum column_kind kind;
    size_t offset;    /* of its field in a row's structure */
    const char *unit; /* of the number in JSON: s, B, B/s, 1; NULL for text */
    double scale;     /* factor from JSON to what is printed; 0: 1 */
    int width;        /* least width in characters; negative: aligned to the left */
    int decimals;     /* of a printed number; -n: n significant digits, with at most 5 decimals */
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
    size_t shown;                             /* how many rows are printed; 0: all */
    const char *note[TABLE_NOTES];            /* paragraphs of whole sentences, printed below; NULL or "": none */
    int (*order)(const void *, const void *); /* sorts the rows (qsort) if there are more than `shown`; NULL: none */
};

/* Makes a JSON object {key, title, columns, rows, notes}, with `shown` unless 0. The caller owns it. What
 * is printed tells that the rows which are not shown are in summary.json, or in what a member `rest` names. */
cJSON *table_json(const struct table *table);

/* Appends a structure as a row to such an object, for a table that is printed as it grows. Returns the row. */
cJSON *table_add_row(cJSON *table, const struct column *column, size_t columns, const void *row);

/* The printed part of a table: the columns that have a heading, and the first rows. The table owns all of it. */
enum { TABLE_COLUMNS_MOST = 32, TABLE_CELL = 160 };
struct table_view {
    const char *title;                       /* "": none */
    const char *rest;                        /* where to find the rows that are not printed */
    const cJSON *column[TABLE_COLUMNS_MOST]; /* [columns] */
    const cJSON *row, *note;                 /* the first; ->next leads to the others. note: NULL if there is none */
    int columns, rows, more;                 /* rows: printed; more: not printed */
};
struct table_view table_view(const cJSON *table);

/* The text of a cell, on one line; row NULL: the heading, with its newlines. And whether a column is aligned to the
 * left. */
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
