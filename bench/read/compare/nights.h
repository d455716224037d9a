/* nights.h - reads runs below directories of nights as one series a figure. Only values stay in memory. */
#ifndef BENCH_READ_COMPARE_NIGHTS_H
#define BENCH_READ_COMPARE_NIGHTS_H

#include "base/figures.h"

#include <cJSON.h>
#include <stddef.h>

/* What names the night of a run: the directory directly below the one that the user named; the day of run.json's time;
 * or the commit of the program's version and, for a control, that of the candidate nearest in time. */
enum night_rule { NIGHT_DIRECTORY, NIGHT_DATE, NIGHT_COMMIT };

enum { NIGHT_CANDIDATE, NIGHT_CONTROL, NIGHT_SIDES, NIGHT_NAME = 256, NIGHT_FIGURE = 400 };

struct night {
    char name[NIGHT_NAME];
    double began, ended;       /* when its first and its last run began, in seconds since 1970 */
    size_t runs[NIGHT_SIDES];  /* runs that count */
    size_t first_run, end_run; /* used by nights_read: its runs, by directory */
    char commit[64];           /* of the program of its first candidate; without a commit, its version */
    unsigned char accepted;    /* 1: a level of all figures begins, and the changes before it are accepted */
};

/* Whether a level of a figure, nights that are compared with each other, begins on a night: no; yes, since it has the
 * first control, or a control of another build; or yes, and the changes before it are accepted. */
enum { LEVEL_GOES_ON, LEVEL_BEGINS, LEVEL_ACCEPTED };

/* A figure of the candidates over the nights. */
struct night_series {
    char name[NIGHT_FIGURE];    /* subject, name and size of the figure, and settings that differ (nights_read) */
    struct figure figure;       /* the first that was read */
    double *value[NIGHT_SIDES]; /* [n] the night's median over its runs; NAN: none */
    double *y;             /* [n] log(candidate), from the first control on log(candidate) - log(control), times -1 if
                              higher is better; NAN: not known */
    int has_control;       /* 1: on some night both sides have a value */
    unsigned char *begins; /* [n] LEVEL_GOES_ON, ... */
};

struct nights {
    struct night *night; /* [n], by the time of their first runs */
    size_t n;
    struct night_series *series; /* [figures] */
    size_t figures;
};

/* Reads the runs that stand one to four levels below directory[n]. A run is a control if its label, or the name of a
 * directory above it, is `control` or begins with `control` and -. Figures that `compare` judges by default become
 * series. Runs whose settings differ as `compare` tells them are apart: later settings are figures of their own, whose
 * names end with what differs. Appends to the list `warnings` of json what is left out or doubtful. Returns 0; or -1,
 * reported. Release with nights_destroy in either case. */
int nights_read(struct nights *nights, const char *const *directory, size_t n, const char *control,
                enum night_rule rule, cJSON *json);
void nights_destroy(struct nights *nights); /* frees all members, which may be 0 */

#endif
