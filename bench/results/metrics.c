/* metrics.c - writes metrics.csv: rank 0's metrics as a table, one row for each step. A first pass over the lines of
 * rank_0_metrics.jsonl finds the columns, a second pass writes the rows. Only one line is in memory at a time. */
#include "results/metrics.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 1000 };

/* Adds a null to `columns` for each new member of a line. Returns 0; or -1, reported, if there are too many columns. */
static int add_columns(cJSON *columns, const cJSON *line, const char *from)
{
    int n = cJSON_GetArraySize(columns);
    for (const cJSON *member = line->child; member; member = member->next) {
        if (cJSON_IsArray(member) || cJSON_IsObject(member) ||
            cJSON_GetObjectItemCaseSensitive(columns, member->string))
            continue;
        if (n++ == MOST_COLUMNS)
            return error_report("%s: its lines have more than %d members of different names", from, MOST_COLUMNS);
        cJSON_AddNullToObject(columns, member->string);
    }
    return 0;
}

/* Writes the members of a line as a row; line NULL: writes the names of the columns. Returns 0; or -1, reported. */
static int write_row(struct new_file *file, const cJSON *columns, const cJSON *line)
{
    char number[40], *text = NULL;
    size_t length = 0;
    FILE *out = text_begin(&text, &length);
    for (const cJSON *column = columns->child; column; column = column->next) {
        cJSON *field = cJSON_GetObjectItemCaseSensitive(line, column->string);
        if (!line || cJSON_IsString(field))
            text_print_csv(out, line ? field->valuestring : column->string);
        else if ((cJSON_IsBool(field) || (cJSON_IsNumber(field) && isfinite(field->valuedouble))) &&
                 cJSON_PrintPreallocated(field, number, sizeof number, 0))
            fputs(number, out);
        fputc(column->next ? ',' : '\n', out);
    }
    text_end(out);
    int status = new_file_write(file, text, length);
    free(text);
    return status;
}

/* Reads all lines. file NULL: adds their columns; otherwise writes them to file as rows. Returns 0; or -1, reported. */
static int take_lines(cJSON *columns, FILE *in, const char *from, struct new_file *file)
{
    char *text = NULL;
    size_t room = 0, number = 1;
    ssize_t n;
    int status = 0;
    for (; !status && (n = files_read_line(&text, &room, in)) > 0; number++) {
        int ends = text[n - 1] == '\n';
        cJSON *line = ends && strlen(text) == (size_t)n ? json_object(text) : NULL;
        if (line)
            status = file ? write_row(file, columns, line) : add_columns(columns, line, from);
        else if (ends || getc(in) != EOF) /* only the last line may be incomplete */
            status = error_report("%s, line %zu: is not a JSON object", from, number);
        cJSON_Delete(line);
    }
    if (!status && ferror(in))
        status = error_report("cannot read %s: %s", from, strerror(errno));
    free(text);
    return status;
}

int results_write_metrics_csv(const char *directory)
{
    char from[FILES_PATH], to[FILES_PATH], why[FILES_WHY], mark[128] = ""; /* mark: how the heading begins */
    struct new_file file = {0};
    if ((size_t)snprintf(from, sizeof from, "%s/rank_0_metrics.jsonl", directory) >= sizeof from)
        return error_report("%.60s...: the path is longer than %d characters", directory, FILES_PATH - 1);
    FILE *in = files_open(from, FILES_MOST_BYTES, why);
    if (!in)
        return error_report("cannot read %s: %s", from, why);
    cJSON *columns = cJSON_CreateObject();
    int status = take_lines(columns, in, from, NULL);
    if (!status && columns->child) {
        rewind(in);
        snprintf(to, sizeof to, "%.*s/metrics.csv", FILES_PATH - 13, directory);
        for (const cJSON *column = columns->child; column && strlen(mark) < 60; column = column->next)
            snprintf(mark + strlen(mark), sizeof mark - strlen(mark), "%s%c", column->string,
                     column->next ? ',' : '\n');
        status = files_check_replaced(&(struct named_path){"metrics-csv", to, mark});
        if (!status)
            status = new_file_end(&file, new_file_open(&file, to, 0) || write_row(&file, columns, NULL) ||
                                             take_lines(columns, in, from, &file));
    }
    cJSON_Delete(columns);
    fclose(in);
    return status;
}
