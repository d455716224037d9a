/* option_table.h - command lines read by a table: one row gives an option's parsing, bounds, default and help. */
#ifndef BENCH_BASE_OPTION_TABLE_H
#define BENCH_BASE_OPTION_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct option;

/* How values of one sort are read, and shown as they would be given. */
struct option_kind {
    enum { VALUE_TEXT, VALUE_NUMBER, VALUE_FLAG } value; /* a flag takes none, and is parsed with text NULL */
    /* Returns 0; or -1, reported, with the field unchanged. */
    int (*parse)(const struct option *option, const char *text, void *field);
    void (*print)(const void *field, char *text, size_t size);
};

extern const struct option_kind option_count; /* size_t */
extern const struct option_kind option_real;  /* double */
extern const struct option_kind option_text;  /* const char *, into argv */
extern const struct option_kind option_flag;  /* int */
/* A name that becomes part of a directory's: letters, digits, _ - + and ., at most 100. */
extern const struct option_kind option_label; /* const char * */
/* Bytes with a binary suffix: 8, 64K, 1M, 1.5G. */
extern const struct option_kind option_bytes; /* size_t */

struct option {
    const char *name; /* without dashes; on the command line _ may stand for - */
    const struct option_kind *kind;
    size_t offset;       /* of its field in the section's base */
    const char *initial; /* default, as it would be given; NULL: the field is left as it is */
    double low, high;    /* numbers: least and greatest value allowed */
    const char *help;
    char letter; /* a short name beside the long one, 0 for none */
};

/* Rows that stand under one heading of the help and fill one structure. */
struct option_section {
    const char *title;
    const struct option *row;
    size_t rows;
    void *base;
};

struct option_table {
    const struct option_section *section;
    size_t sections;
    /* Told of each option that was given; NULL: nobody is. */
    void (*given)(void *context, const struct option_section *section, const struct option *option, const char *value);
    /* Takes a word that is no option; returns 0, or -1, reported. NULL: such words are refused. */
    int (*word)(void *context, const char *word);
    void *context;
};

/* Sets every default, then reads argv[1..] strictly: `--name value`, `--name=value`, `-l value`, `-lvalue`; whole
 * words, ranges, units, known names. Strings point into argv. Returns 0; or -1, reported, with the fields unspecified.
 */
int option_table_parse(const struct option_table *table, int argc, char *const argv[]);

/* Prints every option with its default and meaning. */
void option_table_help(FILE *out, const struct option_table *table);

/* Calls each with every option's name and value as text, as given or by default; is_text is 0 for numbers, true and
 * false. Of --help and --version it does not tell. */
void option_table_each(const struct option_table *table,
                       void (*each)(void *context, const char *name, const char *value, int is_text), void *context);

/* A finite number, the whole text; -1 without a report. */
int option_number(const char *text, double *value);

/* One of n names: its index, or -1, reported with the list of them. */
int option_choice(const struct option *option, const char *text, const char *const *name, int n);

#endif
