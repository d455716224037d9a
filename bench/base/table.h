/* table.h - tables that are described once, kept as JSON, and printed from the JSON.
 *
 * table_json makes JSON with columns and rows from an array of structures. summary.json contains this JSON, so a table
 * printed from the file is the same as the table that the run printed. */
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
    COLUMN_REAL,    /* double; NAN: N/A */
    COLUMN_ERROR,   /* double, printed with an exponent unless it is 0; NAN: N/A */
    COLUMN_INTERVAL /* double[2] or COLUMN_ENDS, printed as [low, high], a NAN end as N/A; both NAN: empty */
};

struct column {
    const char *key;     /* name of the column in JSON; an interval has two: <key>_low and <key>_high */
    const char *heading; /* one or more lines; NULL: the column is not printed */
    enum column_kind kind;
    size_t offset;    /* from the start of a row's structure to the field */
    const char *unit; /* unit of the number in JSON: s, B, B/s, 1; NULL for text */
    double scale;     /* printed number / number in JSON; 0 means 1 */
    int width;        /* least width in characters; negative: aligned to the left */
    int decimals;     /* decimals of the printed number; -n: n significant digits, at most 5 decimals */
};

/* The offset of an interval whose ends are two adjacent doubles of a structure; does not compile if they are not. */
#define COLUMN_ENDS(type, low, high)                                                                                   \
    (offsetof(type, low) + 0 * sizeof(char[offsetof(type, high) == offsetof(type, low) + sizeof(double) ? 1 : -1]))

/* Initialises the members `column` and `columns` of a table from an array. */
#define TABLE_COLUMNS(array) .column = (array), .columns = sizeof(array) / sizeof *(array)
/* Initialises the members `row`, `rows` and `row_bytes` of a table from an array of n structures. */
#define TABLE_ROWS(array, n) .row = (array), .rows = (n), .row_bytes = sizeof *(array)

enum { TABLE_NOTES = 6 };

struct table {
    const char *key;   /* name of the table in JSON */
    const char *title; /* printed above the table; NULL or "": none */
    const struct column *column;
    size_t columns;
    const void *row; /* [rows] structures of row_bytes each */
    size_t rows, row_bytes;
    size_t shown;                             /* how many rows are printed; 0: all */
    const char *note[TABLE_NOTES];            /* paragraphs, printed below the table; NULL or "": none */
    int (*order)(const void *, const void *); /* sorts rows (qsort) if there are more than `shown`; NULL: not sorted */
};

/* Makes a JSON object {key, title, columns, rows, notes}, with `shown` unless 0. The caller owns it. If only some rows
 * are printed, the printed table names the file that has them all: summary.json, or the member `rest` of the object. */
cJSON *table_json(const struct table *table);

/* Prints all columns and rows as CSV, unscaled, below the keys, as in JSON. Numbers that are not finite are empty. */
void table_print_csv(FILE *out, const struct table *table);

/* Appends a structure as a row to a table of table_json, for a table that is printed as it grows. Returns the row. */
cJSON *table_add_row(cJSON *table, const struct column *column, size_t columns, const void *row);

/* The printed part of a table: the columns with a heading, and the first rows. Pointers are valid while the JSON is. */
enum { TABLE_COLUMNS_MOST = 32, TABLE_CELL = 256 };
struct table_view {
    const char *title;                       /* "": none */
    const cJSON *column[TABLE_COLUMNS_MOST]; /* descriptions of the printed columns; [columns] */
    const cJSON *row, *note; /* the first row and the first note (NULL: no notes); ->next: the next ones */
    int columns, rows;       /* numbers of printed ones */
    char more[TABLE_CELL];   /* how many rows are not printed, and which file has them; "": all are printed */
};
struct table_view table_view(const cJSON *table);

/* Fills and returns the text of a cell, on one line; row NULL: of the heading, with its newlines. */
const char *table_cell(char cell[TABLE_CELL], const cJSON *column, const cJSON *row);
int table_is_left(const cJSON *column); /* whether the column is aligned to the left */

/* Prints an empty line, the title, headings, rows and notes, each line after a prefix; title and notes are wrapped
 * (text_wrap). If a table's first heading begins with #, its headings are comments and its rows are for programs, so
 * both are printed without the prefix. Prints nothing if the JSON is not a table. */
void table_print(FILE *out, const char *prefix, const cJSON *table);

/* Print the parts of a table that grows while it is printed. Column widths do not depend on the rows. */
void table_print_head(FILE *out, const char *prefix, const cJSON *table);
void table_print_row(FILE *out, const cJSON *table, const cJSON *row);
void table_print_notes(FILE *out, const char *prefix, const cJSON *table);

#endif
