/* text.c - a document as plain text. */
#include "document/document.h"

#include "base/json.h"
#include "base/text.h"

#include <string.h>

enum { WIDTH = 100 };

/* Words behind a mark, on lines of WIDTH columns that begin below the first word. Returns the column after the last. */
static int print_folded(FILE *out, const char *mark, const char *text)
{
    int indent = fprintf(out, "%s", mark), column = indent;
    while (*(text += strspn(text, " \t\n"))) {
        int width = (int)text_columns(text, strcspn(text, " \t\n"));
        if (column > indent && column + 1 + width > WIDTH)
            column = fprintf(out, "\n%*s", indent, "") - 1;
        else if (column > indent)
            column += fprintf(out, " ");
        column += width;
        while (*text && !strchr(" \t\n", *text))
            text += text_print_character(out, text);
    }
    fputc('\n', out);
    return column;
}

static void print_line(FILE *out, const char *line, int last)
{
    (void)last;
    fputs("  ", out);
    while (*line)
        line += text_print_character(out, line);
    fputc('\n', out);
}

/* A heading, underlined with a line of marks unless that is 0. */
static void print_heading(FILE *out, const char *text, char underline)
{
    int width = print_folded(out, "", text);
    for (int i = 0; underline && i < width; i++)
        fputc(underline, out);
    fputs(underline ? "\n" : "", out);
}

void document_print_text(FILE *out, const cJSON *document)
{
    const cJSON *block;
    const char *before = "";
    print_heading(out, json_string(document, "title"), '=');
    cJSON_ArrayForEach(block, cJSON_GetObjectItemCaseSensitive(document, "blocks"))
    {
        const char *kind = json_string(block, "kind"), *text = json_string(block, "text");
        int item = !strcmp(kind, "item"), table = !strcmp(kind, "table"); /* a table begins with an empty line */
        if (!strcmp(kind, "picture"))
            continue;
        fputs(table || (item && !strcmp(before, "item")) ? "" : "\n", out);
        if (!strcmp(kind, "heading"))
            print_heading(out, text, json_number(block, "level") > 2 ? 0 : '-');
        else if (table)
            table_print(out, cJSON_GetObjectItemCaseSensitive(block, "table"));
        else if (!strcmp(kind, "lines"))
            document_each_line(out, text, print_line);
        else
            print_folded(out, item ? "- " : "", text);
        before = kind;
    }
}
