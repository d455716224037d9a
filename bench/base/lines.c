/* lines.c - a file to which whole lines are appended. */
#include "base/lines.h"

#include "kernels/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int lines_open(struct lines *lines, const char *path)
{
    *lines = (struct lines){.file = -1};
    snprintf(lines->path, sizeof lines->path, "%s", path);
    lines->file = files_create(path);
    return lines->file < 0 ? error_report("cannot write %s: %s", path, strerror(errno)) : 0;
}

int lines_append(struct lines *lines, const char *text, size_t length)
{
    if (lines->error)
        return -1;
    if (!files_write(lines->file, text, length)) {
        lines->length += (off_t)length;
        return 0;
    }
    lines->error = errno;
    while (ftruncate(lines->file, lines->length) && errno == EINTR)
        ; /* any other failure leaves part of a line in the file */
    return -1;
}

int lines_report(const struct lines *lines)
{
    return lines->error ? error_report("cannot write %s: %s; the file keeps the lines that were written before",
                                       lines->path, strerror(lines->error))
                        : 0;
}

int lines_close(struct lines *lines)
{
    if (lines->file < 0)
        return 0;
    if (files_close(lines->file) && !lines->error) /* a network file system may report a full disk only on close */
        lines->error = errno;
    lines->file = -1;
    return lines_report(lines);
}

static void add_char(struct csv_line *line, char c)
{
    if (line->length < sizeof line->text - 1) /* the last byte is for the line feed */
        line->text[line->length++] = c;
}

void csv_add_text(struct csv_line *line, const char *text)
{
    if (line->fields++)
        add_char(line, ',');
    for (; *text; text++)
        add_char(line, (unsigned char)*text < ' ' || *text == ',' || *text == '"' ? ' ' : *text);
}

void csv_add_numbers(struct csv_line *line, int decimals, size_t n, const double *value)
{
    for (size_t i = 0; i < n; i++) {
        char text[64] = "";
        if (isfinite(value[i]))
            snprintf(text, sizeof text, "%.*f", decimals, value[i]);
        csv_add_text(line, text);
    }
}

void csv_end_line(struct csv_line *line, struct lines *lines)
{
    line->text[line->length++] = '\n';
    (void)lines_append(lines, line->text, line->length); /* lines_close reports a failure */
    line->length = line->fields = 0;
}
