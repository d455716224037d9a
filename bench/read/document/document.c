/* document.c - builds a document, and prints it as plain text. */
#include "document/document.h"

#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static cJSON *add_block(cJSON *document, const char *kind)
{
    cJSON *block = json_add_row(cJSON_GetObjectItemCaseSensitive(document, "blocks"));
    json_add_text(block, "kind", kind);
    return block;
}

static void add_text(cJSON *block, const char *name, const char *format, va_list arguments)
{
    char *text;
    if (vasprintf(&text, format, arguments) < 0)
        fatal_no_memory(0, 0);
    json_add_text(block, name, text);
    free(text);
}

cJSON *document_create(const char *format, ...)
{
    cJSON *document = cJSON_CreateObject();
    va_list arguments;
    va_start(arguments, format);
    add_text(document, "title", format, arguments);
    va_end(arguments);
    cJSON_AddArrayToObject(document, "blocks");
    return document;
}

void document_add(cJSON *document, const char *kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_text(add_block(document, kind), "text", format, arguments);
    va_end(arguments);
}

void document_begin_section(cJSON *document, const char *heading)
{
    const char *last = "";
    for (const cJSON *block = json_first(document, "blocks"); block; block = block->next)
        last = strcmp(json_string(block, "kind"), "heading") ? last : json_string(block, "text");
    if (strcmp(last, heading) != 0)
        document_add_heading(document, "%s", heading);
}

/* Hides each column whose printed cells are all empty or N/A: removes its heading. */
static void hide_empty_columns(cJSON *table)
{
    struct table_view view = table_view(table);
    for (cJSON *column = json_first(table, "columns"); column; column = column->next) {
        const cJSON *row = view.row;
        char cell[TABLE_CELL];
        int rows = 0;
        for (; rows < view.rows && (!*table_cell(cell, column, row) || !strcmp(cell, "N/A")); rows++)
            row = row->next;
        if (rows == view.rows)
            cJSON_DeleteItemFromObjectCaseSensitive(column, "heading");
    }
}

void document_add_table(cJSON *document, const struct table *table)
{
    cJSON *json = table_json(table);
    hide_empty_columns(json);
    json_add_text(json, "rest", "report.json, which --json or --output writes");
    cJSON_AddItemToObject(add_block(document, "table"), "table", json);
}

void document_add_saved_table(cJSON *document, const cJSON *table)
{
    cJSON *copy = cJSON_Duplicate(table, 1);
    if (!copy)
        fatal_no_memory(0, 0);
    cJSON_AddItemToObject(add_block(document, "table"), "table", copy);
}

static int has_picture(const cJSON *document, const char *name)
{
    for (const cJSON *block = json_first(document, "blocks"); block; block = block->next)
        if (!strcmp(json_string(block, "name"), name))
            return 1;
    return 0;
}

void document_add_picture(cJSON *document, const char *name, const char *title, char *svg)
{
    char unique[256];
    snprintf(unique, sizeof unique, "%s", name);
    for (int k = 2; has_picture(document, unique); k++)
        snprintf(unique, sizeof unique, "%.200s-%d", name, k);
    cJSON *block = add_block(document, "picture");
    json_add_text(block, "name", unique);
    json_add_text(block, "title", title);
    json_add_text(block, "svg", svg);
    free(svg);
}

void document_each_piece(FILE *out, const char *text, void (*print)(FILE *out, const char *piece, int code))
{
    while (*text) {
        size_t ticks = strspn(text, "`"), inside = strcspn(text + ticks, "`");
        int code = ticks == 1 && inside && text[1 + inside] == '`';
        size_t length = code || !ticks ? inside : ticks;
        char *piece = allocate(length + 1, 1);
        memcpy(piece, text + code, length);
        print(out, piece, code);
        free(piece);
        text += length + (code ? 2 : 0);
    }
}

/* ---- plain text ---- */

/* Prints a heading, underlined with a row of the character `underline`. */
static void print_heading(FILE *out, const char *text, char underline)
{
    for (int width = text_wrap(out, TEXT_COLUMNS, "", text); width > 0; width--)
        fputc(underline, out);
    fputs("\n", out);
}

void document_print_text(FILE *out, const cJSON *document)
{
    const char *before = "";
    print_heading(out, json_string(document, "title"), '=');
    for (const cJSON *block = json_first(document, "blocks"); block; block = block->next) {
        const char *kind = json_string(block, "kind"), *text = json_string(block, "text");
        int item = !strcmp(kind, "item"), table = !strcmp(kind, "table"); /* table_print itself prints an empty line */
        if (!strcmp(kind, "picture"))
            continue;
        fputs(table || (item && !strcmp(before, "item")) ? "" : "\n", out);
        if (!strcmp(kind, "heading"))
            print_heading(out, text, '-');
        else if (table)
            table_print(out, "", cJSON_GetObjectItemCaseSensitive(block, "table"));
        else
            text_wrap(out, TEXT_COLUMNS, item ? "- " : "", text);
        before = kind;
    }
}

void document_print_json(FILE *out, const cJSON *document, const char *name, cJSON *list)
{
    cJSON *block, *json = cJSON_Duplicate(document, 1);
    cJSON_ArrayForEach(block, cJSON_GetObjectItemCaseSensitive(json, "blocks"))
    {
        cJSON_DeleteItemFromObjectCaseSensitive(block, "svg");
    }
    cJSON_AddItemToObject(json, name, list);
    char *text = json_print(json, 0);
    fprintf(out, "%s\n", text);
    free(text);
    cJSON_Delete(json);
}
