/* json.c - additions to cJSON. */
#include "base/json.h"

#include "base/files.h"
#include "base/text.h"
#include "kernels/error.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cJSON *json_text(const char *text)
{
    cJSON *json = cJSON_CreateString(text);
    if (!json)
        fatal_no_memory(strlen(text) + 1, 1);
    text_make_utf8(json->valuestring);
    return json;
}

char *json_print(const cJSON *json, int indented)
{
    char *text = indented ? cJSON_Print(json) : cJSON_PrintUnformatted(json);
    if (!text)
        fatal_no_memory(0, 0);
    text_make_utf8(text); /* such as names of members, and texts that json_text did not make */
    return text;
}

void json_add_text(cJSON *object, const char *name, const char *text)
{
    cJSON_AddItemToObject(object, name, json_text(text));
}

/* Returns the number as it will be read back from a file: cJSON prints 15 digits if they differ from the number by at
 * most the last bit, otherwise 17. So a table is the same, printed from memory or from the file. */
static double as_printed(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.15g", value);
    double shorter = strtod(text, NULL);
    return fabs(shorter - value) <= DBL_EPSILON * fmax(fabs(shorter), fabs(value)) ? shorter : value;
}

void json_add_number(cJSON *object, const char *name, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(object, name, as_printed(value));
    else
        cJSON_AddNullToObject(object, name);
}

cJSON *json_add_row(cJSON *array)
{
    cJSON *row = cJSON_CreateObject();
    cJSON_AddItemToArray(array, row);
    return row;
}

double json_number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

size_t json_count(const cJSON *object, const char *name)
{
    double value = json_number(object, name);
    return value > 0 ? (size_t)fmin(value, 1e15) : 0;
}

const char *json_string(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

cJSON *json_first(const cJSON *object, const char *name)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, name);
    return list ? list->child : NULL;
}

/* Checks the items that a path names, relative to `item`; place: the path of `item`. */
static int check_path(const char *where, const char *place, const cJSON *item, const char *path,
                      const struct json_rule *rule)
{
    static const char *const words[] = {"an object",       "a list", "a whole number from 0 to 10^15",
                                        "a finite number", "a text", "true or false"};
    double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    const int is[] = {cJSON_IsObject(item), cJSON_IsArray(item),  value >= 0 && value <= 1e15 && value == floor(value),
                      isfinite(value),      cJSON_IsString(item), cJSON_IsBool(item)};
    int length = (int)strcspn(path, ". "), status = 0, i = 0;
    int takes_null = rule->kind == JSON_COUNT || rule->kind == JSON_REAL; /* a figure that is not known */
    char name[256];
    if (!length && !is[rule->kind] && !(takes_null && cJSON_IsNull(item))) {
        char *text = cJSON_PrintUnformatted(item); /* infinity as null */
        error_report("%s: \"%s\" is %.60s; expected %s", where, place, isinf(value) ? "infinite" : text,
                     words[rule->kind]);
        cJSON_free(text);
        return -1;
    }
    if (!length && rule->most && cJSON_GetArraySize(item) > rule->most)
        return error_report("%s: \"%s\" has %d items; at most %d are read", where, place, cJSON_GetArraySize(item),
                            rule->most);
    for (const cJSON *child = length ? item->child : NULL; child && !status; child = child->next, i++) {
        const char *key = child->string ? child->string : "";
        if (*path != '*' && (strncmp(key, path, (size_t)length) || key[length]))
            continue;
        snprintf(name, sizeof name, child->string ? "%.150s%s%.80s" : "%.150s%s%.80s%d", place, *place ? "." : "", key,
                 i);
        status = check_path(where, name, child, path + length + (path[length] == '.'), rule);
    }
    return status;
}

int json_check(const char *where, const cJSON *json, const struct json_rule *rule, size_t n)
{
    int status = 0;
    for (; n && !status; n--, rule++)
        for (const char *path = rule->paths; *path && !status; path += strcspn(path, " "), path += *path == ' ')
            status = check_path(where, "", json, path, rule);
    return status;
}

cJSON *json_object(const char *text)
{
    cJSON *json = cJSON_ParseWithOpts(text, NULL, 1);
    if (cJSON_IsObject(json))
        return json;
    cJSON_Delete(json);
    return NULL;
}

cJSON *json_read(const char *directory, const char *name)
{
    char path[FILES_PATH + 64], why[FILES_WHY] = "", *text = NULL;
    const char *end = NULL;
    size_t room = 0, line = 1;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = files_open(path, JSON_MOST_BYTES, why);
    ssize_t n = file ? getdelim(&text, &room, 0, file) : -1; /* reads the whole file: text has no 0 byte */
    if (file && (ferror(file) || (n < 0 && !feof(file))))    /* out of memory: neither ferror nor feof is true */
        snprintf(why, sizeof why, "%s", strerror(errno));
    if (file)
        fclose(file);
    errno = 0;
    cJSON *json = n >= 0 && strlen(text) == (size_t)n ? cJSON_ParseWithOpts(text, &end, 1) : NULL;
    if (!json && errno == ENOMEM) /* malloc sets errno; cJSON gives no reason */
        snprintf(why, sizeof why, "%s", strerror(errno));
    for (const char *c = text; end && c < end; c++)
        line += *c == '\n';
    if (*why)
        error_report("cannot read %s: %s", path, why);
    else if (!json)
        error_report("%s: is not valid JSON (line %zu); the run that wrote it may have been cut off or the file edited",
                     path, line);
    else if (!cJSON_IsObject(json)) {
        error_report("%s: is valid JSON, but not an object", path);
        cJSON_Delete(json);
        json = NULL;
    }
    free(text);
    return json;
}
