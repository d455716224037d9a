/* frame.c - draws the parts that all charts share: title, legend, axes. */
#include "chart/frame.h"

#include <math.h>
#include <stdlib.h>

enum { SIGN = 14 };
static const double largest = 1e300; /* limit of the values on an axis, so that any two have a finite difference */

/* ---- title, subtitle and legend ---- */

void frame_begin(struct frame *frame, const char *title, const char *subtitle)
{
    const double width = FRAME_RIGHT - FRAME_LEFT;
    *frame = (struct frame){.y = 32, .title = title ? title : "", .subtitle = subtitle ? subtitle : ""};
    frame->out = text_begin(&frame->text, &frame->length);
    frame->y = svg_paragraph(frame->out, FRAME_LEFT, frame->y, width, SVG_TITLE, "title", frame->title);
    frame->y = svg_paragraph(frame->out, FRAME_LEFT, frame->y, width, SVG_TEXT, "muted", frame->subtitle);
}

char *frame_end(struct frame *frame)
{
    char *text;
    size_t length;
    FILE *out = text_begin(&text, &length);
    text_end(frame->out);
    svg_begin(out, frame->y + SVG_TEXT, frame->title, frame->subtitle);
    fputs(frame->text, out);
    svg_end(out);
    text_end(out);
    free(frame->text);
    return text;
}

/* Draws the symbol of a legend item, centred at (x + SIGN / 2, y). */
static void draw_sign(FILE *out, double x, double y, const struct frame_item *item)
{
    const double middle = x + SIGN / 2.0, half = SIGN / 2.0;
    switch (item->sign) {
    case SIGN_AREA:
        svg_rect(out, x, y - half, SIGN, SIGN, item->colour < SVG_HEAT ? "area" : "area grid", item->colour);
        break;
    case SIGN_INTERVAL:
        svg_line(out, middle, y - half - 1, middle, y + half + 1, "line thick faint", item->colour);
        break;
    case SIGN_BEST:
    case SIGN_TIE:
        svg_circle(out, middle, y, 8, item->sign == SIGN_BEST ? "line ring" : "line", item->colour);
        break;
    }
}

void frame_legend(struct frame *frame, const struct frame_item *item, size_t n)
{
    double x = FRAME_LEFT;
    char label[SVG_LABEL];
    for (size_t i = 0; i < n; i++) {
        const char *words = svg_shorten(label, item[i].name, SVG_TEXT, FRAME_RIGHT - FRAME_LEFT - 40);
        double width = SIGN + 7 + svg_text_width(words, SVG_TEXT);
        if (x > FRAME_LEFT && x + width > FRAME_RIGHT) {
            x = FRAME_LEFT;
            frame->y += FRAME_ROW;
        }
        draw_sign(frame->out, x, frame->y + 3, &item[i]);
        svg_text(frame->out, x + SIGN + 7, frame->y + 8, SVG_START, "", words);
        x += width + 18;
    }
    frame->y += n ? FRAME_ROW : 0;
}

/* ---- axes ---- */

int axis_takes(int is_log, double value)
{
    return isfinite(value) && (!is_log || value > 0);
}

struct axis axis_for(const struct chart_axis *of, double least, double greatest)
{
    struct axis axis = {.is_log = of->is_log, .is_bytes = of->is_bytes};
    if (!axis_takes(of->is_log, least) || !axis_takes(of->is_log, greatest))
        least = greatest = 1;
    least = fmax(of->is_log ? 1 / largest : -largest, fmin(largest, least));
    greatest = fmax(least, fmin(largest, greatest));
    if (of->is_log) {
        axis.low = least / 1.3;
        axis.high = greatest * 1.3;
        return axis;
    }
    double span = greatest - least;
    axis.is_cut = !of->from_0 && least > 0.6 * greatest && span > 0.01 * greatest;
    axis.low = axis.is_cut ? least - 0.25 * span : least < 0 ? least - 0.05 * span : 0;
    axis.high = fmax(0, greatest + 0.06 * (greatest - axis.low));
    axis.high = axis.high > axis.low ? axis.high : axis.low + 1;
    return axis;
}

double axis_place(const struct axis *axis, double value)
{
    if (!axis_takes(axis->is_log, value))
        return NAN;
    value = fmax(axis->low, fmin(axis->high, value)); /* below, logarithms are subtracted: a ratio could overflow */
    double part = !axis->is_log ? (value - axis->low) / (axis->high - axis->low)
                                : (log(value) - log(axis->low)) / (log(axis->high) - log(axis->low));
    return axis->from + part * (axis->to - axis->from);
}

