/* figures.h - the list of figures that every summary.json holds, whatever kind of run wrote it, and all that is ever
 * read back from one. Figures are kept in seconds, bytes, bytes/s and ratios; whoever shows them scales them. */
#ifndef BENCH_BASE_FIGURES_H
#define BENCH_BASE_FIGURES_H

#include "base/stats.h"

#include <cJSON.h>
#include <stddef.h>
#include <stdio.h>

enum better { BETTER_LOWER, BETTER_HIGHER, BETTER_NONE };
extern const char *const figure_better_name[]; /* lower, higher, none */

struct figure {
    char subject[128]; /* of what: an implementation, or collective, type, operation and placement */
    char name[48];     /* which figure of it, such as step */
    char unit[12];     /* s, B, B/s, 1/s, FLOP/s, or 1 for a ratio or a count */
    double bytes;      /* size of a collective; 0 for what has no size */
    double value;      /* finite */
    double low, high;  /* its 95 % interval; NAN where there is none */
    size_t n;          /* samples behind it */
    enum better better;
    int judged; /* `compare` decides on it, unless the user names others; the rest is for information */
};

enum { FIGURES_MOST = 100000 }; /* that are read: `allreduce` of 1,000 sizes leaves 20,000 */

struct figure_list {
    struct figure *item;
    size_t n;
};

/* Appends a copy. A figure whose value is not finite does not apply, and is left out. */
void figures_add(struct figure_list *list, const struct figure *figure);

/* The same for a figure without a size, from an estimate: its median, interval and n. Names are cut to their fields. */
void figures_add_estimate(struct figure_list *list, const char *subject, const char *name, const char *unit,
                          const struct estimate *estimate, enum better better, int judged);

/* The same from a number alone, of n samples, without an interval; never judged. */
void figures_add_value(struct figure_list *list, const char *subject, const char *name, const char *unit, double value,
                       size_t n, enum better better);

/* The figure of that subject, name and size, or NULL. */
const struct figure *figures_find(const struct figure_list *list, const char *subject, const char *name, double bytes);

/* As a JSON array of {subject, name, bytes (where there is one), unit, value, low, high, n, better, judged}; the caller
 * owns it. */
cJSON *figures_json(const struct figure_list *list);

/* And back, into *list, whatever that held before. Returns 0; or -1, reported with the path: it is no such array, has
 * more than FIGURES_MOST, or one is there twice, incomplete, with a name that is too long, of bytes that are no finite
 * number, or with an interval that ends before it begins.
 * Release the list with figures_destroy in both cases. */
int figures_read(struct figure_list *list, const char *path, const cJSON *json);

/* The figures as lines of comma-separated values: the texts field[n], which say whose they are, and then these columns.
 * What is not finite, or has no size, is an empty field. */
#define FIGURES_CSV_COLUMNS "subject,name,bytes,unit,value,low,high,n,better,judged"
void figures_print_csv(FILE *out, const struct figure_list *list, const char *const *field, size_t n);

void figures_destroy(struct figure_list *list); /* a zeroed list is fine */

#endif
