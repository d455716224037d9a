/* xy.c - series of points over x, with intervals and lines of reference; names stand beside their ends.
 */
#include "chart/frame.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEIGHT = 330, MOST_TIPS = 200, MOST_LABELS = 64, MOST_GIVEN = 100 };

/* What is drawn of a chart, and where. */
struct plot {
    const struct chart_xy *chart;
    struct axis x, y;
    double at[MOST_GIVEN]; /* of a logarithmic x axis its ticks: where points are, if these are few */
};

/* ---- what the axes cover ---- */

static int takes(const struct chart_xy *c, const struct chart_point *p)
{
    return axis_takes(c->x.scale, p->x) && axis_takes(c->y.scale, p->y);
}

static void widen(double range[2], enum chart_scale scale, double value)
{
    if (axis_takes(scale, value)) {
        range[0] = fmin(range[0], value);
        range[1] = fmax(range[1], value);
    }
}

/* Adds a value to at[n], which increase, unless it is there; returns how many there are then. */
static size_t insert(double at[MOST_GIVEN], size_t n, double value)
{
    size_t i = n;
    while (i && at[i - 1] >= value * (1 - 1e-9))
        i--;
    if ((i < n && at[i] <= value * (1 + 1e-9)) || n == MOST_GIVEN)
        return n;
    memmove(&at[i + 1], &at[i], (n - i) * sizeof *at);
    at[i] = value;
    return n + 1;
}

/* What was measured at a few places is not to be read as if it was measured at others: the ticks are these places. */
static void take_ticks(struct plot *plot)
{
    const struct chart_xy *c = plot->chart;
    size_t n = 0;
    for (size_t s = 0; s < c->n_series; s++)
        for (size_t i = 0; i < c->series[s].n && n < MOST_GIVEN; i++)
            if (c->series[s].draw & CHART_POINTS && takes(c, &c->series[s].point[i]))
                n = insert(plot->at, n, c->series[s].point[i].x);
    if (c->x.scale == CHART_LINEAR || n < 2 || n == MOST_GIVEN)
        return;
    plot->x.given = plot->at;
    plot->x.n_given = n;
}

static struct plot plot_of(const struct chart_xy *c)
{
    double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};
    for (size_t s = 0; s < c->n_series; s++)
        for (size_t i = 0; i < c->series[s].n; i++) {
            const struct chart_point *p = &c->series[s].point[i];
            if (!takes(c, p))
                continue;
            widen(x, c->x.scale, p->x);
            widen(y, c->y.scale, p->y);
            widen(y, c->y.scale, p->low);
            widen(y, c->y.scale, p->high);
        }
    for (size_t i = 0; i < c->n_references; i++)
        widen(y, c->y.scale, c->reference[i].y);
    return (struct plot){.chart = c, .x = axis_for(&c->x, x[0], x[1]), .y = axis_for(&c->y, y[0], y[1])};
}

static const struct chart_point *last_point(const struct chart_xy *c, const struct chart_series *s)
{
    for (size_t i = s->n; i-- > 0;)
        if (takes(c, &s->point[i]))
            return &s->point[i];
    return NULL;
}

/* The names of what can be drawn, still without places; returns how many, and in *left_out how many more there are. */
static size_t collect_names(const struct chart_xy *c, struct end_name name[END_NAMES], size_t *left_out)
{
    size_t n = 0;
    *left_out = 0;
    for (size_t i = 0; i < c->n_series + c->n_references; i++) {
        const struct chart_series *s = i < c->n_series ? &c->series[i] : NULL;
        const struct chart_reference *r = s ? NULL : &c->reference[i - c->n_series];
        const char *text = s ? s->name : r->name;
        const struct chart_point *end = s ? last_point(c, s) : NULL;
        if (!text || !*text || !(s ? end != NULL : axis_takes(c->y.scale, r->y)))
            continue;
        struct end_name one = {.text = text,
                               .x = s ? end->x : INFINITY,
                               .y = s ? end->y : r->y,
                               .draw = s              ? s->draw
                                       : r->is_strong ? CHART_LINE
                                                      : CHART_LINE | CHART_DASHED,
                               .colour = s              ? s->colour
                                         : r->is_strong ? SVG_INK
                                                        : SVG_GREY,
                               .is_strong = !s && r->is_strong};
        if (n < END_NAMES)
            name[n++] = one;
        else
            ++*left_out;
    }
    return n;
}

