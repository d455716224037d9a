/* json_stream.c - finds the members and elements of a JSON file by brackets and strings, without building a tree. */
#include "base/json_stream.h"

#include "kernels/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/* A file, and the part of it that is in memory: data[at, end) is yet to be read; data[keep, at) is a value that is
 * being read, unless keeps is 0. */
struct input {
    gzFile file;
    const char *path;
    char *data, *why;
    size_t keep, at, end, room;
    int keeps;
};

static __attribute__((format(printf, 2, 3))) int fail(const struct input *in, const char *format, ...)
{
    va_list arguments;
    int n = snprintf(in->why, JSON_STREAM_WHY, "%.200s: ", in->path);
    va_start(arguments, format);
    vsnprintf(in->why + n, JSON_STREAM_WHY - (size_t)n, format, arguments);
    va_end(arguments);
    return -1;
}

/* Reads more of the file; moves what is kept to the front. Returns 0; or -1 at the end of the file and on errors. */
static int read_more(struct input *in)
{
    enum { PIECE = 1 << 18 };
    size_t from = in->keeps ? in->keep : in->at;
    int error;
    memmove(in->data, in->data + from, in->end - from);
    in->keep = 0;
    in->at -= from;
    in->end -= from;
    if (in->at > JSON_STREAM_MOST) {
        in->keeps = 0; /* too long to be kept */
        return read_more(in);
    }
    if (in->room - in->end <= PIECE) {
        char *more = allocate(2 * in->room + 1, 1);
        memcpy(more, in->data, in->end);
        free(in->data);
        in->data = more;
        in->room *= 2;
    }
    int n = gzread(in->file, in->data + in->end, PIECE);
    const char *words = gzerror(in->file, &error);
    if (n <= 0 || error < 0)
        return fail(in, error < 0 && error != Z_BUF_ERROR ? "is damaged: %s" : "ends in the middle%s",
                    error < 0 && error != Z_BUF_ERROR ? words : ", so it is not complete");
    in->end += (size_t)n;
    return 0;
}

/* Returns the next character that is no blank, and does not move past it; -1 at the end of the file. */
static int peek(struct input *in)
{
    for (;;) {
        while (in->at < in->end && strchr(" \t\r\n", in->data[in->at]) && in->data[in->at])
            in->at++;
        if (in->at < in->end)
            return (unsigned char)in->data[in->at];
        if (read_more(in))
            return -1;
    }
}

/* Moves past a string, whose first quote is at in->at. */
static int pass_string(struct input *in)
{
    for (in->at++;; in->at++) {
        while (in->at < in->end && in->data[in->at] != '"' && in->data[in->at] != '\\')
            in->at++;
        if (in->at >= in->end) {
            if (read_more(in))
                return -1;
            in->at--;
        } else if (in->data[in->at] == '"') {
            in->at++;
            return 0;
        } else { /* a backslash, and the character after it */
            if (in->at + 1 >= in->end && read_more(in))
                return -1;
            in->at++;
        }
    }
}

/* Moves past a number, true, false or null. */
static int pass_word(struct input *in)
{
    size_t n = 0;
    for (;; in->at++, n++) {
        if (in->at >= in->end && read_more(in))
            return -1;
        if (!(in->data[in->at] >= '0' && in->data[in->at] <= '9') &&
            !(in->data[in->at] >= 'a' && in->data[in->at] <= 'z') &&
            !strchr("+-.ENaIfinty", in->data[in->at] ? in->data[in->at] : ' '))
            return n ? 0 : fail(in, "is not JSON");
    }
}

/* Moves past an object or array, whose first bracket is at in->at. */
static int pass_brackets(struct input *in)
{
    enum { DEEPEST = 200 };
    char closing[DEEPEST];
    int depth = 0;
    for (;;) {
        char c = in->at < in->end ? in->data[in->at] : 0;
        if (in->at >= in->end) {
            if (read_more(in))
                return -1;
        } else if (c == '"') {
            if (pass_string(in))
                return -1;
        } else if (c == '{' || c == '[') {
            if (depth == DEEPEST)
                return fail(in, "has brackets in more than %d levels", DEEPEST);
            closing[depth++] = c == '{' ? '}' : ']';
            in->at++;
        } else if (c == '}' || c == ']') {
            in->at++;
            if (c != closing[--depth])
                return fail(in, "is not JSON: a bracket does not match");
            if (!depth)
                return 0;
        } else if (!c)
            return fail(in, "is not JSON: it holds a zero byte");
        else
            in->at++;
    }
}

