/* figures.h - the list of figures in every summary.json: unscaled values (s, B, B/s, FLOP/s) or ratios. */
#ifndef BENCH_BASE_FIGURES_H
#define BENCH_BASE_FIGURES_H

#include "base/stats.h"

#include <cJSON.h>
#include <stddef.h>
#include <stdio.h>

enum better { BETTER_LOWER, BETTER_HIGHER, BETTER_NONE };
extern const char *const figure_better_name[]; /* lower, higher, none */

struct figure {
    char subject[192]; /* an implementation; or collective, type, operation and placement; or one or two members */
    char name[48];     /* what was measured of the subject, such as step */
    char unit[12];     /* s, B, B/s, 1/s, FLOP/s, or 1 for a ratio or a count */
    double bytes;      /* size of a collective; 0 for a figure without a size */
    double value;      /* finite */
    double low, high;  /* 95 % interval; NAN: none */
    size_t n;          /* number of samples */
    enum better better;
    int judged; /* 1: `compare` judges the figure by default */
};

struct figure_list {
    struct figure *item;
    size_t n;
};

/* Appends a copy of the figure; does nothing if its value is not finite. */
void figures_add(struct figure_list *list, const struct figure *figure);

/* Appends a figure without a size, with the median, interval and n of an estimate. Long names are cut off. */
void figures_add_estimate(struct figure_list *list, const char *subject, const char *name, const char *unit,
                          const struct estimate *estimate, enum better better, int judged);

/* Appends a figure without a size or an interval, which is not judged: a value that comes from n samples. */
void figures_add_value(struct figure_list *list, const char *subject, const char *name, const char *unit, double value,
                       size_t n, enum better better);

/* Returns the figure with this subject, name and size; or NULL. */
const struct figure *figures_find(const struct figure_list *list, const char *subject, const char *name, double bytes);

/* Returns an array of {subject, name, bytes (unless 0), unit, value, low, high, n, better, judged}; caller owns it. */
cJSON *figures_json(const struct figure_list *list);

/* Reads the array of figures_json into *list, which need not be initialized. Returns 0; or -1, reported with the path,
 * if the JSON is not an array of that form, or if a figure occurs twice, is incomplete, or has a name that is too long,
 * a size that is not finite, or an interval whose ends are swapped. Release with figures_destroy in either case. */
int figures_read(struct figure_list *list, const char *path, const cJSON *json);

/* Prints a line of comma-separated values for each figure: the texts field[n], then FIGURES_CSV_COLUMNS. A number that
 * is not finite becomes an empty field, and so does the size 0. */
#define FIGURES_CSV_COLUMNS "subject,name,bytes,unit,value,low,high,n,better,judged"
void figures_print_csv(FILE *out, const struct figure_list *list, const char *const *field, size_t n);

void figures_destroy(struct figure_list *list); /* frees the figures; the list may be empty */

#endif