/* ---- axes, references ---- */

static double widest_number(const struct axis *axis, const double *tick, size_t n)
{
    double widest = 0;
    char number[CELL];
    for (size_t i = 0; i < n; i++)
        widest = fmax(widest, svg_text_width(axis_number(axis, tick[i], number), SVG_TEXT));
    return widest;
}

static void draw_y(FILE *out, const struct plot *plot, const double *tick, size_t n)
{
    const struct axis *y = &plot->y;
    double left = plot->x.from;
    char number[CELL];
    for (size_t i = 0; i < n; i++) {
        double at = axis_place(y, tick[i]);
        svg_line(out, left, at, plot->x.to, at, "grid", SVG_INK);
        svg_text(out, left - 8, at + 5, SVG_END, "muted", axis_number(y, tick[i], number));
    }
    if (y->is_cut) { /* a gap in the axis, with a stroke at both sides of it */
        double at = y->from - 14;
        svg_line(out, left, y->to, left, at - 4, "axis", SVG_INK);
        svg_line(out, left, at + 4, left, y->from, "axis", SVG_INK);
        svg_line(out, left - 6, at - 1, left + 6, at - 7, "axis", SVG_INK);
        svg_line(out, left - 6, at + 7, left + 6, at + 1, "axis", SVG_INK);
    } else
        svg_line(out, left, y->to, left, y->from, "axis", SVG_INK);
    if (y->low < 0 && y->high > 0 && y->scale == CHART_LINEAR)
        svg_line(out, left, axis_place(y, 0), plot->x.to, axis_place(y, 0), "axis", SVG_INK);
}

static void draw_references(FILE *out, const struct plot *plot)
{
    for (const struct chart_reference *r = plot->chart->reference;
         r < plot->chart->reference + plot->chart->n_references; r++) {
        double y = axis_place(&plot->y, r->y);
        if (isfinite(y) && r->y <= plot->y.high)
            svg_line(out, plot->x.from, y, plot->x.to, y, r->is_strong ? "line" : "line dash",
                     r->is_strong ? SVG_INK : SVG_GREY);
    }
}

/* ---- series ---- */

/* The line through the points; of those in one column of 1 unit only the least and the greatest. */
static void draw_line(FILE *out, const struct plot *plot, const struct chart_series *s)
{
    double(*place)[2] = allocate(s->n + 1, sizeof *place);
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        place[i][1] = axis_place(&plot->y, s->point[i].y);
        place[i][0] = isfinite(place[i][1]) ? axis_place(&plot->x, s->point[i].x) : NAN;
    }
    for (size_t begin = 0, end; begin < s->n; begin = end) {
        size_t least = begin, most = begin;
        for (end = begin + 1; end < s->n && floor(place[end][0]) == floor(place[begin][0]); end++) {
            least = place[end][1] < place[least][1] ? end : least;
            most = place[end][1] > place[most][1] ? end : most;
        }
        size_t first = least < most ? least : most, second = least < most ? most : least;
        memcpy(place[n++], place[first], sizeof *place); /* n is at most first */
        if (second != first)
            memcpy(place[n++], place[second], sizeof *place);
    }
    svg_path(out, (const double(*)[2])place, n, s->draw & CHART_DASHED ? "line dash" : "line", s->colour);
    free(place);
}

