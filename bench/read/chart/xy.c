/* xy.c - series of points over x, with confidence intervals, horizontal reference lines, and names at the right edge.
 */
#include "chart/frame.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEIGHT = 330, MOST_TICKS = 100 };

struct plot {
    const struct chart_xy *chart;
    struct axis x, y;
    double
        tick[MOST_TICKS]; /* the x values of the points: the ticks of a logarithmic x axis, unless there are too many */
};

/* ---- the range of the axes ---- */

static int is_drawable(const struct chart_xy *c, const struct chart_point *p)
{
    return axis_takes(c->x.scale, p->x) && axis_takes(c->y.scale, p->y);
}

static void widen_range(double range[2], enum chart_scale scale, double value)
{
    if (axis_takes(scale, value)) {
        range[0] = fmin(range[0], value);
        range[1] = fmax(range[1], value);
    }
}

/* Inserts a value into tick[n], which is sorted, unless the value is in it already. Returns the new length. */
static size_t insert_tick(double tick[MOST_TICKS], size_t n, double value)
{
    size_t i = n;
    while (i && tick[i - 1] >= value * (1 - 1e-9))
        i--;
    if ((i < n && tick[i] <= value * (1 + 1e-9)) || n == MOST_TICKS)
        return n;
    memmove(&tick[i + 1], &tick[i], (n - i) * sizeof *tick);
    tick[i] = value;
    return n + 1;
}

/* Puts the ticks of a logarithmic x axis where something was measured, so that nobody reads a value in between. */
static void choose_ticks(struct plot *plot)
{
    const struct chart_xy *c = plot->chart;
    size_t n = 0;
    for (const struct chart_series *s = c->series; s < c->series + c->n_series; s++)
        for (size_t i = 0; i < s->n; i++)
            if (s->draw & CHART_POINTS && is_drawable(c, &s->point[i]))
                n = insert_tick(plot->tick, n, s->point[i].x);
    if (c->x.scale == CHART_LINEAR || n < 2 || n == MOST_TICKS)
        return;
    plot->x.given = plot->tick;
    plot->x.n_given = n;
}

static struct plot plot_of(const struct chart_xy *c)
{
    double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};
    for (const struct chart_series *s = c->series; s < c->series + c->n_series; s++)
        for (const struct chart_point *p = s->point; p < s->point + s->n; p++) {
            if (!is_drawable(c, p))
                continue;
            widen_range(x, c->x.scale, p->x);
            widen_range(y, c->y.scale, p->y);
            widen_range(y, c->y.scale, p->low);
            widen_range(y, c->y.scale, p->high);
        }
    for (size_t i = 0; i < c->n_references; i++)
        widen_range(y, c->y.scale, c->reference[i].y);
    return (struct plot){.chart = c, .x = axis_for(&c->x, x[0], x[1]), .y = axis_for(&c->y, y[0], y[1])};
}

/* ---- names at the right edge, beside the end of their line ---- */

enum { NAMES = 40, NAME_GAP = 20, NAME_WIDTH = 250, SIGN = 22 };

struct end_name {
    const char *text;
    double x, y; /* the end of the line */
    int draw, colour, is_bold;
};

static const struct chart_point *last_point(const struct chart_xy *c, const struct chart_series *s)
{
    for (size_t i = s->n; i-- > 0;)
        if (is_drawable(c, &s->point[i]))
            return &s->point[i];
    return NULL;
}

/* Collects the names of the first NAMES series and references that can be drawn, with the values at which they end.
 * Returns how many. */
static size_t collect_names(const struct chart_xy *c, struct end_name name[NAMES])
{
    size_t n = 0;
    for (const struct chart_series *s = c->series; s < c->series + c->n_series; s++) {
        const struct chart_point *end = last_point(c, s);
        if (s->name && *s->name && end && n < NAMES)
            name[n++] = (struct end_name){s->name, end->x, end->y, s->draw, s->colour, 0};
    }
    for (const struct chart_reference *r = c->reference; r < c->reference + c->n_references; r++)
        if (r->name && *r->name && axis_takes(c->y.scale, r->y) && n < NAMES)
            name[n++] = (struct end_name){r->name,
                                          INFINITY,
                                          r->y,
                                          r->is_strong ? CHART_LINE : CHART_LINE | CHART_DASHED,
                                          r->is_strong ? SVG_INK : SVG_GREY,
                                          r->is_strong};
    return n;
}

static double names_width(const struct end_name *name, size_t n)
{
    double widest = 0;
    char label[SVG_LABEL];
    for (size_t i = 0; i < n; i++) /* any of them may be bold, which is as wide in proportion as a title */
        widest = fmax(widest, svg_text_width(svg_shorten(label, name[i].text, SVG_TEXT, NAME_WIDTH), SVG_TITLE));
    return n ? 10 + SIGN + widest * SVG_TEXT / SVG_TITLE : 12;
}

