/* bars.c - horizontal stacked bars, with the total and its interval at the end of each. */
#include "chart/frame.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

enum { PITCH = 34, THICK = 20, MOST_LABEL = 270 };

static double part_of(const struct chart_bar *bar, size_t part)
{
    double ms = bar->part_ms[part];
    return ms > 0 && ms < 1e300 ? ms : 0;
}

static double total_of(const struct chart_bar *bar, size_t parts)
{
    double sum = 0;
    for (size_t i = 0; i < parts; i++)
        sum += part_of(bar, i);
    return isfinite(bar->total_ms) ? bar->total_ms : sum;
}

/* The largest value that is drawn of a bar. */
static double end_of(const struct chart_bar *bar, size_t parts)
{
    double sum = 0;
    for (size_t i = 0; i < parts; i++)
        sum += part_of(bar, i);
    return fmax(sum, total_of(bar, parts));
}

static void print_end(char words[SVG_LABEL], const struct chart_bar *bar, size_t parts)
{
    int at = snprintf(words, SVG_LABEL, "%.4g ms", total_of(bar, parts));
    if (isfinite(bar->low_ms) && isfinite(bar->high_ms))
        at += snprintf(words + at, SVG_LABEL - (size_t)at, " [%.4g, %.4g]", bar->low_ms, bar->high_ms);
    if (bar->n)
        snprintf(words + at, SVG_LABEL - (size_t)at, ", n %zu", bar->n);
}

/* Draws the parts, each with its milliseconds inside where they fit. */
static void draw_parts(FILE *out, const struct axis *axis, double y, const struct chart_bar *bar,
                       const struct chart_name *part, size_t parts)
{
    double sum = 0;
    for (size_t i = 0; i < parts; i++) {
        double ms = part_of(bar, i), x = axis_place(axis, sum), width = axis_place(axis, sum + ms) - x;
        char tip[2 * SVG_LABEL], number[CELL], classes[24];
        snprintf(tip, sizeof tip, "%.100s, %.100s: %.4g ms", bar->label ? bar->label : "",
                 part[i].name ? part[i].name : "", ms);
        snprintf(number, sizeof number, ms < 1000 ? "%.3g" : "%.0f", ms);
        if (ms > 0)
            svg_rect(out, x, y, width > 2 ? width - 1 : width, THICK, "area", part[i].colour, tip);
        double half = svg_text_width(number, SVG_SMALL) / 2, middle = x + width / 2;
        snprintf(classes, sizeof classes, "small on%d", part[i].colour % SVG_COLOURS);
        if (ms > 0 && 2 * half + 6 < width)
            svg_text(out, middle, y + THICK / 2.0 + 4.5, SVG_MIDDLE, classes, number);
        sum += ms;
    }
}

static void draw_legend(struct frame *frame, const struct chart_name *part, size_t parts)
{
    struct frame_item *item = allocate(parts + 1, sizeof *item);
    for (size_t i = 0; i < parts; i++)
        item[i] = (struct frame_item){part[i].name, part[i].colour, SIGN_AREA};
    frame_legend(frame, item, parts);
    free(item);
}

char *chart_bars(const struct chart_words *words, const struct chart_bar *bar, size_t bars,
                 const struct chart_name *part, size_t parts)
{
    struct frame frame;
    double label_width = 0, end_width = 0, greatest = -INFINITY;
    char label[SVG_LABEL];
    frame_begin(&frame, words);
    draw_legend(&frame, part, parts);
    if (!bars)
        frame_line(&frame, "", "Nothing was measured.");
    for (size_t i = 0; i < bars; i++) {
        svg_shorten(label, bar[i].label ? bar[i].label : "", SVG_TEXT, MOST_LABEL);
        label_width = fmax(label_width, svg_text_width(label, SVG_TEXT));
        print_end(label, &bar[i], parts);
        end_width = fmax(end_width, svg_text_width(label, SVG_TEXT));
        greatest = fmax(greatest, end_of(&bar[i], parts));
    }
    struct axis axis = axis_for(&(struct chart_axis){.end = greatest}, 0, greatest);
    axis.from = FRAME_LEFT + label_width + 10;
    axis.to = FRAME_RIGHT - end_width - 10;
    double top = frame.y + 4, y = top + 6;
    double bottom = y + PITCH * (double)bars;
    if (bars)
        frame.y = axis_draw_x(frame.out, &axis, top, bottom, "ms");
    for (size_t i = 0; i < bars; i++, y += PITCH) {
        double end = axis_place(&axis, end_of(&bar[i], parts));
        svg_text(frame.out, axis.from - 10, y + THICK / 2.0 + 5, SVG_END, "",
                 svg_shorten(label, bar[i].label ? bar[i].label : "", SVG_TEXT, MOST_LABEL));
        draw_parts(frame.out, &axis, y, &bar[i], part, parts);
        print_end(label, &bar[i], parts);
        svg_text(frame.out, end + 10, y + THICK / 2.0 + 5, SVG_START, "", label);
    }
    return frame_end(&frame);
}
