/* document.c - builds a document, and prints it as plain text. */
#include "document/document.h"

#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
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
    char *text = NULL;
    size_t length = 0;
    FILE *out = text_begin(&text, &length);
    vfprintf(out, format, arguments);
    text_end(out);
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
    cJSON_AddArrayToObject(document, "figures");
    return document;
}

void document_add_heading(cJSON *document, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_text(add_block(document, "heading"), "text", format, arguments);
    va_end(arguments);
}

void document_add_paragraph(cJSON *document, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_text(add_block(document, "paragraph"), "text", format, arguments);
    va_end(arguments);
}

void document_add_item(cJSON *document, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_text(add_block(document, "item"), "text", format, arguments);
    va_end(arguments);
}

/* Hides each column whose printed cells are all empty or N/A: removes its heading. */
static void hide_empty_columns(cJSON *table)
{
    cJSON *column;
    struct table_view view = table_view(table);
    cJSON_ArrayForEach(column, cJSON_GetObjectItemCaseSensitive(table, "columns"))
    {
        const cJSON *row = view.row;
        char cell[TABLE_CELL];
        int rows = 0;
        for (; rows < view.rows && (!*table_cell(cell, column, row) || !strcmp(cell, "N/A")); rows++)
            row = row->next;
        if (rows == view.rows)
            cJSON_DeleteItemFromObjectCaseSensitive(column, "heading");
    }
}

/* Appends the cells of a row to a figure: its first text as subject, all other texts and counts by their keys. */
static void add_identity(cJSON *figure, const cJSON *columns, const cJSON *row)
{
    const cJSON *column;
    int texts = 0;
    cJSON_ArrayForEach(column, columns)
    {
        const char *key = json_string(column, "key"), *kind = json_string(column, "kind");
        if (!strcmp(kind, "text"))
            json_add_text(figure, texts++ ? key : "subject", json_string(row, key));
        else if (!strcmp(kind, "count"))
            json_add_number(figure, key, json_number(row, key));
    }
}

/* Appends the numbers of a table's rows to the figures. An interval belongs to the number before it. */
static void add_figures(cJSON *figures, const cJSON *table)
{
    const cJSON *row, *column, *columns = cJSON_GetObjectItemCaseSensitive(table, "columns");
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(table, "rows"))
    {
        cJSON *figure = NULL;
        cJSON_ArrayForEach(column, columns)
        {
            const char *key = json_string(column, "key"), *kind = json_string(column, "kind");
            char low[80], high[80];
            snprintf(low, sizeof low, "%s_low", key);
            snprintf(high, sizeof high, "%s_high", key);
            if (!strcmp(kind, "real") || !strcmp(kind, "error")) {
                double value = json_number(row, key);
                figure = isnan(value) ? NULL : json_add_row(figures);
                if (!figure)
                    continue;
                json_add_text(figure, "table", json_string(table, "key"));
                add_identity(figure, columns, row);
                json_add_text(figure, "name", key);
                json_add_text(figure, "unit", json_string(column, "unit"));
                json_add_number(figure, "value", value);
            } else if (!strcmp(kind, "interval") && figure && !isnan(json_number(row, low))) {
                json_add_number(figure, "low", json_number(row, low));
                json_add_number(figure, "high", json_number(row, high));
            }
        }
    }
}

void document_add_table(cJSON *document, const struct table *table)
{
    cJSON *json = table_json(table);
    add_figures(cJSON_GetObjectItemCaseSensitive(document, "figures"), json);
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

/* Whether the document has a picture of this name. */
static int has_picture(const cJSON *document, const char *name)
{
    const cJSON *block;
    cJSON_ArrayForEach(block, cJSON_GetObjectItemCaseSensitive(document, "blocks"))
    {
        if (!strcmp(json_string(block, "name"), name))
            return 1;
    }
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
    for (int width = text_wrap(out, "", text); width > 0; width--)
        fputc(underline, out);
    fputs("\n", out);
}

void document_print_text(FILE *out, const cJSON *document)
{
    const cJSON *block;
    const char *before = "";
    print_heading(out, json_string(document, "title"), '=');
    cJSON_ArrayForEach(block, cJSON_GetObjectItemCaseSensitive(document, "blocks"))
    {
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
            text_wrap(out, item ? "- " : "", text);
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
    if (list)
        cJSON_AddItemToObject(json, name, list);
    char *text = json_print(json, 0);
    fprintf(out, "%s\n", text);
    free(text);
    cJSON_Delete(json);
}
