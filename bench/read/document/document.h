/* document.h - a report, before it is printed as text, Markdown or HTML.
 *
 * A document is JSON, {title, blocks}. A block is {kind, ...}: a heading {text}, a paragraph {text}, an item of
 * a list {text}, a table {table} (base/table.h) or a picture {name, title, svg}. All forms are printed from the same
 * blocks, so that they agree. */
#ifndef BENCH_READ_DOCUMENT_DOCUMENT_H
#define BENCH_READ_DOCUMENT_DOCUMENT_H

#include "base/table.h"

#include <cJSON.h>
#include <stdio.h>

/* An empty document; the caller owns it. Here and below, texts are formatted by printf's rules. */
cJSON *document_create(const char *title, ...) __attribute__((format(printf, 1, 2)));

/* Each appends a block. Consecutive items form one list. Text between two backticks, in a paragraph, an item, or the
 * title or a note of a table, is printed as code. */
void document_add_heading(cJSON *document, const char *format, ...) __attribute__((format(printf, 2, 3)));
void document_add_paragraph(cJSON *document, const char *format, ...) __attribute__((format(printf, 2, 3)));
void document_add_item(cJSON *document, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a table without the columns that are empty in all printed rows; or a copy of a table of a summary.json. */
void document_add_table(cJSON *document, const struct table *table);
void document_add_saved_table(cJSON *document, const cJSON *table);

/* Appends a picture, and frees svg, the text of an SVG file from chart/. name: of the file, without .svg, unique in
 * the document. title: a description for readers of Markdown who cannot see the picture. */
void document_add_picture(cJSON *document, const char *name, const char *title, char *svg);

/* Print the document: as text, without pictures; as GitHub's Markdown, with pictures as links to pictures/NAME.svg; as
 * one HTML file without JavaScript or references to other
 * files, which is XML as well, and follows the light or dark setting of the reader's system. No text in the document
 * can break a form. */
void document_print_text(FILE *out, const cJSON *document);
void document_print_markdown(FILE *out, const cJSON *document);
void document_print_html(FILE *out, const cJSON *document);

/* Calls print for each piece of a text, in order, with code = 1 for those between two backticks. */
void document_each_piece(FILE *out, const char *text, void (*print)(FILE *out, const char *piece, int code));

#endif
