/* text.c - a document as plain text. */
#include "document/document.h"

#include "base/json.h"
#include "base/text.h"

#include <string.h>

/* Prints a heading, underlined with the character. */
static void print_heading(FILE *out, const char *text, char underline)
{
    for (int width = text_wrap(out, "", text); width > 0; width--)
        fputc(underline, out);
    fputs("\n", out);
}

/* Whether a heading has pictures below it, and nothing else, up to the next heading. */
static int has_pictures_alone(const cJSON *heading)
{
    const cJSON *block = heading->next;
    while (block && !strcmp(json_string(block, "kind"), "picture"))
        block = block->next;
    return block != heading->next && (!block || !strcmp(json_string(block, "kind"), "heading"));
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
        int heading = !strcmp(kind, "heading");
        if (!strcmp(kind, "picture") || (heading && has_pictures_alone(block)))
            continue;
        fputs(table || (item && !strcmp(before, "item")) ? "" : "\n", out);
        if (heading)
            print_heading(out, text, '-');
        else if (table)
            table_print(out, "", cJSON_GetObjectItemCaseSensitive(block, "table"));
        else
            text_wrap(out, item ? "- " : "", text);
        before = kind;
    }
}
