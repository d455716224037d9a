/* json.h - additions to cJSON: numbers that may be missing, text that may not be UTF-8, and checks of what is read. */
#ifndef BENCH_BASE_JSON_H
#define BENCH_BASE_JSON_H

#include <cJSON.h>
#include <stddef.h>

/* Creates a JSON string, which the caller owns. Bytes of the text (such as a path) that are not UTF-8 become ?. */
cJSON *json_text(const char *text);

/* Returns the JSON as text, which the caller frees, on one line or indented. The text is valid UTF-8, whoever made the
 * JSON: other bytes become ?. Running out of memory is fatal. All files of JSON are printed by this function. */
char *json_print(const cJSON *json, int indented);

/* Adds a string to an object. */
void json_add_text(cJSON *object, const char *name, const char *text);

/* Adds a number to an object, or null if it is not finite: JSON has neither NaN nor infinity. */
void json_add_number(cJSON *object, const char *name, double value);

/* Appends an empty object to an array. Returns the object, which the array owns. */
cJSON *json_add_row(cJSON *array);

/* Return the value of a member; `object` may be NULL. json_number: NAN if it is not a number. json_count: 0 if it is
 * not a number or is negative; at most 1e15. json_string: "" if it is not a string; the object owns it. */
double json_number(const cJSON *object, const char *name);
size_t json_count(const cJSON *object, const char *name);
const char *json_string(const cJSON *object, const char *name);
static inline int json_is_true(const cJSON *object, const char *name)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, name));
}

/* Returns the first item of a list or object that is a member; ->next: the next one. NULL: there is none. */
cJSON *json_first(const cJSON *object, const char *name);

/* What members must be if they exist; a count or a real number may be null (not known). paths: separated by a blank; a
 * path has names of members with a . between them, and * for each item of an object or a list: tensors.*.count. most:
 * the maximum number of items; 0: no limit. */
enum json_kind { JSON_OBJECT, JSON_LIST, JSON_COUNT, JSON_REAL, JSON_TEXT, JSON_FLAG }; /* a count: 0 to 1e15 */
struct json_rule {
    enum json_kind kind;
    int most;
    const char *paths;
};

/* Checks rule[n]. Returns 0; or -1, reported after `where` with path (items from 0), value and what is allowed. */
int json_check(const char *where, const cJSON *json, const struct json_rule *rule, size_t n);

/* The size of the largest file that json_read accepts; a file of a run of 1,000 ranks has a few MB. */
enum { JSON_MOST_BYTES = 64 << 20 };

/* Parses a text that is one JSON object, which the caller deletes; NULL for any other text. */
cJSON *json_object(const char *text);

/* Reads directory/name, one JSON object, which the caller deletes; or NULL, reported with path and line. */
cJSON *json_read(const char *directory, const char *name);

#endif
