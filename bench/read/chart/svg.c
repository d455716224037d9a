/* svg.c - writes the elements of an SVG picture, and the style sheet. */
#include "chart/svg.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

/* The unit test reads the colours: keep one colour on a line. Shapes have the colour that a rule sets as `color`. */
const char svg_style[] = ".dp{max-width:100%;height:auto;color:#1b1f24;"
                         "font:16px system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif}\n"
                         ".dp-page{fill:#ffffff}\n"
                         ".dp-text{fill:#1b1f24}\n"
                         ".dp-muted{fill:#505963}\n"
                         ".dp-grid{stroke:#dfe3e8}\n"
                         ".dp-title{font-size:20px;font-weight:bold}\n"
                         ".dp-bold{font-weight:bold}\n"
                         ".dp-small{font-size:13px}\n"
                         ".dp-line{stroke:currentColor;stroke-width:2px;fill:none;stroke-linejoin:round}\n"
                         ".dp-axis{stroke:currentColor}\n"
                         ".dp-thick{stroke-width:5px}\n"
                         ".dp-dash{stroke-dasharray:7 5}\n"
                         ".dp-area{fill:currentColor}\n"
                         ".dp-span{fill:none;stroke:currentColor;stroke-width:18px}\n"
                         ".dp-faint{opacity:.4}\n"
                         ".dp-soft{opacity:.12}\n"
                         ".dp-ring{stroke-width:4px}\n"
                         ".dp-c0{color:#0a489d}\n"
                         ".dp-c1{color:#33a380}\n"
                         ".dp-c2{color:#d57c0e}\n"
                         ".dp-c3{color:#6d6d6d}\n"
                         ".dp-c4{color:#87006c}\n"
                         ".dp-c5{color:#7800d5}\n"
                         ".dp-c6{color:#ba4611}\n"
                         ".dp-c7{color:#084107}\n"
                         ".dp-c8{color:#9982d0}\n"
                         ".dp-c9{color:#c13cff}\n"
                         ".dp-c100{color:#a9cdf0}\n"
                         ".dp-c101{color:#ffffff}\n"
                         ".dp-c102{color:#fde2ae}\n"
                         ".dp-c103{color:#fac070}\n"
                         ".dp-c104{color:#ee9247}\n"
                         ".dp-c105{color:#dc5a33}\n"
                         ".dp-c106{color:#8f1d1d}\n"
                         ".dp-c107{color:#dfe3e8}\n"
                         ".dp-on0,.dp-on3,.dp-on4,.dp-on5,.dp-on6,.dp-on7{fill:#ffffff}\n"
                         ".dp-on1,.dp-on2,.dp-on8,.dp-on9{fill:#101418}\n"
                         ".dp-on100,.dp-on101,.dp-on102,.dp-on103,.dp-on104,.dp-on105{fill:#101418}\n"
                         ".dp-on106{fill:#ffffff}\n"
                         "@media (prefers-color-scheme:dark){\n"
                         ".dp{color:#e6e9ec}\n"
                         ".dp-page{fill:#16191d}\n"
                         ".dp-text{fill:#e6e9ec}\n"
                         ".dp-muted{fill:#a8b1ba}\n"
                         ".dp-grid{stroke:#363c43}\n"
                         ".dp-c0{color:#0aacff}\n"
                         ".dp-c1{color:#04e9d2}\n"
                         ".dp-c2{color:#ff8023}\n"
                         ".dp-c3{color:#979797}\n"
                         ".dp-c4{color:#a63c8c}\n"
                         ".dp-c5{color:#fec420}\n"
                         ".dp-c6{color:#d80312}\n"
                         ".dp-c7{color:#3782cb}\n"
                         ".dp-c8{color:#09773d}\n"
                         ".dp-c9{color:#8b14ff}\n"
                         ".dp-c100{color:#2f6ea8}\n"
                         ".dp-c101{color:#16191d}\n"
                         ".dp-c102{color:#54431a}\n"
                         ".dp-c103{color:#7b5512}\n"
                         ".dp-c104{color:#a45a17}\n"
                         ".dp-c105{color:#f07a52}\n"
                         ".dp-c106{color:#ffc2bb}\n"
                         ".dp-c107{color:#373f48}\n"
                         ".dp-on0,.dp-on1,.dp-on2,.dp-on3,.dp-on5,.dp-on7{fill:#101418}\n"
                         ".dp-on4,.dp-on6,.dp-on8,.dp-on9{fill:#ffffff}\n"
                         ".dp-on100,.dp-on101,.dp-on102,.dp-on103,.dp-on104{fill:#ffffff}\n"
                         ".dp-on105,.dp-on106{fill:#101418}\n"
                         "}\n";

