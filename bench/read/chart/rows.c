/* rows.c - draws rows of spans over milliseconds, coloured by kind. */
#include "chart/frame.h"

#include <math.h>

enum { PITCH = 30, THICK = 18, NAME_WIDTH = 270, GAP = 10 };

static int is_drawable(const struct chart_span *s)
{
    return fabs(s->begin_ms) < 1e300 && fabs(s->end_ms) < 1e300 && s->end_ms > s->begin_ms;
}

static int has_spans(const struct chart_rows *c, size_t kind)
{
    for (const struct chart_span *s = c->span; s < c->span + c->spans; s++)
        if (is_drawable(s) && (size_t)s->kind == kind)
            return 1;
    return 0;
}

static double row_y(double top, size_t row)
{
    return top + 4 + PITCH * (double)row;
}

/* Draws all spans of a kind as strokes of one path, which is the shortest SVG for many spans. */
static void draw_spans(FILE *out, const struct chart_rows *c, int kind, const struct axis *axis, double top)
{
    svg_path_begin(out, "span", kind);
    for (const struct chart_span *s = c->span; s < c->span + c->spans; s++) {
        if (!is_drawable(s) || s->kind != kind)
            continue;
        double x = axis_place(axis, s->begin_ms), width = axis_place(axis, s->end_ms) - x;
        svg_path_to(out, 'M', x, row_y(top, s->row) + THICK / 2.0);
        fputc('h', out);
        svg_number(out, width > 2 ? width - 0.6 : fmax(width, 0.5)); /* leaves a gap between adjacent spans */
    }
    svg_path_end(out);
}

/* Draws the labels that fit into their spans, without overlap, and the text to the right of each row. */
static void draw_labels(FILE *out, const struct chart_rows *c, const struct axis *axis, double top)
{
    double used[CHART_ROWS] = {0}, last[CHART_ROWS]; /* where each row's last label and last span end */
    char classes[24], label[SVG_LABEL];
    for (size_t i = 0; i < c->rows; i++)
        last[i] = axis->from;
    for (const struct chart_span *s = c->span; s < c->span + c->spans; s++) {
        if (!is_drawable(s))
            continue;
        double x = axis_place(axis, s->begin_ms), end = axis_place(axis, s->end_ms);
        last[s->row] = fmax(last[s->row], end);
        if (!s->label || x < used[s->row] || svg_text_width(s->label, SVG_SMALL) + 4 > end - x)
            continue;
        snprintf(classes, sizeof classes, "small on%d", s->kind);
        svg_text(out, (x + end) / 2, row_y(top, s->row) + 14, SVG_MIDDLE, classes, s->label);
        used[s->row] = end;
    }
    for (size_t i = 0; i < c->rows; i++)
        for (const double *ms = c->row[i].dot_ms; ms < c->row[i].dot_ms + c->row[i].n_dots; ms++)
            if (isfinite(*ms))
                svg_circle(out, axis_place(axis, *ms), row_y(top, i) + THICK + 4, 2.5, "area faint", SVG_INK);
    for (size_t i = 0; i < c->rows; i++)
        if (c->row[i].end)
            svg_text(out, last[i] + GAP, row_y(top, i) + 14, SVG_START, "",
                     svg_shorten(label, c->row[i].end, SVG_TEXT, NAME_WIDTH));
}

char *chart_rows(const char *title, const char *subtitle, const struct chart_rows *c)
{
    struct frame frame;
    struct frame_item item[SVG_COLOURS];
    char label[SVG_LABEL];
    size_t items = 0;
    double least = INFINITY, greatest = -INFINITY, left = 0, right = 0;
    frame_begin(&frame, title, subtitle);
    for (size_t kind = 0; kind < c->kinds; kind++)
        if (has_spans(c, kind))
            item[items++] = (struct frame_item){c->kind[kind], (int)kind, SIGN_AREA};
    frame_legend(&frame, item, items);
    for (const struct chart_row *row = c->row; row < c->row + c->rows; row++) {
        left = fmax(left, svg_text_width(svg_shorten(label, row->name, SVG_TEXT, NAME_WIDTH), SVG_TEXT));
        right = fmax(right, svg_text_width(svg_shorten(label, row->end, SVG_TEXT, NAME_WIDTH), SVG_TEXT));
    }
    for (const struct chart_span *s = c->span; s < c->span + c->spans; s++)
        if (is_drawable(s)) {
            least = fmin(least, s->begin_ms);
            greatest = fmax(greatest, s->end_ms);
        }
    double most = 1.5 * greatest; /* of the axis, so that a rare long sample does not shorten all rows */
    for (const struct chart_row *row = c->row; row < c->row + c->rows; row++)
        for (size_t i = 0; i < row->n_dots; i++)
            greatest = row->dot_ms[i] > greatest ? fmin(row->dot_ms[i], most) : greatest;
    struct axis axis = axis_for(&(struct chart_axis){0}, fmin(0, least), greatest);
    axis.from = FRAME_LEFT + left + GAP;
    axis.to = FRAME_RIGHT - right - GAP;
    double top = frame.y + 10;
    frame.y = axis_draw_x(frame.out, &axis, top, row_y(top, c->rows) + 2, "ms");
    for (size_t i = 0; i < c->rows; i++) {
        double y = row_y(top, i);
        svg_text(frame.out, axis.from - GAP, y + 14, SVG_END, "",
                 svg_shorten(label, c->row[i].name, SVG_TEXT, NAME_WIDTH));
        if (!c->row[i].end)
            svg_rect(frame.out, axis.from, y, axis.to - axis.from, THICK, "area soft", SVG_GREY);
    }
    for (size_t i = 0; i < items; i++)
        draw_spans(frame.out, c, item[i].colour, &axis, top);
    draw_labels(frame.out, c, &axis, top);
    return frame_end(&frame);
}
