/* table.c - columns described once: words and JSON. */
#include "base/table.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

static const char *const kind_name[] = {"text", "text", "count", "count", "real", "interval"};

/* ---- from structures to JSON ---- */

static void add_cell(cJSON *json, const struct column *column, const void *row)
{
    const char *field = (const char *)row + column->offset;
    const double *real = (const double *)field;
    char key[80];
    if (column->kind == COLUMN_NAME)
        json_add_text(json, column->key, *(const char *const *)field ? *(const char *const *)field : "");
    else if (column->kind == COLUMN_CHARS)
        json_add_text(json, column->key, field);
    else if (column->kind == COLUMN_COUNT)
        json_add_number(json, column->key, (double)*(const size_t *)field);
    else if (column->kind == COLUMN_INT)
        json_add_number(json, column->key, *(const int *)field);
    else if (column->kind == COLUMN_REAL)
        json_add_number(json, column->key, *real);
    else
        for (int i = 0; i < 2; i++) {
            snprintf(key, sizeof key, i ? "%s_high" : "%s_low", column->key);
            json_add_number(json, key, real[i]);
        }
}

cJSON *table_add_row(cJSON *table, const struct column *column, size_t columns, const void *row)
{
    cJSON *json = json_add_row(cJSON_GetObjectItemCaseSensitive(table, "rows"));
    for (size_t i = 0; i < columns; i++)
        add_cell(json, &column[i], row);
    return json;
}

static void add_column(cJSON *columns, const struct column *column)
{
    cJSON *json = json_add_row(columns);
    json_add_text(json, "key", column->key);
    json_add_text(json, "kind", kind_name[column->kind]);
    if (column->heading)
        json_add_text(json, "heading", column->heading);
    if (column->unit)
        json_add_text(json, "unit", column->unit);
    json_add_number(json, "scale", column->scale == 0 ? 1 : column->scale);
    json_add_number(json, "width", column->width);
    json_add_number(json, "decimals", column->decimals);
}

cJSON *table_json(const struct table *table)
{
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "key", table->key);
    json_add_text(json, "title", table->title ? table->title : "");
    cJSON *columns = cJSON_AddArrayToObject(json, "columns");
    for (size_t i = 0; i < table->columns; i++)
        add_column(columns, &table->column[i]);
    cJSON_AddArrayToObject(json, "rows");
    for (size_t i = 0; i < table->rows; i++)
        table_add_row(json, table->column, table->columns, (const char *)table->row + i * table->row_bytes);
    if (table->shown)
        json_add_number(json, "shown", (double)table->shown);
    json_add_text(json, "note", table->note ? table->note : "");
    return json;
}

/* ---- from JSON to words ---- */

enum { CELL_SIZE = 160, COLUMNS_MOST = 32 };

/* The digits behind the point that show so many significant ones. */
static int decimals_of(double value, int significant)
{
    int before = value == 0 ? 1 : (int)floor(log10(fabs(value))) + 1;
    return before >= significant ? 0 : significant - before < 5 ? significant - before : 5;
}

static void number_words(char cell[CELL_SIZE], const cJSON *column, double value)
{
    int decimals = (int)json_number(column, "decimals");
    double shown = value * json_number(column, "scale");
    if (!isfinite(value))
        snprintf(cell, CELL_SIZE, "n/a");
    else
        snprintf(cell, CELL_SIZE, "%.*f", decimals < 0 ? decimals_of(shown, -decimals) : decimals, shown);
}

static void cell_words(char cell[CELL_SIZE], const cJSON *column, const cJSON *row)
{
    const char *key = json_string(column, "key"), *kind = json_string(column, "kind");
    char name[80], low[CELL_SIZE], high[CELL_SIZE];
    if (!strcmp(kind, "text")) {
        snprintf(cell, CELL_SIZE, "%s", json_string(row, key));
    } else if (!strcmp(kind, "interval")) {
        snprintf(name, sizeof name, "%s_low", key);
        double from = json_number(row, name);
        snprintf(name, sizeof name, "%s_high", key);
        double to = json_number(row, name);
        number_words(low, column, from);
        number_words(high, column, to);
        snprintf(cell, CELL_SIZE, isfinite(from) || isfinite(to) ? "[%.50s, %.50s]" : "", low, high);
    } else {
        number_words(cell, column, json_number(row, key));
    }
}

