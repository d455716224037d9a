/* facts.h - facts of a rank that are the same on all ranks, or should be: version, command line, data, environment.
 *
 * Facts are lines "NAME\tVALUE". Every version of the program keeps the size of the structure and its exchange in
 * job_begin, so that ranks of different versions are refused by name. */
#ifndef DDP_FACTS_H
#define DDP_FACTS_H

#include <stdint.h>

enum { FACTS_TEXT = 16368 };

struct facts {
    uint64_t digest;       /* of all facts, those included that do not fit into the text */
    uint64_t bytes;        /* of text, without the zero byte at its end */
    char text[FACTS_TEXT]; /* as many whole lines as fit */
};

/* Adds a fact to a zeroed structure or after other facts. A tab or a new line in a text becomes a space. facts_print
 * makes the value by the format of printf, with at most 255 characters. */
void facts_add(struct facts *facts, const char *name, const char *value);
__attribute__((format(printf, 3, 4))) void facts_print(struct facts *facts, const char *name, const char *format, ...);

/* Adds each option of a command line under its name, --lr=1 as --lr 1, --max_norm as --max-norm; a flag's value is "".
 * Adds a first word that is no option as "the command", other such words as "an argument". */
void facts_add_words(struct facts *facts, int argc, char *const argv[]);

/* Adds the size and the digest of a file: of all bytes if `whole` is 1; else of its first and last MiB and of 64 blocks
 * of 4 KiB at equal distances. If the file cannot be read, adds the reason. */
void facts_add_file(struct facts *facts, const char *path, int whole);

/* Compares the facts of a rank with rank 0's. Returns 0 if they are equal; or -1, reported with the first fact that
 * differs and both values. */
int facts_check(const struct facts *first, const struct facts *mine);

#endif
