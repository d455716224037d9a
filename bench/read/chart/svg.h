/* svg.h - writes a picture as SVG, element by element; chart/chart.h draws whole charts.
 *
 * A picture works as a file, and several pictures work inside one HTML page: each contains the style sheet (equal rules
 * do not conflict), but no id, no script, and no reference to anything outside. All class names begin with "dp". A
 * picture is SVG_WIDTH wide, shrinks to fit, and follows the light or dark setting of the reader's system.
 *
 * Coordinates are in units of the viewBox, y downwards; a coordinate that is not finite is drawn as 0. Text may contain
 * anything: text_print_markup escapes it. `classes` are class names without "dp-", separated by a space. For text:
 * title, muted, bold, small, and on0 to on9 (on an area of that colour). For shapes: line, thick, dash, ring, axis,
 * grid, area (filled), span (a stroke as thick as a row of a timeline), faint and soft (transparent). `colour` is 0 to
 * SVG_COLOURS - 1; or SVG_INK, the colour of text; or SVG_HEAT + 0 (below what is usual), + 1 (usual), + 2 to 6 (five
 * levels above it) or + 7 (not known). Text on SVG_HEAT + 0 to 6 has the class on100 to on106. */
#ifndef BENCH_READ_CHART_SVG_H
#define BENCH_READ_CHART_SVG_H

#include <stddef.h>
#include <stdio.h>

enum { SVG_WIDTH = 820, SVG_TEXT = 16, SVG_TITLE = 20, SVG_SMALL = 13 }; /* width of a picture; font sizes */
enum { SVG_INK = -1, SVG_GREY = 3, SVG_COLOURS = 10, SVG_HEAT = 100 };
enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END, SVG_UPWARDS };

/* The style sheet. The colours are based on Okabe and Ito (Color Universal Design, 2008). They are adjusted so that
 * each has a contrast of at least 3 to a light and to a dark page, and any two differ for each kind of colour blindness
 * (the unit test checks the distances). */
extern const char svg_style[];

/* The first characters of each picture, by which files_check_named recognizes it. */
#define SVG_MARK "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"dp\""

/* Begin and end a picture. Screen readers read title and description. */
void svg_begin(FILE *out, double height, const char *title, const char *description);
void svg_end(FILE *out);

/* Writes a line of text on the base line y; anchor: whether the text starts at x, has its middle at x, or ends at x.
 * Text with SVG_UPWARDS is read from below, begins at (x, y) and has its base line at x. */
void svg_text(FILE *out, double x, double y, enum svg_anchor anchor, const char *classes, const char *text);
/* Write a line, a rectangle whose upper left corner is (x, y), and a circle whose centre is (x, y). */
void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *classes, int colour);
void svg_rect(FILE *out, double x, double y, double width, double height, const char *classes, int colour);
void svg_circle(FILE *out, double x, double y, double radius, const char *classes, int colour);
/* Begin and end a path element. Between them the caller writes the value of the attribute d, for example with
 * svg_path_to, which writes `command` (M or L) and a point. */
void svg_path_begin(FILE *out, const char *classes, int colour);
void svg_path_to(FILE *out, char command, double x, double y);
void svg_path_end(FILE *out);
void svg_number(FILE *out, double value); /* writes an attribute's number: at most one decimal, within +-99999 */

/* Estimates the width of a text in a wide font (DejaVu Sans); most fonts are narrower. */
double svg_text_width(const char *text, double size);

/* Draws a text in lines of at most `width`, the first on the base line y. Breaks lines at spaces, and inside words that
 * are too long. Returns the base line below the last line. */
double svg_paragraph(FILE *out, double x, double y, double width, double size, const char *classes, const char *text);

/* Copies the text to label; if it does not fit into the width or into label, shortens it with an ellipsis. Returns
 * label. NULL is an empty text. */
enum { SVG_LABEL = 160 };
const char *svg_shorten(char label[SVG_LABEL], const char *text, double size, double width);

#endif
