/* import.c - recognises the kind of a file by its content, and makes tensors from parameters. */
#include "import/import.h"

#include "base/json.h"
#include "base/json_stream.h"
#include "base/stats.h"
#include "base/text.h"
#include "import/parts.h"
#include "kernels/error.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { MOST_PARAMETERS = 1000000 };
#define MOST_ELEMENTS 1e13 /* of a parameter, and of all together: 40 TB */

int shape_read(const cJSON *shape, size_t *rows, size_t *columns)
{
    double first = 1, others = 1;
    if (!cJSON_IsArray(shape))
        return -1;
    for (const cJSON *size = shape->child; size; size = size->next) {
        if (!cJSON_IsNumber(size) || !(size->valuedouble >= 1 && size->valuedouble <= MOST_ELEMENTS))
            return -1;
        *(size == shape->child && size->next ? &first : &others) *= floor(size->valuedouble);
        if (!(first * others <= MOST_ELEMENTS))
            return -1;
    }
    *rows = (size_t)first;
    *columns = (size_t)others;
    return 0;
}

void parameters_append(struct parameters *list, const struct parameter *parameter)
{
    list->item = allocate_more(list->item, (size_t)list->n, sizeof *list->item);
    list->item[list->n++] = *parameter;
}

int parameters_add(struct parameters *list, const char *name, const cJSON *shape)
{
    struct parameter p;
    if (list->n == MOST_PARAMETERS || shape_read(shape, &p.rows, &p.columns))
        return -1;
    snprintf(p.name, sizeof p.name, "%s", name);
    parameters_append(list, &p);
    return 0;
}

/* Returns the first number in a name that is a whole word between dots, such as 3 in h.3.attn.weight; -1: none. */
static int number_in(const char *name)
{
    for (const char *at = name; at; at = strchr(at, '.')) {
        at += *at == '.';
        size_t digits = strspn(at, "0123456789");
        if (digits && digits < 7 && (at[digits] == '.' || !at[digits]))
            return atoi(at);
    }
    return -1;
}

int import_tensors(struct imported *imported, const struct parameters *list)
{
    struct step_profile *p = &imported->profile;
    int layers = 0, seen = 0;
    double elements = 0;
    for (int i = 0; i < list->n; i++) {
        int number = number_in(list->item[i].name);
        layers = number >= layers ? number + 1 : layers;
        elements += (double)list->item[i].rows * (double)list->item[i].columns;
    }
    if (elements > MOST_ELEMENTS)
        return error_report("the model has %.3g parameters; at most %.0g can be replayed", elements, MOST_ELEMENTS);
    p->tensors = list->n;
    p->tensor = allocate((size_t)list->n, sizeof *p->tensor);
    imported->has_layers = 1;
    for (int i = 0; i < list->n; i++) {
        const struct parameter *from = &list->item[i];
        int number = number_in(from->name), layer = seen ? layers + 1 : 0;
        seen |= number >= 0;
        imported->has_layers &= *from->name != 0;
        if (*from->name)
            tensor_set(&p->tensor[i], number >= 0 ? number + 1 : layer, from->rows, from->columns, 1, "%s", from->name);
        else
            tensor_set(&p->tensor[i], 0, from->rows, from->columns, 1, "gradient %d", list->n - i);
    }
    imported->has_layers &= seen;
    p->arena = tensors_place(p->tensor, p->tensors, 1);
    snprintf(imported->words, sizeof imported->words, "%d tensors, %.4g M parameters, %.4g MiB of gradients", list->n,
             1e-6 * elements, elements * sizeof(float) / 1048576);
    return 0;
}

void import_assume(struct imported *imported, const char *format, ...)
{
    va_list arguments;
    text_append(imported->assumed, sizeof imported->assumed, "%s", *imported->assumed ? " " : "");
    size_t at = strlen(imported->assumed);
    va_start(arguments, format);
    vsnprintf(imported->assumed + at, sizeof imported->assumed - at, format, arguments);
    va_end(arguments);
}

int import_scan(const char *path, const struct json_stream *stream)
{
    char why[JSON_STREAM_WHY];
    int status = json_stream_read(path, stream, why);
    return status < 0 ? error_report("%s", why) : status;
}

/* ---- kinds ---- */

/* The members of a small JSON object: what a config.json or an index has. */
struct members {
    cJSON *all;
    size_t bytes;
    int is_trace;
};

static int take_member(void *context, const char *name, char *text, size_t length)
{
    struct members *m = context;
    if (length <= JSON_STREAM_MOST - m->bytes) { /* a tree takes 8 times as much memory */
        m->bytes += length;
        cJSON_AddItemToObject(m->all, name, cJSON_Parse(text));
    }
    return cJSON_GetArraySize(m->all) > 1000; /* enough to see what it is */
}

