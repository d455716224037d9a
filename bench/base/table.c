/* table.c - columns described once: words, JSON, comma-separated values. */
#include "base/table.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

static const char *const kind_name[] = {"text", "text", "count", "count", "real", "interval"};

/* ---- from structures to JSON ---- */

static void add_cell(cJSON *json, const struct column *column, const void *row)
{
    const char *field = (const char *)row + column->offset;
    char key[80];
    double low_high[2];
    switch (column->kind) {
    case COLUMN_NAME:
        json_add_text(json, column->key, *(const char *const *)field ? *(const char *const *)field : "");
        return;
    case COLUMN_CHARS:
        json_add_text(json, column->key, field);
        return;
    case COLUMN_COUNT:
        json_add_number(json, column->key, (double)*(const size_t *)field);
        return;
    case COLUMN_INT:
        json_add_number(json, column->key, *(const int *)field);
        return;
    case COLUMN_REAL:
        json_add_number(json, column->key, *(const double *)field);
        return;
    case COLUMN_INTERVAL:
        memcpy(low_high, field, sizeof low_high);
        snprintf(key, sizeof key, "%s_low", column->key);
        json_add_number(json, key, low_high[0]);
        snprintf(key, sizeof key, "%s_high", column->key);
        json_add_number(json, key, low_high[1]);
        return;
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
    char name[80], high[CELL_SIZE / 3] = "", low[CELL_SIZE / 3] = "", words[CELL_SIZE];
    if (!strcmp(kind, "text")) {
        snprintf(cell, CELL_SIZE, "%s", json_string(row, key));
    } else if (!strcmp(kind, "interval")) {
        snprintf(name, sizeof name, "%s_low", key);
        double from = json_number(row, name);
        snprintf(name, sizeof name, "%s_high", key);
        double to = json_number(row, name);
        *cell = 0;
        if (!isfinite(from) && !isfinite(to))
            return;
        number_words(words, column, from);
        snprintf(low, sizeof low, "%.*s", (int)sizeof low - 1, words);
        number_words(words, column, to);
        snprintf(high, sizeof high, "%.*s", (int)sizeof high - 1, words);
        snprintf(cell, CELL_SIZE, "[%s, %s]", low, high);
    } else {
        number_words(cell, column, json_number(row, key));
    }
}

/* Line `line` of a heading, empty where it has fewer; returns how many it has. */
static int heading_line(char cell[CELL_SIZE], const char *heading, int line)
{
    int lines = 0;
    *cell = 0;
    for (const char *at = heading;; at++) {
        size_t length = strcspn(at, "\n");
        if (lines++ == line)
            snprintf(cell, CELL_SIZE, "%.*s", (int)length, at);
        at += length;
        if (!*at)
            return lines;
    }
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
        int i = layout.n++, lines = heading_line(cell, heading, 0);
        layout.column[i] = column;
        layout.width[i] = (int)fabs(json_number(column, "width"));
        layout.lines = layout.lines > lines ? layout.lines : lines;
        for (int line = 0; line < lines; line++) {
            heading_line(cell, heading, line);
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

static void print_headings(FILE *out, const struct layout *layout)
{
    char cell[COLUMNS_MOST][CELL_SIZE];
    for (int line = 0; line < layout->lines; line++) {
        for (int i = 0; i < layout->n; i++)
            heading_line(cell[i], json_string(layout->column[i], "heading"), line);
        print_cells(out, layout, cell);
    }
}

static void print_row(FILE *out, const struct layout *layout, const cJSON *row)
{
    char cell[COLUMNS_MOST][CELL_SIZE];
    for (int i = 0; i < layout->n; i++)
        cell_words(cell[i], layout->column[i], row);
    print_cells(out, layout, cell);
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
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(table, "rows"), *row;
    struct layout layout = layout_of(table);
    double shown = json_number(table, "shown");
    int n = cJSON_GetArraySize(rows), most = shown >= 0 && shown < n ? (int)shown : n, printed = 0;
    char cell[CELL_SIZE];
    if (!layout.n)
        return;
    cJSON_ArrayForEach(row, rows)
    {
        for (int i = 0; i < layout.n && printed < most; i++) {
            cell_words(cell, layout.column[i], row);
            widen(&layout, i, cell);
        }
        printed++;
    }
    fprintf(out, "\n");
    if (*json_string(table, "title"))
        fprintf(out, "%s\n", json_string(table, "title"));
    print_headings(out, &layout);
    printed = 0;
    cJSON_ArrayForEach(row, rows)
    {
        if (printed++ < most)
            print_row(out, &layout, row);
    }
    if (most < n)
        fprintf(out, "... (%d more in summary.json)\n", n - most);
    fputs(json_string(table, "note"), out);
}

/* ---- comma-separated values ---- */

static void csv_value(FILE *out, const cJSON *row, const char *key)
{
    if (isfinite(json_number(row, key)))
        fprintf(out, "%.17g", json_number(row, key));
    else
        for (const char *c = json_string(row, key); *c; c++)
            fputc(strchr(",\"\n", *c) ? ' ' : *c, out);
}

void table_csv(FILE *out, const cJSON *table)
{
    const cJSON *columns = cJSON_GetObjectItemCaseSensitive(table, "columns"), *column, *row;
    const char *comma = "";
    cJSON_ArrayForEach(column, columns)
    {
        const char *key = json_string(column, "key");
        if (!strcmp(json_string(column, "kind"), "interval"))
            fprintf(out, "%s%s_low,%s_high", comma, key, key);
        else
            fprintf(out, "%s%s", comma, key);
        comma = ",";
    }
    fputc('\n', out);
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(table, "rows"))
    {
        comma = "";
        cJSON_ArrayForEach(column, columns)
        {
            const char *key = json_string(column, "key");
            int interval = !strcmp(json_string(column, "kind"), "interval");
            for (int i = 0; i <= interval; i++) {
                char name[80];
                snprintf(name, sizeof name, "%s%s", key, !interval ? "" : i ? "_high" : "_low");
                fputs(comma, out);
                csv_value(out, row, name);
                comma = ",";
            }
        }
        fputc('\n', out);
    }
}
