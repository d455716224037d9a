/* option_table.h - command lines read by a table: one row gives an option's parsing, bounds, default and help. */
#ifndef BENCH_BASE_OPTION_TABLE_H
#define BENCH_BASE_OPTION_TABLE_H

#include <cJSON.h>
#include <stddef.h>
#include <stdio.h>

struct option;

/* How values of one sort are read. */
struct option_kind {
    enum { VALUE_TEXT, VALUE_COUNT, VALUE_REAL, VALUE_FLAG } value; /* a flag takes none: its text is NULL */
    /* Returns 0; or -1, reported, with the field unchanged. */
    int (*parse)(const struct option *option, const char *text, void *field);
    /* How a text is shown; NULL: as it was given. */
    void (*print)(const struct option *option, const void *field, char *text, size_t size);
};

extern const struct option_kind option_count;   /* size_t */
extern const struct option_kind option_real;    /* double */
extern const struct option_kind option_percent; /* double: percent; a % may follow */
extern const struct option_kind option_text;    /* const char *, into argv */
extern const struct option_kind option_path;    /* the same, of a file or directory */
extern const struct option_kind option_flag;    /* int */
extern const struct option_kind option_choice;  /* an enum (int): the index of one of the row's choices */
/* A name that becomes part of a directory's: letters, digits, _ - + and ., at most 100. */
extern const struct option_kind option_label; /* const char * */
/* Bytes with a binary suffix: 8, 64K, 1M, 1.5G. */
extern const struct option_kind option_bytes; /* size_t */

struct option {
    const char *name; /* without dashes; on the command line _ may stand for - */
    char letter;      /* a short name, too; 0: none */
    int common;       /* 1: --help shows it; 0: --help all does */
    const struct option_kind *kind;
    size_t offset;              /* of its field in the section's base */
    const char *initial;        /* default, as it would be given; NULL: the field is left as it is */
    double low, high;           /* numbers: least and greatest value allowed */
    const char *const *choices; /* option_choice: the words, ended by NULL */
    const char *value_name;     /* what a manual page calls a value, such as SIZE; NULL: by its kind */
    const char *decides;        /* what gives the default in place of `initial`, for the help; NULL: initial does */
    const char *needs;          /* the option without which this one means nothing: NAME or NAME=VALUE; NULL: none */
    const char *without;        /* a comma list of those with which it means nothing: NAME or NAME=VALUE; NULL: none */
    const char *help;
};

/* Rows that stand under one heading of the help and fill one structure. */
struct option_section {
    const char *title;
    const struct option *row;
    size_t rows;
    void *base;
    const char *needs;   /* as of each of its rows that names none itself, but for that option's own row */
    const char *without; /* the same, in addition to that of each row; no row excludes itself */
};
#define OPTION_ROWS(rows) (rows), sizeof(rows) / sizeof *(rows)

enum { OPTION_SECTIONS = 16, OPTIONS_MOST = 128, OPTIONS_REMOVED = 16 };

/* A command line: what may stand there and, once parsed, what did. The handle for help, record and "was it given". */
struct option_table {
    size_t sections, rows;
    struct option_section section[OPTION_SECTIONS];
    struct option_row {
        const struct option *option;
        size_t section;   /* its number */
        const char *text; /* as given, or by default; NULL for a flag */
        int given;
    } row[OPTIONS_MOST];                           /* of all sections */
    const struct option *removed[OPTIONS_REMOVED]; /* of the sections, but not of this command */
    size_t removals;
    /* Takes a word that is no option; returns 0, or -1, reported. NULL: such words are refused. */
    int (*word)(void *context, const char *word);
    void *context;
    enum option_help { HELP_NONE, HELP_COMMON, HELP_ALL, HELP_ROWS } help; /* by --help, --help all, --help rows */
    int version;                                                           /* by --version */
};

/* Appends a section. Sections are those of a zeroed table, in the order of the help. */
void option_table_add(struct option_table *table, struct option_section section);

/* Takes an option out again, for a command that lacks it: whoever gives it is told so. Its field is left as it is. A
 * name that the table lacks, or one too many, is fatal. */
void option_table_remove(struct option_table *table, const char *name);

/* Sets every default, then reads argv[1..] strictly: `--name value`, `--name=value`, `-l value`, `-lvalue`; whole
 * words, ranges, units, known names, no value that begins with -- unless behind a =; and --help [all|rows], -h and
 * --version, after which the rest is not read. Then checks `needs` and `without` of what was given. Strings point into
 * argv. Returns 0; or -1, reported, with the fields unspecified. */
int option_table_parse(struct option_table *table, int argc, char *const argv[]);

/* Whether the command line named the option, whatever its value. A name that the table lacks is fatal: a mistake of the
 * program. */
int option_was_given(const struct option_table *table, const char *name);

/* Prints options with default and meaning: the common ones, or all by section; with HELP_ROWS, which the help does not
 * mention, in fields for the scripts that make manual pages and completion (launch/man), a tab before each: name,
 * letter (or -), what its value is called (nothing: a flag), default, choices (parted by |), help. */
void option_table_help(FILE *out, const struct option_table *table, enum option_help which);

/* Every option's value, as given or by default: a JSON object of numbers, true and false, and texts. The caller owns
 * it. */
cJSON *option_table_json(const struct option_table *table);

/* Checks that no two of n options have the same value, the name of a file; "" names none. Returns 0; or -1, reported.
 */
struct option_value {
    const char *name, *value;
};
int option_check_files(const struct option_value *option, size_t n);

/* A finite number, the whole text; -1 without a report. */
int option_number(const char *text, double *value);

/* One of the names, which end with NULL: its index, or -1, reported with the list of them. */
int option_choose(const struct option *option, const char *text, const char *const *name);

/* The comma list that an option was given, and how far it has been read: 0 at first. */
struct option_list {
    const char *option, *text;
    size_t at;
};

/* Takes the list's next word: returns 1; 0 at the end; -1 for an empty word or one of `size` characters or more; or -1,
 * reported, for one that is listed twice, where only what is before a = counts. The second takes a name=value. */
int option_next_word(struct option_list *list, char *word, size_t size);
int option_next_pair(struct option_list *list, char name[32], char value[32]);

#endif
