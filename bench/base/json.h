/* json.h - what every JSON file of this program needs beyond cJSON: numbers that may be missing, text that may not be
 * UTF-8, and reading with words that say what is wrong. */
#ifndef BENCH_BASE_JSON_H
#define BENCH_BASE_JSON_H

#include <cJSON.h>

/* A string; text that is not UTF-8 (a path, say) keeps its ASCII characters. The caller owns it. */
cJSON *json_text(const char *text);
void json_add_text(cJSON *object, const char *name, const char *text);

/* A number, or null for one that is not finite: JSON has no NaN and no infinity. */
void json_add_number(cJSON *object, const char *name, double value);

/* An empty object at the end of an array, which owns it. */
cJSON *json_add_row(cJSON *array);

/* A member's value: NAN where it is no number, "" where it is no string. object may be NULL. */
double json_number(const cJSON *object, const char *name);
const char *json_string(const cJSON *object, const char *name);

/* Reads directory/name, which must hold one JSON object and nothing else. The caller deletes it. Returns NULL,
 * reported with the path (and the line of a mistake). */
cJSON *json_read(const char *directory, const char *name);

#endif
