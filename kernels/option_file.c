/* option_file.c - reads the options of a --config file, and appends them to the command line. */
#include "kernels/option_file.h"

#include "kernels/error.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char **words; /* [n] the options of the file, each as --NAME, --NAME=VALUE or -lVALUE, after its place and a 0 */
static size_t n;

const char *option_file_place(const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (words[i] + strlen(words[i]) + 1 == word)
            return words[i];
    return NULL;
}

/* Takes the option of a line, unless the line is empty or a comment. */
static void take_line(const char *path, int number, char *line)
{
    static const char blanks[] = " =\t\r\n";
    char *rest;
    for (char *c = line; *c; c++)
        if (*c == '#' && (c == line || isspace((unsigned char)c[-1])))
            *c = 0;
    const char *name = strtok_r(line, blanks, &rest);
    if (!name)
        return;
    const char *value = rest + strspn(rest, blanks), *end = rest + strlen(rest);
    while (end > value && isspace((unsigned char)end[-1]))
        end--;
    words = allocate_more(words, n, sizeof *words);
    if (asprintf(&words[n++], "%s:%d%c%s%s%s%.*s", path, number, 0, *name == '-' ? "" : "--", name,
                 end > value && (*name != '-' || name[1] == '-') ? "=" : "", (int)(end - value), value) < 0)
        fatal_no_memory(0, 0);
}

/* Reads the lines of a regular file. Returns 0; or -1 with errno. */
static int read_lines(const char *path)
{
    struct stat status;
    char *line = NULL;
    size_t room = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait for a writer */
    FILE *lines = file >= 0 ? fdopen(file, "r") : NULL;
    if (!lines || fstat(file, &status))
        return -1;
    errno = S_ISREG(status.st_mode) ? 0 : S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    for (int number = 1; !errno && getline(&line, &room, lines) >= 0; number++)
        take_line(path, number, line);
    int why = errno;
    free(line);
    fclose(lines);
    errno = why;
    return why ? -1 : 0;
}

int option_file_append(const char *path, int *argc, char ***argv)
{
    static char **all __attribute__((used)); /* static and used, so that its memory is not counted as lost */
    if (read_lines(path))
        return error_report("--config %s: %s", path, errno == EINVAL ? "it is not a regular file" : strerror(errno));
    all = allocate((size_t)*argc + n + 1, sizeof *all);
    memcpy(all, *argv, (size_t)*argc * sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[(*argc)++] = words[i] + strlen(words[i]) + 1;
    *argv = all;
    return 0;
}
