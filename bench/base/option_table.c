/* option_table.c - command lines read by a table. */
#include "base/option_table.h"

#include "kernels/error.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

int option_number(const char *text, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return !isspace((unsigned char)*text) && *text && !*end && !errno && isfinite(*value) ? 0 : -1;
}

int option_choose(const struct option *option, const char *text, const char *const *name)
{
    char known[256] = "";
    size_t at = 0;
    for (int i = 0; name[i]; i++) {
        if (!strcmp(text, name[i]))
            return i;
        if (at < sizeof known)
            at += (size_t)snprintf(known + at, sizeof known - at, "%s%s",
                                   !i            ? ""
                                   : name[i + 1] ? ", "
                                                 : " or ",
                                   name[i]);
    }
    return error_report("--%s %s: expected %s", option->name, text, known);
}

int option_next_word(const char **at, char *word, size_t size)
{
    size_t length = strcspn(*at, ",");
    if (!**at)
        return 0;
    if (!length || length >= size || ((*at)[length] && !(*at)[length + 1]))
        return -1;
    memcpy(word, *at, length);
    word[length] = 0;
    *at += length + ((*at)[length] == ',');
    return 1;
}

int option_next_pair(const char **at, char name[32], char value[32])
{
    char word[64];
    int more = option_next_word(at, word, sizeof word);
    char *equal = more > 0 ? strchr(word, '=') : NULL;
    if (more <= 0)
        return more;
    if (!equal || equal == word || !equal[1] || equal - word >= 32 || strlen(equal + 1) >= 32)
        return -1;
    *equal = 0;
    strcpy(name, word);
    strcpy(value, equal + 1);
    return 1;
}

static int count_parse(const struct option *o, const char *text, void *field)
{
    double number;
    size_t digits = strspn(text, "0123456789");
    if (!digits || text[digits] || option_number(text, &number) || number < o->low || number > o->high)
        return error_report("--%s %s: expected a whole number from %.0f to %.0f", o->name, text, o->low, o->high);
    *(size_t *)field = (size_t)strtoull(text, NULL, 10);
    return 0;
}

static void count_print(const struct option *o, const void *field, char *text, size_t size)
{
    (void)o;
    snprintf(text, size, "%zu", *(const size_t *)field);
}

static int real_parse(const struct option *o, const char *text, void *field)
{
    double number;
    if (option_number(text, &number) || number < o->low || number > o->high)
        return error_report("--%s %s: expected a number from %g to %g", o->name, text, o->low, o->high);
    *(double *)field = number;
    return 0;
}

static void real_print(const struct option *o, const void *field, char *text, size_t size)
{
    (void)o;
    snprintf(text, size, "%.9g", *(const double *)field);
}

static int text_parse(const struct option *o, const char *text, void *field)
{
    (void)o;
    *(const char **)field = text;
    return 0;
}

static void text_print(const struct option *o, const void *field, char *text, size_t size)
{
    (void)o;
    snprintf(text, size, "%s", *(const char *const *)field);
}

static int label_parse(const struct option *o, const char *text, void *field)
{
    enum { LONGEST = 100 };
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-+.", *c))
            return error_report("--%s '%.100s': may hold letters, digits, _, -, + and . only", o->name, text);
    if (strlen(text) > LONGEST)
        return error_report("--%s: %zu characters; at most %d", o->name, strlen(text), LONGEST);
    return text_parse(o, text, field);
}

static int flag_parse(const struct option *o, const char *text, void *field)
{
    (void)o, (void)text;
    *(int *)field = 1;
    return 0;
}

static void flag_print(const struct option *o, const void *field, char *text, size_t size)
{
    (void)o;
    snprintf(text, size, "%s", *(const int *)field ? "true" : "false");
}

static int bytes_parse(const struct option *o, const char *text, void *field)
{
    char number[32];
    double value, unit = 1;
    size_t length = strcspn(text, "kKmMgG");
    switch (text[length]) {
    case 'k':
    case 'K':
        unit = 1 << 10;
        break;
    case 'm':
    case 'M':
        unit = 1 << 20;
        break;
    case 'g':
    case 'G':
        unit = 1 << 30;
        break;
    }
    int whole = length < sizeof number && strspn(text, "0123456789.") == length && (!text[length] || !text[length + 1]);
    snprintf(number, sizeof number, "%.*s", (int)(length < sizeof number ? length : 0), text);
    if (!whole || option_number(number, &value) || value * unit < o->low || value * unit > o->high ||
        value * unit != floor(value * unit))
        return error_report(
            "--%s %s: expected a size in bytes, or with K, M or G (binary), such as 8, 64K or 1.5G, from "
            "%.0f to %.0f",
            o->name, text, o->low, o->high);
    *(size_t *)field = (size_t)(value * unit);
    return 0;
}