/* ---- attributes ---- */

void svg_number(FILE *out, double value)
{
    double tenths = isfinite(value) ? round(10 * fmax(-99999, fmin(99999, value))) : 0;
    fprintf(out, fmod(tenths, 10) == 0 ? "%.0f" : "%.1f", tenths / 10 + 0.0); /* + 0.0: prints 0, not -0 */
}

static void print_place(FILE *out, const char *name, double value)
{
    fprintf(out, " %s=\"", name);
    svg_number(out, value);
    fputc('"', out);
}

static void print_classes(FILE *out, const char *classes, int colour)
{
    fputs(" class=\"", out);
    for (const char *c = classes; *c; c++)
        fprintf(out, c == classes ? "dp-%c" : *c == ' ' ? "%c%s" : "%c", *c, "dp-");
    if (colour >= 0)
        fprintf(out, " dp-c%d", colour < SVG_HEAT ? colour % SVG_COLOURS : colour);
    fputc('"', out);
}

/* ---- elements ---- */

void svg_begin(FILE *out, double height, const char *title, const char *description)
{
    height = ceil(height);
    fprintf(out,
            SVG_MARK " role=\"img\" viewBox=\"0 0 %d %.0f\" width=\"%d\" "
                     "height=\"%.0f\">\n<title>",
            SVG_WIDTH, height, SVG_WIDTH, height);
    text_print_markup(out, title);
    fputs("</title>\n<desc>", out);
    text_print_markup(out, description);
    fprintf(out, "</desc>\n<style>\n%s</style>\n", svg_style);
    svg_rect(out, 0, 0, SVG_WIDTH, height, "page", SVG_INK);
}

void svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

void svg_text(FILE *out, double x, double y, enum svg_anchor anchor, const char *classes, const char *text)
{
    static const char *const anchors[] = {[SVG_MIDDLE] = " text-anchor=\"middle\"", [SVG_END] = " text-anchor=\"end\""};
    char all[80];
    snprintf(all, sizeof all, *classes ? "text %s" : "text", classes);
    fputs("<text", out);
    print_place(out, "x", x);
    print_place(out, "y", y);
    if (anchor == SVG_UPWARDS) {
        fputs(" transform=\"rotate(-90 ", out);
        svg_number(out, x);
        fputc(' ', out);
        svg_number(out, y);
        fputs(")\"", out);
    } else if (anchor != SVG_START)
        fputs(anchors[anchor], out);
    print_classes(out, all, SVG_INK);
    fputc('>', out);
    text_print_markup(out, text);
    fputs("</text>\n", out);
}

/* Writes an element without content. place[]: names of the attributes in value[], ended by NULL. */
static void print_shape(FILE *out, const char *name, const char *const *place, const double *value, const char *classes,
                        int colour)
{
    fprintf(out, "<%s", name);
    while (*place)
        print_place(out, *place++, *value++);
    print_classes(out, classes, colour);
    fputs("/>\n", out);
}

void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *classes, int colour)
{
    static const char *const place[] = {"x1", "y1", "x2", "y2", NULL};
    print_shape(out, "line", place, (const double[]){x1, y1, x2, y2}, classes, colour);
}

