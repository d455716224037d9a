/* table.c - makes tables as JSON, and prints them as text. */
#include "base/table.h"

#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"
#include "kernels/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_name[] = {"text", "text", "count", "count", "real", "error", "interval"};

/* ---- from structures to JSON ---- */

cJSON *table_add_row(cJSON *table, const struct column *column, size_t columns, const void *row)
{
    cJSON *json = json_add_row(cJSON_GetObjectItemCaseSensitive(table, "rows"));
    for (; columns; columns--, column++) {
        const void *field = (const char *)row + column->offset;
        const char *const *name = field;
        char key[80];
        if (column->kind == COLUMN_NAME)
            json_add_text(json, column->key, *name ? *name : "");
        else if (column->kind == COLUMN_CHARS)
            json_add_text(json, column->key, field);
        else if (column->kind == COLUMN_COUNT)
            json_add_number(json, column->key, (double)*(const size_t *)field);
        else if (column->kind == COLUMN_INT)
            json_add_number(json, column->key, *(const int *)field);
        else if (column->kind != COLUMN_INTERVAL)
            json_add_number(json, column->key, *(const double *)field);
        else
            for (int i = 0; i < 2; i++) {
                snprintf(key, sizeof key, i ? "%s_high" : "%s_low", column->key);
                json_add_number(json, key, ((const double *)field)[i]);
            }
    }
    return json;
}

cJSON *table_json(const struct table *table)
{
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "key", table->key);
    json_add_text(json, "title", table->title ? table->title : "");
    cJSON *columns = cJSON_AddArrayToObject(json, "columns");
    for (const struct column *column = table->column; column < table->column + table->columns; column++) {
        cJSON *row = json_add_row(columns);
        json_add_text(row, "key", column->key);
        json_add_text(row, "kind", kind_name[column->kind]);
        if (column->heading)
            json_add_text(row, "heading", column->heading);
        if (column->unit)
            json_add_text(row, "unit", column->unit);
        json_add_number(row, "scale", column->scale == 0 ? 1 : column->scale);
        json_add_number(row, "width", column->width);
        json_add_number(row, "decimals", column->decimals);
    }
    cJSON_AddArrayToObject(json, "rows");
    char *row = allocate(table->rows + 1, table->row_bytes);
    if (table->rows)
        memcpy(row, table->row, table->rows * table->row_bytes);
    if (table->order && table->shown && table->rows > table->shown)
        qsort(row, table->rows, table->row_bytes, table->order);
    for (size_t i = 0; i < table->rows; i++)
        table_add_row(json, table->column, table->columns, row + i * table->row_bytes);
    free(row);
    if (table->shown)
        json_add_number(json, "shown", (double)table->shown);
    cJSON *notes = cJSON_AddArrayToObject(json, "notes");
    for (int i = 0; i < TABLE_NOTES; i++)
        if (table->note[i] && *table->note[i])
            cJSON_AddItemToArray(notes, json_text(table->note[i]));
    return json;
}

/* ---- CSV ---- */

void table_print_csv(FILE *out, const struct table *table)
{
    cJSON *json = table_json(table);
    for (size_t i = 0; i < table->columns; i++) {
        const char *key = table->column[i].key, *before = i ? "," : "";
        if (table->column[i].kind == COLUMN_INTERVAL)
            fprintf(out, "%s%s_low,%s_high", before, key, key);
        else
            fprintf(out, "%s%s", before, key);
    }
    for (const cJSON *row = json_first(json, "rows"); row; row = row->next)
        for (const cJSON *field = row->child; field; field = field->next) {
            fputc(field == row->child ? '\n' : ',', out);
            if (cJSON_IsString(field))
                text_print_csv(out, field->valuestring);
            else if (cJSON_IsNumber(field))
                fprintf(out, "%.9g", field->valuedouble);
        }
    fputc('\n', out);
    cJSON_Delete(json);
}

/* ---- from JSON to the text of cells ---- */

