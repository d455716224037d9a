/* option_table.c - parses command lines by a table of options. */
#include "base/option_table.h"

#include "base/json.h"
#include "base/text.h"
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
    /* strtod also accepts 0x10, nan and " 1" */
    int decimal = *text && *text != '+' && !text[strspn(text, "0123456789.eE+-")];
    errno = 0;
    *value = strtod(text, &end);
    return decimal && !*end && !errno && isfinite(*value) ? 0 : -1;
}

int option_choose(const struct option *option, const char *text, const char *const *name)
{
    char known[256] = "";
    for (int i = 0; name[i]; i++) {
        if (!strcmp(text, name[i]))
            return i;
        text_append(known, sizeof known, "%s%s", !i ? "" : name[i + 1] ? ", " : " or ", name[i]);
    }
    for (int i = 0; name[i] && *text; i++)
        if (!strncmp(text, name[i], strlen(text)))
            return error_report("--%s %s: expected %s; did you mean %s?", option->name, text, known, name[i]);
    return error_report("--%s %s: expected %s", option->name, text, known);
}

int option_next_word(struct option_list *list, char *word, size_t size)
{
    const char *at = list->text + list->at;
    size_t length = strcspn(at, ","), key = strcspn(at, ",=");
    if (!*at)
        return 0;
    if (!length || length >= size || (at[length] && !at[length + 1]))
        return -1;
    for (const char *other = list->text; other < at; other += strcspn(other, ",") + 1)
        if (strcspn(other, ",=") == key && !memcmp(other, at, key))
            return error_report("--%s: '%.*s' is listed twice; name it once", list->option, (int)key, at);
    memcpy(word, at, length);
    word[length] = 0;
    list->at += length + (at[length] == ',');
    return 1;
}

