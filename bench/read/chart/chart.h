/* chart.h - draws arrays as SVG charts: series over x, rows of spans, and matrices. chart/svg.h describes the pictures.
 *
 * Each function returns the text of a picture, which the caller frees. Arrays may hold any numbers and any text: NAN
 * and infinite values are not drawn, long names are shortened, and title (what the chart shows, as a sentence) and
 * subtitle (units, number of samples, machine) are wrapped. A text may be NULL or "". chart/svg.h defines `colour`. */
#ifndef BENCH_READ_CHART_CHART_H
#define BENCH_READ_CHART_CHART_H

#include "base/intervals.h"
#include "chart/svg.h"

#include <stddef.h>

/* ---- series over x, with intervals and reference lines ---- */

enum { AXIS_BINARY = 2 };
struct chart_axis {
    const char *title;    /* what the axis shows, with the unit */
    int is_log, is_bytes; /* is_log: logarithmic, shows only values above 0, and if it is AXIS_BINARY has ticks at
                             powers of two; is_bytes: shows 64 KiB, not 65536 */
    int from_0;           /* 1: a linear axis is never cut */
};

enum chart_mark { CHART_PLAIN, CHART_TIE, CHART_BEST };
struct chart_point {
    double x, y, low, high; /* low, high: interval of y; NAN: none */
    enum chart_mark mark;   /* CHART_TIE (with the best): in a thin ring; CHART_BEST: in a thick ring */
};

struct chart_series {
    const char *name; /* drawn at the right edge, at the height of the last point */
    const struct chart_point *point;
    size_t n;
    int colour;
    int is_dashed; /* 1: a dashed line without points; 0: a line with points */
    size_t panel;  /* index into chart_xy.panel */
};

/* A dashed horizontal line for a value that does not depend on x. */
struct chart_reference {
    const char *name;
    double y;
};

/* chart_band: an area behind the series, such as the usual range of y. chart_event: a vertical line with a name. */
struct chart_band {
    double from, to, low, high; /* x and y of its edges */
};
struct chart_event {
    double x;
    const char *name;
};

/* Draws points joined by straight lines. If several series have intervals, they are drawn a few pixels apart. The ticks
 * of a logarithmic x axis are at the points, or at every k-th point. A linear y axis begins at 0 or below; if all
 * values are in its upper 40 %, it is cut, with a remark in its title. All names of series and references are drawn.
 *
 * With panels, draws one plot below the other, with one x axis, and lines without points. The names of series are those
 * of the first panel. */
struct chart_xy {
    struct chart_axis x, y;
    const struct chart_series *series;
    const struct chart_reference *reference;
    const struct chart_band *band;
    const struct chart_event *event;
    size_t n_series, n_references, n_bands, n_events;
    const struct chart_axis *panel; /* [n_panels] y axes; n_panels 0: one plot, with the axis y */
    size_t n_panels;
    const char *interval; /* what intervals are, for the legend; NULL: 95 % interval */
};
char *chart_xy(const char *title, const char *subtitle, const struct chart_xy *chart);

/* ---- rows of spans over milliseconds: stacked bars, or a timeline ---- */

struct chart_span {
    double begin_ms, end_ms;
    size_t row;
    int kind;          /* index into chart_rows.kind; also the colour */
    const char *label; /* text drawn inside the span if it fits; NULL: none */
};

struct chart_row {
    const char *name;     /* text to the left of the row */
    const char *end;      /* text to the right of the last span; NULL: the whole row is shaded */
    const double *dot_ms; /* [n_dots] samples below the row; at the right edge if above 1.5 times the longest row */
    size_t n_dots;
};

enum { CHART_ROWS = 64 };
struct chart_rows {
    const struct chart_row *row;
    const char *const *kind; /* [kinds] names of the kinds of spans, for the legend */
    const struct chart_span *span;
    size_t rows, kinds, spans; /* rows <= CHART_ROWS; kinds <= SVG_COLOURS */
};
char *chart_rows(const char *title, const char *subtitle, const struct chart_rows *chart);

/* ---- a matrix of ratios, or of other numbers ---- */

struct chart_cell {
    size_t row, column;
    double value; /* also its colour; NAN: as if the cell were missing */
};

enum { CHART_HEAT = 64, CHART_BOUNDS = 6 };
struct chart_heat {
    const char *const *row, *const *column; /* [n_rows], [n_columns] names */
    const char *rows, *columns;             /* what the rows and the columns are */
    const struct chart_cell *cell;
    size_t n_rows, n_columns, cells; /* rows and columns: at most CHART_HEAT; cells that are missing are grey */
    const char *value;               /* what the numbers are, for the legend; NULL: ratio */
    const double *bound; /* [CHART_BOUNDS] where the next colour begins; the second colour is neutral; 0 as the first:
                            nothing is lower; NULL: for ratios */
};
char *chart_heat(const char *title, const char *subtitle, const struct chart_heat *chart);

/* ---- differences with intervals ---- */

/* Draws rows: name, interval with a mark at the ratio (an arrowhead: it goes on beyond the scale), word, and both as
 * numbers. A legend explains the marks. */
char *chart_intervals(const char *title, const char *subtitle, struct intervals *all);

#endif
