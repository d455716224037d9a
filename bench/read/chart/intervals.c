/* intervals.c - draws differences with intervals as rows on one scale. */
#include "chart/frame.h"

#include <math.h>
#include <string.h>

enum { PITCH = 38, NAME_WIDTH = 300, WORDS_WIDTH = 230, GAP = 20 };

static const char *shape_of(const struct interval_row *row)
{
    static const char marks[] = "*=xo?", *const shape[] = {"\u2605", "\u25a0", "\u25b2", "\u25cb", "\u25c7", "\u00d7"};
    return shape[strcspn(marks, (const char[]){row->mark, 0})];
}

/* Writes the ratio and its interval in %, as they are printed. */
static const char *write_change(char label[SVG_LABEL], const struct interval_row *row)
{
    char change[CELL];
    text_change(change, row->ratio.value, row->ratio.low, row->ratio.high);
    return svg_shorten(label, change, SVG_SMALL, WORDS_WIDTH);
}

/* Draws an arrowhead with its tip at x, y and its barbs at x + back. */
static void draw_arrowhead(FILE *out, double x, double y, double back)
{
    svg_line(out, x, y, x + back, y - 7, "line", SVG_INK);
    svg_line(out, x, y, x + back, y + 7, "line", SVG_INK);
}

static void draw_row(FILE *out, const struct axis *axis, double y, const struct interval_row *row)
{
    const double low = INTERVALS_PERCENT(fmin(row->ratio.low, row->ratio.value)),
                 value = INTERVALS_PERCENT(row->ratio.value),
                 high = INTERVALS_PERCENT(fmax(row->ratio.high, row->ratio.value));
    char label[SVG_LABEL];
    svg_text(out, axis->from - GAP, y + 5, SVG_END, "", svg_shorten(label, row->name, SVG_TEXT, NAME_WIDTH));
    svg_line(out, axis_place(axis, low), y, axis_place(axis, high), y, "line thick faint", SVG_INK);
    if (low < axis->low)
        draw_arrowhead(out, axis->from, y, 7);
    if (high > axis->high)
        draw_arrowhead(out, axis->to, y, -7);
    if (value >= axis->low && value <= axis->high)
        svg_text(out, axis_place(axis, value), y + 6, SVG_MIDDLE, "title", shape_of(row));
    svg_text(out, axis->to + GAP, y, SVG_START, "bold", row->word);
    svg_text(out, axis->to + GAP, y + 15, SVG_START, "small", write_change(label, row));
}

char *chart_intervals(const char *title, const char *subtitle, struct intervals *all)
{
    struct frame frame;
    char label[SVG_LABEL], key[300] = "";
    double left = 0, right = 0;
    for (const struct interval_row *row = all->row; row < all->row + all->n; row++) {
        left = fmax(left, svg_text_width(svg_shorten(label, row->name, SVG_TEXT, NAME_WIDTH), SVG_TEXT));
        right = fmax(right, svg_text_width(write_change(label, row), SVG_SMALL));
        right = fmax(right, svg_text_width(row->word, SVG_TITLE));
        if (!strstr(key, row->word))
            text_append(key, sizeof key, "%s %s\u2003", shape_of(row), row->word);
    }
    text_append(key, sizeof key, all->known ? "\u2015 interval" : "");
    frame_begin(&frame, title, subtitle);
    frame.y = svg_paragraph(frame.out, FRAME_LEFT, frame.y, FRAME_RIGHT - FRAME_LEFT, SVG_TEXT, "", key);
    intervals_scale(all);
    const struct axis axis = {
        .low = all->low, .high = all->high, .from = FRAME_LEFT + left + GAP, .to = FRAME_RIGHT - right - GAP};
    const double top = frame.y + GAP, end = top + PITCH * (double)all->n, zero = axis_place(&axis, 0),
                 from = axis_place(&axis, INTERVALS_PERCENT(1 / (1 + all->within)));
    svg_rect(frame.out, from, top, axis_place(&axis, 100 * all->within) - from, end - top, "area soft", SVG_INK);
    svg_text(frame.out, from, top - 5, SVG_START, "small", all->band);
    frame.y = axis_draw_x(frame.out, &axis, top, end, "difference in %");
    svg_line(frame.out, zero, top, zero, end, "axis", SVG_INK);
    for (size_t i = 0; i < all->n; i++)
        draw_row(frame.out, &axis, top + PITCH * ((double)i + 0.5), &all->row[i]);
    return frame_end(&frame);
}
