/* option_table.h - command lines parsed by a table: a row gives an option's kind, bounds, default and help. */
#ifndef BENCH_BASE_OPTION_TABLE_H
#define BENCH_BASE_OPTION_TABLE_H

#include <cJSON.h>
#include <stddef.h>
#include <stdio.h>

struct option;

/* How values of one kind are parsed. */
struct option_kind {
    enum { VALUE_TEXT, VALUE_COUNT, VALUE_REAL, VALUE_FLAG } value; /* a flag takes no value: its text is NULL */
    /* Returns 0; or -1, reported, with the field unchanged. */
    int (*parse)(const struct option *option, const char *text, void *field);
    /* Prints the field for the record; NULL: the text is recorded as it was given. */
    void (*print)(const struct option *option, const void *field, char *text, size_t size);
};

extern const struct option_kind option_count;   /* size_t */
extern const struct option_kind option_real;    /* double */
extern const struct option_kind option_percent; /* double: percent; a % may follow */
extern const struct option_kind option_text;    /* const char *, points into argv */
extern const struct option_kind option_path;    /* the same: a file or directory, without control characters */
extern const struct option_kind option_flag;    /* int */
extern const struct option_kind option_choice;  /* an enum (int): the index of one of the row's choices */
/* A text that becomes part of a directory's name: at most 100 letters, digits, _ - + and . */
extern const struct option_kind option_label; /* const char * */
/* Bytes with a binary suffix: 8, 64K, 1M, 1.5G. */
extern const struct option_kind option_bytes; /* size_t */

struct option {
    const char *name; /* without dashes; on the command line _ may stand for - */
    char letter;      /* short name; 0: none */
    int common;       /* 1: shown by --help; 0: only by --help all */
    const struct option_kind *kind;
    size_t offset;              /* of its field from the section's base */
    const char *initial;        /* default, as on a command line; NULL: the field is left as it is */
    double low, high;           /* of a number: the least and the greatest value */
    const char *const *choices; /* of option_choice: the words, ended by NULL */
    const char *value_name;     /* name of a value in manual pages, such as SIZE; NULL: by its kind */
    const char *decides;        /* shown by the help in place of `initial`, where something else gives the default */
    const char *needs;          /* NAME or NAME=VALUE of an option that this one needs; NULL: none */
    const char *without;        /* comma list of NAME or NAME=VALUE that exclude this option; NULL: none */
    const char *help;
};

/* Options under one heading of the help, which fill one structure. */
struct option_section {
    const char *title;
    const struct option *row;
    size_t rows;
    void *base;
    const char *needs;   /* of each row that has none of its own, but for the row of that option */
    const char *without; /* of each row, in addition to its own */
};
#define OPTION_ROWS(rows) (rows), sizeof(rows) / sizeof *(rows)

enum { OPTION_SECTIONS = 16, OPTIONS_MOST = 128 };

/* A command line: the options that it may have and, once it is parsed, those that it has. */
struct option_table {
    size_t sections, rows;
    struct option_section section[OPTION_SECTIONS];
    struct option_row {
        const struct option *option;
        size_t section;
        const char *text; /* of the value, given or default; NULL for a flag */
        int given;
    } row[OPTIONS_MOST]; /* of all sections */
    /* Takes a word that is not an option. Returns 0; or -1, reported. NULL: such words are refused. */
    int (*word)(void *context, const char *word);
    void *context;
    enum option_help { HELP_NONE, HELP_COMMON, HELP_ALL, HELP_ROWS } help; /* by --help, --help all, --help rows */
    int version;                                                           /* by --version */
};

/* Appends a section to a table, which is zeroed at first. The help keeps the order. */
void option_table_add(struct option_table *table, struct option_section section);

/* Removes an option from the table of a command that does not have it. The field is left as it is. An unknown name is
 * fatal. */
void option_table_remove(struct option_table *table, const char *name);

/* Sets all defaults, then parses argv[1..] strictly: `--name value`, `--name=value`, `-l value`, `-lvalue`. A value
 * that begins with -- needs the =. --help [all|rows], -h and --version end the parsing. Then checks `needs` and
 * `without` of the options that were given. Strings point into argv. Returns 0; or -1, reported, with unspecified
 * fields. */
int option_table_parse(struct option_table *table, int argc, char *const argv[]);

/* Whether the command line has the option. An unknown name is fatal. */
int option_was_given(const struct option_table *table, const char *name);

/* Prints options with defaults and help: the common ones, or all by section. HELP_ROWS, which the help does not
 * mention, is for the scripts that make manual pages and completion (launch/). It prints fields with a tab before
 * each: name, letter or -, name of the value (empty for a flag), default, choices separated by |, help. */
void option_table_help(FILE *out, const struct option_table *table, enum option_help which);

/* The values of all options, given or default: a JSON object of numbers, booleans and strings, which the caller owns.
 */
cJSON *option_table_json(const struct option_table *table);

/* Parses a text that is a finite number. Returns 0; or -1, without a report. */
int option_number(const char *text, double *value);

/* The index of a text among names, which end with NULL; or -1, reported with the names. */
int option_choose(const struct option *option, const char *text, const char *const *name);

/* The comma list that an option was given, and the position up to which it has been read. */
struct option_list {
    const char *option, *text;
    size_t at;
};

/* Takes the next word, or the next NAME=VALUE. Returns 1; 0 at the end; -1 for an empty word or one of `size`
 * characters or more; or -1, reported, for a duplicate, where only the part before a = counts. */
int option_next_word(struct option_list *list, char *word, size_t size);
int option_next_pair(struct option_list *list, char name[32], char value[32]);

#endif
