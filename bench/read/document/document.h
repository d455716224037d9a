/* document.h - what a report says, before it is text, Markdown or HTML.
 *
 * A document is JSON, {title, blocks}; a block is {kind, ...}: a heading {level, text}, a paragraph {text}, an item of
 * a list {text}, lines as they are {text}, a table {table} (base/table.h) or a picture {name, title, svg}. All that a
 * report says is made once as such a list, so that no form of it can say anything else than another. */
#ifndef BENCH_READ_DOCUMENT_DOCUMENT_H
#define BENCH_READ_DOCUMENT_DOCUMENT_H

#include "base/table.h"

#include <cJSON.h>
#include <stdio.h>

/* An empty document; the caller owns it. */
cJSON *document_create(const char *title);

/* Each adds a block at the end, with printf's format where there is one. Level 2 is a section, 3 a part of one. Items
 * in a row are one list. What stands between two backticks in a paragraph, an item or a table's title or note is
 * shown as code. */
void document_add_heading(cJSON *document, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));
void document_add_paragraph(cJSON *document, const char *format, ...) __attribute__((format(printf, 2, 3)));
void document_add_item(cJSON *document, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Lines that are neither folded nor joined, such as a command to copy, parted by newlines. */
void document_add_lines(cJSON *document, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A table from its description, without the columns that are empty in all rows that are printed; or one of a
 * summary.json, of which a copy is taken. */
void document_add_table(cJSON *document, const struct table *table);
void document_add_saved_table(cJSON *document, const cJSON *table);

/* A picture: an SVG file as text, which is freed; `name` is that of its file without .svg, unique in the document, and
 * `title` says what it shows, in Markdown for those who cannot see it. In HTML the SVG stands as it is, so it has to be
 * ours, and show its title itself. */
void document_add_picture(cJSON *document, const char *name, const char *title, char *svg);

/* As text, without pictures and headings of pictures alone; as Markdown (GitHub's), with pictures as links to
 * pictures/NAME.svg; and as one HTML file that holds all it needs, works without JavaScript, and is light or dark as
 * the reader's system is; it is XML, too. In it long tables are folded, pictures that follow each other stand side by
 * side, and names of options are code. Names that stand in it cannot break any of them. */
void document_print_text(FILE *out, const cJSON *document);
void document_print_markdown(FILE *out, const cJSON *document);
void document_print_html(FILE *out, const cJSON *document);

/* For these forms: calls print for each piece of a text, which is code or not; and for each line of one. */
void document_each_piece(FILE *out, const char *text, void (*print)(FILE *out, const char *piece, int code));
void document_each_line(FILE *out, const char *text, void (*print)(FILE *out, const char *line, int last));

#endif