int option_next_pair(struct option_list *list, char name[32], char value[32])
{
    char word[64], rest;
    int more = option_next_word(list, word, sizeof word);
    return more > 0 && sscanf(word, "%31[^=]=%31[^\n]%c", name, value, &rest) != 2 ? -1 : more;
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

/* Parses the number in `digits`, which is `text` or its beginning. `what` names the number in the error message. */
static int parse_real(const struct option *o, const char *text, const char *digits, const char *what, double *field)
{
    double number;
    if (option_number(digits, &number) || number < o->low || number > o->high)
        return error_report("--%s %s: expected a %s from %g to %g", o->name, text, what, o->low, o->high);
    *field = number;
    return 0;
}

static int real_parse(const struct option *o, const char *text, void *field)
{
    return parse_real(o, text, text, "number", field);
}

static int percent_parse(const struct option *o, const char *text, void *field)
{
    char digits[32], sign[2], rest;
    int signs = sscanf(text, "%31[^%]%1[%]%c", digits, sign, &rest) == 2;
    return parse_real(o, text, signs ? digits : text, "percentage", field);
}

static int text_parse(const struct option *o, const char *text, void *field)
{
    if (!*text && text != o->initial) /* only a default may be empty; it means none */
        return error_report("--%s '': expected a text that is not empty", o->name);
    *(const char **)field = text;
    return 0;
}

/* Refuses control characters, since paths are printed as they are. */
static int path_parse(const struct option *o, const char *text, void *field)
{
    if (o->kind == &option_path && !strcmp(text, "-"))
        return error_report("--%s '-': expected a path; write ./- for a file of that name", o->name);
    for (const char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            return error_report("--%s '%.200s': expected a path without control characters", o->name, text);
    return text_parse(o, text, field);
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

static int bytes_parse(const struct option *o, const char *text, void *field)
{
    static const char suffixes[] = "kKmMgG";
    char *end;
    size_t digits = strspn(text, "0123456789."), suffix = strcspn(suffixes, &text[digits]), power = suffix / 2 + 1;
    double value = strtod(text, &end) * (text[digits] ? exp2(10 * (double)power) : 1);
    if (!digits || end != text + digits || strlen(end) > 1 || (*end && !suffixes[suffix]) || value < o->low ||
        value > o->high || value != floor(value))
        return error_report("--%s %s: expected a size in bytes, or with K, M or G (binary), such as 8, 64K or 1.5G, "
                            "from %.0f to %.0f",
                            o->name, text, o->low, o->high);
    *(size_t *)field = (size_t)value;
    return 0;
}

static int choice_parse(const struct option *o, const char *text, void *field)
{
    int choice = option_choose(o, text, o->choices);
    if (choice >= 0)
        *(int *)field = choice;
    return choice < 0 ? -1 : 0;
}

/* Parses "all" or a comma-separated list of the option's choices into an unsigned whose bit i stands for choice i. */
static int names_parse(const struct option *option, const char *text, void *field)
{
    unsigned names = 0;
    char word[32];
    int more = 0, choice;
    if (!strcmp(text, "all"))
        for (int i = 0; option->choices[i]; i++)
            names |= 1u << i;
    else
        for (struct option_list list = {option->name, text, 0}; (more = option_next_word(&list, word, sizeof word)) > 0;
             names |= 1u << choice)
            if ((choice = option_choose(option, word, option->choices)) < 0)
                return -1;
    if (more < 0 || !names) /* option_choose reports a malformed or empty list, with the known names */
        return option_choose(option, *text ? text : "''", option->choices);
    *(unsigned *)field = names;
    return 0;
}

static void choice_print(const struct option *o, const void *field, char *text, size_t size)
{
    snprintf(text, size, "%s", o->choices[*(const int *)field]);
}

const struct option_kind option_count = {VALUE_COUNT, "N", count_parse, NULL};
const struct option_kind option_real = {VALUE_REAL, "N", real_parse, NULL};
const struct option_kind option_percent = {VALUE_REAL, "PERCENT", percent_parse, NULL};
const struct option_kind option_text = {VALUE_TEXT, "VALUE", text_parse, NULL};
const struct option_kind option_path = {VALUE_TEXT, "PATH", path_parse, NULL};
const struct option_kind option_form = {VALUE_TEXT, "PATH", path_parse, NULL};
const struct option_kind option_label = {VALUE_TEXT, "NAME", label_parse, NULL};
const struct option_kind option_flag = {VALUE_FLAG, "", flag_parse, NULL};
const struct option_kind option_bytes = {VALUE_COUNT, "SIZE", bytes_parse, NULL};
const struct option_kind option_names = {VALUE_TEXT, "VALUE", names_parse, NULL};
const struct option_kind option_choice = {VALUE_TEXT, "WORD", choice_parse, choice_print};

/* ---- the command line ---- */

static const char *from_nowhere(const char *word)
{
    return (void)word, NULL;
}

const char *(*option_place)(const char *word) = from_nowhere;

struct option_section option_config_section(void)
{
    static const char *config;
    /* clang-format off */
    static const struct option row = {.name = "config", .kind = &option_path, .initial = "",
        .help = "file with an option on each line, such as `rounds 20`; options of the command line win"};
    /* clang-format on */
    return (struct option_section){.title = "Configuration", .row = &row, .rows = 1, .base = &config};
}

enum { OPTION_NAME = 64 }; /* no option name is longer */

void option_table_add(struct option_table *table, struct option_section section)
{
    if (table->sections == OPTION_SECTIONS || table->rows + section.rows > OPTIONS_MOST)
        FATAL("more than %d sections or %d options", OPTION_SECTIONS, OPTIONS_MOST);
    for (size_t i = 0; i < section.rows; i++)
        table->row[table->rows++] = (struct option_row){.option = &section.row[i], .section = table->sections};
    table->section[table->sections++] = section;
}

static void *field_of(const struct option_table *table, const struct option_row *row)
{
    return (char *)table->section[row->section].base + row->option->offset;
}

/* Returns the index of the row with this letter or, if letter is 0, with this name; table->rows if there is none. */
static size_t find_row(const struct option_table *table, const char *name, char letter)
{
    size_t i = 0;
    for (; i < table->rows; i++)
        if (letter ? table->row[i].option->letter == letter : !strcmp(table->row[i].option->name, name))
            break;
    return i;
}

/* Returns the index of an option that the program itself names. */
static size_t own_row(const struct option_table *table, const char *name)
{
    size_t at = find_row(table, name, 0);
    if (at == table->rows)
        FATAL("there is no option --%s", name);
    return at;
}

void option_table_remove(struct option_table *table, const char *name)
{
    size_t at = own_row(table, name);
    table->rows--;
    memmove(table->row + at, table->row + at + 1, (table->rows - at) * sizeof *table->row);
}

/* Copies a given option name of n characters as rows have it: people also write _ for -. */
static void copy_name(char name[OPTION_NAME], const char *given, size_t n)
{
    snprintf(name, OPTION_NAME, "%.*s", (int)n, given);
    for (char *c = name; (c = strchr(c, '_'));)
        *c = '-';
}

/* Counts the letters that only one of two words has, whatever their order: 0 if two letters are swapped, 1 if one is
 * missing, 2 if one is replaced. Returns 1 if b begins with a, since people abbreviate names. */
static int distance(const char *a, const char *b)
{
    int count[256] = {0}, sum = 0;
    for (const char *c = a; *c; c++)
        count[(unsigned char)*c]++;
    for (const char *c = b; *c; c++)
        count[(unsigned char)*c]--;
    for (int c = 0; c < 256; c++)
        sum += abs(count[c]);
    return strncmp(a, b, strlen(a)) ? sum : 1;
}

/* Whether a word is in a list of words with a space between them; NULL: an empty list. */
static int is_listed(const char *word, const char *list)
{
    size_t n;
    for (const char *at = list ? list : ""; (n = strcspn(at, " ")); at += n + (at[n] == ' '))
        if (n == strlen(word) && !memcmp(at, word, n))
            return 1;
    return 0;
}

/* Reports an unknown option: what to do instead, or up to three options with this name elsewhere or a similar name. */
static int report_unknown(const struct option_table *table, const char *word, size_t length)
{
    size_t dashes = strspn(word, "-");
    int limit = length > dashes && length < OPTION_NAME ? 1 + (int)length / 3 : -1, shown = 0;
    char name[OPTION_NAME], known[200] = "";
    copy_name(name, word + dashes, length - dashes);
    for (const struct option_hint *hint = table->hints; hint && hint->words; hint++)
        if (is_listed(name, hint->words))
            return error_report("unknown option '%.*s': %s", (int)length, word, hint->instead);
    for (int far = 0; far <= limit && !(far == 1 && shown); far++)
        for (size_t i = 0; i < table->rows && shown < 3; i++) {
            const struct option *o = table->row[i].option;
            if ((is_listed(name, o->also) ? 0 : distance(name, o->name)) == far)
                text_append(known, sizeof known, "%s --%s", shown++ ? "," : "; did you mean", o->name);
        }
    return error_report("unknown option '%.*s'%s%s see --help all", (int)length, word, known, shown ? "?" : ";");
}

/* Whether the first item of a comma list is true: NAME is true if option NAME was given, NAME=VALUE if the value of
 * option NAME, given or default, is VALUE. Writes the option to `words` as on a command line. */
static int is_chosen(const struct option_table *table, const char *list, char words[160])
{
    char name[64], value[64] = "";
    int has_value = sscanf(list, "%63[^,=]=%63[^,]", name, value) == 2;
    snprintf(words, 160, "--%s%s%s", name, has_value ? " " : "", value);
    size_t number = find_row(table, name, 0);
    if (number == table->rows) /* the command lacks this option */
        return 0;
    return has_value ? !strcmp(table->row[number].text, value) : table->row[number].given;
}

static int check_without(const struct option_table *table, const char *name, const char *others)
{
    char words[160];
    for (const char *at = others; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (is_chosen(table, at, words) && strcmp(words + strlen("--"), name) != 0)
            return error_report("--%s does not go with %s; leave one of them out", name, words);
    return 0;
}

/* Checks `needs` and `without` of the options that were given. */
static int check_together(const struct option_table *table)
{
    char words[160];
    for (size_t i = 0; i < table->rows; i++) {
        const struct option *option = table->row[i].option;
        const struct option_section *section = &table->section[table->row[i].section];
        const char *needs = option->needs ? option->needs : section->needs;
        if (!table->row[i].given)
            continue;
        if (needs && strcmp(needs, option->name) != 0 && !is_chosen(table, needs, words))
            return error_report("--%s needs %s", option->name, words);
        if (check_without(table, option->name, option->without) || check_without(table, option->name, section->without))
            return -1;
    }
    return 0;
}

/* Handles --help [all|rows], -h and --version. Returns 1 if `word` is one of them, 0 if not; or -1, reported, if --help
 * is followed by an unknown word. */
static int is_help(struct option_table *table, const char *word, const char *behind)
{
    const char *which = !strncmp(word, "--help=", 7) ? word + 7 : behind && *behind != '-' ? behind : NULL;
    table->version = !strcmp(word, "--version");
    if (strncmp(word, "--help=", 7) != 0 && strcmp(word, "--help") != 0 && strcmp(word, "-h") != 0)
        return table->version;
    if (which && strcmp(which, "all") != 0 && strcmp(which, "rows") != 0)
        return error_report("--help %s: expected all, or nothing", which);
    table->help = !which ? HELP_COMMON : !strcmp(which, "all") ? HELP_ALL : HELP_ROWS;
    return 1;
}

/* Parses the option at argv[*i] and its value. If the value is the next word, increments *i. */
static int parse_option(struct option_table *table, int argc, char *const argv[], int *i)
{
    const char *word = argv[*i], *value = word[2] ? word + 2 : NULL;
    size_t length = strcspn(word, "=");
    char letter = word[1], name[OPTION_NAME] = "";
    if (letter == '-') {
        letter = 0;
        copy_name(name, word + 2, length - 2);
        value = word[length] ? word + length + 1 : NULL;
    }
    size_t number = find_row(table, name, letter);
    if (number == table->rows)
        return report_unknown(table, word, length);
    struct option_row *row = &table->row[number];
    const struct option *o = row->option;
    int is_flag = o->kind->value == VALUE_FLAG, from = option_place(word) ? 2 : 1;
    if (from == 2 && row->given == 1) /* the command line wins over the file */
        return strcmp(o->name, "config") ? 0 : error_report("--config cannot be in the file of --config");
    if (is_flag && value)
        return error_report("--%s takes no value", o->name);
    const char *next = !is_flag && !value && *i + 1 < argc ? argv[*i + 1] : "--"; /* the value may be the next word */
    if (strncmp(next, "--", o->bare ? 1 : 2) != 0 && !option_place(next))
        value = argv[++*i];
    value = value ? value : o->bare;
    if (!is_flag && !value)
        return error_report("--%s needs a value: %s", o->name, o->help);
    if (row->given && !o->repeats) /* neither value may win in silence */
        return error_report("--%s is given twice; give it once", o->name);
    row->given = from;
    row->text = value;
    return o->kind->parse(o, value, field_of(table, row));
}

int option_table_parse(struct option_table *table, int argc, char *const argv[])
{
    for (struct option_row *row = table->row; row < table->row + table->rows; row++) {
        row->given = 0;
        row->text = row->option->initial;
        if (row->text && row->option->kind->parse(row->option, row->text, field_of(table, row)))
            return -1;
    }
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        int help = is_help(table, word, i + 1 < argc ? argv[i + 1] : NULL);
        if (help)
            return help < 0 ? -1 : 0;
        if (*word == '-' && word[1]) {
            if (parse_option(table, argc, argv, &i))
                return error_place(option_place(word));
        } else if (!table->word) {
            return error_report("'%s': options begin with --; see --help", word);
        } else if (table->word(table->context, word)) {
            return -1;
        }
    }
    return check_together(table);
}

int option_was_given(const struct option_table *table, const char *name)
{
    return table->row[own_row(table, name)].given;
}

/* ---- record ---- */

cJSON *option_table_json(const struct option_table *table)
{
    cJSON *json = cJSON_CreateObject();
    char text[4096];
    for (size_t i = 0; i < table->rows; i++) {
        const struct option_row *row = &table->row[i];
        const struct option_kind *kind = row->option->kind;
        const void *field = field_of(table, row);
        if (kind->value == VALUE_COUNT)
            json_add_number(json, row->option->name, (double)*(const size_t *)field);
        else if (kind->value == VALUE_REAL)
            json_add_number(json, row->option->name, *(const double *)field);
        else if (kind->value == VALUE_FLAG)
            cJSON_AddBoolToObject(json, row->option->name, *(const int *)field);
        else if (kind->print) {
            kind->print(row->option, field, text, sizeof text);
            json_add_text(json, row->option->name, text);
        } else
            json_add_text(json, row->option->name, row->text ? row->text : "");
    }
    return json;
}
