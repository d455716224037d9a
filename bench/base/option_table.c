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

int option_choice(const struct option *option, const char *text, const char *const *name, int n)
{
    char known[256] = "";
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        if (!strcmp(text, name[i]))
            return i;
        if (at < sizeof known)
            at += (size_t)snprintf(known + at, sizeof known - at, "%s%s",
                                   !i           ? ""
                                   : i == n - 1 ? " or "
                                                : ", ",
                                   name[i]);
    }
    return error_report("--%s %s: expected %s", option->name, text, known);
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

static void count_print(const void *field, char *text, size_t size)
{
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

static void real_print(const void *field, char *text, size_t size)
{
    snprintf(text, size, "%.9g", *(const double *)field);
}

static int text_parse(const struct option *o, const char *text, void *field)
{
    (void)o;
    *(const char **)field = text;
    return 0;
}

static void trace_text_print(const void *field, char *text, size_t size)
{
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

static void flag_print(const void *field, char *text, size_t size)
{
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

const struct option_kind option_count = {VALUE_NUMBER, count_parse, count_print};
const struct option_kind option_real = {VALUE_NUMBER, real_parse, real_print};
const struct option_kind option_text = {VALUE_TEXT, text_parse, trace_text_print};
const struct option_kind option_label = {VALUE_TEXT, label_parse, trace_text_print};
const struct option_kind option_flag = {VALUE_FLAG, flag_parse, flag_print};
const struct option_kind option_bytes = {VALUE_NUMBER, bytes_parse, count_print};

/* ---- the command line ---- */

struct place {
    const struct option_section *section;
    const struct option *option;
};

static int same_name(const char *name, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!name[i] || (word[i] == '_' ? '-' : word[i]) != name[i])
            return 0;
    return !name[length];
}

/* The option of that long name, or of that letter if name is NULL; section NULL if there is none. */
static struct place find(const struct option_table *table, const char *name, size_t length, char letter)
{
    for (size_t s = 0; s < table->sections; s++)
        for (size_t i = 0; i < table->section[s].rows; i++) {
            const struct option *o = &table->section[s].row[i];
            if (name ? same_name(o->name, name, length) : o->letter == letter)
                return (struct place){&table->section[s], o};
        }
    return (struct place){NULL, NULL};
}

static int unknown(const struct option_table *table, const char *word)
{
    char known[1400];
    size_t at = 0;
    for (size_t s = 0; s < table->sections; s++)
        for (size_t i = 0; i < table->section[s].rows && at < sizeof known; i++)
            at += (size_t)snprintf(known + at, sizeof known - at, " --%s", table->section[s].row[i].name);
    return error_report("unknown option '%s'; known:%s", word, known);
}

static void *field_of(const struct place *place)
{
    return (char *)place->section->base + place->option->offset;
}

static int set_defaults(const struct option_table *table)
{
    for (size_t s = 0; s < table->sections; s++)
        for (size_t i = 0; i < table->section[s].rows; i++) {
            struct place place = {&table->section[s], &table->section[s].row[i]};
            if (place.option->initial &&
                place.option->kind->parse(place.option, place.option->initial, field_of(&place)))
                return -1;
        }
    return 0;
}

int option_table_parse(const struct option_table *table, int argc, char *const argv[])
{
    if (set_defaults(table))
        return -1;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *attached = NULL;
        int is_long = !strncmp(word, "--", 2);
        if (*word != '-' || !word[1]) {
            if (!table->word)
                return error_report("'%s': options begin with --; see --help", word);
            if (table->word(table->context, word))
                return -1;
            continue;
        }
        struct place place;
        if (is_long) {
            size_t length = strcspn(word, "=");
            place = find(table, word + 2, length - 2, 0);
            attached = word[length] ? word + length + 1 : NULL;
        } else {
            place = find(table, NULL, 0, word[1]);
            attached = word[2] ? word + 2 : NULL;
        }
        const struct option *o = place.option;
        if (!o)
            return unknown(table, word);
        int is_flag = o->kind->value == VALUE_FLAG;
        if (is_flag && attached)
            return error_report("--%s takes no value", o->name);
        const char *value = is_flag ? NULL : attached ? attached : ++i < argc ? argv[i] : NULL;
        if (!is_flag && !value)
            return error_report("--%s needs a value: %s", o->name, o->help);
        if (o->kind->parse(o, value, field_of(&place)))
            return -1;
        if (table->given)
            table->given(table->context, place.section, o, value);
    }
    return 0;
}

void option_table_help(FILE *out, const struct option_table *table)
{
    for (size_t s = 0; s < table->sections; s++) {
        fprintf(out, "\n%s:\n", table->section[s].title);
        for (size_t i = 0; i < table->section[s].rows; i++) {
            const struct option *o = &table->section[s].row[i];
            char name[64];
            snprintf(name, sizeof name, o->letter ? "--%s, -%c" : "--%s", o->name, o->letter);
            if (o->initial && *o->initial)
                fprintf(out, "  %-22s %s [%s]\n", name, o->help, o->initial);
            else
                fprintf(out, "  %-22s %s\n", name, o->help);
        }
    }
}

void option_table_each(const struct option_table *table,
                       void (*each)(void *context, const char *name, const char *value, int is_text), void *context)
{
    char text[4096];
    for (size_t s = 0; s < table->sections; s++)
        for (size_t i = 0; i < table->section[s].rows; i++) {
            struct place place = {&table->section[s], &table->section[s].row[i]};
            const char *name = place.option->name;
            if (!strcmp(name, "help") || !strcmp(name, "version"))
                continue;
            place.option->kind->print(field_of(&place), text, sizeof text);
            each(context, name, text, place.option->kind->value == VALUE_TEXT);
        }
}
