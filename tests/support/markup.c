/* markup.c - whether a text is well-formed XML, and whether what a picture shows lies in it and can be read. */
#include "tests/support/markup.h"

#include "base/text.h"
#include "chart/svg.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32, NAME = 32, TEXTS = 4000 };

static char fault[400];

__attribute__((format(printf, 1, 2))) static const char *say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(fault, sizeof fault, format, list);
    va_end(list);
    return fault;
}

/* ---- XML ---- */

/* The length of a name at c. */
static size_t name_length(const char *c)
{
    size_t n = 0;
    while (isalnum((unsigned char)c[n]) || (c[n] && strchr("-_:.", c[n])))
        n++;
    return isalpha((unsigned char)*c) && n < NAME ? n : 0;
}

/* What is wrong with characters up to one of `ends`, where *c then stands. */
static const char *skip_characters(const char **c, const char *ends)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (; **c && !strchr(ends, **c); ++*c) {
        int is_known = **c != '&';
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known |= !strncmp(*c, known[i], strlen(known[i]));
        if (!is_known || ((unsigned char)**c < ' ' && **c != '\n') || **c == '<')
            return say("a bare character at %.30s", *c);
    }
    return NULL;
}

/* Attributes of a tag, from *c to the > or /> behind them. */
static const char *skip_attributes(const char **c)
{
    const char *seen[20];
    size_t length[20];
    for (size_t n = 0; **c == ' '; n++) {
        size_t name = name_length(++*c);
        if (!name || n == 20 || strncmp(*c + name, "=\"", 2) != 0)
            return say("no attribute at %.30s", *c);
        for (size_t i = 0; i < n; i++)
            if (length[i] == name && !strncmp(seen[i], *c, name))
                return say("twice: %.30s", *c);
        seen[n] = *c;
        length[n] = name;
        *c += name + 2;
        if (skip_characters(c, "\""))
            return fault;
        if (*(*c)++ != '"')
            return say("an open attribute");
    }
    return NULL;
}

const char *markup_fault(const char *text)
{
    char open[DEPTH][NAME];
    size_t depth = 0, roots = 0;
    const char *c = text;
    if (!text_is_utf8(text))
        return say("not UTF-8");
    if (!strncmp(c, "<?xml ", 6) && strstr(c, "?>"))
        c = strstr(c, "?>") + 2;
    while (*c) {
        const char *begin = c;
        if (skip_characters(&c, "<"))
            return fault;
        if (!depth && strspn(begin, " \n") < (size_t)(c - begin))
            return say("text outside of the element: %.30s", begin);
        if (!*c)
            break;
        int is_end = c[1] == '/';
        size_t n = name_length(c += 1 + is_end);
        if (!n)
            return say("no name at %.30s", c);
        if (is_end) {
            if (!depth || strlen(open[depth - 1]) != n || strncmp(open[--depth], c, n) != 0 || c[n] != '>')
                return say("closed, but not open: %.30s", c);
            c += n + 1;
            continue;
        }
        if (depth == DEPTH || (!depth && roots++))
            return say("too deep, or a second element: %.30s", c);
        snprintf(open[depth++], NAME, "%.*s", (int)n, c);
        c += n;
        if (skip_attributes(&c))
            return fault;
        depth -= *c == '/';
        c += *c == '/';
        if (*c++ != '>')
            return say("an open tag at %.30s", c - 1);
    }
    return depth ? say("not closed: %s", open[depth - 1]) : !roots ? say("no element") : NULL;
}

/* ---- pictures ---- */

struct box {
    double left, top, right, bottom;
    char text[60];
};

/* The value of an attribute of the tag, as a text behind its quote; NULL: it has none. */
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
    snprintf(box.text, sizeof box.text, "%.59s", text);
    return box;
}

/* The largest and least places of a path of M, L (absolute) and h (relative). */
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
    if (markup_fault(svg))
        return fault;
    double width = number(svg, "width"), height = number(svg, "height");
    if (!(width > 0) || !(height > 0) || strstr(svg, " id=\""))
        return say("no size, or an id");
    for (const char *c = strstr(svg, "</style>"); (c = strchr(c, '<')); c++) {
        if (c[1] == '/' || !strncmp(c, "<title", 6))
            continue;
        struct box box = box_of(c + 1);
        if (!(box.left >= -0.5 && box.top >= -0.5 && box.right <= width + 0.5 && box.bottom <= height + 0.5))
            return say("beyond the picture: %s [%g, %g] x [%g, %g]", box.text, box.left, box.right, box.top,
                       box.bottom);
        if (strncmp(c, "<text", 5) != 0 || n == TEXTS)
            continue;
        for (size_t i = 0; i < n; i++)
            if (fmin(box.right, text[i].right) - fmax(box.left, text[i].left) > 1 &&
                fmin(box.bottom, text[i].bottom) - fmax(box.top, text[i].top) > 1)
                return say("'%s' is upon '%s' at %g, %g", box.text, text[i].text, box.left, box.bottom);
        text[n++] = box;
    }
    return NULL;
}