/* Line `line` of a heading, empty where it has fewer. */
static const char *heading_line(char cell[CELL_SIZE], const char *heading, int line)
{
    for (; line && *heading; line--) {
        heading += strcspn(heading, "\n");
        heading += *heading == '\n';
    }
    snprintf(cell, CELL_SIZE, "%.*s", (int)strcspn(heading, "\n"), heading);
    return cell;
}

/* The columns that are printed, and how wide. */
struct layout {
    int n, lines; /* columns; lines of headings */
    const cJSON *column[COLUMNS_MOST];
    int width[COLUMNS_MOST];
};

static void widen(struct layout *layout, int i, const char *cell)
{
    int length = (int)strlen(cell);
    layout->width[i] = layout->width[i] > length ? layout->width[i] : length;
}

static struct layout layout_of(const cJSON *table)
{
    struct layout layout = {0};
    const cJSON *column;
    char cell[CELL_SIZE];
    cJSON_ArrayForEach(column, cJSON_GetObjectItemCaseSensitive(table, "columns"))
    {
        const char *heading = json_string(column, "heading");
        if (!cJSON_GetObjectItemCaseSensitive(column, "heading") || layout.n == COLUMNS_MOST)
            continue;
        int i = layout.n++;
        layout.column[i] = column;
        layout.width[i] = (int)fabs(json_number(column, "width"));
        for (int line = 0; *heading_line(cell, heading, line); line++) {
            layout.lines = layout.lines > line ? layout.lines : line + 1;
            widen(&layout, i, cell);
        }
    }
    return layout;
}

/* One line of cells, a space between them and none at the end. */
static void print_cells(FILE *out, const struct layout *layout, char cell[COLUMNS_MOST][CELL_SIZE])
{
    int owed = 0; /* spaces, before the next cell that is not empty */
    for (int i = 0; i < layout->n; i++) {
        int length = (int)strlen(cell[i]), left = json_number(layout->column[i], "width") < 0;
        int pad = layout->width[i] > length ? layout->width[i] - length : 0;
        owed += (i > 0) + (left ? 0 : pad);
        if (length) {
            fprintf(out, "%*s%s", owed, "", cell[i]);
            owed = 0;
        }
        owed += left ? pad : 0;
    }
    fputc('\n', out);
}

static void print_row(FILE *out, const struct layout *layout, const cJSON *row)
{
    char cell[COLUMNS_MOST][CELL_SIZE];
    for (int i = 0; i < layout->n; i++)
        cell_words(cell[i], layout->column[i], row);
    print_cells(out, layout, cell);
}

static void print_headings(FILE *out, const struct layout *layout)
{
    char cell[COLUMNS_MOST][CELL_SIZE];
    for (int line = 0; line < layout->lines; line++) {
        for (int i = 0; i < layout->n; i++)
            heading_line(cell[i], json_string(layout->column[i], "heading"), line);
        print_cells(out, layout, cell);
    }
}

void table_print_headings(FILE *out, const cJSON *table)
{
    struct layout layout = layout_of(table);
    print_headings(out, &layout);
}

void table_print_row(FILE *out, const cJSON *table, const cJSON *row)
{
    struct layout layout = layout_of(table);
    print_row(out, &layout, row);
}

void table_print(FILE *out, const cJSON *table)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(table, "rows");
    struct layout layout = layout_of(table);
    double shown = json_number(table, "shown");
    int n = cJSON_GetArraySize(rows), most = shown >= 0 && shown < n ? (int)shown : n, left = most;
    char cell[CELL_SIZE];
    if (!layout.n)
        return;
    for (const cJSON *row = n ? rows->child : NULL; row && left > 0; row = row->next, left--)
        for (int i = 0; i < layout.n; i++) {
            cell_words(cell, layout.column[i], row);
            widen(&layout, i, cell);
        }
    fprintf(out, *json_string(table, "title") ? "\n%s\n" : "\n", json_string(table, "title"));
    print_headings(out, &layout);
    left = most;
    for (const cJSON *row = n ? rows->child : NULL; row && left > 0; row = row->next, left--)
        print_row(out, &layout, row);
    if (most < n)
        fprintf(out, "... (%d more in summary.json)\n", n - most);
    fputs(json_string(table, "note"), out);
}