/* Chooses ticks at multiples of a step that is 1, 2 or 5 times a power of ten. */
static size_t linear_ticks(const struct axis *axis, size_t most, double tick[AXIS_TICKS])
{
    static const double factor[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10((axis->high - axis->low) / (double)most)));
    for (size_t i = 0; i < sizeof factor / sizeof *factor; i++) {
        double step = factor[i] * power, first = ceil(axis->low / step - 1e-9), last = floor(axis->high / step + 1e-9);
        size_t n = 0;
        if (!isfinite(first) || !isfinite(last) || last - first + 1 > (double)most)
            continue;
        for (double at = first; at <= last && n < most; at++)
            tick[n++] = at * step + 0.0;
        return n;
    }
    return 0;
}

/* Chooses ticks at 1, 2 and 5 times each power of ten, about equally spaced on a log axis. If that gives more than
 * `most` ticks, chooses every k-th power of ten, with the smallest k that gives at most `most`; or every k-th power of
 * two. */
static size_t log_ticks(const struct axis *axis, size_t most, double tick[AXIS_TICKS])
{
    static const double factor[] = {1, 2, 5};
    const double base = axis->is_log == AXIS_BINARY ? 2 : 10;
    size_t n = most + 1;
    for (int every = base<10; n> most; every++) {
        n = 0;
        for (double power = floor(log(axis->low) / log(base)); power <= log(axis->high) / log(base); power++)
            for (size_t i = 0; i < (every ? 1 : sizeof factor / sizeof *factor); i++) {
                double at = factor[i] * pow(base, power);
                if (at < axis->low || at > axis->high || (every && fmod(power, every) != 0))
                    continue;
                if (n < most)
                    tick[n] = at;
                n++;
            }
    }
    return n;
}

size_t axis_ticks(const struct axis *axis, size_t most, double tick[AXIS_TICKS])
{
    const double least = axis->is_log == AXIS_BINARY ? 2 : 4; /* of high / low, for ticks at powers */
    most = most < AXIS_TICKS ? most : AXIS_TICKS;
    return axis->is_log && axis->high >= least * axis->low ? log_ticks(axis, most, tick)
                                                           : linear_ticks(axis, most, tick);
}

const char *axis_number(const struct axis *axis, double value, char text[CELL])
{
    if (axis->is_bytes && value >= 1)
        return text_bytes(text, value);
    snprintf(text, CELL, fabs(value) < 1000 ? "%.4g" : "%.0f", value);
    return text;
}

const char *axis_title(const struct axis *axis, const char *title, char text[SVG_LABEL])
{
    snprintf(text, SVG_LABEL, "%.100s%s", title ? title : "",
             !title || !*title ? ""
             : axis->is_log    ? " (logarithmic)"
             : axis->is_cut    ? " (the axis does not begin at 0)"
                               : "");
    return text;
}

/* Returns x of the centre of a tick's number, inside the picture, and sets *half to half of the number's width. */
static double number_place(const struct axis *axis, double value, double *half)
{
    char number[CELL];
    *half = svg_text_width(axis_number(axis, value, number), SVG_TEXT) / 2;
    return fmax(4 + *half, fmin(SVG_WIDTH - 4 - *half, axis_place(axis, value)));
}

double axis_draw_x(FILE *out, const struct axis *axis, double top, double y, const char *title)
{
    double tick[AXIS_TICKS], half;
    size_t n = AXIS_TICKS + 1;
    int touch;
    do { /* chooses fewer ticks until their numbers do not overlap */
        double end = -INFINITY;
        n = axis_ticks(axis, n - 1, tick);
        touch = 0;
        for (size_t i = 0; i < n; i++) {
            double x = number_place(axis, tick[i], &half);
            touch |= x - half < end;
            end = x + half + 10;
        }
    } while (touch);
    for (size_t i = 0; i < n; i++) {
        char number[CELL];
        double x = axis_place(axis, tick[i]);
        svg_line(out, x, top, x, y, "grid", SVG_INK);
        svg_text(out, number_place(axis, tick[i], &half), y + 20, SVG_MIDDLE, "muted",
                 axis_number(axis, tick[i], number));
    }
    svg_line(out, axis->from, y, axis->to, y, "axis", SVG_INK);
    if (!title || !*title)
        return y + 24;
    char label[SVG_LABEL], words[SVG_LABEL];
    svg_text(out, (axis->from + axis->to) / 2, y + 41, SVG_MIDDLE, "",
             svg_shorten(label, axis_title(axis, title, words), SVG_TEXT, axis->to - axis->from));
    return y + 50;
}
