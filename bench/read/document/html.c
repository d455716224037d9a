/* html.c - prints a document as one HTML file that is also valid XML. */
#include "document/document.h"

#include "base/json.h"
#include "base/text.h"
#include "base/version.h"

#include <string.h>

/* The style sheet. Pictures (chart/svg.c) have the same colours. Printed pages are light. Wide content scrolls. */
static const char style[] =
    ":root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --faint: #505963; --line: #d5d9de;\n"
    "  --band: #f3f5f7; --link: #0b57a4; }\n"
    "@media screen and (prefers-color-scheme: dark) {\n"
    "  :root { --ink: #e6e9ec; --paper: #16191d; --faint: #a8b1ba; --line: #363c43; --band: #20252b; "
    "--link: #7db7f2; }\n}\n"
    "html { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }\n"
    "body { max-width: 80rem; margin: 0 auto; padding: 1rem 1.25rem 3rem; overflow-wrap: break-word; }\n"
    "h1 { font-size: 1.7rem; line-height: 1.25; margin: .5rem 0 .75rem; }\n"
    "h2 { font-size: 1.3rem; margin: 2.5rem 0 .75rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); }\n"
    "p, ul { max-width: 56rem; margin: .6rem 0; }\n"
    "li { margin: .3rem 0; }\n"
    "a { color: var(--link); }\n"
    "code { font: .875em/1.5 ui-monospace, monospace; background: var(--band); border-radius: 3px; }\n"
    "code { display: inline-block; max-width: 100%; padding: 0 .3em; overflow-wrap: anywhere; }\n"
    "nav ul { display: flex; max-width: none; margin: 0; padding: 0 0 .25rem; list-style: none; }\n"
    "nav li { flex: none; margin: 0 1.25rem 0 0; font-size: .875rem; }\n"
    "nav + main > h2:first-child { margin-top: 1rem; }\n"
    "figure { margin: 1.25rem 0; }\n"
    "figcaption { font-weight: 600; margin-bottom: .4rem; }\n"
    ".wide, nav ul { overflow-x: auto; }\n"
    ".wide svg { display: block; width: 100%; min-width: 40rem; max-width: 56rem; height: auto; }\n"
    ".narrow { display: none; }\n"
    "@media screen and (max-width: 42rem) { .narrow { display: block; } }\n"
    ".narrow::after { content: \"Scroll sideways to see the whole picture \\2192\"; display: block; color: "
    "var(--faint); }\n"
    "table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }\n"
    "th, td { padding: .25rem .6rem; text-align: right; white-space: nowrap; vertical-align: top; }\n"
    "th { white-space: normal; vertical-align: bottom; border-bottom: 2px solid var(--line); }\n"
    "td { border-bottom: 1px solid var(--line); }\n"
    ".left { text-align: left; white-space: normal; overflow-wrap: break-word; }\n"
    "td.long { white-space: normal; min-width: 22rem; overflow-wrap: anywhere; }\n"
    ".note { margin: .3rem 0; }\n"
    ".note, footer { color: var(--faint); font-size: .875rem; }\n"
    "footer { margin-top: 3rem; }\n"
    "@media print {\n"
    "  html { font-size: 11px; } nav { display: none; } body { max-width: none; padding: 0; }\n"
    "  h2, figcaption { break-after: avoid; } tr, svg { break-inside: avoid; }\n"
    "  .wide { overflow: visible; } .wide svg { min-width: 0; }\n"
    "}\n";

/* The Content-Security-Policy forbids a browser to load or run anything, whatever the file contains. */
static const char head[] =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";

static void print_piece(FILE *out, const char *piece, int code)
{
    fputs(code ? "<code>" : "", out);
    text_print_markup(out, piece);
    fputs(code ? "</code>" : "", out);
}

static void print_element(FILE *out, const char *name, const char *attributes, const char *text)
{
    fprintf(out, "<%s%s>", name, attributes);
    document_each_piece(out, text, print_piece);
    fprintf(out, "</%s>\n", name);
}

/* ---- headings and the table of contents ---- */

