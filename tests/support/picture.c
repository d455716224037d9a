/* picture.c - checks that all elements of a picture lie inside it, and that its texts do not overlap. */
#include "tests/support/picture.h"

#include "chart/svg.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 4000 };

__attribute__((format(printf, 1, 2))) static const char *say(const char *format, ...)
{
    static char fault[400];
    va_list list;
    va_start(list, format);
    vsnprintf(fault, sizeof fault, format, list);
    va_end(list);
    return fault;
}

struct box {
    double left, top, right, bottom;
    char text[60];
};

/* Returns the start of an attribute's value, after the opening quote; NULL if the tag lacks the attribute. */
static const char *attribute(const char *tag, const char *name)
{
    size_t n = strlen(name);
    for (const char *c = tag; *c && *c != '>'; c++)
        if (*c == ' ' && !strncmp(c + 1, name, n) && !strncmp(c + 1 + n, "=\"", 2))
            return c + n + 3;
    return NULL;
}

static double number(const char *tag, const char *name)
{
    const char *value = attribute(tag, name);
    return value ? strtod(value, NULL) : 0;
}

static int has_class(const char *tag, const char *name)
{
    const char *value = attribute(tag, "class"), *found = value ? strstr(value, name) : NULL;
    return found && found < strchr(value, '"');
}

static struct box box_of_text(const char *tag)
{
    struct box box;
    char text[2000];
    size_t n = 0;
    const char *anchor = attribute(tag, "text-anchor");
    for (const char *c = strchr(tag, '>') + 1; *c != '<' && n < sizeof text - 1; c++) {
        text[n] = *c;
        if (*c == '&') {
            text[n] = c[1] == 'a' ? '&' : c[1] == 'l' ? '<' : c[1] == 'g' ? '>' : c[1] == 'q' ? '"' : '\'';
            c = strchr(c, ';');
        }
        n++;
    }
    text[n] = 0;
    double size = has_class(tag, "dp-title") ? SVG_TITLE : has_class(tag, "dp-small") ? SVG_SMALL : SVG_TEXT;
    double width = svg_text_width(text, size), x = number(tag, "x");
    box.left = x - (!anchor ? 0 : *anchor == 'm' ? width / 2 : width);
    box.right = box.left + width;
    box.top = number(tag, "y") - 0.74 * size;
    box.bottom = number(tag, "y") + 0.2 * size;
    if (attribute(tag, "transform")) { /* read from below */
        box = (struct box){.left = x - 0.74 * size, .right = x + 0.2 * size, .bottom = number(tag, "y")};
        box.top = box.bottom - width;
    }
    snprintf(box.text, sizeof box.text, "%.59s", text);
    return box;
}

/* Returns the bounding box of a path with the commands M and L (absolute) and h (relative); NaN for other commands. */
static struct box box_of_path(const char *tag)
{
    struct box box = {INFINITY, INFINITY, -INFINITY, -INFINITY, "path"};
    double x = 0, y = 0;
    char *c = (char *)attribute(tag, "d");
    while (*c != '"') {
        char command = *c;
        double first = strtod(c + 1, &c);
        x = command == 'h' ? x + first : first;
        y = command == 'h' ? y : strtod(c, &c);
        if (!strchr("MLh", command))
            x = y = NAN;
        box.left = fmin(box.left, x);
        box.right = isnan(x) ? NAN : fmax(box.right, x);
        box.top = fmin(box.top, y);
        box.bottom = fmax(box.bottom, y);
        if (isnan(x))
            break;
    }
    return box;
}

static struct box box_of(const char *tag)
{
    double x = number(tag, "x"), y = number(tag, "y"), cx = number(tag, "cx"), cy = number(tag, "cy");
    double r = number(tag, "r");
    if (!strncmp(tag, "text", 4))
        return box_of_text(tag);
    if (!strncmp(tag, "path", 4))
        return box_of_path(tag);
    if (!strncmp(tag, "circle", 6))
        return (struct box){cx - r, cy - r, cx + r, cy + r, "circle"};
    if (!strncmp(tag, "line", 4))
        return (struct box){fmin(number(tag, "x1"), number(tag, "x2")), fmin(number(tag, "y1"), number(tag, "y2")),
                            fmax(number(tag, "x1"), number(tag, "x2")), fmax(number(tag, "y1"), number(tag, "y2")),
                            "line"};
    return (struct box){x, y, x + number(tag, "width"), y + number(tag, "height"), "rect"};
}

const char *picture_fault(const char *svg)
{
    static struct box text[TEXTS];
    size_t n = 0;
    double width = number(svg, "width"), height = number(svg, "height");
    if (!(width > 0) || !(height > 0) || strstr(svg, " id=\""))
        return say("no size, or an id");
    for (const char *c = strstr(svg, "</style>"); (c = strchr(c, '<')); c++) {
        if (c[1] == '/' || !strncmp(c, "<title", 6))
            continue;
        struct box box = box_of(c + 1);
        if (!(box.left >= -0.5 && box.top >= -0.5 && box.right <= width + 0.5 && box.bottom <= height + 0.5))
            return say("outside the picture: %s [%g, %g] x [%g, %g]", box.text, box.left, box.right, box.top,
                       box.bottom);
        if (strncmp(c, "<text", 5) != 0 || n == TEXTS)
            continue;
        for (size_t i = 0; i < n; i++)
            if (fmin(box.right, text[i].right) - fmax(box.left, text[i].left) > 1 &&
                fmin(box.bottom, text[i].bottom) - fmax(box.top, text[i].top) > 1)
                return say("'%s' overlaps '%s' at %g, %g", box.text, text[i].text, box.left, box.bottom);
        text[n++] = box;
    }
    return NULL;
}