static int by_height(const void *a, const void *b)
{
    double x = ((const struct end_name *)a)->y, y = ((const struct end_name *)b)->y;
    return (x > y) - (x < y);
}

static void draw_name(FILE *out, double x, double y, const struct end_name *name)
{
    char label[SVG_LABEL];
    double middle = x + (SIGN - 5) / 2.0;
    if (name->draw & CHART_LINE)
        svg_line(out, x, y, x + SIGN - 5, y, name->draw & CHART_DASHED ? "line dash" : "line", name->colour);
    if (name->draw & CHART_RINGS)
        svg_circle(out, middle, y, 7.5, "line", name->colour, NULL);
    else if (name->draw & CHART_POINTS)
        svg_circle(out, middle, y, 4.5, "area", name->colour, NULL);
    svg_text(out, x + SIGN, y + 5, SVG_START, name->is_bold ? "bold" : "",
             svg_shorten(label, name->text, SVG_TEXT, NAME_WIDTH));
}

/* Draws name[n] at the right of the plot, from top to bottom, at least NAME_GAP apart. */
static void draw_names(FILE *out, const struct plot *plot, struct end_name *name, size_t n)
{
    double place[NAMES], right = plot->x.to, least = plot->y.to, most = plot->y.from;
    for (size_t i = 0; i < n; i++) {
        name[i].x = isfinite(name[i].x) ? axis_place(&plot->x, name[i].x) : right;
        name[i].y = axis_place(&plot->y, name[i].y);
    }
    qsort(name, n, sizeof *name, by_height);
    for (size_t i = 0; i < n; i++) { /* moves names down where two would overlap */
        place[i] = fmax(name[i].y, least);
        least = place[i] + NAME_GAP;
    }
    for (size_t i = n; i-- > 0;) { /* and up again where they are now too low */
        place[i] = fmin(place[i], most);
        most = place[i] - NAME_GAP;
        if (name[i].x > right - 60) /* connects the name with a line that ends close to it */
            svg_line(out, fmin(name[i].x + 7, right), name[i].y, right + 7, place[i], "axis faint", SVG_GREY);
        draw_name(out, right + 10, place[i], &name[i]);
    }
}

/* ---- axes and references ---- */

static void draw_y_axis(FILE *out, const struct plot *plot, const double *tick, size_t n)
{
    const struct axis *y = &plot->y;
    double left = plot->x.from;
    char number[CELL];
    for (size_t i = 0; i < n; i++) {
        double at = axis_place(y, tick[i]);
        svg_line(out, left, at, plot->x.to, at, "grid", SVG_INK);
        svg_text(out, left - 8, at + 5, SVG_END, "muted", axis_number(y, tick[i], number));
    }
    svg_line(out, left, y->to, left, y->from, "axis", SVG_INK);
    if (y->low < 0 && y->high > 0 && y->scale == CHART_LINEAR)
        svg_line(out, left, axis_place(y, 0), plot->x.to, axis_place(y, 0), "axis", SVG_INK);
}

static void draw_references(FILE *out, const struct plot *plot)
{
    const struct chart_xy *c = plot->chart;
    for (const struct chart_reference *r = c->reference; r < c->reference + c->n_references; r++) {
        double y = axis_place(&plot->y, r->y);
        if (isfinite(y) && r->y <= plot->y.high)
            svg_line(out, plot->x.from, y, plot->x.to, y, r->is_strong ? "line" : "line dash",
                     r->is_strong ? SVG_INK : SVG_GREY);
    }
}

/* ---- series ---- */

/* Draws a line through the points, with a gap at each that cannot be drawn. */
static void draw_line(FILE *out, const struct plot *plot, const struct chart_series *s)
{
    int is_drawn = 0;
    svg_path_begin(out, s->draw & CHART_DASHED ? "line dash" : "line", s->colour);
    for (size_t i = 0; i < s->n; i++) {
        double x = axis_place(&plot->x, s->point[i].x), y = axis_place(&plot->y, s->point[i].y);
        if (isfinite(x) && isfinite(y))
            svg_path_to(out, is_drawn ? 'L' : 'M', x, y);
        is_drawn = isfinite(x) && isfinite(y);
    }
    svg_path_end(out);
}

static int has_interval(const struct chart_point *p)
{
    return isfinite(p->low) && isfinite(p->high);
}