/* Prints links to the headings if the document has at least two. */
static void print_contents(FILE *out, const cJSON *first)
{
    int headings = 0, number = 0;
    for (const cJSON *block = first; block; block = block->next)
        headings += !strcmp(json_string(block, "kind"), "heading");
    if (headings < 2)
        return;
    fputs("<nav aria-label=\"Contents\">\n<ul>\n", out);
    for (const cJSON *block = first; block; block = block->next) {
        if (strcmp(json_string(block, "kind"), "heading") != 0)
            continue;
        fprintf(out, "<li><a href=\"#s%d\">", ++number);
        text_print_markup(out, json_string(block, "text"));
        fputs("</a></li>\n", out);
    }
    fputs("</ul>\n</nav>\n", out);
}

/* ---- tables ---- */

/* Prints the cells of a row; row NULL: the headings of the columns. */
static void print_row(FILE *out, const struct table_view *view, const cJSON *row)
{
    char cell[TABLE_CELL];
    fputs("<tr>", out);
    for (int i = 0; i < view->columns; i++) {
        int left = table_is_left(view->column[i]), is_long = strlen(table_cell(cell, view->column[i], row)) > 48;
        const char *classes = !left ? "" : is_long ? " class=\"left long\"" : " class=\"left\"";
        fprintf(out, "%s%s>", row ? "<td" : "<th scope=\"col\"", classes);
        text_print_markup(out, cell);
        fputs(row ? "</td>" : "</th>", out);
    }
    fputs("</tr>\n", out);
}

static void print_table(FILE *out, const cJSON *table)
{
    struct table_view view = table_view(table);
    if (!view.columns)
        return;
    fputs("<figure>\n", out);
    if (*view.title)
        print_element(out, "figcaption", "", view.title);
    fputs("<div class=\"wide\">\n<table>\n<thead>\n", out);
    print_row(out, &view, NULL);
    fputs("</thead>\n<tbody>\n", out);
    const cJSON *row = view.row;
    for (int i = 0; i < view.rows; i++, row = row->next)
        print_row(out, &view, row);
    fputs("</tbody>\n</table>\n</div>\n", out);
    if (*view.more) {
        fputs("<p class=\"note\">", out);
        text_print_markup(out, view.more);
        fputs("</p>\n", out);
    }
    for (const cJSON *note = view.note; note; note = note->next)
        print_element(out, "p", " class=\"note\"", note->valuestring);
    fputs("</figure>\n", out);
}

/* ---- all together ---- */

static void print_blocks(FILE *out, const cJSON *first)
{
    int number = 0, in_list = 0;
    for (const cJSON *block = first; block; block = block->next) {
        const char *kind = json_string(block, "kind"), *text = json_string(block, "text");
        int item = !strcmp(kind, "item");
        if (item != in_list)
            fputs(item ? "<ul>\n" : "</ul>\n", out);
        in_list = item;
        if (!strcmp(kind, "heading")) {
            fprintf(out, "<h2 id=\"s%d\">", ++number);
            text_print_markup(out, text);
            fputs("</h2>\n", out);
        } else if (!strcmp(kind, "table"))
            print_table(out, cJSON_GetObjectItemCaseSensitive(block, "table"));
        else if (!strcmp(kind, "picture")) {
            fputs("<figure>\n", out);
            print_element(out, "figcaption", " class=\"narrow\"", json_string(block, "title"));
            fprintf(out, "<div class=\"wide\">\n%s</div>\n</figure>\n", json_string(block, "svg"));
        } else
            print_element(out, item ? "li" : "p", "", text);
    }
    fputs(in_list ? "</ul>\n" : "", out);
}

void document_print_html(FILE *out, const cJSON *document)
{
    const cJSON *first = json_first(document, "blocks");
    fputs(DOCUMENT_HTML_BEGIN, out);
    text_print_markup(out, json_string(document, "title"));
    fprintf(out, "</title>\n%s<style>\n%s</style>\n</head>\n<body>\n<h1>", head, style);
    text_print_markup(out, json_string(document, "title"));
    fputs("</h1>\n", out);
    print_contents(out, first);
    fputs("<main>\n", out);
    print_blocks(out, first);
    fputs("</main>\n<footer>ddpbench ", out);
    text_print_markup(out, version_text());
    fputs("</footer>\n</body>\n</html>\n", out);
}
