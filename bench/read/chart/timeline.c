/* timeline.c - rows of spans over milliseconds, by kind. */
#include "chart/frame.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PITCH = 26, THICK = 18, MOST_LABEL = 240, MOST_INSIDE = 120, MOST_KINDS = 16 };

static int is_drawable(const struct chart_timeline *t, const struct chart_span *s)
{
    return s->row >= 0 && (size_t)s->row < t->rows && s->row < CHART_ROWS && s->kind >= 0 &&
           (size_t)s->kind < t->kinds && s->kind < MOST_KINDS && fabs(s->begin_ms) < 1e300 && fabs(s->end_ms) < 1e300 &&
           s->end_ms >= s->begin_ms;
}

static int by_length(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The spans to draw, in their order: all, or the CHART_SPANS longest. The caller frees them. */
static struct chart_span *choose_spans(const struct chart_timeline *t, size_t *n)
{
    double *length = allocate(t->spans + 1, sizeof *length);
    struct chart_span *chosen = allocate(CHART_SPANS, sizeof *chosen);
    size_t drawable = 0, longer = 0;
    for (size_t i = 0; i < t->spans; i++)
        if (is_drawable(t, &t->span[i]))
            length[drawable++] = t->span[i].end_ms - t->span[i].begin_ms;
    qsort(length, drawable, sizeof *length, by_length);
    double shortest = drawable > CHART_SPANS ? length[CHART_SPANS - 1] : 0;
    while (longer < drawable && length[longer] > shortest)
        longer++;
    size_t equal = CHART_SPANS - (longer < CHART_SPANS ? longer : CHART_SPANS); /* of the shortest, so many */
    *n = 0;
    for (size_t i = 0; i < t->spans; i++) {
        double ms = is_drawable(t, &t->span[i]) ? t->span[i].end_ms - t->span[i].begin_ms : -1;
        if (ms > shortest || (ms >= 0 && ms == shortest && equal && equal--)) /* exact: it is one of them */
            chosen[(*n)++] = t->span[i];
    }
    free(length);
    return chosen;
}

static double row_y(double top, int row)
{
    return top + 4 + PITCH * row;
}

/* One path for each kind, as strokes of a row's thickness: the shortest text that spans can have. */
static void draw_spans(FILE *out, const struct chart_timeline *t, const struct chart_span *span, size_t n,
                       const struct axis *axis, double top)
{
    for (size_t kind = 0; kind < t->kinds && kind < MOST_KINDS; kind++) {
        int any = 0;
        for (size_t i = 0; i < n; i++) {
            if ((size_t)span[i].kind != kind)
                continue;
            double x = axis_place(axis, span[i].begin_ms), width = axis_place(axis, span[i].end_ms) - x;
            if (!any++)
                svg_path_begin(out, "span", t->kind[kind].colour);
            fputc('M', out);
            svg_number(out, x);
            fputc(' ', out);
            svg_number(out, row_y(top, span[i].row) + THICK / 2.0);
            fputc('h', out);
            svg_number(out, width > 2 ? width - 0.6 : fmax(width, 0.5)); /* so that two beside each other are two */
        }
        if (any)
            svg_path_end(out);
    }
}

/* The names of the spans that are wide enough, in each row where nothing else is named. */
static void draw_names(FILE *out, const struct chart_timeline *t, const struct chart_span *span, size_t n,
                       const struct axis *axis, double top)
{
    double used[CHART_ROWS] = {0};
    size_t drawn = 0;
    char classes[24];
    for (size_t i = 0; i < n && drawn < MOST_INSIDE; i++) {
        double x = axis_place(axis, span[i].begin_ms), end = axis_place(axis, span[i].end_ms);
        if (!span[i].label || !*span[i].label || x < used[span[i].row] ||
            svg_text_width(span[i].label, SVG_SMALL) + 4 > end - x)
            continue;
        snprintf(classes, sizeof classes, "small on%d", t->kind[span[i].kind].colour % SVG_COLOURS);
        svg_text(out, (x + end) / 2, row_y(top, span[i].row) + 14, SVG_MIDDLE, classes, span[i].label);
        used[span[i].row] = end;
        drawn++;
    }
}

static void draw_row_names(FILE *out, const struct chart_timeline *t, size_t rows, const struct axis *axis, double top)
{
    char label[SVG_LABEL];
    for (size_t i = 0; i < rows; i++) {
        double y = row_y(top, (int)i);
        svg_text(out, axis->from - 10, y + 14, SVG_END, "",
                 svg_shorten(label, t->row[i] ? t->row[i] : "", SVG_TEXT, MOST_LABEL));
        svg_rect(out, axis->from, y, axis->to - axis->from, THICK, "area soft", SVG_GREY, NULL);
    }
}

static void say_what_is_missing(struct frame *frame, const struct chart_timeline *t, const struct chart_span *span,
                                size_t n)
{
    size_t drawable = 0;
    double shortest = INFINITY;
    char words[200];
    for (size_t i = 0; i < t->spans; i++)
        drawable += (size_t)is_drawable(t, &t->span[i]);
    for (size_t i = 0; i < n; i++)
        shortest = fmin(shortest, span[i].end_ms - span[i].begin_ms);
    if (drawable > n) {
        snprintf(words, sizeof words, "Left out: %zu of %zu spans, none longer than %.3g ms.", drawable - n, drawable,
                 shortest);
        frame_line(frame, "muted", words);
    }
    if (t->rows > CHART_ROWS) {
        snprintf(words, sizeof words, "Left out: %zu of %zu rows.", t->rows - CHART_ROWS, t->rows);
        frame_line(frame, "muted", words);
    }
}

/* The kinds that are drawn. */
static void draw_legend(struct frame *frame, const struct chart_timeline *t, const struct chart_span *span, size_t n)
{
    struct frame_item item[MOST_KINDS];
    size_t items = 0;
    for (int kind = 0; kind < MOST_KINDS; kind++)
        for (size_t i = 0; i < n; i++)
            if (span[i].kind == kind) {
                item[items++] = (struct frame_item){t->kind[kind].name, t->kind[kind].colour, SIGN_AREA};
                break;
            }
    frame_legend(frame, item, items);
}

/* Ends the axis at the tick that follows, so that its last number stands at its end. */
static void round_up(struct axis *axis)
{
    double tick[AXIS_TICKS];
    size_t n = axis_ticks(axis, 8, tick);
    double step = n > 1 ? tick[1] - tick[0] : 0,
           end = step > 0 ? tick[0] + step * ceil((axis->high - tick[0]) / step) : 0;
    if (isfinite(end) && end > axis->high)
        axis->high = end;
}

static void draw_rows(struct frame *frame, const struct chart_timeline *t, const struct chart_span *span, size_t n)
{
    size_t rows = t->rows < CHART_ROWS ? t->rows : CHART_ROWS;
    double widest = 0;
    char label[SVG_LABEL];
    struct axis axis = {.low = INFINITY, .high = -INFINITY, .to = FRAME_RIGHT - 4};
    for (size_t i = 0; i < rows; i++)
        widest = fmax(widest,
                      svg_text_width(svg_shorten(label, t->row[i] ? t->row[i] : "", SVG_TEXT, MOST_LABEL), SVG_TEXT));
    for (size_t i = 0; i < n; i++) {
        axis.low = fmin(axis.low, span[i].begin_ms);
        axis.high = fmax(axis.high, span[i].end_ms);
    }
    axis.high = axis.high > axis.low ? axis.high : axis.low + 1;
    round_up(&axis);
    axis.from = FRAME_LEFT + widest + 10;
    double top = frame->y + 10, bottom = row_y(top, (int)rows) + 2;
    frame->y = axis_draw_x(frame->out, &axis, top, bottom, "ms");
    draw_row_names(frame->out, t, rows, &axis, top);
    draw_spans(frame->out, t, span, n, &axis, top);
    draw_names(frame->out, t, span, n, &axis, top);
    say_what_is_missing(frame, t, span, n);
}

char *chart_timeline(const struct chart_words *words, const struct chart_timeline *t)
{
    struct frame frame;
    size_t n;
    struct chart_span *span = choose_spans(t, &n);
    frame_begin(&frame, words);
    draw_legend(&frame, t, span, n);
    if (n)
        draw_rows(&frame, t, span, n);
    else
        frame_line(&frame, "", "Nothing was recorded.");
    free(span);
    return frame_end(&frame);
}