static void draw_point(FILE *out, const struct plot *plot, const struct chart_series *s, const struct chart_point *p)
{
    double x = axis_place(&plot->x, p->x), y = axis_place(&plot->y, p->y);
    double low = axis_place(&plot->y, p->low), high = axis_place(&plot->y, p->high);
    char tip[3 * SVG_LABEL], number[CELL];
    if (!isfinite(x) || !isfinite(y))
        return;
    int at = snprintf(tip, sizeof tip, "%.150s%s%.50s: %.4g", s->name ? s->name : "", s->name ? ", " : "",
                      axis_number(&plot->x, p->x, number), p->y);
    if (has_interval(p))
        snprintf(tip + at, sizeof tip - (size_t)at, " [%.4g, %.4g]", p->low, p->high);
    if (isfinite(low) && isfinite(high))
        svg_line(out, x, low, x, high, "line thick faint", s->colour);
    if (p->mark != CHART_PLAIN)
        svg_circle(out, x, y, 9, p->mark == CHART_BEST ? "line ring" : "line", SVG_INK, NULL);
    if (s->draw & CHART_RINGS)
        svg_circle(out, x, y, 7.5, "line", s->colour, tip);
    else if (s->draw & CHART_POINTS)
        svg_circle(out, x, y, 4.5, "area", s->colour, tip);
}

/* ---- the chart ---- */

/* Explains the signs that the chart contains. */
static void add_key(struct frame *frame, const struct chart_xy *c)
{
    int has[CHART_BEST + 1] = {0}, intervals = 0, dashed = 0;
    struct frame_item item[4];
    size_t items = 0;
    for (const struct chart_series *s = c->series; s < c->series + c->n_series; s++)
        for (const struct chart_point *p = s->point; p < s->point + s->n; p++) {
            if (!is_drawable(c, p))
                continue;
            has[p->mark] = 1;
            intervals |= axis_takes(c->y.scale, p->low) && axis_takes(c->y.scale, p->high);
            dashed |= s->draw & CHART_LINE && s->draw & CHART_DASHED;
        }
    if (has[CHART_BEST])
        item[items++] = (struct frame_item){c->best ? c->best : "best", SVG_INK, SIGN_BEST};
    if (has[CHART_AS_GOOD])
        item[items++] = (struct frame_item){"tied with the best", SVG_INK, SIGN_AS_GOOD};
    if (intervals)
        item[items++] = (struct frame_item){"95 % interval", SVG_INK, SIGN_INTERVAL};
    if (dashed && c->dashed)
        item[items++] = (struct frame_item){c->dashed, SVG_INK, SIGN_DASHED};
    frame->y += items ? 14 : 0;
    frame_legend(frame, item, items);
}

static void draw_plot(struct frame *frame, struct plot *plot)
{
    const struct chart_xy *c = plot->chart;
    struct end_name name[NAMES];
    size_t n = collect_names(c, name);
    double tick[AXIS_TICKS], widest = 30;
    size_t ticks = axis_ticks(&plot->y, 8, tick);
    char text[SVG_LABEL];
    for (size_t i = 0; i < ticks; i++)
        widest = fmax(widest, svg_text_width(axis_number(&plot->y, tick[i], text), SVG_TEXT));
    plot->x.from = FRAME_LEFT + 10 + widest;
    plot->x.to = FRAME_RIGHT - names_width(name, n);
    if (c->y.title && *c->y.title)
        frame_line(frame, "", axis_title(&plot->y, c->y.title, text));
    plot->y.to = frame->y + 14;
    plot->y.from = plot->y.to + fmax(HEIGHT, NAME_GAP * (double)n);
    frame->y = axis_draw_x(frame->out, &plot->x, plot->y.to, plot->y.from, c->x.title);
    draw_y_axis(frame->out, plot, tick, ticks);
    draw_references(frame->out, plot);
    for (const struct chart_series *s = c->series; s < c->series + c->n_series; s++) {
        if (s->draw & CHART_LINE)
            draw_line(frame->out, plot, s);
        for (size_t i = 0; i < s->n; i++)
            draw_point(frame->out, plot, s, &s->point[i]);
    }
    draw_names(frame->out, plot, name, n);
    add_key(frame, c);
}

char *chart_xy(const struct chart_words *words, const struct chart_xy *chart)
{
    struct frame frame;
    struct plot plot = plot_of(chart);
    size_t drawable = 0;
    frame_begin(&frame, words);
    for (size_t s = 0; s < chart->n_series; s++)
        drawable += last_point(chart, &chart->series[s]) != NULL;
    for (size_t i = 0; i < chart->n_references; i++)
        drawable += (size_t)axis_takes(chart->y.scale, chart->reference[i].y);
    choose_ticks(&plot); /* the x axis points into `plot` */
    if (drawable)
        draw_plot(&frame, &plot);
    else
        frame_line(&frame, "", "Nothing was measured.");
    return frame_end(&frame);
}
