/* metrics.c - metrics.csv: the step lines of rank 0 as a table. The first pass over the lines finds the columns, the
 * second writes the rows; one line is in memory at a time. */
#include "results/metrics.h"

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 1000, PIECE = 1 << 20 };

struct metrics_table {
    size_t n;
    char *name[MOST_COLUMNS];
    cJSON *field[MOST_COLUMNS]; /* of the current line; NULL: it lacks the column */
    size_t next;                /* the column of the next member, if this line is like the one before */
    int finding;                /* in the first pass: unknown names become columns */
    int too_many;
    size_t broken; /* the number of a line that is no JSON object; 0: none */
};

/* ---- columns ---- */

static void take_member(struct metrics_table *t, cJSON *member)
{
    size_t i = t->next;
    if (i >= t->n || strcmp(t->name[i], member->string) != 0)
        for (i = 0; i < t->n; i++)
            if (!strcmp(t->name[i], member->string))
                break;
    t->next = i + 1;
    if (i < t->n) {
        t->field[i] = member;
    } else if (t->finding && t->n < MOST_COLUMNS) {
        t->name[t->n] = strdup(member->string);
        if (!t->name[t->n++])
            fatal_no_memory(strlen(member->string) + 1, 1);
    } else {
        t->too_many |= t->finding;
    }
}

/* Parses a line into the fields of t, which point into the returned JSON; the caller deletes it. NULL for a line that
 * was cut off or is not a JSON object. */
static cJSON *take_line(struct metrics_table *t, const char *line, size_t length)
{
    int whole = line[length - 1] == '\n' && strlen(line) == length;
    cJSON *json = whole ? json_object(line) : NULL;
    cJSON *member;
    for (size_t i = 0; i < t->n; i++)
        t->field[i] = NULL;
    t->next = 0;
    cJSON_ArrayForEach(member, json)
    {
        if (!cJSON_IsArray(member) && !cJSON_IsObject(member))
            take_member(t, member);
    }
    return json;
}

/* ---- the file ---- */

static void print_row(FILE *out, const struct metrics_table *t)
{
    char number[40];
    for (size_t i = 0; i < t->n; i++) {
        cJSON *f = t->field[i];
        if (i)
            putc(',', out);
        if (f && cJSON_IsString(f))
            text_print_csv(out, f->valuestring);
        else if (f && !cJSON_IsNull(f) && (!cJSON_IsNumber(f) || isfinite(f->valuedouble)) &&
                 cJSON_PrintPreallocated(f, number, sizeof number, 0))
            fputs(number, out);
    }
    putc('\n', out);
}

static void print_names(FILE *out, const struct metrics_table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        if (i)
            putc(',', out);
        text_print_csv(out, t->name[i]);
    }
    putc('\n', out);
}

/* Writes what was printed to the stream, and rewinds it. Returns 0; or -1 with errno. */
static int write_piece(struct new_file *file, FILE *out, char **text)
{
    off_t length = ftello(out);
    fflush(out); /* sets *text */
    rewind(out);
    return new_file_write(file, *text, (size_t)length);
}

/* Takes all lines, and with a file writes their rows. A last line without a newline is left out. Returns 0; or -1: t
 * has the number of a broken line, or errno is set, by reading if ferror(in). */
static int take_lines(struct metrics_table *t, FILE *in, struct new_file *file)
{
    char *line = NULL, *text = NULL;
    size_t room = 0, length = 0, number = 0;
    ssize_t n;
    int status = 0;
    FILE *out = file ? text_begin(&text, &length) : NULL;
    if (out)
        print_names(out, t);
    while (!status && (n = files_read_line(&line, &room, in)) >= 0) {
        number++;
        cJSON *json = take_line(t, line, (size_t)n);
        if (!json) {
            t->broken = line[n - 1] == '\n' || getc(in) != EOF ? number : 0;
            break;
        }
        if (out)
            print_row(out, t);
        cJSON_Delete(json);
        if (out && ftello(out) >= PIECE)
            status = write_piece(file, out, &text);
    }
    if (!status && (ferror(in) || t->broken || (out && write_piece(file, out, &text))))
        status = -1;
    int why = errno;
    if (out)
        text_end(out);
    free(text);
    free(line);
    errno = why;
    return status;
}

/* The mark of a metrics.csv that may be replaced: a line with all names, or with the first n if the existing file has n
 * columns, since its steps may have lacked the others. A mark has at most 1023 bytes. */
static void make_mark(char mark[FILES_MARKED], const char *path, const char *names)
{
    char why[FILES_WHY], *line = NULL;
    size_t room = 0, n = 0;
    FILE *file = files_open(path, FILES_MOST_BYTES, why);
    if (file && files_read_line(&line, &room, file) > 0)
        n = strcspn(line, "\n");
    size_t all = strcspn(names, "\n");
    snprintf(mark, FILES_MARKED, "%.*s\n", (int)(n && n < all && names[n] == ',' ? n : all), names);
    free(line);
    if (file)
        fclose(file);
}

static int report_failure(const struct metrics_table *t, FILE *in, const char *from, const char *to)
{
    if (t->broken)
        return error_report("%s, line %zu: is not a JSON object", from, t->broken);
    return error_report("cannot %s %s: %s", ferror(in) ? "read" : "write", ferror(in) ? from : to, strerror(errno));
}

static int write_table(struct metrics_table *t, FILE *in, const char *from, const char *directory)
{
    char path[FILES_PATH], mark[FILES_MARKED], *names;
    size_t length;
    struct new_file file;
    snprintf(path, sizeof path, "%s/metrics.csv", directory);
    t->finding = 1;
    if (take_lines(t, in, NULL))
        return report_failure(t, in, from, path);
    if (t->too_many)
        return error_report("%s: its lines have more than %d members of different names", from, MOST_COLUMNS);
    if (!t->n)
        return 0;
    t->finding = 0;
    rewind(in);
    FILE *out = text_begin(&names, &length);
    print_names(out, t);
    text_end(out);
    make_mark(mark, path, names);
    free(names);
    if (new_file_open_named(&file, NULL, path, mark))
        return -1;
    if (!take_lines(t, in, &file))
        return new_file_commit(&file);
    int why = errno;
    new_file_abandon(&file);
    errno = why;
    return report_failure(t, in, from, path);
}

int results_write_metrics_csv(const char *directory)
{
    char from[FILES_PATH], why[FILES_WHY];
    if ((size_t)snprintf(from, sizeof from, "%s/rank_0_metrics.jsonl", directory) >= sizeof from)
        return error_report("%.60s...: the path is longer than %d characters", directory, FILES_PATH - 1);
    FILE *in = files_open(from, FILES_MOST_BYTES, why);
    if (!in)
        return error_report("cannot read %s: %s", from, why);
    struct metrics_table *t = allocate(1, sizeof *t);
    int status = write_table(t, in, from, directory);
    while (t->n > 0)
        free(t->name[--t->n]);
    free(t);
    fclose(in);
    return status;
}
