/* document.h - builds a report as a document, and prints it as text, Markdown or HTML.
 *
 * A document is JSON, {title, blocks}. `blocks` is a list of {kind, ...}: heading {text}, paragraph {text}, item of a
 * list {text}, table {table} (base/table.h) or picture {name, title, svg}. Every format is printed from this list. */
#ifndef BENCH_READ_DOCUMENT_DOCUMENT_H
#define BENCH_READ_DOCUMENT_DOCUMENT_H

#include "base/files.h"
#include "base/table.h"

#include <cJSON.h>
#include <stdio.h>

/* Creates an empty document, owned by the caller. Here and in document_add, printf formats the text. */
cJSON *document_create(const char *title, ...) __attribute__((format(printf, 1, 2)));

/* Appends a heading, a paragraph or an item of a list. Consecutive items form one list. Text between backticks is
 * printed as code in paragraphs, in items, and in the titles and notes of tables. */
void document_add(cJSON *document, const char *kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define document_add_heading(document, ...)   document_add(document, "heading", __VA_ARGS__)
#define document_add_paragraph(document, ...) document_add(document, "paragraph", __VA_ARGS__)
#define document_add_item(document, ...)      document_add(document, "item", __VA_ARGS__)

/* Adds a heading, unless the last one in the document is the same. */
void document_begin_section(cJSON *document, const char *heading);

/* Append a table without the columns that are empty in all printed rows, or a copy of a table from summary.json. */
void document_add_table(cJSON *document, const struct table *table);
void document_add_saved_table(cJSON *document, const cJSON *table);

/* Appends a picture, and frees svg, the text of an SVG file made by chart/. name: of the file, without .svg; a number
 * is appended if another picture has it. title: a description for readers of Markdown who cannot see the picture. */
void document_add_picture(cJSON *document, const char *name, const char *title, char *svg);

/* Print the document as text, without pictures; as GitHub's Markdown, with links to pictures/NAME.svg; or as one HTML
 * file that is also valid XML, has neither JavaScript nor references to other files, and follows the light or dark
 * setting of the reader's system. No text in the document can break a format. */
void document_print_text(FILE *out, const cJSON *document);
void document_print_markdown(FILE *out, const cJSON *document);
void document_print_html(FILE *out, const cJSON *document);

/* How a page begins, before its title. */
#define DOCUMENT_HTML_BEGIN "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>"

/* Prints the document as JSON on one line, without pictures. list is appended as a member `name`, and deleted. */
void document_print_json(FILE *out, const cJSON *document, const char *name, cJSON *list);

/* Splits a text at backticks and calls print for each piece in order; code = 1: the piece is between two backticks. */
void document_each_piece(FILE *out, const char *text, void (*print)(FILE *out, const char *piece, int code));

/* ---- forms: a command's output in other formats, in files that options name or in place of its text ---- */

struct form {
    const char *option, *mark; /* as in struct named_path */
    void (*print)(FILE *out, const void *shown);
};

/* Print the document that is the first member of what a command shows. */
void forms_print_text(FILE *out, const void *shown);
void forms_print_markdown(FILE *out, const void *shown);
void forms_print_html(FILE *out, const void *shown);

/* Here path[n] holds the value of each form's option: "": none, "-": standard output. Each returns 0; or -1, reported.
 *
 * forms_check_printed checks that at most one form is printed, which needs only the command line. forms_check checks
 * the files of the forms and of more[m] by files_check_named. forms_write writes the files of the forms; files written
 * before a failure stay. forms_print prints the form whose path is "-" or, without one, the text of print_text. */
int forms_check_printed(const struct form *form, const char *const *path, size_t n);
int forms_check(const struct form *form, const char *const *path, size_t n, const struct named_path *more, size_t m);
int forms_write(const struct form *form, const char *const *path, size_t n, const void *shown);
int forms_print(const struct form *form, const char *const *path, size_t n, const void *shown,
                void (*print_text)(FILE *out, const void *shown));

#endif
