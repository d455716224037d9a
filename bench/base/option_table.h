/* option_table.h - parses command lines by a table: a row gives an option's kind, bounds, default and help. */
#ifndef BENCH_BASE_OPTION_TABLE_H
#define BENCH_BASE_OPTION_TABLE_H

#include <cJSON.h>
#include <stddef.h>
#include <stdio.h>

struct option;

/* A kind of value, and how it is parsed and printed. */
struct option_kind {
    enum { VALUE_TEXT, VALUE_COUNT, VALUE_REAL, VALUE_FLAG } value; /* flags have no value: parse gets NULL */
    const char *value_name; /* name of the value in manual pages, such as SIZE */
    /* Sets the field from the text. Returns 0; or -1, reported, with the field unchanged. */
    int (*parse)(const struct option *option, const char *text, void *field);
    /* Prints a VALUE_TEXT field for run.json; NULL: run.json gets the text of the value. */
    void (*print)(const struct option *option, const void *field, char *text, size_t size);
};

extern const struct option_kind option_count;   /* field: size_t */
extern const struct option_kind option_real;    /* field: double */
extern const struct option_kind option_percent; /* field: double, in percent; a % may follow the number */
extern const struct option_kind option_text;    /* field: const char *, points into argv */
extern const struct option_kind option_path;    /* field: const char *: a path without control characters; not - */
extern const struct option_kind option_form;    /* field: const char *: such a path; or - for standard output */
extern const struct option_kind option_flag;    /* field: int */
extern const struct option_kind option_choice;  /* field: enum or int: index of the word in the row's choices */
/* A comma list of words, or `all`. Field: unsigned, a set of 1 << index of the word in the row's choices. */
extern const struct option_kind option_names;
/* A text that becomes part of a directory's name: at most 100 letters, digits, _ - + and . */
extern const struct option_kind option_label; /* field: const char * */
/* A number of bytes, also with a binary suffix: 8, 64K, 1M, 1.5G. */
extern const struct option_kind option_bytes; /* field: size_t */

struct option {
    const char *name; /* without dashes; a command line may have _ in place of - */
    const char *also; /* names in other programs, separated by spaces, for the hint on an unknown option; or NULL */
    char letter;      /* short name; 0: none */
    int common;       /* 1: shown by --help; 0: only by --help all */
    int repeats;      /* 1: may be given several times; 0: a second time is an error */
    const struct option_kind *kind;
    size_t offset;              /* bytes from the section's base to the option's field */
    const char *initial;        /* default, as on a command line; NULL: the field keeps its value */
    const char *bare;           /* the value if none follows the option; NULL: a value must follow */
    double low, high;           /* bounds of a number */
    const char *const *choices; /* the words that option_choice allows, ended by NULL */
    const char *value_name;     /* in place of that of the kind; NULL: that of the kind */
    const char *decides;        /* if the default is computed: text that help shows in place of `initial`; else NULL */
    const char *needs;          /* the option that must also be given, as NAME or NAME=VALUE; NULL: none */
    const char *without;        /* options that exclude this one: a comma list of items as in `needs`; NULL: none */
    const char *help;
};

/* The options under one heading of the help. Their fields are in one structure, at `base`. */
struct option_section {
    const char *title;
    const struct option *row;
    size_t rows;
    void *base;
    const char *needs;   /* `needs` of rows that have none of their own, except the needed option's row; NULL: none */
    const char *without; /* items to add to every row's `without`; NULL: none */
};
#define OPTION_ROWS(rows) (rows), sizeof(rows) / sizeof *(rows)

/* Returns a section whose fields are in another structure. */
static inline struct option_section option_section_at(struct option_section section, void *base)
{
    section.base = base;
    return section;
}

enum { OPTION_SECTIONS = 16, OPTIONS_MOST = 128 };

/* Options of other programs without a counterpart here, separated by spaces, and the advice that the error gives. */
struct option_hint {
    const char *words, *instead;
};

/* Statuses above STATUS_USAGE are verdicts of a command that succeeded. */
enum exit_status { STATUS_OK, STATUS_FAILED, STATUS_USAGE };

