/* json_valid.c - checks JSON files, for scripts. A .jsonl file has one value per line, each ended by a newline; every
 * other file has one value; texts in a summary.json must be whole sentences. Prints the names of invalid files, and
 * exits with status 1 if there are any. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether all texts of a list are sentences: not empty, no newlines, no leading, trailing or repeated
 * blanks, except before the colon of a line for other programs. */
static int sentences(const cJSON *object, const char *list)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(object, list))
    {
        const char *text = cJSON_GetStringValue(item);
        size_t length = text ? strlen(text) : 0;
        if (!length || strpbrk(text, "\t\n") || (strstr(text, "  ") && !strstr(text, "  : ")) || *text == ' ' ||
            text[length - 1] == ' ') {
            printf("no whole sentence: '%s'\n", text ? text : "");
            return 0;
        }
    }
    return 1;
}

static int all_sentences(const cJSON *summary)
{
    const cJSON *table;
    int good = sentences(summary, "heading") && sentences(summary, "answers") && sentences(summary, "notes");
    cJSON_ArrayForEach(table, cJSON_GetObjectItem(summary, "tables")) good = good && sentences(table, "notes");
    return good;
}

static int valid(FILE *file, int by_line, int is_summary)
{
    char *text = NULL;
    size_t room = 0, values = 0, bad = 0;
    while (getdelim(&text, &room, by_line ? '\n' : 0, file) > 0) { /* a line, or the file: it has no 0 byte */
        cJSON *json = cJSON_ParseWithOpts(text, NULL, 1);
        bad += !json || (is_summary && !all_sentences(json)) || (by_line && text[strlen(text) - 1] != '\n');
        cJSON_Delete(json);
        values++;
    }
    free(text);
    return !bad && (by_line || values == 1);
}

int main(int argc, char *argv[])
{
    int invalid = argc < 2;
    if (invalid)
        fprintf(stderr, "Usage: json_valid FILE...\n");
    for (int i = 1; i < argc; i++) {
        size_t length = strlen(argv[i]);
        FILE *file = fopen(argv[i], "rb");
        if (!file || !valid(file, length > 6 && !strcmp(argv[i] + length - 6, ".jsonl"),
                            length >= 12 && !strcmp(argv[i] + length - 12, "summary.json"))) {
            printf("%s: %s\n", argv[i], file ? "not valid" : "cannot be read");
            invalid++;
        }
        if (file)
            fclose(file);
    }
    return invalid != 0;
}
