/* xy.c - draws series of points over x, with confidence intervals, reference lines, and names at the right edge. */
#include "chart/frame.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEIGHT = 330, PANEL_HEIGHT = 130 };

struct plot {
    const struct chart_xy *chart;
    struct axis x, y;
};

/* ---- the range of the axes ---- */

static int is_drawable(const struct chart_xy *c, const struct chart_point *p)
{
    return axis_takes(c->x.is_log, p->x) && axis_takes(c->y.is_log, p->y);
}

static void widen_range(double range[2], const struct chart_axis *axis, double value)
{
    if (axis_takes(axis->is_log, value)) {
        range[0] = fmin(range[0], value);
        range[1] = fmax(range[1], value);
    }
}

/* Returns the axes of a panel: its own values on the y axis, and those of all panels on the x axis. */
static struct plot plot_of(const struct chart_xy *c, size_t panel)
{
    double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};
    for (const struct chart_series *s = c->series; s < c->series + c->n_series; s++)
        for (const struct chart_point *p = s->point; p < s->point + s->n; p++) {
            if (!is_drawable(c, p))
                continue;
            widen_range(x, &c->x, p->x);
            if (s->panel != panel)
                continue;
            widen_range(y, &c->y, p->y);
            widen_range(y, &c->y, p->low);
            widen_range(y, &c->y, p->high);
        }
    for (size_t i = 0; i < c->n_references; i++)
        widen_range(y, &c->y, c->reference[i].y);
    struct plot plot = {.chart = c,
                        .x = axis_for(&c->x, x[0], x[1]),
                        .y = axis_for(c->n_panels ? &c->panel[panel] : &c->y, y[0], y[1])};
    if (c->n_panels && !c->x.is_log && x[1] > x[0] && x[0] > 0)
        plot.x.low = x[0] - 0.03 * (x[1] - x[0]); /* steps and rounds begin where they were measured */
    return plot;
}

/* ---- names at the right edge, next to the end of the line ---- */

enum { NAME_GAP = 20, NAME_WIDTH = 250, SIGN = 22 };

struct end_name {
    double y, x; /* end of the line; first as values (x INFINITY: the right edge), in draw_names as coordinates */
    const char *text;
    int colour, is_dashed;
    double place; /* y of the name */
};

static const struct chart_point *last_point(const struct chart_xy *c, const struct chart_series *s)
{
    for (size_t i = s->n; i-- > 0;)
        if (is_drawable(c, &s->point[i]))
            return &s->point[i];
    return NULL;
}

/* Collects the names of the series and references that can be drawn, and the points at which their lines end. Returns
 * the number of names. */
static size_t collect_names(const struct chart_xy *c, struct end_name *name)
{
    size_t n = 0;
    for (const struct chart_series *s = c->series; s < c->series + c->n_series; s++) {
        const struct chart_point *end = last_point(c, s);
        if (s->name && *s->name && !s->panel && end)
            name[n++] = (struct end_name){end->y, end->x, s->name, s->colour, s->is_dashed, 0};
    }
    for (const struct chart_reference *r = c->reference; r < c->reference + c->n_references; r++)
        if (r->name && *r->name && axis_takes(c->y.is_log, r->y))
            name[n++] = (struct end_name){r->y, INFINITY, r->name, SVG_GREY, 1, 0};
    return n;
}

static double names_width(const struct end_name *name, size_t n)
{
    double widest = 0;
    char label[SVG_LABEL];
    for (size_t i = 0; i < n; i++)
        widest = fmax(widest, svg_text_width(svg_shorten(label, name[i].text, SVG_TEXT, NAME_WIDTH), SVG_TEXT));
    return n ? 10 + SIGN + widest : 12;
}

static void draw_name(FILE *out, double x, double y, const struct end_name *name)
{
    char label[SVG_LABEL];
    svg_line(out, x, y, x + SIGN - 5, y, name->is_dashed ? "line dash" : "line", name->colour);
    if (!name->is_dashed)
        svg_circle(out, x + (SIGN - 5) / 2.0, y, 4.5, "area", name->colour);
    svg_text(out, x + SIGN, y + 5, SVG_START, "", svg_shorten(label, name->text, SVG_TEXT, NAME_WIDTH));
}

