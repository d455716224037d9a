/* json.h - what every JSON file of this program needs beyond cJSON: numbers that may be missing, text that may not be
 * UTF-8, and reading with words that say what is wrong. */
#ifndef BENCH_BASE_JSON_H
#define BENCH_BASE_JSON_H

#include <cJSON.h>
#include <stddef.h>

/* A string; text that is not UTF-8 (a path, say) keeps its ASCII characters. The caller owns it. */
cJSON *json_text(const char *text);

/* The same as a new last member of an object, which owns it and a copy of its name. */
void json_add_text(cJSON *object, const char *name, const char *text);

/* A number, or null for one that is not finite: JSON has no NaN and no infinity. */
void json_add_number(cJSON *object, const char *name, double value);

/* An empty object at the end of an array, which owns it. */
cJSON *json_add_row(cJSON *array);

/* A member's value: NAN where it is no number, "" where it is no string, which the object owns. As a count it is a
 * whole number up to 1e15, which a double holds exactly, and 0 where it is no number or below 0. object may be NULL. */
double json_number(const cJSON *object, const char *name);
size_t json_count(const cJSON *object, const char *name);
const char *json_string(const cJSON *object, const char *name);

/* What is read at most, of which the memory follows: a run of 1,000 ranks leaves some MB, 8 levels deep. */
enum { JSON_MOST_BYTES = 64 << 20, JSON_DEEPEST = 32, JSON_MOST_VALUES = 4000000 };

/* Parses a text, such as a line, which must be one JSON object and nothing else, at most JSON_DEEPEST deep. The caller
 * deletes it. Returns NULL for any other text. */
cJSON *json_object(const char *text);

/* Reads directory/name, which must hold one JSON object and nothing else. The caller deletes it. Returns NULL,
 * reported with the path (and the line of a mistake). */
cJSON *json_read(const char *directory, const char *name);

#endif
