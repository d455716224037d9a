/* chart.h - charts as SVG from arrays: stacked bars, series over x, a timeline. chart/svg.h describes the pictures.
 *
 * Each function returns the text of a picture, which the caller frees. The arrays may hold any numbers and any text:
 * NAN and infinite values are not drawn, and an empty chart contains a sentence that it is empty. Long names are
 * shortened; title, subtitle and note are wrapped. A text may be NULL or "". A `colour` is one of chart/svg.h. */
#ifndef BENCH_READ_CHART_CHART_H
#define BENCH_READ_CHART_CHART_H

#include "chart/svg.h"

#include <stddef.h>

struct chart_words {
    const char *title;    /* the finding, as a sentence */
    const char *subtitle; /* units, number of samples, machine */
    const char *note;     /* below the chart */
};

/* An entry of the legend. */
struct chart_name {
    const char *name;
    int colour;
};

/* ---- stacked bars: milliseconds, horizontal, from zero ---- */

struct chart_bar {
    const char *label;
    const double *part_ms;            /* [parts] in the order of stacking; negative or not finite: drawn as 0 */
    double total_ms, low_ms, high_ms; /* printed at the end of the bar, with its 95 % interval; NAN: sum of the parts */
    size_t n;                         /* samples; 0: not printed */
};
char *chart_bars(const struct chart_words *words, const struct chart_bar *bar, size_t bars,
                 const struct chart_name *part, size_t parts);

/* ---- series over x, with intervals and reference lines ---- */

enum chart_scale { CHART_LINEAR, CHART_LOG2, CHART_LOG10 }; /* a logarithmic axis shows only values above 0 */
struct chart_axis {
    const char *title; /* with the unit */
    enum chart_scale scale;
    int is_bytes; /* the numbers are bytes: 64 KiB, not 65536 */
    double end;   /* above 0: a linear axis goes from 0 to this value */
    int is_count; /* ticks are whole numbers */
};

enum chart_mark { CHART_PLAIN, CHART_AS_GOOD, CHART_BEST };
struct chart_point {
    double x, y, low, high; /* low and high: the interval of y; NAN: none */
    enum chart_mark mark;   /* as good: in a thin ring; best: in a thick ring */
};

enum { CHART_LINE = 1, CHART_POINTS = 2, CHART_DASHED = 4, CHART_RINGS = 8 };
struct chart_series {
    const char *name; /* drawn beside the end of the series; NULL: none */
    const struct chart_point *point;
    size_t n;
    int colour, draw; /* draw: CHART_LINE, CHART_POINTS or both; a line may be CHART_DASHED; points may be CHART_RINGS,
                         large enough to show the points of another series inside */
};

/* A horizontal line, for a value without an x. */
struct chart_reference {
    const char *name;
    double y;
    int is_strong; /* a solid line with a bold name; other references are dashed and grey */
};

/* Lines are straight between points. The ticks of a logarithmic x axis are at the points, or at every k-th of them. A
 * linear y axis begins at 0; it is cut, and its title tells so, where all values are in the upper 40 %. The first 40
 * names are drawn. */
struct chart_xy {
    struct chart_axis x, y;
    const struct chart_series *series;
    const struct chart_reference *reference;
    size_t n_series, n_references;
    const char *best, *dashed; /* key for thick rings and dashed lines; NULL: "best", and no key */
};
char *chart_xy(const struct chart_words *words, const struct chart_xy *chart);

/* ---- a timeline: milliseconds ---- */

enum { CHART_ROWS = 64, CHART_KINDS = 16 }; /* rows that are drawn, and kinds in the legend, at most */
struct chart_span {
    double begin_ms, end_ms;
    int row;           /* below 0 or from `rows` on: not drawn */
    int kind;          /* index into kind[] below */
    const char *label; /* inside, where it fits; NULL: none */
};
struct chart_timeline {
    const char *const *row; /* names [rows] */
    const struct chart_name *kind;
    const struct chart_span *span;
    size_t rows, kinds, spans;
};
char *chart_timeline(const struct chart_words *words, const struct chart_timeline *timeline);

#endif
