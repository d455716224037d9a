/* lines.c - lines of comma-separated values, written whole. */
#include "base/lines.h"

#include "kernels/error.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void put(struct csv *csv, char c)
{
    if (csv->at < sizeof csv->text - 1) /* the line feed has a place of its own */
        csv->text[csv->at++] = c;
}

int csv_open(struct csv *csv, const char *directory, const char *name, const char *host, const char *columns)
{
    int at = snprintf(csv->path, sizeof csv->path - 1, "%s/%s%s%s.csv", directory, name, *host ? "_" : "", host);
    for (char *c = csv->path + (at > 0 ? strlen(directory) + 1 : 0); *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-.", *c)) /* of the host's name */
            *c = '_';
    csv->length = 0;
    csv->error = 0;
    csv->at = csv->fields = 0;
    csv->file = open(csv->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (csv->file < 0)
        return error_report("cannot write %s: %s", csv->path, strerror(errno));
    for (; *columns; columns++)
        put(csv, *columns);
    csv_end_line(csv);
    return csv->error ? csv_close(csv) : 0;
}

void csv_text(struct csv *csv, const char *text)
{
    if (csv->fields++)
        put(csv, ',');
    for (; *text; text++)
        put(csv, (unsigned char)*text < ' ' || *text == ',' || *text == '"' ? ' ' : *text);
}

void csv_number(struct csv *csv, int decimals, double value)
{
    char text[64] = "";
    if (isfinite(value))
        snprintf(text, sizeof text, "%.*f", decimals, value);
    csv_text(csv, text);
}

void csv_end_line(struct csv *csv)
{
    csv->text[csv->at++] = '\n';
    if (csv->file >= 0 && !csv->error) {
        if (files_write_all(csv->file, csv->text, csv->at)) {
            csv->error = errno;
            while (ftruncate(csv->file, csv->length) && errno == EINTR)
                ; /* any other failure leaves a part of a line behind, and there is nothing left to try */
        } else
            csv->length += (off_t)csv->at;
    }
    csv->at = csv->fields = 0;
}

int csv_close(struct csv *csv)
{
    if (csv->file < 0)
        return 0;
    if (close(csv->file) && !csv->error)
        csv->error = errno;
    csv->file = -1;
    if (csv->error)
        return error_report("cannot write %s: %s; it holds the seconds before", csv->path, strerror(csv->error));
    return 0;
}
