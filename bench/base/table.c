/* table.c - columns described once: words and JSON. */
#include "base/table.h"

#include "base/json.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_name[] = {"text", "text", "count", "count", "real", "interval"};

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
        else if (column->kind == COLUMN_REAL)
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
    if (table->detail)
        cJSON_AddTrueToObject(json, "detail");
    json_add_text(json, "note", table->note ? table->note : "");
    return json;
}

/* ---- from JSON to words ---- */

enum { CELL_SIZE = 160, COLUMNS_MOST = 32 };

/* A whole number in a column's description, which a file may have from elsewhere: at most `most` either way, or 0. */
static int column_int(const cJSON *column, const char *key, int most)
{
    double value = json_number(column, key);
    return isfinite(value) ? (int)fmax(-most, fmin(value, most)) : 0;
}

static void number_words(char cell[CELL_SIZE], const cJSON *column, double value)
{
    int decimals = column_int(column, "decimals", 15);
    double shown = value * json_number(column, "scale");
    if (decimals < 0) { /* significant digits: as many of them behind the point as are not before it, at most 5 */
        int before = shown == 0 || !isfinite(shown) ? 1 : (int)floor(log10(fabs(shown))) + 1;
        decimals = before >= -decimals ? 0 : -decimals - before < 5 ? -decimals - before : 5;
    }
    snprintf(cell, CELL_SIZE, isfinite(shown) ? "%.*f" : "n/a", decimals, shown);
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

static int wider(int width, const char *cell)
{
    int length = (int)strlen(cell);
    return width > length ? width : length;
}

/* As wide as the columns are described, their headings, and the first rows. */
static struct layout layout_of(const cJSON *table, int rows)
{
    struct layout layout = {0};
    const cJSON *column, *all = cJSON_GetObjectItemCaseSensitive(table, "rows");
    char cell[CELL_SIZE];
    cJSON_ArrayForEach(column, cJSON_GetObjectItemCaseSensitive(table, "columns"))
    {
        const char *heading = json_string(column, "heading");
        int width = abs(column_int(column, "width", CELL_SIZE));
        if (!cJSON_GetObjectItemCaseSensitive(column, "heading") || layout.n == COLUMNS_MOST)
            continue;
        for (int line = 0; *heading_line(cell, heading, line); line++) {
            layout.lines = layout.lines > line ? layout.lines : line + 1;
            width = wider(width, cell);
        }
        const cJSON *row = rows ? all->child : NULL;
        for (int i = 0; i < rows; i++, row = row->next) {
            cell_words(cell, column, row);
            width = wider(width, cell);
        }
        layout.column[layout.n] = column;
        layout.width[layout.n++] = width;
    }
    return layout;
}

/* The cells of a row, or where it is NULL the headings; a space between them and none at the end of a line. */
static void print_row(FILE *out, const struct layout *layout, const cJSON *row)
{
    char cell[CELL_SIZE];
    for (int line = 0; line < (row ? 1 : layout->lines); line++) {
        int owed = 0; /* spaces, before the next cell that is not empty */
        for (int i = 0; i < layout->n; i++) {
            const cJSON *column = layout->column[i];
            if (row)
                cell_words(cell, column, row);
            else
                heading_line(cell, json_string(column, "heading"), line);
            int pad = wider(layout->width[i], cell) - (int)strlen(cell), left = json_number(column, "width") < 0;
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

void table_print_row(FILE *out, const cJSON *table, const cJSON *row)
{
    struct layout layout = layout_of(table, 0);
    print_row(out, &layout, row);
}

void table_print(FILE *out, const cJSON *table)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(table, "rows");
    double shown = json_number(table, "shown");
    int n = cJSON_GetArraySize(rows), most = shown >= 0 && shown < n ? (int)shown : n;
    struct layout layout = layout_of(table, most);
    if (!layout.n)
        return;
    fprintf(out, *json_string(table, "title") ? "\n%s\n" : "\n", json_string(table, "title"));
    print_row(out, &layout, NULL);
    const cJSON *row = most ? rows->child : NULL;
    for (int i = 0; i < most; i++, row = row->next)
        print_row(out, &layout, row);
    if (most < n)
        fprintf(out, "... (%d more in summary.json)\n", n - most);
    fputs(json_string(table, "note"), out);
}