static const char *tip_of(char tip[3 * SVG_LABEL], const struct plot *plot, const struct chart_series *s,
                          const struct chart_point *p)
{
    char x[CELL];
    int at = snprintf(tip, 3 * SVG_LABEL, "%.150s%s%.50s: %.4g", s->name ? s->name : "", s->name ? ", " : "",
                      axis_number(&plot->x, p->x, x), p->y);
    if (isfinite(p->low) && isfinite(p->high))
        snprintf(tip + at, (size_t)(3 * SVG_LABEL - at), " [%.4g, %.4g]", p->low, p->high);
    return s->n <= MOST_TIPS ? tip : NULL;
}

/* How far from their points the intervals of a series are, so that those of several at one place stand side by side. */
static double aside(const struct chart_xy *c, const struct chart_series *of)
{
    int n = 0, at = 0;
    for (const struct chart_series *s = c->series; s < c->series + c->n_series; s++) {
        int has = 0;
        for (size_t i = 0; i < s->n; i++)
            has |= isfinite(s->point[i].low) && isfinite(s->point[i].high);
        at = s == of ? n : at;
        n += has;
    }
    return n > 8 ? 0 : 6 * (at - (n - 1) / 2.0);
}

/* dx: how far its interval is at its right. */
static void draw_point(FILE *out, const struct plot *plot, const struct chart_series *s, const struct chart_point *p,
                       double dx)
{
    double x = axis_place(&plot->x, p->x), y = axis_place(&plot->y, p->y);
    double low = axis_place(&plot->y, p->low), high = axis_place(&plot->y, p->high);
    char tip[3 * SVG_LABEL];
    if (!isfinite(x) || !isfinite(y))
        return;
    if (isfinite(low) && isfinite(high))
        svg_line(out, x + dx, low, x + dx, high, "line thick faint", s->colour);
    if (p->mark == CHART_BEST || p->mark == CHART_AS_GOOD)
        svg_circle(out, x, y, 9, p->mark == CHART_BEST ? "line ring" : "line", SVG_INK, NULL);
    if (s->draw & CHART_RINGS)
        svg_circle(out, x, y, 7.5, "line", s->colour, tip_of(tip, plot, s, p));
    else if (s->draw & CHART_POINTS)
        svg_circle(out, x, y, 4.5, p->mark == CHART_HOLLOW ? "hollow" : "area", s->colour, tip_of(tip, plot, s, p));
}

static void draw_series(FILE *out, const struct plot *plot, const struct chart_series *s)
{
    if (s->draw & CHART_LINE)
        draw_line(out, plot, s);
    double dx = aside(plot->chart, s);
    for (size_t i = 0; i < s->n; i++)
        draw_point(out, plot, s, &s->point[i], dx);
}

struct label {
    double left, right, y;
};

/* Whether a label would touch one of label[n]. */
static int is_taken(const struct label *label, size_t n, struct label one)
{
    for (size_t i = 0; i < n; i++)
        if (one.left < label[i].right && label[i].left < one.right && fabs(one.y - label[i].y) < SVG_TEXT)
            return 1;
    return 0;
}

/* Labels of points, drawn at last, so that no line crosses them. Returns how many had no room. */
static size_t draw_labels(FILE *out, const struct plot *plot)
{
    const struct chart_xy *c = plot->chart;
    struct label label[MOST_LABELS];
    size_t n = 0, left_out = 0;
    for (size_t k = 0; k < c->n_series; k++)
        for (const struct chart_point *p = c->series[k].point; p < c->series[k].point + c->series[k].n; p++) {
            char text[SVG_LABEL];
            if (!p->label || !*p->label || !takes(c, p))
                continue;
            svg_shorten(text, p->label, SVG_TEXT, 0.8 * (plot->x.to - plot->x.from));
            double half = svg_text_width(text, SVG_TITLE) * SVG_TEXT / SVG_TITLE / 2; /* bold */
            double x = fmax(plot->x.from + half + 4, fmin(plot->x.to - half, axis_place(&plot->x, p->x)));
            double at = axis_place(&plot->y, p->y), high = axis_place(&plot->y, p->high);
            double above = fmin(at - 5, isfinite(high) ? high : at) - 9;
            double y = above > plot->y.to + 14 ? above : at + 28 < plot->y.from - 4 ? at + 28 : plot->y.to + SVG_TEXT;
            struct label one = {x - half, x + half, y};
            if (n == MOST_LABELS || is_taken(label, n, one)) {
                left_out++;
                continue;
            }
            label[n++] = one;
            svg_text(out, x, one.y, SVG_MIDDLE, "bold halo", text);
        }
    return left_out;
}