/* Copies as many whole characters of the first n bytes of a text as fit into the cell. White space becomes spaces,
 * except newlines if keep_lines; other control characters and invalid UTF-8 become ?. */
static void text_words(char cell[TABLE_CELL], const char *text, size_t n, int keep_lines)
{
    size_t at = 0;
    for (const char *c = text; c < text + n;) {
        size_t length = (size_t)utf8_character(c), bytes = length ? length : 1;
        if (at + bytes >= TABLE_CELL)
            break;
        memcpy(cell + at, length ? c : isspace((unsigned char)*c) ? " " : "?", bytes);
        if (keep_lines && *c == '\n')
            cell[at] = '\n';
        at += bytes;
        c += bytes;
    }
    cell[at] = 0;
}

/* Returns the member `key` of a column's description, truncated to an integer in -most..most; 0 if not a number. */
static int column_int(const cJSON *column, const char *key, int most)
{
    double value = json_number(column, key);
    return isfinite(value) ? (int)fmax(-most, fmin(value, most)) : 0;
}

static void number_words(char cell[TABLE_CELL], const cJSON *column, double value)
{
    int decimals = column_int(column, "decimals", 15);
    double shown = value * json_number(column, "scale");
    if (decimals < 0) { /* -decimals significant digits: those after the point are the decimals, at most 5 */
        int before = shown == 0 || !isfinite(shown) ? 1 : (int)floor(log10(fabs(shown))) + 1;
        decimals = before >= -decimals ? 0 : -decimals - before < 5 ? -decimals - before : 5;
    }
    if (fabs(shown) < 0.5 * pow(10, -decimals))
        shown = 0; /* prints 0, not -0 */
    snprintf(cell, TABLE_CELL, isfinite(shown) ? "%.*f" : "N/A", decimals, shown);
}

const char *table_cell(char cell[TABLE_CELL], const cJSON *column, const cJSON *row)
{
    const char *key = json_string(column, "key"), *kind = json_string(column, "kind");
    char name[80], low[TABLE_CELL], high[TABLE_CELL];
    if (!row) {
        const char *heading = json_string(column, "heading");
        text_words(cell, heading, strlen(heading), 1);
    } else if (!strcmp(kind, "text")) {
        text_words(cell, json_string(row, key), strlen(json_string(row, key)), 0);
    } else if (!strcmp(kind, "interval")) {
        snprintf(name, sizeof name, "%s_low", key);
        double from = json_number(row, name);
        snprintf(name, sizeof name, "%s_high", key);
        double to = json_number(row, name);
        number_words(low, column, from);
        number_words(high, column, to);
        snprintf(cell, TABLE_CELL, isfinite(from) || isfinite(to) ? "[%.50s, %.50s]" : "", low, high);
    } else if (!strcmp(kind, "error") && isfinite(json_number(row, key)) && json_number(row, key) != 0) {
        snprintf(cell, TABLE_CELL, "%.*e", column_int(column, "decimals", 15), json_number(row, key));
    } else {
        number_words(cell, column, json_number(row, key));
    }
    return cell;
}

int table_is_left(const cJSON *column)
{
    return json_number(column, "width") < 0;
}

struct table_view table_view(const cJSON *table)
{
    const char *rest = json_string(table, "rest");
    double shown = json_number(table, "shown");
    int n = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(table, "rows"));
    int most = shown >= 0 && shown < n ? (int)shown : n;
    struct table_view view = {.title = json_string(table, "title"),
                              .note = json_first(table, "notes"),
                              .row = most ? json_first(table, "rows") : NULL,
                              .rows = most};
    if (most < n)
        snprintf(view.more, sizeof view.more, "... (%d more in %s)", n - most, *rest ? rest : "summary.json");
    for (const cJSON *column = json_first(table, "columns"); column; column = column->next)
        if (cJSON_GetObjectItemCaseSensitive(column, "heading") && view.columns < TABLE_COLUMNS_MOST)
            view.column[view.columns++] = column;
    return view;
}

/* ---- printing as lines of text ---- */

