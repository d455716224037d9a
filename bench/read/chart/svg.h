/* svg.h - a picture as SVG, element by element; chart/chart.h draws whole charts.
 *
 * A picture stands alone as a file, and inside an HTML page beside others: each holds the style sheet itself (the same
 * rules twice mean the same), no id, no script, and nothing outside of it; every rule is of a class that begins with
 * "dp". It is SVG_WIDTH wide, shrinks where less room is, and is light or dark as the reader's system.
 *
 * Places and lengths are in units of the viewBox, y downwards; what is not finite is drawn at 0. Texts may hold
 * anything: text_print_markup escapes them. `classes` are words without "dp-": of texts title, muted, bold, small,
 * halo, on0 to on9 (upon an area of that colour); of all else line, thick, dash (drawn along), axis, grid, area
 * (filled), hollow (filled as the page), span (a line as thick as a row of a timeline), and faint and soft: more and
 * more transparent. `colour` is 0 to SVG_COLOURS - 1, or SVG_INK, that of the text. */
#ifndef BENCH_READ_CHART_SVG_H
#define BENCH_READ_CHART_SVG_H

#include <stddef.h>
#include <stdio.h>

enum { SVG_WIDTH = 820, SVG_TEXT = 16, SVG_TITLE = 20, SVG_SMALL = 13 }; /* heights of letters */
enum { SVG_INK = -1, SVG_GREY = 3, SVG_COLOURS = 10 };
enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/* The rules. Colours after Okabe and Ito (Color Universal Design, 2008), made darker or lighter until each has a
 * contrast of 3 or more to the page, light and dark, and any two can be told apart with each kind of colour blindness
 * (the unit test has the distances). */
extern const char svg_style[];

/* How each picture begins (files_check_path). */
#define SVG_MARK "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"dp\""

/* The picture from its first to its last byte; title and description are for those who do not see it. */
void svg_begin(FILE *out, double height, const char *title, const char *description);
void svg_end(FILE *out);

/* A line of text on the base line y. */
void svg_text(FILE *out, double x, double y, enum svg_anchor anchor, const char *classes, const char *text);

void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *classes, int colour);
/* tip: what a browser shows under the pointer; or NULL. */
void svg_rect(FILE *out, double x, double y, double width, double height, const char *classes, int colour,
              const char *tip);
void svg_circle(FILE *out, double x, double y, double radius, const char *classes, int colour, const char *tip);
/* A line through point[n], with a gap where one is not finite. */
void svg_path(FILE *out, const double (*point)[2], size_t n, const char *classes, int colour);
/* The begin and end of a path's element; between them the caller writes what the attribute d holds. */
void svg_path_begin(FILE *out, const char *classes, int colour);
void svg_path_end(FILE *out);
void svg_number(FILE *out, double value); /* as in attributes: at most one decimal, within +-99999 */

/* About how wide a text is: that of a wide font (DejaVu Sans), so that it is narrower in most. */
double svg_text_width(const char *text, double size);

/* Draws text in lines of at most `width` from the base line y on, broken at spaces, or inside words that are too long;
 * returns the place of the line after it (y where there is no text). */
double svg_paragraph(FILE *out, double x, double y, double width, double size, const char *classes, const char *text);

/* The text, or its begin and an ellipsis, so that it fits into the width and into its room. */
enum { SVG_LABEL = 160 };
const char *svg_shorten(char label[SVG_LABEL], const char *text, double size, double width);

#endif