/* A command line: the options that it may contain and, once it is parsed, their values. */
struct option_table {
    size_t sections, rows;
    struct option_section section[OPTION_SECTIONS];
    struct option_row {
        const struct option *option;
        size_t section;
        const char *text;            /* text of the value, given or default; NULL for a flag */
        int given;                   /* 1: on the command line, 2: in the --config file, 0: not */
    } row[OPTIONS_MOST];             /* the rows of all sections */
    const struct option_hint *hints; /* ended by a row of NULL; or NULL */
    /* Called for each word that is not an option. Returns 0; or -1, reported. NULL: only options are allowed. */
    int (*word)(void *context, const char *word);
    /* Checks in option_table_begin what the table cannot check. Returns 0; or -1, reported. NULL: nothing. */
    int (*check)(void *context);
    void *context;
    enum option_help { HELP_NONE, HELP_COMMON, HELP_ALL, HELP_ROWS } help; /* set by --help, --help all, --help rows */
    int version;                                                           /* set by --version */
};

/* Appends a section; help shows sections in this order. Before the first call all members of the table must be 0. */
void option_table_add(struct option_table *table, struct option_section section);

/* Removes an option that a command does not offer. Its field keeps its value. An unknown name is fatal. */
void option_table_remove(struct option_table *table, const char *name);

/* Sets all defaults, then parses argv[1..] strictly: `--name value`, `--name=value`, `-l value`, `-lvalue`. A value
 * that begins with -- must follow an =. An option may be given once, whatever its value, unless its row `repeats`.
 * --help [all|rows], -h and --version end the parsing. Finally checks `needs` and `without` of the options that were
 * given. Strings point into argv. Returns 0; or -1, reported, and the fields are undefined. */
int option_table_parse(struct option_table *table, int argc, char *const argv[]);

/* Whether the option was given. An unknown name is fatal. */
int option_was_given(const struct option_table *table, const char *name);

/* option_help_row prints a name and its text; option_help_text prints lines of text. Both wrap at HELP_COLUMNS; blanks
 * before a line of text also indent the lines into which it is broken. */
void option_help_row(FILE *out, const char *name, const char *text);
void option_help_text(FILE *out, const char *text);

/* Returns the section of an option table that has --config. */
struct option_section option_config_section(void);

/* Set by a program that appends the options of the --config file to argv: returns the place of a word in this file, as
 * FILE:LINE; NULL: the word is not from the file. The command line wins over the file. */
extern const char *(*option_place)(const char *word);

/* Prints options with defaults and help: HELP_COMMON the common ones, HELP_ALL all of them by section. HELP_ROWS is for
 * the scripts that make manual pages and completion (launch/), and no help text mentions it. It prints fields with a
 * tab before each: name, letter or -, name of the value (empty for a flag), default, choices separated by |, help. */
void option_table_help(FILE *out, const struct option_table *table, enum option_help which);

/* Parses and checks the command line of a command that only reads files. --help prints `usage`, options and `statuses`
 * (what exit statuses mean), --version the version. Returns 0: run; 1: a text was printed; or -1, reported. */
int option_table_begin(struct option_table *table, const char *usage, const char *statuses, int argc,
                       char *const argv[]);
#define OPTION_STATUSES                                                                                                \
    "\nExit status: 0 success, 1 something cannot be read or written, 2 the command line is wrong.\n"

/* Returns all values, given or default, as a JSON object of numbers, booleans and strings, which the caller owns. */
cJSON *option_table_json(const struct option_table *table);

/* Parses a text that is a finite number. Returns 0; or -1, without a report. */
int option_number(const char *text, double *value);

/* Returns the index of a text in name[], which ends with NULL; or -1, reported with the known names. */
int option_choose(const struct option *option, const char *text, const char *const *name);

/* An option's value that is a comma list, and the position up to which it has been read. */
struct option_list {
    const char *option, *text;
    size_t at;
};

/* Take the next word, or the next NAME=VALUE, of a comma list. Return 1; 0 at the end; -1, not reported, for a word
 * that is empty, not NAME=VALUE or too long for `size`; -1, reported, if it (or its part before =) is listed twice. */
int option_next_word(struct option_list *list, char *word, size_t size);
int option_next_pair(struct option_list *list, char name[32], char value[32]);

#endif