/* Copies line `line` of a heading into the cell; "" if the heading has fewer lines. */
static const char *heading_line(char cell[TABLE_CELL], const char *heading, int line)
{
    for (; line && *heading; line--) {
        heading += strcspn(heading, "\n");
        heading += *heading == '\n';
    }
    text_words(cell, heading, strcspn(heading, "\n"), 0);
    return cell;
}

/* The widths of the columns, and the number of lines of the headings. */
struct layout {
    int width[TABLE_COLUMNS_MOST], lines;
};

static int wider(int width, const char *cell)
{
    int columns = (int)text_columns(cell, strlen(cell));
    return width > columns ? width : columns;
}

/* Returns a layout: each column is as wide as described, or wider if its heading or first `rows` rows need more. */
static struct layout layout_of(const struct table_view *view, int rows)
{
    struct layout layout = {0};
    char cell[TABLE_CELL];
    for (int i = 0; i < view->columns; i++) {
        const cJSON *column = view->column[i], *row = view->row;
        int width = abs(column_int(column, "width", TABLE_CELL));
        for (int line = 0; *heading_line(cell, json_string(column, "heading"), line); line++) {
            layout.lines = layout.lines > line ? layout.lines : line + 1;
            width = wider(width, cell);
        }
        for (int k = 0; k < rows; k++, row = row->next)
            width = wider(width, table_cell(cell, column, row));
        layout.width[i] = width;
    }
    return layout;
}

/* Prints the cells of a row (NULL: the headings), with a space between them and none at the end of a line. */
static void print_row(FILE *out, const char *prefix, const struct table_view *view, const struct layout *layout,
                      const cJSON *row)
{
    char cell[TABLE_CELL];
    for (int line = 0; line < (row ? 1 : layout->lines); line++) {
        fputs(*json_string(view->column[0], "heading") == '#' ? "" : prefix, out);
        int owed = 0; /* spaces to print before the next cell that is not empty */
        for (int i = 0; i < view->columns; i++) {
            const cJSON *column = view->column[i];
            if (row)
                table_cell(cell, column, row);
            else
                heading_line(cell, json_string(column, "heading"), line);
            int columns = wider(0, cell), pad = columns < layout->width[i] ? layout->width[i] - columns : 0;
            int left = table_is_left(column);
            owed += (i > 0) + (left ? 0 : pad);
            if (*cell) {
                fprintf(out, "%*s%s", owed, "", cell);
                owed = 0;
            }
            owed += left ? pad : 0;
        }
        fputc('\n', out);
    }
}

static void print_head(FILE *out, const char *prefix, const struct table_view *view, const struct layout *layout)
{
    fputc('\n', out);
    if (*view->title)
        text_wrap(out, TEXT_COLUMNS, prefix, view->title);
    print_row(out, prefix, view, layout, NULL);
}

void table_print_head(FILE *out, const char *prefix, const cJSON *table)
{
    struct table_view view = table_view(table);
    struct layout layout = layout_of(&view, 0);
    print_head(out, prefix, &view, &layout);
}

void table_print_row(FILE *out, const cJSON *table, const cJSON *row)
{
    struct table_view view = table_view(table);
    struct layout layout = layout_of(&view, 0);
    print_row(out, "", &view, &layout, row);
}

void table_print_notes(FILE *out, const char *prefix, const cJSON *table)
{
    for (const cJSON *note = table_view(table).note; note; note = note->next)
        text_wrap(out, TEXT_COLUMNS, prefix, note->valuestring);
}

void table_print(FILE *out, const char *prefix, const cJSON *table)
{
    struct table_view view = table_view(table);
    struct layout layout = layout_of(&view, view.rows);
    if (!view.columns)
        return;
    print_head(out, prefix, &view, &layout);
    const cJSON *row = view.row;
    for (int i = 0; i < view.rows; i++, row = row->next)
        print_row(out, prefix, &view, &layout, row);
    text_print_lines(out, view.more);
    fputs(*view.more ? "\n" : "", out);
    table_print_notes(out, prefix, table);
}
