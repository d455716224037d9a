/* picture.c - an SVG file of what a search found: the cost of a step over the bucket size. */
#include "tune/answer.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BLUE "#1f5fa8"
#define RED  "#c4361a"
enum { WIDTH = 820, HEIGHT = 460, LEFT = 70, RIGHT = 590, TOP = 80, BOTTOM = 390, LINE = 15 };

/* The axes: bucket sizes in MiB by their logarithm, and seconds from `low` on, which is 0 unless a cost is below; what
 * is above `high` is cut there. */
struct axes {
    double first, last, low, high;
};

static double x_of(const struct axes *axes, double mb)
{
    return LEFT + (RIGHT - LEFT) * log(mb / axes->first) / log(axes->last / axes->first);
}

static double y_of(const struct axes *axes, double seconds)
{
    return BOTTOM - (BOTTOM - TOP) * (fmin(seconds, axes->high) - axes->low) / (axes->high - axes->low);
}

static struct axes axes_of(const struct answer *a)
{
    struct axes axes = {INFINITY, 0, 0, a->top > 0 ? 1.08 * a->top : 1e-3};
    for (const struct answer_row *row = a->row; row < a->row + a->n; row++) {
        if (row->bucket_mb > 0) {
            axes.first = fmin(axes.first, row->bucket_mb);
            axes.last = fmax(axes.last, row->bucket_mb);
        }
        if (row->cost.n)
            axes.low = fmin(axes.low, 1.1 * fmin(row->cost.median, fmin(row->cost.ci_low, INFINITY)));
    }
    if (!(axes.last > 0)) /* no size ran */
        axes.first = axes.last = 1;
    axes.first /= 1.3;
    axes.last *= 1.3;
    return axes;
}

static void draw_text(FILE *out, double x, double y, const char *style, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y, style, text);
}

static void draw_line(FILE *out, double x1, double y1, double x2, double y2, const char *style)
{
    fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style);
}

static void draw_axes(FILE *out, const struct axes *axes)
{
    static const char grid[] = "stroke=\"#e2e2e2\"", frame[] = "stroke=\"#444\"";
    char words[CELL];
    /* about 6 ticks of 1, 2 or 5 times a power of ten milliseconds */
    double raw = 1e3 * (axes->high - axes->low) / 6, power = pow(10, floor(log10(raw)));
    double tick = raw / power < 1.5   ? power
                  : raw / power < 3.5 ? 2 * power
                  : raw / power < 7.5 ? 5 * power
                                      : 10 * power;
    for (double i = ceil(1e3 * axes->low / tick); i * tick <= 1e3 * axes->high; i++) {
        double y = y_of(axes, 1e-3 * i * tick);
        draw_line(out, LEFT, y, RIGHT, y, grid);
        snprintf(words, sizeof words, "%g", i * tick + 0.0); /* no -0 */
        draw_text(out, LEFT - 8, y + 4, "text-anchor=\"end\"", words);
    }
    int between = (int)ceil(log2(axes->last / axes->first) / 9); /* powers of two, 9 at most */
    for (int i = (int)ceil(log2(axes->first)); exp2(i) <= axes->last; i++) {
        double x = x_of(axes, exp2(i));
        if (i % between)
            continue;
        draw_line(out, x, TOP, x, BOTTOM, grid);
        snprintf(words, sizeof words, "%.3g", exp2(i));
        draw_text(out, x, BOTTOM + 18, "text-anchor=\"middle\"", words);
    }
    draw_line(out, LEFT, TOP, LEFT, BOTTOM, frame);
    draw_line(out, LEFT, y_of(axes, 0), RIGHT, y_of(axes, 0), frame);
    draw_text(out, (LEFT + RIGHT) / 2.0, BOTTOM + 38, "text-anchor=\"middle\"", "bucket size, MiB");
    fprintf(out,
            "<text transform=\"translate(20 %d) rotate(-90)\" text-anchor=\"middle\">cost over no communication, ms a "
            "step</text>\n",
            (TOP + BOTTOM) / 2);
}