static void choice_print(const struct option *o, const void *field, char *text, size_t size)
{
    snprintf(text, size, "%s", o->choices[*(const int *)field]);
}

static int choice_parse(const struct option *o, const char *text, void *field)
{
    int choice = option_choose(o, text, o->choices);
    if (choice >= 0)
        *(int *)field = choice;
    return choice < 0 ? -1 : 0;
}

const struct option_kind option_count = {VALUE_NUMBER, count_parse, count_print};
const struct option_kind option_real = {VALUE_NUMBER, real_parse, real_print};
const struct option_kind option_text = {VALUE_TEXT, text_parse, text_print};
const struct option_kind option_label = {VALUE_TEXT, label_parse, text_print};
const struct option_kind option_flag = {VALUE_FLAG, flag_parse, flag_print};
const struct option_kind option_bytes = {VALUE_NUMBER, bytes_parse, count_print};
const struct option_kind option_choice = {VALUE_TEXT, choice_parse, choice_print};

/* ---- the command line ---- */

/* An option of a table: its row, its section, and its number over all sections. */
struct match {
    const struct option_section *section;
    const struct option *option;
    size_t number;
};

/* Moves on to the next row, from a zeroed match on; 0 at the end. */
static int next(const struct option_table *table, struct match *match)
{
    if (!match->section)
        *match = (struct match){table->section, table->section[0].row - 1, (size_t)-1};
    match->option++;
    match->number++;
    while (match->option == match->section->row + match->section->rows) {
        if (++match->section == table->section + table->sections)
            return 0;
        match->option = match->section->row;
    }
    return 1;
}

static int same_name(const char *name, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!name[i] || (word[i] == '_' ? '-' : word[i]) != name[i])
            return 0;
    return !name[length];
}

/* The option of that long name, or of that letter if name is NULL; option NULL if there is none. */
static struct match find(const struct option_table *table, const char *name, size_t length, char letter)
{
    for (struct match match = {0}; table->sections && next(table, &match);)
        if (name ? same_name(match.option->name, name, length) : match.option->letter == letter)
            return match;
    return (struct match){0};
}

/* How many characters must be put in, left out or changed to make one word of the other (Levenshtein's distance); what
 * b has behind a's end counts a little only, since people cut names short. */
static int distance(const char *a, size_t n, const char *b)
{
    int row[64], m = (int)strlen(b) < 63 ? (int)strlen(b) : 63;
    for (int j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 0; i < n; i++) {
        int diagonal = row[0];
        row[0] = (int)i + 1;
        for (int j = 1; j <= m; j++) {
            int change = diagonal + ((a[i] == '_' ? '-' : a[i]) != b[j - 1]), above = row[j] + 1, left = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = change < above ? change : above;
            row[j] = row[j] < left ? row[j] : left;
        }
    }
    return strncmp(a, b, n) ? row[m] : 1;
}

static int unknown(const struct option_table *table, const char *word, size_t length)
{
    enum { SHOWN = 3 };
    const char *name = *word == '-' ? word + strspn(word, "-") : word;
    const char *nearest[SHOWN] = {NULL};
    int far[SHOWN], limit = 1 + (int)length / 3, shown = 0;
    length -= (size_t)(name - word);
    for (struct match match = {0}; table->sections && next(table, &match);) {
        int d = distance(name, length, match.option->name), i = shown < SHOWN ? shown++ : SHOWN;
        for (; i > 0 && d < far[i - 1]; i--)
            if (i < SHOWN) {
                far[i] = far[i - 1];
                nearest[i] = nearest[i - 1];
            }
        if (i < SHOWN) {
            far[i] = d;
            nearest[i] = match.option->name;
        }
    }
    char known[200] = "";
    size_t at = 0;
    for (int i = 0; i < shown && far[i] <= limit && at < sizeof known; i++)
        at += (size_t)snprintf(known + at, sizeof known - at, "%s --%s", i ? "," : "; did you mean", nearest[i]);
    return error_report("unknown option '%.*s'%s%s see --help all", (int)(name + length - word), word, known,
                        at ? "?" : ";");
}

static void *field_of(const struct match *match)
{
    return (char *)match->section->base + match->option->offset;
}

void option_table_add(struct option_table *table, struct option_section section)
{
    size_t rows = section.rows;
    for (size_t i = 0; i < table->sections; i++)
        rows += table->section[i].rows;
    if (table->sections == OPTION_SECTIONS || rows > OPTIONS_MOST)
        FATAL("more than %d sections or %d options", OPTION_SECTIONS, OPTIONS_MOST);
    table->section[table->sections++] = section;
}

static int set_defaults(struct option_table *table)
{
    memset(table->given, 0, sizeof table->given);
    for (struct match match = {0}; table->sections && next(table, &match);) {
        const struct option *o = match.option;
        if (o->initial && o->kind->parse(o, o->initial, field_of(&match)))
            return -1;
    }
    return 0;
}

