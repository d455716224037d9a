/* chart.h - charts as SVG from arrays: stacked bars, series over x, a timeline. chart/svg.h says what such a
 * picture is.
 *
 * Each function returns the text of a picture, which the caller frees, whatever the arrays hold: NAN and infinite
 * values are left out, an empty chart says so, numbers in between that are too many are left out and counted in words.
 * Names may hold anything, and are cut where they are too long; title, subtitle and note are wrapped. NULL or "" is no
 * text. Values have the units that the caller's words give them. A `colour` is one of chart/svg.h. */
#ifndef BENCH_READ_CHART_CHART_H
#define BENCH_READ_CHART_CHART_H

#include "chart/svg.h"

#include <stddef.h>

struct chart_words {
    const char *title;    /* the finding, as a sentence */
    const char *subtitle; /* of what: units, n, machine */
    const char *note;     /* below the chart */
};

/* A name in the legend. */
struct chart_name {
    const char *name;
    int colour;
};

/* ---- stacked bars: milliseconds, horizontal, from zero ---- */

struct chart_bar {
    const char *label;
    const double *part_ms;            /* [parts] as they are stacked; below 0 or not finite: 0 */
    double total_ms, low_ms, high_ms; /* printed at the end, with its 95 % interval; NAN total: the sum of the parts */
    size_t n;                         /* samples; 0: not printed */
};
char *chart_bars(const struct chart_words *words, const struct chart_bar *bar, size_t bars,
                 const struct chart_name *part, size_t parts);

/* ---- series over x, with intervals and lines of reference ---- */

enum chart_scale { CHART_LINEAR, CHART_LOG2, CHART_LOG10 }; /* of a logarithmic one only values above 0 are shown */
struct chart_axis {
    const char *title; /* with the unit */
    enum chart_scale scale;
    int is_bytes; /* its numbers are bytes: 64 KiB, not 65536 */
    double end;   /* above 0: where a linear axis ends, which then begins at 0; what is above is cut */
    int is_count; /* its ticks are whole numbers */
};

enum chart_mark { CHART_PLAIN, CHART_HOLLOW, CHART_AS_GOOD, CHART_BEST };
struct chart_point {
    double x, y, low, high; /* low and high: its interval; NAN: none */
    enum chart_mark mark;   /* hollow: the note says of what; as good: in a thin ring; best: in a thick one */
    const char *label;      /* above it; NULL */
};

enum { CHART_LINE = 1, CHART_POINTS = 2, CHART_DASHED = 4, CHART_RINGS = 8 };
struct chart_series {
    const char *name; /* beside its end; NULL: none */
    const struct chart_point *point;
    size_t n;
    int colour, draw; /* draw: CHART_LINE, CHART_POINTS, or both; a line may be CHART_DASHED: fitted, or ideal; points
                         may be CHART_RINGS, large enough that points in the same place are seen inside of them */
};

/* A horizontal line of what has no x. */
struct chart_reference {
    const char *name;
    double y;
    int is_strong; /* a full line in the ink's colour and a bold name; others are dashed and grey */
};

/* A line is straight between its points, so a curve has many of them, and an ideal one too where only one axis is
 * logarithmic. A logarithmic x axis has its ticks at the points, or at each second, third ... of them. A linear y axis
 * begins at 0, unless all values are in the upper 40 %: then it is cut, and says so. */
struct chart_xy {
    struct chart_axis x, y;
    const struct chart_series *series;
    const struct chart_reference *reference;
    size_t n_series, n_references;
    const char *best, *dashed; /* what thick rings and dashed lines of series mean; NULL: "best", and what their names
                                  say. Intervals are named where there are any. */
};
char *chart_xy(const struct chart_words *words, const struct chart_xy *chart);

/* ---- a timeline: milliseconds ---- */

enum { CHART_ROWS = 64, CHART_SPANS = 2000 }; /* drawn at most: the first rows, the longest spans */
struct chart_span {
    double begin_ms, end_ms;
    int row;           /* below 0 or from `rows` on: not drawn */
    int kind;          /* of kind[] below */
    const char *label; /* inside, where it fits; NULL */
};
struct chart_timeline {
    const char *const *row; /* names [rows] */
    const struct chart_name *kind;
    const struct chart_span *span;
    size_t rows, kinds, spans;
};
/* Below 60 kB with 16 rows of 1,000 spans or more and names of ordinary lengths. */
char *chart_timeline(const struct chart_words *words, const struct chart_timeline *timeline);

#endif
