/* markdown.c - a document as Markdown: GitHub's, https://github.github.com/gfm/. A paragraph, an item and a
 * row is one line each, since GitHub keeps the line breaks of a comment. */
#include "document/document.h"

#include "base/json.h"
#include "base/text.h"
#include "kernels/utf8.h"

#include <ctype.h>
#include <string.h>

/* Whether the character at text[at] would mean something to Markdown there. */
static int is_marking(const char *text, size_t at)
{
    char c = text[at], next = text[at + 1];
    if (c == ']') /* a link, or where one leads; an interval is left as it is */
        return next && strchr("([:", next);
    if (c == '_') /* not within a name, such as ddp_bucketed */
        return !(at && isalnum((unsigned char)text[at - 1]) && isalnum((unsigned char)next));
    if (c == ':') /* an address, which becomes a link */
        return next == '/';
    if (c == '.')
        return at >= 3 && !strncasecmp(text + at - 3, "www", 3);
    return c && strchr("\\`*|#~$!", c);
}

/* Text that is only text, of which all of `also` is escaped, too; on one line. */
static void print_plain(FILE *out, const char *text, const char *also)
{
    for (size_t at = 0; text[at];) {
        char c = text[at];
        size_t length = 1;
        if (c == '<' || c == '>' || c == '&')
            fputs(c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;", out);
        else if (c == '@') /* a comment keeps it from being an address, or from calling a person */
            fputs("@<!-- -->", out);
        else if (isspace((unsigned char)c))
            fputc(' ', out);
        else {
            fputs(is_marking(text, at) || strchr(also, c) ? "\\" : "", out);
            length = text_print_character(out, text + at);
        }
        at += length;
    }
}

/* Code, in which nothing means anything. */
static void print_code(FILE *out, const char *code)
{
    for (int length; *code; code += length ? length : 1) {
        length = utf8_character(code);
        fwrite(length ? code : " ", 1, length ? (size_t)length : 1, out);
    }
}

static void print_piece(FILE *out, const char *piece, int code)
{
    if (!code) {
        print_plain(out, piece, "");
        return;
    }
    fputc('`', out);
    print_code(out, piece);
    fputc('`', out);
}

/* A line of text that is no list, heading or code, whatever it begins with. */
static void print_line(FILE *out, const char *text)
{
    text += strspn(text, " \t\n");
    size_t digits = strspn(text, "0123456789");
    if (*text && strchr("-+=[", *text)) {
        fputc('\\', out);
    } else if (digits && text[digits] && strchr(".)", text[digits])) {
        fprintf(out, "%.*s\\", (int)digits, text);
        text += digits;
    }
    document_each_piece(out, text, print_piece);
}

/* A line between fences: four spaces keep it from being one. */
static void print_code_line(FILE *out, const char *line, int last)
{
    (void)last;
    fputs(line[strspn(line, " ")] == '`' ? "    " : "", out);
    print_code(out, line);
    fputc('\n', out);
}

/* The cells of a row, or of the headings. */
static void print_row(FILE *out, const struct table_view *view, const cJSON *row)
{
    char cell[TABLE_CELL];
    for (int i = 0; i < view->columns; i++) {
        fputs("| ", out);
        print_plain(out, table_cell(cell, view->column[i], row), "");
        fputc(' ', out);
    }
    fputs("|\n", out);
}

static void print_table(FILE *out, const cJSON *table)
{
    struct table_view view = table_view(table);
    if (!view.columns)
        return;
    if (*view.title) {
        fputs("\n**", out);
        document_each_piece(out, view.title, print_piece);
        fputs("**\n", out);
    }
    fputc('\n', out);
    print_row(out, &view, NULL);
    for (int i = 0; i < view.columns; i++)
        fputs(table_is_left(view.column[i]) ? "|---" : "|---:", out);
    fputs("|\n", out);
    const cJSON *row = view.row;
    for (int i = 0; i < view.rows; i++, row = row->next)
        print_row(out, &view, row);
    if (view.more) {
        fprintf(out, "\n... (%d more in ", view.more);
        print_plain(out, view.rest, "");
        fputs(")\n", out);
    }
    fputs(view.note ? "\n" : "", out);
    for (const cJSON *note = view.note; note; note = note->next) {
        print_line(out, note->valuestring);
        fputs(note->next ? "\\\n" : "\n", out); /* a backslash at the end of a line: it breaks there */
    }
}

static void print_picture(FILE *out, const cJSON *block)
{
    fputs("\n![", out);
    print_plain(out, json_string(block, "title"), "[]");
    fputs("](pictures/", out);
    for (const char *c = json_string(block, "name"); *c; c++)
        fprintf(out, isalnum((unsigned char)*c) || strchr("-._", *c) ? "%c" : "%%%02X", (unsigned char)*c);
    fputs(".svg)\n", out);
}

void document_print_markdown(FILE *out, const cJSON *document)
{
    const cJSON *block;
    const char *before = "";
    fputs("# ", out);
    print_plain(out, json_string(document, "title"), "");
    fputc('\n', out);
    cJSON_ArrayForEach(block, cJSON_GetObjectItemCaseSensitive(document, "blocks"))
    {
        const char *kind = json_string(block, "kind"), *text = json_string(block, "text");
        if (!strcmp(kind, "table")) {
            print_table(out, cJSON_GetObjectItemCaseSensitive(block, "table"));
        } else if (!strcmp(kind, "picture")) {
            print_picture(out, block);
        } else if (!strcmp(kind, "lines")) {
            fputs("\n```text\n", out);
            document_each_line(out, text, print_code_line);
            fputs("```\n", out);
        } else if (!strcmp(kind, "heading")) {
            fputs(json_number(block, "level") > 2 ? "\n### " : "\n## ", out);
            print_plain(out, text, "");
            fputc('\n', out);
        } else {
            int item = !strcmp(kind, "item");
            fputs(!item ? "\n" : strcmp(before, "item") ? "\n- " : "- ", out);
            print_line(out, text);
            fputc('\n', out);
        }
        before = kind;
    }
}
