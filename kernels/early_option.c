/* early_option.c - searches the command line for one option, before the command line is parsed. */
#include "kernels/early_option.h"

#include <stddef.h>
#include <string.h>

/* Tests whether a word begins with an option's name; _ in the word also stands for -. */
static int begins(const char *word, const char *name)
{
    while (*name && (*word == *name || (*word == '_' && *name == '-')))
        word++, name++;
    return !*name;
}

const char *early_option(int argc, char *const argv[], const char *name, char letter)
{
    size_t length = strlen(name);
    for (int i = 1; i < argc && argv[i]; i++) {
        const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strncmp(word, "--", 2) && begins(word + 2, name)) {
            const char *rest = word + 2 + length;
            if (*rest == '=' || !*rest)
                return *rest ? rest + 1 : next;
        } else if (letter && word[0] == '-' && word[1] == letter) {
            return word[2] ? word + 2 : next;
        }
    }
    return NULL;
}