/* Draws the names of the lines to the right of the plot, at least NAME_GAP apart, each connected with the end of its
 * line. */
static void draw_names(FILE *out, const struct plot *plot, struct end_name *name, size_t n)
{
    double right = plot->x.to, least = plot->y.to, most = plot->y.from;
    for (size_t i = 0; i < n; i++) {
        name[i].x = isfinite(name[i].x) ? axis_place(&plot->x, name[i].x) : right;
        name[i].y = axis_place(&plot->y, name[i].y);
    }
    qsort(name, n, sizeof *name, stats_ascending);
    for (size_t i = 0; i < n; i++) { /* moves names down if they would overlap */
        name[i].place = fmax(name[i].y, least);
        least = name[i].place + NAME_GAP;
    }
    for (size_t i = n; i-- > 0;) { /* moves names up if they are now too low */
        name[i].place = fmin(name[i].place, most);
        most = name[i].place - NAME_GAP;
        svg_line(out, fmin(name[i].x + 7, right), name[i].y, right + 7, name[i].place, "axis faint", SVG_GREY);
        draw_name(out, right + 10, name[i].place, &name[i]);
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
    if (y->low < 0 && y->high > 0 && !y->is_log)
        svg_line(out, left, axis_place(y, 0), plot->x.to, axis_place(y, 0), "axis", SVG_INK);
}

/* Draws what is behind the series: bands, references and events. */
static void draw_background(FILE *out, const struct plot *plot)
{
    const struct chart_xy *c = plot->chart;
    const struct axis *x = &plot->x, *y = &plot->y;
    for (const struct chart_band *b = c->band; b < c->band + c->n_bands; b++) {
        double left = axis_place(x, b->from), top = axis_place(y, b->high);
        svg_rect(out, left, top, axis_place(x, b->to) - left, fmax(2, axis_place(y, b->low) - top), "area soft",
                 SVG_INK);
    }
    for (const struct chart_reference *r = c->reference; r < c->reference + c->n_references; r++) {
        double at = axis_place(y, r->y);
        if (isfinite(at) && r->y <= y->high)
            svg_line(out, x->from, at, x->to, at, "line dash", SVG_GREY);
    }
    for (const struct chart_event *e = c->event; e < c->event + c->n_events; e++) {
        double at = axis_place(x, e->x);
        svg_line(out, at, y->to, at, y->from, "line dash", SVG_INK);
        svg_text(out, at, y->to - 3, SVG_MIDDLE, "small", e->name);
    }
}

/* ---- series ---- */

static int has_interval(const struct chart_series *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (isfinite(s->point[i].low + s->point[i].high))
            return 1;
    return 0;
}

/* Returns by how much a series is drawn to the right, so that intervals of several series at one x are all seen. */
static double shift_of(const struct chart_xy *c, const struct chart_series *s)
{
    const double apart = 5;
    int n = 0, before = 0;
    for (const struct chart_series *t = c->series; t < c->series + c->n_series && !c->n_panels; t++) {
        n += has_interval(t);
        before += t < s && has_interval(t);
    }
    return has_interval(s) ? apart * (before - (n - 1) / 2.0) : 0;
}

/* Draws a line through the points, with a gap at each point that cannot be drawn. */
static void draw_line(FILE *out, const struct plot *plot, const struct chart_series *s)
{
    int is_drawn = 0;
    double shift = shift_of(plot->chart, s);
    svg_path_begin(out, s->is_dashed ? "line dash" : "line", s->colour);
    for (size_t i = 0; i < s->n; i++) {
        double x = axis_place(&plot->x, s->point[i].x) + shift, y = axis_place(&plot->y, s->point[i].y);
        if (isfinite(x) && isfinite(y))
            svg_path_to(out, is_drawn ? 'L' : 'M', x, y);
        is_drawn = isfinite(x) && isfinite(y);
    }
    svg_path_end(out);
}

static void draw_point(FILE *out, const struct plot *plot, const struct chart_series *s, const struct chart_point *p)
{
    int colour = s->colour;
    double x = axis_place(&plot->x, p->x) + shift_of(plot->chart, s), y = axis_place(&plot->y, p->y);
    double low = axis_place(&plot->y, p->low), high = axis_place(&plot->y, p->high);
    if (!isfinite(x) || !isfinite(y))
        return;
    if (isfinite(low) && isfinite(high))
        svg_line(out, x, low, x, high, "line thick faint", colour);
    if (p->mark != CHART_PLAIN)
        svg_circle(out, x, y, 9, p->mark == CHART_BEST ? "line ring" : "line", SVG_INK);
    svg_circle(out, x, y, 4.5, "area", colour);
}

/* ---- the chart ---- */

/* Adds a legend of the symbols in the chart. */
static void add_key(struct frame *frame, const struct chart_xy *c)
{
    int has[CHART_BEST + 1] = {0}, intervals = 0;
    struct frame_item item[3];
    size_t items = 0;
    for (const struct chart_series *s = c->series; s < c->series + c->n_series; s++)
        for (const struct chart_point *p = s->point; p < s->point + s->n && !s->is_dashed; p++) {
            has[p->mark] |= is_drawable(c, p);
            intervals |= is_drawable(c, p) && axis_takes(c->y.is_log, p->low) && axis_takes(c->y.is_log, p->high);
        }
    if (has[CHART_BEST])
        item[items++] = (struct frame_item){"best", SVG_INK, SIGN_BEST};
    if (has[CHART_TIE])
        item[items++] = (struct frame_item){"tied with the best", SVG_INK, SIGN_TIE};
    if (intervals)
        item[items++] = (struct frame_item){c->interval ? c->interval : "95 % interval", SVG_INK, SIGN_INTERVAL};
    frame->y += items ? 14 : 0;
    frame_legend(frame, item, items);
}

/* Draws the axes, the references and the series of a panel in the `height` below frame->y. */
static void draw_panel(struct frame *frame, struct plot *plot, size_t panel, double height)
{
    const struct chart_xy *c = plot->chart;
    double tick[AXIS_TICKS];
    plot->y.to = frame->y;
    plot->y.from = plot->y.to + height;
    frame->y = axis_draw_x(frame->out, &plot->x, plot->y.to, plot->y.from, panel + 1 < c->n_panels ? "" : c->x.title);
    draw_y_axis(frame->out, plot, tick, axis_ticks(&plot->y, c->n_panels ? 4 : 8, tick));
    draw_background(frame->out, plot);
    for (const struct chart_series *s = c->series; s < c->series + c->n_series; s++) {
        if (s->panel != panel)
            continue;
        draw_line(frame->out, plot, s);
        for (size_t i = 0; i < s->n && !s->is_dashed && !c->n_panels; i++)
            draw_point(frame->out, plot, s, &s->point[i]);
    }
}

char *chart_xy(const char *title, const char *subtitle, const struct chart_xy *c)
{
    const size_t panels = c->n_panels ? c->n_panels : 1;
    struct frame frame;
    struct plot plot = plot_of(c, 0);
    struct end_name *name = allocate(c->n_series + c->n_references + 1, sizeof *name);
    size_t n = collect_names(c, name);
    double tick[AXIS_TICKS], widest = c->n_panels ? 60 : 30;
    char text[SVG_LABEL];
    for (size_t i = axis_ticks(&plot.y, 8, tick); i-- > 0;)
        widest = fmax(widest, svg_text_width(axis_number(&plot.y, tick[i], text), SVG_TEXT));
    frame_begin(&frame, title, subtitle);
    for (size_t i = 0; i < panels; i++) {
        double least = c->n_panels ? PANEL_HEIGHT : HEIGHT;
        plot = plot_of(c, i);
        plot.x.from = FRAME_LEFT + 10 + widest;
        plot.x.to = FRAME_RIGHT - names_width(name, n);
        frame.y = svg_paragraph(frame.out, FRAME_LEFT, frame.y + SVG_TEXT, FRAME_RIGHT - FRAME_LEFT, SVG_TEXT,
                                c->n_panels ? "bold" : "",
                                axis_title(&plot.y, c->n_panels ? c->panel[i].title : c->y.title, text));
        draw_panel(&frame, &plot, i, i ? least : fmax(least, NAME_GAP * (double)n));
        draw_names(frame.out, &plot, name, i ? 0 : n);
        frame.y += i + 1 < panels ? SVG_TEXT : 0;
    }
    add_key(&frame, c);
    free(name);
    return frame_end(&frame);
}
