/* frame.h - draws the parts that all charts share: title, legend, axes. */
#ifndef BENCH_READ_CHART_FRAME_H
#define BENCH_READ_CHART_FRAME_H

#include "base/text.h"
#include "chart/chart.h"
#include "chart/svg.h"

enum { FRAME_LEFT = 16, FRAME_RIGHT = SVG_WIDTH - 16, FRAME_ROW = 21 }; /* x of edges; height of a legend line */

/* A picture under construction. It grows downwards; its height is known at the end. */
struct frame {
    FILE *out;
    char *text;
    size_t length;
    double y; /* y of the top of the next element */
    const char *title, *subtitle;
};

/* frame_begin begins a picture with title and subtitle; frame_end returns its text, which the caller frees. */
void frame_begin(struct frame *frame, const char *title, const char *subtitle);
char *frame_end(struct frame *frame);

enum frame_sign { SIGN_AREA, SIGN_INTERVAL, SIGN_BEST, SIGN_TIE };
struct frame_item {
    const char *name;
    int colour;
    enum frame_sign sign;
};
/* Draws a legend: a symbol (sign) and a name for each of n items, in as many lines as they need. */
void frame_legend(struct frame *frame, const struct frame_item *item, size_t n);

/* ---- axes ---- */

/* Maps values low..high to coordinates from..to. */
struct axis {
    double low, high, from, to;
    int is_log, is_bytes, is_cut; /* is_cut: 1: a linear axis that does not begin at 0 */
};

/* Whether an axis can show the value: finite and, on a logarithmic axis, above 0. */
int axis_takes(int is_log, double value);

/* Returns an axis for values from least to greatest (both infinite if there are no values); the caller sets `from` and
 * `to`. A linear axis begins at 0 or below, or is cut if all values are in its upper 40 %. */
struct axis axis_for(const struct chart_axis *of, double least, double greatest);

/* Returns the coordinate of a value (outside the axis: of the nearer end); NAN if axis_takes(value) is false. */
double axis_place(const struct axis *axis, double value);

/* Chooses at most `most` (1 to AXIS_TICKS) ticks at round numbers, or of AXIS_BINARY at powers of two. Returns
 * the number of ticks. axis_number writes the value of a tick to text, and returns text. */
enum { AXIS_TICKS = 12 };
size_t axis_ticks(const struct axis *axis, size_t most, double tick[AXIS_TICKS]);
const char *axis_number(const struct axis *axis, double value, char text[CELL]);

/* Returns the title, with a remark if the axis is logarithmic or does not begin at 0. */
const char *axis_title(const struct axis *axis, const char *title, char text[SVG_LABEL]);

/* Draws a horizontal axis at y: grid lines up to `top`, numbers and title below. Returns the y below the title. */
double axis_draw_x(FILE *out, const struct axis *axis, double top, double y, const char *title);

#endif
