/* markdown.c - prints a document as GitHub's Markdown, https://github.github.com/gfm/. Each paragraph, item and row is
 * one line, since GitHub keeps line breaks in issue comments. */
#include "document/document.h"

#include "base/json.h"
#include "base/text.h"
#include "kernels/utf8.h"

#include <ctype.h>
#include <string.h>

/* Whether Markdown would interpret the character at text[at]. */
static int is_marking(const char *text, size_t at)
{
    char c = text[at], next = text[at + 1];
    if (c == ']') /* Markdown reads ](, ][ and ]: as a link; any other ] needs no backslash */
        return next && strchr("([:", next);
    if (c == '_') /* needs no backslash inside a word like ddp_bucketed */
        return !(at && isalnum((unsigned char)text[at - 1]) && isalnum((unsigned char)next));
    if (c == ':') /* "://" would make an address a link */
        return next == '/';
    if (c == '.')
        return at >= 3 && !strncasecmp(text + at - 3, "www", 3);
    return c && strchr("\\`*|#~$!", c);
}

/* Prints text on one line and escapes all that Markdown would interpret, and the characters in `also`. */
static void print_plain(FILE *out, const char *text, const char *also)
{
    for (size_t at = 0; text[at];) {
        char c = text[at];
        size_t length = 1;
        if (c == '<' || c == '>' || c == '&')
            fputs(c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;", out);
        else if (c == '@' && isalnum((unsigned char)text[at + 1])) /* the comment prevents a mail address or mention */
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

/* Prints a piece of a text, for document_each_piece. If the piece is code, nothing in it is escaped. */
static void print_piece(FILE *out, const char *piece, int code)
{
    if (!code) {
        print_plain(out, piece, "");
        return;
    }
    fputc('`', out);
    for (int length; *piece; piece += length ? length : 1) {
        length = utf8_character(piece);
        fwrite(length ? piece : " ", 1, length ? (size_t)length : 1, out);
    }
    fputc('`', out);
}

/* Prints a line, and escapes its first characters if they would begin a list, heading or code block. */
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

/* Prints the cells of a row; row NULL: the headings of the columns. */
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
    fputs(*view.more ? "\n" : "", out);
    print_plain(out, view.more, "");
    fputs(*view.more ? "\n" : "", out);
    fputs(view.note ? "\n" : "", out);
    for (const cJSON *note = view.note; note; note = note->next) {
        print_line(out, note->valuestring);
        fputs(note->next ? "\\\n" : "\n", out); /* Markdown reads a backslash at the end of a line as a line break */
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
    const char *before = "";
    fputs("# ", out);
    print_plain(out, json_string(document, "title"), "");
    fputc('\n', out);
    for (const cJSON *block = json_first(document, "blocks"); block; block = block->next) {
        const char *kind = json_string(block, "kind"), *text = json_string(block, "text");
        if (!strcmp(kind, "table")) {
            print_table(out, cJSON_GetObjectItemCaseSensitive(block, "table"));
        } else if (!strcmp(kind, "picture")) {
            print_picture(out, block);
        } else if (!strcmp(kind, "heading")) {
            fputs("\n## ", out);
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
