/* timeline.c - rows of spans over milliseconds, coloured by kind. */
#include "chart/frame.h"

#include <math.h>

enum { PITCH = 26, THICK = 18, LABEL_WIDTH = 240 };

static int is_drawable(const struct chart_timeline *t, const struct chart_span *s)
{
    return s->row >= 0 && (size_t)s->row < t->rows && s->row < CHART_ROWS && s->kind >= 0 &&
           (size_t)s->kind < t->kinds && fabs(s->begin_ms) < 1e300 && fabs(s->end_ms) < 1e300 &&
           s->end_ms >= s->begin_ms;
}

/* Whether a kind has a span that can be drawn. */
static int has_spans(const struct chart_timeline *t, size_t kind)
{
    for (const struct chart_span *s = t->span; s < t->span + t->spans; s++)
        if (is_drawable(t, s) && (size_t)s->kind == kind)
            return 1;
    return 0;
}

static double row_y(double top, int row)
{
    return top + 4 + PITCH * row;
}

/* Draws the spans of a kind as strokes of one path, the shortest SVG for many of them. */
static void draw_spans(FILE *out, const struct chart_timeline *t, size_t kind, const struct axis *axis, double top)
{
    svg_path_begin(out, "span", t->kind[kind].colour);
    for (const struct chart_span *s = t->span; s < t->span + t->spans; s++) {
        if (!is_drawable(t, s) || (size_t)s->kind != kind)
            continue;
        double x = axis_place(axis, s->begin_ms), width = axis_place(axis, s->end_ms) - x;
        svg_path_to(out, 'M', x, row_y(top, s->row) + THICK / 2.0);
        fputc('h', out);
        svg_number(out, width > 2 ? width - 0.6 : fmax(width, 0.5)); /* a gap between two adjacent spans */
    }
    svg_path_end(out);
}

/* Draws the labels that fit into their spans, none over another. */
static void draw_labels(FILE *out, const struct chart_timeline *t, const struct axis *axis, double top)
{
    double used[CHART_ROWS] = {0}; /* where the last labelled span of each row ends */
    char classes[24];
    for (const struct chart_span *s = t->span; s < t->span + t->spans; s++) {
        if (!is_drawable(t, s) || !s->label || !*s->label)
            continue;
        double x = axis_place(axis, s->begin_ms), end = axis_place(axis, s->end_ms);
        if (x < used[s->row] || svg_text_width(s->label, SVG_SMALL) + 4 > end - x)
            continue;
        snprintf(classes, sizeof classes, "small on%d", t->kind[s->kind].colour % SVG_COLOURS);
        svg_text(out, (x + end) / 2, row_y(top, s->row) + 14, SVG_MIDDLE, classes, s->label);
        used[s->row] = end;
    }
}

static void draw_rows(struct frame *frame, const struct chart_timeline *t)
{
    size_t rows = t->rows < CHART_ROWS ? t->rows : CHART_ROWS;
    double widest = 0, least = INFINITY, greatest = -INFINITY;
    char label[SVG_LABEL];
    for (size_t i = 0; i < rows; i++)
        widest = fmax(widest,
                      svg_text_width(svg_shorten(label, t->row[i] ? t->row[i] : "", SVG_TEXT, LABEL_WIDTH), SVG_TEXT));
    for (const struct chart_span *s = t->span; s < t->span + t->spans; s++)
        if (is_drawable(t, s)) {
            least = fmin(least, s->begin_ms);
            greatest = fmax(greatest, s->end_ms);
        }
    struct axis axis = axis_for(&(struct chart_axis){.end = greatest}, least, greatest);
    axis.to = FRAME_RIGHT - 4;
    axis.from = FRAME_LEFT + widest + 10;
    double top = frame->y + 10, bottom = row_y(top, (int)rows) + 2;
    frame->y = axis_draw_x(frame->out, &axis, top, bottom, "ms");
    for (size_t i = 0; i < rows; i++) {
        double y = row_y(top, (int)i);
        svg_text(frame->out, axis.from - 10, y + 14, SVG_END, "",
                 svg_shorten(label, t->row[i] ? t->row[i] : "", SVG_TEXT, LABEL_WIDTH));
        svg_rect(frame->out, axis.from, y, axis.to - axis.from, THICK, "area soft", SVG_GREY, NULL);
    }
    for (size_t kind = 0; kind < t->kinds; kind++)
        if (has_spans(t, kind))
            draw_spans(frame->out, t, kind, &axis, top);
    draw_labels(frame->out, t, &axis, top);
}

char *chart_timeline(const struct chart_words *words, const struct chart_timeline *t)
{
    struct frame frame;
    struct frame_item item[CHART_KINDS];
    size_t items = 0;
    frame_begin(&frame, words);
    for (size_t kind = 0; kind < t->kinds && items < CHART_KINDS; kind++)
        if (has_spans(t, kind))
            item[items++] = (struct frame_item){t->kind[kind].name, t->kind[kind].colour, SIGN_AREA};
    frame_legend(&frame, item, items);
    if (items)
        draw_rows(&frame, t);
    else
        frame_line(&frame, "", "Nothing was recorded.");
    return frame_end(&frame);
}
