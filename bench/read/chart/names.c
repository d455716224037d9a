/* names.c - names beside the ends of lines, moved apart where they would touch. */
#include "chart/frame.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_WIDTH = 250, SIGN = 22 };

/* Of a bold one, which is as wide in proportion as a title. */
static double bold_width(const char *text)
{
    return svg_text_width(text, SVG_TITLE) * SVG_TEXT / SVG_TITLE;
}

double end_names_width(const struct end_name *name, size_t n)
{
    double widest = 0;
    char label[SVG_LABEL];
    for (size_t i = 0; i < n; i++)
        widest = fmax(widest, bold_width(svg_shorten(label, name[i].text, SVG_TEXT, MOST_WIDTH)));
    return n ? 10 + SIGN + widest : 12;
}

static int by_place(const void *a, const void *b)
{
    double x = ((const struct end_name *)a)->y, y = ((const struct end_name *)b)->y;
    return (x > y) - (x < y);
}

static void draw_sign(FILE *out, double x, double y, const struct end_name *name)
{
    if (name->draw & CHART_LINE)
        svg_line(out, x, y, x + SIGN - 5, y, name->draw & CHART_DASHED ? "line dash" : "line", name->colour);
    if (name->draw & CHART_RINGS)
        svg_circle(out, x + (SIGN - 5) / 2.0, y, 7.5, "line", name->colour, NULL);
    else if (name->draw & CHART_POINTS)
        svg_circle(out, x + (SIGN - 5) / 2.0, y, 4.5, "area", name->colour, NULL);
}

void end_names_draw(FILE *out, struct end_name *name, size_t n, double x, double top, double bottom)
{
    double place[END_NAMES], least = top, most = bottom;
    char label[SVG_LABEL];
    qsort(name, n, sizeof *name, by_place);
    for (size_t i = 0; i < n; i++) { /* down, where two would touch */
        place[i] = fmax(name[i].y, least);
        least = place[i] + END_NAME_GAP;
    }
    for (size_t i = n; i-- > 0;) { /* and up again, where that went too far */
        place[i] = fmin(place[i], most);
        most = place[i] - END_NAME_GAP;
    }
    for (size_t i = 0; i < n; i++) {
        if (name[i].x > x - 60) /* a line that ends elsewhere has its sign */
            svg_line(out, fmin(name[i].x + 7, x), name[i].y, x + 7, place[i], "axis faint", SVG_GREY);
        draw_sign(out, x + 10, place[i], &name[i]);
        svg_text(out, x + 10 + SIGN, place[i] + 5, SVG_START, name[i].is_strong ? "bold" : "",
                 svg_shorten(label, name[i].text, SVG_TEXT, MOST_WIDTH));
    }
}
