/* lines.c - a file to which whole lines are appended. */
#include "base/lines.h"

#include "kernels/error.h"

#include <errno.h>
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