/* Moves past a value and keeps it, unless it is too long. Sets *text and *length; NULL: it is too long. */
static int pass_value(struct input *in, char **text, size_t *length)
{
    int c = peek(in);
    in->keep = in->at;
    in->keeps = 1;
    int status = c < 0 ? -1 : c == '"' ? pass_string(in) : c == '{' || c == '[' ? pass_brackets(in) : pass_word(in);
    *text = in->keeps ? in->data + in->keep : NULL;
    *length = in->at - in->keep;
    in->keeps = 0;
    return status;
}

/* Calls `element` or, with a name, `member` with a value, of which the next character becomes a zero byte meanwhile. */
static int give(struct input *in, const struct json_stream *stream, const char *name, char *text, size_t length)
{
    char after = text[length];
    text[length] = 0;
    int status =
        name ? stream->member(stream->context, name, text, length) : stream->element(stream->context, text, length);
    in->data[in->at] = after;
    return status;
}

/* Moves past what separates two elements, or past the closing bracket. Returns 1: there is another one; 0; or -1. */
static int pass_separator(struct input *in, char closing)
{
    int c = peek(in);
    if (c < 0)
        return -1;
    in->at++;
    return c == ',' ? 1 : c == closing ? 0 : fail(in, "is not JSON: '%c' where a comma or '%c' must be", c, closing);
}

static int read_elements(struct input *in, const struct json_stream *stream)
{
    in->at++;
    int more = peek(in) != ']';
    in->at += !more;
    while (more > 0) {
        char *text;
        size_t length;
        if (pass_value(in, &text, &length))
            return -1;
        if (!text)
            return fail(in, "has an element of more than %d MiB", JSON_STREAM_MOST >> 20);
        int status = give(in, stream, NULL, text, length);
        if (status)
            return status;
        more = pass_separator(in, ']');
    }
    return more;
}

static int read_members(struct input *in, const struct json_stream *stream)
{
    in->at++;
    int more = peek(in) != '}';
    in->at += !more;
    while (more > 0) {
        char *text, name[64] = "";
        size_t length;
        int status = 0;
        if (peek(in) != '"' || pass_value(in, &text, &length))
            return fail(in, "is not JSON, or ends in the middle");
        if (text && length - 2 < sizeof name) {
            memcpy(name, text + 1, length - 2);
            name[length - 2] = 0;
        }
        if (peek(in) != ':')
            return fail(in, "is not JSON, or ends in the middle");
        in->at++;
        int c = peek(in);
        if (c == '[' && !strcmp(name, stream->array))
            status = read_elements(in, stream);
        else {
            if (c < 0 || pass_value(in, &text, &length))
                return -1;
            if (text && stream->member)
                status = give(in, stream, name, text, length);
        }
        if (status)
            return status;
        more = pass_separator(in, '}');
    }
    return more;
}

int json_stream_read(const char *path, const struct json_stream *stream, char why[JSON_STREAM_WHY])
{
    enum { FIRST_ROOM = 1 << 20 };
    struct input in = {.path = path, .why = why, .room = FIRST_ROOM};
    struct stat about;
    if (stat(path, &about))
        return fail(&in, "%s", strerror(errno));
    if (!S_ISREG(about.st_mode)) /* it may be read several times */
        return fail(&in, "is not a regular file");
    in.file = gzopen(path, "rb");
    if (!in.file)
        return fail(&in, "%s", strerror(errno));
    gzbuffer(in.file, 1 << 18);
    in.data = allocate(in.room + 1, 1);
    int c = peek(&in);
    int status = c == '{'   ? read_members(&in, stream)
                 : c == '[' ? read_elements(&in, stream)
                 : c < 0    ? -1
                            : fail(&in, "is not JSON");
    if (!status && peek(&in) >= 0)
        status = fail(&in, "is not JSON: text follows after its last bracket");
    gzclose_r(in.file);
    free(in.data);
    return status;
}
