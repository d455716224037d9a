/* parts.h - what the readers of the kinds of files share. */
#ifndef BENCH_IMPORT_PARTS_H
#define BENCH_IMPORT_PARTS_H

#include "base/json_stream.h"
#include "import/import.h"

#include <cJSON.h>

/* A parameter of a model. */
struct parameter {
    char name[sizeof((struct tensor *)0)->name]; /* "": unknown */
    size_t rows, columns;
};

/* Parameters in the order of the model, of which the last has its gradient first. */
struct parameters {
    struct parameter *item; /* [n], owned */
    int n;
};

/* Sets the sizes of a matrix from a shape, a JSON list: the first number is its rows, unless it is the only one.
 * Returns 0; or -1, not reported, if that is no shape, or too large. */
int shape_read(const cJSON *shape, size_t *rows, size_t *columns);

/* Add a parameter. parameters_add returns 0; or -1, not reported, if that is no shape, or there are too many. */
void parameters_append(struct parameters *list, const struct parameter *parameter);
int parameters_add(struct parameters *list, const char *name, const cJSON *shape);

/* Sets tensors, their layers and places from parameters. Returns 0; or -1, reported, if there are too many elements. */
int import_tensors(struct imported *imported, const struct parameters *list);

/* Adds a sentence on what was assumed. */
__attribute__((format(printf, 2, 3))) void import_assume(struct imported *imported, const char *format, ...);

/* Calls json_stream_read. Returns its result; -1 is reported. */
int import_scan(const char *path, const struct json_stream *stream);

/* Each reads a file of its kind. list: the parameters of the second file; NULL: there is none. Return 0; or -1,
 * reported. */
int trace_read(struct imported *imported, const char *path, const struct parameters *list);
int parameters_read(struct parameters *list, const char *path);
int config_read(struct imported *imported, const char *path, const cJSON *config);
/* weight_map: that of an index of several files beside it; NULL: `path` is a safetensors file. */
int safetensors_read(struct imported *imported, const char *path, const cJSON *weight_map,
                     const struct parameters *order);

#endif