static void draw_sizes(FILE *out, const struct answer *a, const struct axes *axes)
{
    fprintf(out, "<polyline fill=\"none\" stroke=\"" BLUE "\" stroke-width=\"1.5\" points=\"");
    for (const struct answer_row *row = a->row; row < a->row + a->n; row++)
        if (row->bucket_mb > 0)
            fprintf(out, "%.1f,%.1f ", x_of(axes, row->bucket_mb), y_of(axes, row->cost.median));
    fprintf(out, "\"/>\n");
    for (const struct answer_row *row = a->row; row < a->row + a->n; row++) {
        if (!(row->bucket_mb > 0))
            continue;
        double x = x_of(axes, row->bucket_mb), y = y_of(axes, row->cost.median);
        int best = row - a->row == a->best, hollow = row->searched->state == SEARCH_DROPPED;
        if (isfinite(row->cost.ci_low))
            draw_line(out, x, y_of(axes, row->cost.ci_low), x, y_of(axes, row->cost.ci_high),
                      "stroke=\"" BLUE "\" stroke-width=\"4\" stroke-opacity=\"0.4\"");
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" %s/>\n", x, y,
                best     ? "r=\"6\" fill=\"" RED "\""
                : hollow ? "r=\"4\" fill=\"white\" stroke=\"" BLUE "\""
                         : "r=\"4\" fill=\"" BLUE "\"");
        if (best) {
            char words[80];
            snprintf(words, sizeof words, "%s MiB", row->size);
            draw_text(out, x, y_of(axes, isfinite(row->cost.ci_high) ? row->cost.ci_high : row->cost.median) - 10,
                      "text-anchor=\"middle\" font-weight=\"bold\" fill=\"" RED "\"", words);
        }
    }
}

static int by_cost(const void *a, const void *b)
{
    double x = ((const struct answer_row *)a)->cost.median, y = ((const struct answer_row *)b)->cost.median;
    return (x < y) - (x > y);
}

/* Those without a size, as lines, from the largest cost on; their names stand beside them, pushed down where two would
 * touch. What lies above the top is only named there. */
static void draw_others(FILE *out, const struct answer *a, const struct axes *axes)
{
    struct answer_row other[MAX_IMPLEMENTATIONS] = {0};
    size_t n = 0;
    double below = TOP - 2;
    for (const struct answer_row *row = a->row; row < a->row + a->n; row++)
        if (!(row->bucket_mb > 0) && row->cost.n)
            other[n++] = *row;
    qsort(other, n, sizeof *other, by_cost);
    for (size_t i = 0; i < n; i++) {
        int best = other[i].label == a->row[a->best].label, is_above = other[i].cost.median > axes->high;
        double y = is_above ? TOP : y_of(axes, other[i].cost.median);
        char words[120];
        if (!is_above)
            draw_line(out, LEFT, y, RIGHT, y,
                      best ? "stroke=\"" RED "\" stroke-width=\"2\"" : "stroke=\"#777\" stroke-dasharray=\"5 4\"");
        double at = fmax(y + 4, below);
        below = at + LINE;
        snprintf(words, sizeof words, "%s %.3g ms%s", other[i].label, 1e3 * other[i].cost.median,
                 is_above ? " (above)" : "");
        draw_text(out, RIGHT + 8, at, best ? "font-weight=\"bold\" fill=\"" RED "\"" : "fill=\"#444\"", words);
    }
}

char *answer_picture(const struct answer *a, const char *words)
{
    char *text = NULL, title[200];
    size_t length = 0;
    FILE *out = text_begin(&text, &length);
    const struct answer_row *best = &a->row[a->best];
    struct axes axes = axes_of(a);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
    snprintf(title, sizeof title, "Best: %s%s, %.3g ms a step over no communication", best->label,
             *best->size ? " MiB" : "", 1e3 * best->cost.median);
    draw_text(out, LEFT, 28, "font-size=\"16\" font-weight=\"bold\"", title);
    draw_text(out, LEFT, 48, "fill=\"#444\"", words);
    draw_axes(out, &axes);
    draw_others(out, a, &axes);
    draw_sizes(out, a, &axes);
    draw_text(out, LEFT, HEIGHT - 8, "fill=\"#444\"",
              "Circles: ddp_bucketed, hollow where it was dropped early; with 95 % intervals from 6 rounds on. Dashed: "
              "other strategies.");
    fprintf(out, "</svg>\n");
    text_end(out);
    return text;
}