static int is_trace(void *context, char *text, size_t length)
{
    struct members *m = context;
    (void)text, (void)length;
    m->is_trace = 1;
    return 1;
}

static int refuse_list(const char *path)
{
    return error_report("%s: a list of parameters goes after a trace or a safetensors file", path);
}

/* Reads an object: a trace, a config.json or an index of safetensors. */
static int read_object(struct imported *imported, const char *path, const struct parameters *list)
{
    struct members m = {.all = cJSON_CreateObject()};
    int status = import_scan(path, &(struct json_stream){"traceEvents", is_trace, take_member, &m, 0});
    if (status < 0)
        ;
    else if (m.is_trace)
        status = trace_read(imported, path, list);
    else if (cJSON_HasObjectItem(m.all, "weight_map"))
        status = safetensors_read(imported, path, cJSON_GetObjectItemCaseSensitive(m.all, "weight_map"), list);
    else if (json_count(m.all, "hidden_size") || json_count(m.all, "n_embd"))
        status = list ? refuse_list(path) : config_read(imported, path, m.all);
    else
        status = error_report("%s: is neither a trace (traceEvents), a config.json (hidden_size), a list of parameters "
                              "nor a safetensors file",
                              path);
    cJSON_Delete(m.all);
    return status;
}

int import_paths(const char *files, char path[2][FILES_PATH])
{
    struct stat about;
    size_t first = stat(files, &about) ? strcspn(files, ",") : strlen(files);
    snprintf(path[0], FILES_PATH, "%.*s", (int)first, files);
    snprintf(path[1], FILES_PATH, "%s", files[first] ? files + first + 1 : "");
    return files[first] ? 2 : *files ? 1 : 0;
}

int import_is_file(const char *files)
{
    struct stat about;
    char path[2][FILES_PATH];
    import_paths(files, path);
    return !stat(path[0], &about) && !S_ISDIR(about.st_mode);
}

static int read_file(struct imported *imported, const char *path, const struct parameters *list)
{
    char start[512] = {0};
    struct parameters own = {0};
    gzFile file = gzopen(path, "rb"); /* reads files that are not compressed, too */
    if (!file)
        return error_report("%s: %s", path, strerror(errno));
    int n = gzread(file, start, sizeof start - 1);
    gzclose_r(file);
    if (n > 9 && start[8] == '{' && !start[7] && !start[6] && !start[5]) /* behind the length of a header */
        return safetensors_read(imported, path, NULL, list);
    if (start[strspn(start, " \t\r\n")] != '[')
        return read_object(imported, path, list);
    int status = list ? refuse_list(path) : parameters_read(&own, path);
    status = status || import_tensors(imported, &own);
    free(own.item);
    return status ? -1 : 0;
}

int import_read(struct imported *imported, const char *option, const char *files)
{
    char path[2][FILES_PATH], why[JSON_STREAM_WHY + 100];
    int has_list = import_paths(files, path) == 2;
    struct parameters list = {0};
    *imported = (struct imported){.ranks = 1};
    int status = (has_list && parameters_read(&list, path[1])) || read_file(imported, path[0], has_list ? &list : NULL);
    free(list.item);
    if (!status && imported->profile.tensors < 1 && !imported->own.layers)
        status = error_report("%s: has no parameters that are trained", path[0]);
    if (status) {
        snprintf(why, sizeof why, "%s", error_text());
        error_clear();
        return option ? error_report("--%s %s", option, why) : error_report("%s", why);
    }
    return 0;
}

void import_destroy(struct imported *imported)
{
    step_profile_destroy(&imported->profile);
    free(imported->seconds);
    free(imported->start);
    free(imported->bucket);
    free(imported->alone);
    *imported = (struct imported){0};
}

/* Returns a time of a step: number 0 to TIMES - 1, and then those of `ready`. */
enum { TIMES = 4 };
static double *time_of(struct step_compute *c, int i)
{
    double *const first[TIMES] = {&c->forward_end, &c->backward_end, &c->update, &c->rest};
    return i < TIMES ? first[i] : &c->ready[i - TIMES];
}

void import_typical(const struct imported *imported, struct step_compute *typical)
{
    const struct step_profile *p = &imported->profile;
    double *value = allocate(p->steps + 1, sizeof *value);
    for (int i = 0; i < TIMES + p->tensors; i++) {
        for (size_t k = 0; k < p->steps; k++)
            value[k] = *time_of(&p->step[k], i);
        *time_of(typical, i) = stats_median(value, p->steps);
    }
    free(value);
}
