/* json_valid.c - for scripts: whether files are JSON. A .jsonl holds a value a line, each ended by a newline; any other
 * file is one value. Names the files that are not, and exits with status 1 if there is one. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int valid(FILE *file, int by_line)
{
    char *text = NULL;
    size_t room = 0, values = 0, bad = 0;
    while (getdelim(&text, &room, by_line ? '\n' : 0, file) > 0) { /* no 0 ends a whole file */
        cJSON *json = cJSON_ParseWithOpts(text, NULL, 1);
        bad += !json || (by_line && text[strlen(text) - 1] != '\n');
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
        if (!file || !valid(file, length > 6 && !strcmp(argv[i] + length - 6, ".jsonl"))) {
            printf("%s: %s\n", argv[i], file ? "not JSON" : "cannot be read");
            invalid++;
        }
        if (file)
            fclose(file);
    }
    return invalid != 0;
}
