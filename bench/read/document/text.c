/* text.c - a document as plain text. */
#include "document/document.h"

#include "base/json.h"
#include "base/text.h"

#include <string.h>

/* Prints a heading, underlined with the character unless that is 0. */
static void print_heading(FILE *out, const char *text, char underline)
{
    int width = text_wrap(out, "", text);
    for (int i = 0; underline && i < width; i++)
        fputc(underline, out);
    fputs(underline ? "\n" : "", out);
}

/* Whether a heading has pictures below it, and nothing else but headings, up to the next heading of its level. */
static int has_pictures_alone(const cJSON *heading)
{
    double level = json_number(heading, "level");
    int pictures = 0;
    for (const cJSON *block = heading->next; block; block = block->next) {
        const char *kind = json_string(block, "kind");
        if (!strcmp(kind, "heading") && json_number(block, "level") <= level)
            break;
        if (strcmp(kind, "heading") != 0 && strcmp(kind, "picture") != 0)
            return 0;
        pictures |= !strcmp(kind, "picture");
    }
    return pictures;
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
            print_heading(out, text, json_number(block, "level") > 2 ? 0 : '-');
        else if (table)
            table_print(out, "", cJSON_GetObjectItemCaseSensitive(block, "table"));
        else
            text_wrap(out, item ? "- " : "", text);
        before = kind;
    }
}
