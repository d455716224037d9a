/* strips.c - rows of filled curves over a common x, each from zero to the same top. */
#include "chart/frame.h"

#include <math.h>
#include <stdlib.h>

enum { PITCH = 30, THICK = 24, MOST_LABEL = 330, MOST_END = 120 };

static int is_drawable(const struct chart_point *p)
{
    return axis_takes(CHART_LINEAR, p->x) && axis_takes(CHART_LINEAR, p->y);
}

/* The mean of the points of each unit of width, as an area above the place `bottom`. */
static void draw_curve(FILE *out, const struct axis *axis, double bottom, double top, const struct chart_strip *strip)
{
    double sum = 0, column = NAN, first = NAN;
    size_t n = 0;
    for (size_t i = 0; i <= strip->n; i++) {
        int is = i < strip->n && is_drawable(&strip->point[i]);
        double x = is ? axis_place(axis, strip->point[i].x) : NAN;
        if (n && (i == strip->n || (is && floor(x) != floor(column)))) {
            if (!isfinite(first)) {
                svg_path_begin(out, "area", strip->colour);
                fputc('M', out);
                svg_number(out, first = column);
                fputc(' ', out);
                svg_number(out, bottom);
            }
            fputc('L', out);
            svg_number(out, column);
            fputc(' ', out);
            svg_number(out, bottom - THICK * fmax(0, fmin(1, sum / (double)n / top)));
            n = 0;
            sum = 0;
        }
        if (is) {
            column = x;
            sum += fmax(-1e300, fmin(1e300, strip->point[i].y));
            n++;
        }
    }
    if (!isfinite(first))
        return;
    fputc('L', out);
    svg_number(out, column);
    fputc(' ', out);
    svg_number(out, bottom);
    svg_path_end(out);
}

static void draw_strips(struct frame *frame, const struct chart_strip *strip, size_t n, struct axis *axis, double top,
                        const char *x_title)
{
    double left = 0, right = 0, y = frame->y + 6;
    char label[SVG_LABEL];
    for (size_t i = 0; i < n; i++) {
        svg_shorten(label, strip[i].label ? strip[i].label : "", SVG_TEXT, MOST_LABEL);
        left = fmax(left, svg_text_width(label, SVG_TEXT));
        svg_shorten(label, strip[i].end ? strip[i].end : "", SVG_TEXT, MOST_END);
        right = fmax(right, svg_text_width(label, SVG_TEXT));
    }
    axis->from = FRAME_LEFT + left + 10;
    axis->to = FRAME_RIGHT - right - 10;
    frame->y = axis_draw_x(frame->out, axis, y, y + PITCH * (double)n, x_title);
    for (size_t i = 0; i < n; i++, y += PITCH) {
        double base = y + THICK / 2.0 + 5;
        svg_rect(frame->out, axis->from, y, axis->to - axis->from, THICK, "area soft", SVG_GREY, NULL);
        draw_curve(frame->out, axis, y + THICK, top, &strip[i]);
        svg_text(frame->out, axis->from - 10, base, SVG_END, "",
                 svg_shorten(label, strip[i].label ? strip[i].label : "", SVG_TEXT, MOST_LABEL));
        svg_text(frame->out, axis->to + 10, base, SVG_START, "",
                 svg_shorten(label, strip[i].end ? strip[i].end : "", SVG_TEXT, MOST_END));
    }
}

char *chart_strips(const struct chart_words *words, const struct chart_strip *strip, size_t strips, double top,
                   const char *x_title)
{
    struct frame frame;
    size_t n = strips < CHART_STRIPS ? strips : CHART_STRIPS;
    double end = -INFINITY;
    char more[80];
    frame_begin(&frame, words);
    for (size_t i = 0; i < n; i++)
        for (const struct chart_point *p = strip[i].point; p < strip[i].point + strip[i].n; p++)
            end = is_drawable(p) ? fmax(end, p->x) : end;
    struct axis axis = axis_for(&(struct chart_axis){.end = end}, 0, end);
    if (isfinite(end))
        draw_strips(&frame, strip, n, &axis, top > 0 ? top : 1, x_title);
    else
        frame_line(&frame, "", "Nothing was recorded.");
    snprintf(more, sizeof more, "Left out: %zu of %zu.", strips - n, strips);
    if (n < strips)
        frame_line(&frame, "muted", more);
    return frame_end(&frame);
}
