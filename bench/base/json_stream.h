/* json_stream.h - reads JSON files of any length, plain or gzip, in constant memory: one element of an array at a time.
 */
#ifndef BENCH_BASE_JSON_STREAM_H
#define BENCH_BASE_JSON_STREAM_H

#include <stddef.h>

/* Most bytes of an element or member; of a member's name; of an error. */
enum { JSON_STREAM_MOST = 4 << 20, JSON_STREAM_NAME = 256, JSON_STREAM_WHY = 400 };

/* The functions that take what is read. text: `length` bytes of JSON and a zero byte, valid until the function returns,
 * which may change it; only brackets and strings of the JSON are checked. A result that is not 0 ends the reading. */
struct json_stream {
    const char *array; /* name of the member, at the top of the file, whose elements are read one at a time */
    int (*element)(void *context, char *text, size_t length);
    /* Takes each other member that has at most JSON_STREAM_MOST bytes; NULL: they are skipped. */
    int (*member)(void *context, const char *name, char *text, size_t length);
    void *context;
    size_t skip; /* bytes before the JSON; if there are any, then others may follow it */
};

/* Reads a regular file, which holds an object, or an array whose elements are then read. Returns 0; the result of a
 * function that is not 0; or -1 if the file cannot be read, ends too early, or is no JSON, with the reason in `why`,
 * which begins with the path. */
int json_stream_read(const char *path, const struct json_stream *stream, char why[JSON_STREAM_WHY]);

#endif
