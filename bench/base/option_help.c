/* option_help.c - prints the options of a table as help or for scripts, and begins commands that only read files. */
#include "base/option_table.h"

#include "base/text.h"
#include "base/version.h"

#include <string.h>

/* Whether the options of a section need an option that is in another section. */
static int is_for_another(const struct option_table *table, size_t section)
{
    const char *needs = table->section[section].needs;
    for (size_t i = 0; i < table->rows && needs; i++)
        if (!strcmp(table->row[i].option->name, needs))
            return table->row[i].section != section;
    return 0;
}

static const char *default_of(const struct option *o)
{
    return o->decides ? o->decides : o->initial ? o->initial : "";
}

static void print_fields(FILE *out, const struct option *o)
{
    fprintf(out, "\t%s\t%c\t%s\t%s\t", o->name, o->letter ? o->letter : '-',
            o->value_name ? o->value_name : o->kind->value_name, default_of(o));
    for (int i = 0; o->choices && o->choices[i]; i++)
        fprintf(out, "%s%s", i ? "|" : "", o->choices[i]);
    fprintf(out, "\t%s\n", o->help);
}

void option_help_row(FILE *out, const char *name, const char *text)
{
    enum { NAME = 22 };
    char prefix[100];
    snprintf(prefix, sizeof prefix, "  %-*s ", NAME, name);
    if (strlen(name) > NAME) {
        fprintf(out, "  %s\n", name);
        snprintf(prefix, sizeof prefix, "%*s", 2 + NAME + 1, "");
    }
    text_wrap(out, HELP_COLUMNS, prefix, text);
}

void option_help_text(FILE *out, const char *text)
{
    char line[2000], prefix[20];
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        snprintf(prefix, sizeof prefix, "%*s", (int)strspn(text, " "), "");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        text_wrap(out, HELP_COLUMNS, prefix, line);
    }
}

void option_table_help(FILE *out, const struct option_table *table, enum option_help which)
{
    enum { LONG = 50 };
    size_t titles = 0;
    if (which == HELP_COMMON)
        fprintf(out, "\nCommon options ([default]; --help all shows the others, too):\n");
    for (size_t i = 0; i < table->rows; i++) {
        const struct option *o = table->row[i].option;
        char name[64], text[1000];
        if (which == HELP_COMMON && (!o->common || is_for_another(table, table->row[i].section)))
            continue;
        if (which != HELP_COMMON && table->row[i].section >= titles) { /* the first option of its section */
            fprintf(out, "\n%s:\n", table->section[table->row[i].section].title);
            titles = table->row[i].section + 1;
        }
        if (which == HELP_ROWS) {
            print_fields(out, o);
            continue;
        }
        snprintf(name, sizeof name, o->letter ? "--%s, -%c" : "--%s", o->name, o->letter);
        const char *value = default_of(o), *gap = strlen(value) > LONG ? " " : ""; /* breaks a list after a comma */
        snprintf(text, sizeof text, *value ? "%s [" : "%s", o->help);
        for (; *value; value++)
            text_append(text, sizeof text, "%c%s%s", *value, *value == ',' ? gap : "", value[1] ? "" : "]");
        option_help_row(out, name, text);
    }
    fprintf(out, "\nHelp:\n");
    option_help_row(out, "--help [all], -h", "print the common options, or all, and stop");
    option_help_row(out, "--version", "print the version and stop");
}

int option_table_begin(struct option_table *table, const char *usage, const char *statuses, int argc,
                       char *const argv[])
{
    if (option_table_parse(table, argc, argv))
        return -1;
    if (table->help) {
        option_help_text(stdout, usage);
        option_table_help(stdout, table, table->help);
        option_help_text(stdout, statuses);
    } else if (table->version)
        printf("ddpbench %s\n", version_text());
    else
        return table->check ? table->check(table->context) : 0;
    return 1;
}
