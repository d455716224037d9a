/* chart.h - charts as SVG from arrays: series over x, and rows of spans. chart/svg.h describes the pictures.
 *
 * Each function returns the text of a picture, which the caller frees. The arrays may hold any numbers and any text:
 * NAN and infinite values are not drawn, long names are shortened, the title (the finding, as a sentence) and the
 * subtitle (units, number of samples, machine) are wrapped. A text may be NULL or "". A `colour` is one of chart/svg.h.
 */
#ifndef BENCH_READ_CHART_CHART_H
#define BENCH_READ_CHART_CHART_H

#include "chart/svg.h"

#include <stddef.h>

/* ---- series over x, with intervals and reference lines ---- */

struct chart_axis {
    const char *title;    /* with the unit */
    int is_log, is_bytes; /* logarithmic: shows only values above 0; of bytes: 64 KiB, not 65536 */
};

enum chart_mark { CHART_PLAIN, CHART_AS_GOOD, CHART_BEST };
struct chart_point {
    double x, y, low, high; /* low and high: the interval of y; NAN: none */
    enum chart_mark mark;   /* as good: in a thin ring; best: in a thick ring */
};

struct chart_series {
    const char *name; /* drawn at the right of the end of the series */
    const struct chart_point *point;
    size_t n;
    int colour;
    int is_dashed; /* a dashed line without points; otherwise a line with points */
};

/* A dashed horizontal line, for a value without an x. */
struct chart_reference {
    const char *name;
    double y;
};

/* Lines are straight between points. The ticks of a logarithmic x axis are at the points, or at every k-th of them. A
 * linear y axis begins at 0, or is cut where all values are in the upper 40 %, as the title then tells. The first 40
 * names are drawn. */
struct chart_xy {
    struct chart_axis x, y;
    const struct chart_series *series;
    const struct chart_reference *reference;
    size_t n_series, n_references;
};
char *chart_xy(const char *title, const char *subtitle, const struct chart_xy *chart);

/* ---- rows of spans over milliseconds: stacked bars, or a timeline ---- */

struct chart_span {
    double begin_ms, end_ms;
    size_t row;
    int kind;          /* index into kind[] below, and the colour */
    const char *label; /* inside, where it fits */
};

struct chart_row {
    const char *name; /* at the left */
    const char *end;  /* behind the last span; NULL: the row is shaded from end to end */
};

enum { CHART_ROWS = 64 };
struct chart_rows {
    const struct chart_row *row;
    const char *const *kind; /* names for the legend */
    const struct chart_span *span;
    size_t rows, kinds, spans; /* rows: CHART_ROWS at most; kinds: SVG_COLOURS at most */
};
char *chart_rows(const char *title, const char *subtitle, const struct chart_rows *chart);

#endif
