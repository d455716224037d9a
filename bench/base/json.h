/* json.h - additions to cJSON: numbers that may be missing, text that may not be UTF-8, and reading files with limits
 * and with messages that name the mistake. */
#ifndef BENCH_BASE_JSON_H
#define BENCH_BASE_JSON_H

#include <cJSON.h>
#include <stddef.h>

/* A JSON string. Of text that is not UTF-8, such as a path, all bytes that are not ASCII become ?. The caller owns it.
 */
cJSON *json_text(const char *text);

/* Adds a string to an object. */
void json_add_text(cJSON *object, const char *name, const char *text);

/* Adds a number to an object; null if it is not finite, since JSON has no NaN and no infinity. */
void json_add_number(cJSON *object, const char *name, double value);

/* Appends an empty object to an array. */
cJSON *json_add_row(cJSON *array);

/* The value of a member of an object, which may be NULL: a number, NAN if it is none; a count, 0 if it is no number or
 * negative and at most 1e15; a string, which the object owns, "" if it is none. */
double json_number(const cJSON *object, const char *name);
size_t json_count(const cJSON *object, const char *name);
const char *json_string(const cJSON *object, const char *name);

/* The largest file that is read. A run of 1,000 ranks writes a few MB. */
enum { JSON_MOST_BYTES = 64 << 20 };

/* Parses a text that is one JSON object; NULL for any other text. The caller deletes it. */
cJSON *json_object(const char *text);

/* Reads directory/name, which holds one JSON object. The caller deletes it. Or NULL, reported with the path, and with
 * the line of a mistake. */
cJSON *json_read(const char *directory, const char *name);

#endif
