/* frame.h - the parts that all charts share: text above, legend, axes. */
#ifndef BENCH_READ_CHART_FRAME_H
#define BENCH_READ_CHART_FRAME_H

#include "base/text.h"
#include "chart/chart.h"
#include "chart/svg.h"

enum { FRAME_LEFT = 16, FRAME_RIGHT = SVG_WIDTH - 16, FRAME_ROW = 21 }; /* left and right edge; height of a text line */

/* The content of a picture. It grows downwards, and the height is known at the end. */
struct frame {
    FILE *out;
    char *text;
    size_t length;
    double y; /* top of the next element */
    const char *title, *subtitle;
};

/* Draws title and subtitle. */
void frame_begin(struct frame *frame, const char *title, const char *subtitle);
/* Returns the whole picture, which the caller frees. */
char *frame_end(struct frame *frame);

enum frame_sign { SIGN_AREA, SIGN_INTERVAL, SIGN_BEST, SIGN_AS_GOOD };
struct frame_item {
    const char *name;
    int colour;
    enum frame_sign sign;
};
void frame_legend(struct frame *frame, const struct frame_item *item, size_t n);

/* ---- axes ---- */

/* Maps values from low to high to places from `from` to `to`. */
struct axis {
    double low, high, from, to;
    int is_log, is_bytes, is_cut; /* cut: linear, and does not contain 0 */
    const double *given;          /* [n_given], increasing: the values that may be ticks; NULL: any */
    size_t n_given;
};

/* Whether an axis can show a value. */
int axis_takes(int is_log, double value);

/* An axis for the values from least to greatest (infinite: no values), without places. A linear axis begins at 0 or
 * below, or is cut where all values are in the upper 40 %. */
struct axis axis_for(const struct chart_axis *of, double least, double greatest);

/* The place of a value, or the nearer end of the axis for a value beyond it; NAN where the axis cannot show it. */
double axis_place(const struct axis *axis, double value);

/* Chooses at most `most` (1 to AXIS_TICKS) ticks: every k-th given value; otherwise 1, 2 or 5 times a power of ten, or
 * every k-th power of ten. Returns how many. */
enum { AXIS_TICKS = 12 };
size_t axis_ticks(const struct axis *axis, size_t most, double tick[AXIS_TICKS]);
const char *axis_number(const struct axis *axis, double value, char text[CELL]);

/* The title, with a remark where the axis is logarithmic or does not begin at 0. */
const char *axis_title(const struct axis *axis, const char *title, char text[SVG_LABEL]);

/* Draws a horizontal axis at y, with grid lines up to `top`, and numbers and title below. Returns the y below them. */
double axis_draw_x(FILE *out, const struct axis *axis, double top, double y, const char *title);

#endif