/* ---- the chart ---- */

/* What the signs mean that are drawn. */
static void add_key(struct frame *frame, const struct chart_xy *c)
{
    int has[CHART_BEST + 1] = {0}, intervals = 0, dashed = 0;
    struct frame_item item[4];
    size_t items = 0;
    for (const struct chart_series *s = c->series; s < c->series + c->n_series; s++)
        for (const struct chart_point *p = s->point; p < s->point + s->n; p++) {
            if (!takes(c, p))
                continue;
            has[p->mark] = 1;
            intervals |= axis_takes(c->y.scale, p->low) && axis_takes(c->y.scale, p->high);
            dashed |= s->draw & CHART_LINE && s->draw & CHART_DASHED;
        }
    if (has[CHART_BEST])
        item[items++] = (struct frame_item){c->best ? c->best : "best", SVG_INK, SIGN_BEST};
    if (has[CHART_AS_GOOD])
        item[items++] = (struct frame_item){"as good", SVG_INK, SIGN_AS_GOOD};
    if (intervals)
        item[items++] = (struct frame_item){"95 % interval", SVG_INK, SIGN_INTERVAL};
    if (dashed && c->dashed)
        item[items++] = (struct frame_item){c->dashed, SVG_INK, SIGN_DASHED};
    if (!items)
        return;
    frame->y += 14;
    frame_legend(frame, item, items);
}

static void draw_plot(struct frame *frame, struct plot *plot)
{
    const struct chart_xy *c = plot->chart;
    struct end_name name[END_NAMES];
    size_t left_out, n = collect_names(c, name, &left_out);
    double tick[AXIS_TICKS];
    size_t ticks = axis_ticks(&plot->y, 8, tick);
    char words[200];
    plot->x.from = FRAME_LEFT + 10 + fmax(30, widest_number(&plot->y, tick, ticks));
    plot->x.to = FRAME_RIGHT - end_names_width(name, n);
    if (c->y.title && *c->y.title) {
        char title[SVG_LABEL];
        frame_line(frame, "", axis_title(&plot->y, c->y.title, title));
    }
    plot->y.to = frame->y + 14;
    plot->y.from = plot->y.to + fmax(HEIGHT, END_NAME_GAP * (double)n);
    frame->y = axis_draw_x(frame->out, &plot->x, plot->y.to, plot->y.from, c->x.title);
    draw_y(frame->out, plot, tick, ticks);
    draw_references(frame->out, plot);
    for (const struct chart_series *s = c->series; s < c->series + c->n_series; s++)
        draw_series(frame->out, plot, s);
    left_out += draw_labels(frame->out, plot);
    for (size_t i = 0; i < n; i++) {
        name[i].x = isfinite(name[i].x) ? axis_place(&plot->x, name[i].x) : plot->x.to;
        name[i].y = axis_place(&plot->y, name[i].y);
    }
    end_names_draw(frame->out, name, n, plot->x.to, plot->y.to, plot->y.from);
    add_key(frame, c);
    if (left_out) {
        snprintf(words, sizeof words, "Without room for a name: %zu.", left_out);
        frame_line(frame, "muted", words);
    }
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
    take_ticks(&plot); /* it is where it stays */
    if (drawable)
        draw_plot(&frame, &plot);
    else
        frame_line(&frame, "", "Nothing was measured.");
    return frame_end(&frame);
}
