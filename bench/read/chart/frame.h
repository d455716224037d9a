/* frame.h - what all charts share: words above and below, legend, axes, labels that do not overlap. */
#ifndef BENCH_READ_CHART_FRAME_H
#define BENCH_READ_CHART_FRAME_H

#include "base/text.h"
#include "chart/chart.h"
#include "chart/svg.h"

enum { FRAME_LEFT = 16, FRAME_RIGHT = SVG_WIDTH - 16, FRAME_ROW = 21 }; /* its edges; from line to line of text */

/* The content of a picture that grows downwards: its height is known at the end. */
struct frame {
    FILE *out;
    char *text;
    size_t length;
    double y; /* where the next thing may begin */
    const struct chart_words *words;
};

/* Title and subtitle; then the note, and all of it as a picture that the caller frees. */
void frame_begin(struct frame *frame, const struct chart_words *words);
char *frame_end(struct frame *frame);

/* What a sign in a picture means. A line of such items, or as many lines as they need. */
enum frame_sign { SIGN_AREA, SIGN_INTERVAL, SIGN_WHISKER, SIGN_DASHED, SIGN_BEST, SIGN_AS_GOOD };
struct frame_item {
    const char *name;
    int colour;
    enum frame_sign sign;
};
void frame_legend(struct frame *frame, const struct frame_item *item, size_t n);
void frame_line(struct frame *frame, const char *classes, const char *text); /* of words, from the left edge on */

/* ---- axes ---- */

/* Values from low to high lie between the places from and to. */
struct axis {
    enum chart_scale scale;
    double low, high, from, to;
    int is_bytes, is_count, is_cut; /* cut: linear, and 0 is not on it */
    const double *given;            /* [n_given], increasing: its ticks are some of these; NULL: any */
    size_t n_given;
};

/* Whether a value can be on an axis of the scale. */
int axis_takes(enum chart_scale scale, double value);

/* An axis for values between least and greatest (infinite: there are none), without places. A linear one begins at 0 or
 * below, or is cut where all are in the upper 40 %; with an `end` it ends there, and is not cut. */
struct axis axis_for(const struct chart_axis *of, double least, double greatest);

/* The place of a value, at the axis' end where it is beyond; NAN where the axis does not take it. */
double axis_place(const struct axis *axis, double value);

/* At most `most` (1 to AXIS_TICKS) values on the axis: those that are given, or each second, third ... of them;
 * otherwise 1, 2 or 5 times a power of ten, or powers of the scale's base. Returns how many. */
enum { AXIS_TICKS = 12 };
size_t axis_ticks(const struct axis *axis, size_t most, double tick[AXIS_TICKS]);
const char *axis_number(const struct axis *axis, double value, char text[CELL]);

/* The title with what a reader has to know of the axis: that it is logarithmic, or does not begin at 0. */
const char *axis_title(const struct axis *axis, const char *title, char text[SVG_LABEL]);

/* A horizontal axis at y with lines up to `top`, its numbers and the title below; returns the place below them. */
double axis_draw_x(FILE *out, const struct axis *axis, double top, double y, const char *title);

/* ---- labels ---- */

/* A name at the right of a chart, beside the place where a line ends. */
enum { END_NAMES = 40, END_NAME_GAP = 20 };
struct end_name {
    const char *text;
    double x, y;                 /* where the line ends */
    int draw, colour, is_strong; /* its sign, as of chart_series.draw; strong: a bold name */
};
/* The room that n of them take at the right of a chart that ends there at `x`; they are moved apart, from top to
 * bottom, which leaves END_NAME_GAP for each at least. Sorts them by place. */
double end_names_width(const struct end_name *name, size_t n);
void end_names_draw(FILE *out, struct end_name *name, size_t n, double x, double top, double bottom);

#endif
