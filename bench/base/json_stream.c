/* json_stream.c - finds the members and elements of a JSON file by brackets and strings, without building a tree. */
#include "base/json_stream.h"

#include "kernels/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { PIECE = 1 << 18 };

/* A file: piece[at, end) is yet to be read. A value that is being read is text[0, length), and then piece[from, at). */
struct input {
    gzFile file;
    const char *path;
    char *why, *piece, *text;
    size_t from, at, end, length, room;
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

/* Adds piece[from, at) to the text; of one that is longer than JSON_STREAM_MOST, the length alone counts. */
static void keep(struct input *in)
{
    size_t n = in->at - in->from, length = in->length + n;
    if (length <= JSON_STREAM_MOST) {
        if (length >= in->room) {
            char *more = allocate(2 * length + 1, 1);
            memcpy(more, in->text, in->length);
            free(in->text);
            in->text = more;
            in->room = 2 * length + 1;
        }
        memcpy(in->text + in->length, in->piece + in->from, n);
        in->text[length] = 0;
    }
    in->length = length;
    in->from = in->at;
}

/* Returns the next character, and does not move past it; -1, reported, at the end of the file and on errors. */
static inline int peek(struct input *in)
{
    if (in->at == in->end) {
        int error;
        keep(in);
        int n = gzread(in->file, in->piece, PIECE);
        const char *words = gzerror(in->file, &error);
        if (n <= 0 || error < 0)
            return error < 0 && error != Z_BUF_ERROR ? fail(in, "is damaged: %s", words)
                                                     : fail(in, "ends in the middle, so it is not complete");
        in->from = in->at = 0;
        in->end = (size_t)n;
    }
    return (unsigned char)in->piece[in->at];
}

/* Returns the next character that is no blank, and does not move past it; or -1. */
static int peek_word(struct input *in)
{
    int c = peek(in);
    while (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        in->at++;
        c = peek(in);
    }
    return c;
}

/* Moves past a string, whose first quote is next. */
static int pass_string(struct input *in)
{
    int c, is_escaped = 0;
    in->at++;
    while ((c = peek(in)) >= 0 && (c != '"' || is_escaped)) {
        is_escaped = c == '\\' && !is_escaped;
        in->at++;
    }
    in->at += c >= 0;
    return c < 0 ? -1 : 0;
}

/* Moves past a number, true, false or null. */
static int pass_word(struct input *in)
{
    size_t n = 0;
    int c;
    while ((c = peek(in)) > 0 && (isalnum(c) || strchr("+-.", c))) {
        in->at++;
        n++;
    }
    return c < 0 ? -1 : n ? 0 : fail(in, "is not JSON");
}

/* Moves past an object or array, whose first bracket is next. */
static int pass_brackets(struct input *in)
{
    enum { DEEPEST = 200 };
    char closing[DEEPEST];
    int depth = 0;
    do {
        int c = peek(in);
        if (c < 0)
            return -1;
        if (!c)
            return fail(in, "is not JSON: it holds a zero byte");
        if (c == '"') {
            if (pass_string(in))
                return -1;
            continue;
        }
        if (c == '{' || c == '[') {
            if (depth == DEEPEST)
                return fail(in, "has brackets in more than %d levels", DEEPEST);
            closing[depth++] = c == '{' ? '}' : ']';
        } else if ((c == '}' || c == ']') && c != closing[--depth])
            return fail(in, "is not JSON: a bracket does not match");
        in->at++;
    } while (depth);
    return 0;
}

/* Moves past a value, which is then in->text unless it is longer than JSON_STREAM_MOST. Returns 0; or -1. */
static int pass_value(struct input *in)
{
    int c = peek_word(in);
    in->from = in->at;
    in->length = 0;
    if (c < 0 || (c == '"' ? pass_string(in) : c == '{' || c == '[' ? pass_brackets(in) : pass_word(in)))
        return -1;
    keep(in);
    return 0;
}

/* Moves past the first bracket, or what separates two items. Returns 1: there is another item; 0: the closing bracket
 * was passed; or -1. */
static int pass_separator(struct input *in, char closing, int is_first)
{
    if (is_first)
        in->at++;
    int c = peek_word(in);
    if (c < 0 || (is_first && c != closing))
        return c < 0 ? -1 : 1;
    in->at++;
    return c == ',' ? 1 : c == closing ? 0 : fail(in, "is not JSON: '%c' where a comma or '%c' must be", c, closing);
}

/* Moves past the name of a member, and the colon after it. A name that is too long becomes "". */
static int pass_name(struct input *in, char name[JSON_STREAM_NAME])
{
    if (peek_word(in) != '"' || pass_value(in))
        return fail(in, "is not JSON, or ends in the middle");
    *name = 0;
    if (in->length - 2 < JSON_STREAM_NAME)
        snprintf(name, JSON_STREAM_NAME, "%.*s", (int)in->length - 2, in->text + 1);
    if (peek_word(in) != ':')
        return fail(in, "is not JSON, or ends in the middle");
    in->at++;
    return 0;
}

/* Reads an array, or the members of the object at the top. */
static int read_items(struct input *in, const struct json_stream *stream, char closing)
{
    int more = pass_separator(in, closing, 1), status;
    for (; more > 0; more = pass_separator(in, closing, 0)) {
        char name[JSON_STREAM_NAME];
        if (closing == '}' && pass_name(in, name))
            return -1;
        if (closing == '}' && peek_word(in) == '[' && !strcmp(name, stream->array))
            status = read_items(in, stream, ']');
        else if (pass_value(in))
            return -1;
        else if (closing == ']')
            status = in->length > JSON_STREAM_MOST
                         ? fail(in, "has an element of more than %d MiB", JSON_STREAM_MOST >> 20)
                         : stream->element(stream->context, in->text, in->length);
        else
            status = in->length <= JSON_STREAM_MOST && stream->member
                         ? stream->member(stream->context, name, in->text, in->length)
                         : 0;
        if (status)
            return status;
    }
    return more;
}

int json_stream_read(const char *path, const struct json_stream *stream, char why[JSON_STREAM_WHY])
{
    struct input in = {.path = path, .why = why};
    struct stat about;
    if (stat(path, &about))
        return fail(&in, "%s", strerror(errno));
    if (!S_ISREG(about.st_mode)) /* it may be read several times */
        return fail(&in, "is not a regular file");
    in.file = gzopen(path, "rb");
    if (!in.file)
        return fail(&in, "%s", strerror(errno));
    gzbuffer(in.file, PIECE);
    gzseek(in.file, (z_off_t)stream->skip, SEEK_SET);
    in.piece = allocate(PIECE, 1);
    in.room = PIECE;
    in.text = allocate(in.room, 1);
    int c = peek_word(&in);
    int status = c == '{' || c == '[' ? read_items(&in, stream, c == '{' ? '}' : ']')
                 : c < 0              ? -1
                                      : fail(&in, "is not JSON");
    if (!status && !stream->skip && peek_word(&in) >= 0)
        status = fail(&in, "is not JSON: text follows after its last bracket");
    gzclose_r(in.file);
    free(in.piece);
    free(in.text);
    return status;
}