void svg_rect(FILE *out, double x, double y, double width, double height, const char *classes, int colour)
{
    static const char *const place[] = {"x", "y", "width", "height", NULL};
    print_shape(out, "rect", place, (const double[]){x, y, fmax(0, width), fmax(0, height)}, classes, colour);
}

void svg_circle(FILE *out, double x, double y, double radius, const char *classes, int colour)
{
    static const char *const place[] = {"cx", "cy", "r", NULL};
    print_shape(out, "circle", place, (const double[]){x, y, fmax(0, radius)}, classes, colour);
}

void svg_path_begin(FILE *out, const char *classes, int colour)
{
    fputs("<path", out);
    print_classes(out, classes, colour);
    fputs(" d=\"", out);
}

void svg_path_end(FILE *out)
{
    fputs("\"/>\n", out);
}

void svg_path_to(FILE *out, char command, double x, double y)
{
    fputc(command, out);
    svg_number(out, x);
    fputc(' ', out);
    svg_number(out, y);
}

/* ---- widths of texts ---- */

static double letter_width(char c)
{
    static const struct {
        const char *letters;
        double width;
    } group[] = {{"ijlI' |", 0.33}, {".,:;/\\ftr-!()[]", 0.41}, {"mwM%W@#+=<>~&", 0.96}, {"cksxyzvJL_*?\"", 0.57}};
    for (size_t i = 0; i < sizeof group / sizeof *group; i++)
        if (strchr(group[i].letters, c))
            return group[i].width;
    return c & 0x80 ? 0.55 : c >= 'A' && c <= 'Z' ? 0.77 : 0.64; /* not ASCII: 0.55 per byte, an overestimate */
}

double svg_text_width(const char *text, double size)
{
    double width = 0;
    for (; *text; text++)
        width += letter_width(*text);
    return width * size * (size >= SVG_TITLE ? 1.12 : 1); /* titles are bold, so they are wider */
}

/* Returns the largest length from 1 to n that splits no UTF-8 character. An invalid byte counts as a character. */
static size_t whole_characters(const char *text, size_t n)
{
    for (size_t back = 0; back < 4 && back < n; back++)
        if ((text[n - back] & 0xc0) != 0x80)
            return n - back;
    return n;
}

/* Returns how many bytes of a non-empty text fit into the width: whole characters, at least one. */
static size_t fitting_bytes(const char *text, double size, double width)
{
    size_t n = 0;
    double at = 0;
    while (text[n]) {
        at += letter_width(text[n]) * size * (size >= SVG_TITLE ? 1.12 : 1);
        if (at > width)
            break;
        n++;
    }
    if (!n)
        for (n = 1; n < 4 && (text[n] & 0xc0) == 0x80;)
            n++;
    return text[n] ? whole_characters(text, n) : n;
}

double svg_paragraph(FILE *out, double x, double y, double width, double size, const char *classes, const char *text)
{
    char line[600];
    while (*text) {
        size_t n = fitting_bytes(text, size, width), end = n;
        if (text[n])
            for (end = n; end && text[end] != ' ';)
                end--;
        end = end ? end : n;
        end = end < sizeof line ? end : sizeof line - 1;
        memcpy(line, text, end);
        line[end] = 0;
        svg_text(out, x, y, SVG_START, classes, line);
        y += round(1.3 * size);
        text += end;
        while (*text == ' ')
            text++;
    }
    return y;
}

const char *svg_shorten(char label[SVG_LABEL], const char *text, double size, double width)
{
    static const char ellipsis[] = "\xe2\x80\xa6";
    text = text ? text : "";
    size_t n = strlen(text), room = SVG_LABEL - sizeof ellipsis;
    if (n <= room && svg_text_width(text, size) <= width) {
        memcpy(label, text, n + 1);
        return label;
    }
    n = fitting_bytes(text, size, width - size);
    n = n < room ? n : whole_characters(text, room);
    memcpy(label, text, n);
    memcpy(label + n, ellipsis, sizeof ellipsis);
    return label;
}