/* Each option that was given has the one that it needs. */
static int check_needs(const struct option_table *table)
{
    for (struct match match = {0}; table->sections && next(table, &match);) {
        const char *needs = match.option->needs ? match.option->needs : match.section->needs;
        if (table->given[match.number] && needs && strcmp(needs, match.option->name) != 0 &&
            !option_was_given(table, needs))
            return error_report("--%s needs --%s", match.option->name, needs);
    }
    return 0;
}

/* --help [all], -h, --version: 1 for one of them. */
static int is_help(struct option_table *table, const char *word, const char *behind)
{
    int all = !strcmp(word, "--help=all") || (behind && !strcmp(behind, "all"));
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "--help=all"))
        table->help = all ? HELP_ALL : HELP_COMMON;
    else if (!strcmp(word, "--version"))
        table->version = 1;
    return table->help || table->version;
}

/* Reads the option at argv[*i], and its value, which may be the next word: then *i moves on. */
static int parse_option(struct option_table *table, int argc, char *const argv[], int *i)
{
    const char *word = argv[*i], *attached;
    size_t length = strcspn(word, "=");
    struct match match;
    if (!strncmp(word, "--", 2)) {
        match = find(table, word + 2, length - 2, 0);
        attached = word[length] ? word + length + 1 : NULL;
    } else {
        match = find(table, NULL, 0, word[1]);
        attached = word[2] ? word + 2 : NULL;
    }
    const struct option *o = match.option;
    if (!o)
        return unknown(table, word, length);
    int is_flag = o->kind->value == VALUE_FLAG;
    if (is_flag && attached)
        return error_report("--%s takes no value", o->name);
    const char *value = is_flag ? NULL : attached ? attached : ++*i < argc ? argv[*i] : NULL;
    if (!is_flag && !value)
        return error_report("--%s needs a value: %s", o->name, o->help);
    table->given[match.number] = 1;
    return o->kind->parse(o, value, field_of(&match));
}

int option_table_parse(struct option_table *table, int argc, char *const argv[])
{
    if (set_defaults(table))
        return -1;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (is_help(table, word, i + 1 < argc ? argv[i + 1] : NULL))
            return 0;
        if (*word == '-' && word[1]) {
            if (parse_option(table, argc, argv, &i))
                return -1;
        } else if (!table->word) {
            return error_report("'%s': options begin with --; see --help", word);
        } else if (table->word(table->context, word)) {
            return -1;
        }
    }
    return check_needs(table);
}

int option_was_given(const struct option_table *table, const char *name)
{
    struct match match = find(table, name, strlen(name), 0);
    if (!match.option)
        FATAL("there is no option --%s", name);
    return table->given[match.number];
}

const char *option_given_of(const struct option_table *table, const struct option *rows)
{
    for (struct match match = {0}; table->sections && next(table, &match);)
        if (match.section->row == rows && table->given[match.number])
            return match.option->name;
    return NULL;
}

/* ---- help and record ---- */

static void help_row(FILE *out, const struct option *o)
{
    char name[64];
    snprintf(name, sizeof name, o->letter ? "--%s, -%c" : "--%s", o->name, o->letter);
    fprintf(out, "  %-22s %s", name, o->help);
    if (o->initial && *o->initial)
        fprintf(out, " [%s]", o->initial);
    fputc('\n', out);
}

/* Whether the rows of a section mean nothing without an option that stands elsewhere. */
static int is_for_another(const struct option_table *table, const struct option_section *section)
{
    return section->needs && find(table, section->needs, strlen(section->needs), 0).section != section;
}

void option_table_help(FILE *out, const struct option_table *table, enum option_help which)
{
    const struct option_section *last = NULL;
    if (which == HELP_COMMON)
        fprintf(out, "\nCommon options ([default]; --help all shows the others, too):\n");
    for (struct match match = {0}; table->sections && next(table, &match);) {
        if (which == HELP_COMMON && (!match.option->common || is_for_another(table, match.section)))
            continue;
        if (which == HELP_ALL && match.section != last)
            fprintf(out, "\n%s:\n", match.section->title);
        last = match.section;
        help_row(out, match.option);
    }
    fprintf(out, "\nHelp:\n  %-22s print the common options, or all, and stop\n  %-22s print the version and stop\n",
            "--help [all], -h", "--version");
}

void option_table_each(const struct option_table *table,
                       void (*each)(void *context, const char *name, const char *value, int is_text), void *context)
{
    char text[4096];
    for (struct match match = {0}; table->sections && next(table, &match);) {
        match.option->kind->print(match.option, field_of(&match), text, sizeof text);
        each(context, match.option->name, text, match.option->kind->value == VALUE_TEXT);
    }
}
