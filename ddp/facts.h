/* facts.h - facts of a rank that are the same on all ranks, or should be: version, command line, data, environment.
 *
 * Facts are lines "NAME\tVALUE". Every version of the program keeps the size of the structure and its exchange in
 * job_begin, so that ranks of different versions are refused by name. */
#ifndef DDP_FACTS_H
#define DDP_FACTS_H

#include <stddef.h>
#include <stdint.h>

enum { FACTS_TEXT = 16368, FACTS_NAME = 160, FACTS_VALUE = 256, FACTS_LONG = 4096, FACTS_DIFFERENCE = 800 };

struct facts {
    uint64_t digest;       /* of all facts, those included that do not fit into the text */
    uint64_t bytes;        /* of text, without the zero byte at its end */
    char text[FACTS_TEXT]; /* as many whole lines as fit */
};

/* Adds a fact to a zeroed structure or after other facts. A tab or a new line in a text becomes a space; of a value of
 * more than FACTS_LONG characters, their number and their digest are added. facts_print makes the value by the format
 * of printf, with at most FACTS_VALUE - 1 characters. */
void facts_add(struct facts *facts, const char *name, const char *value);
__attribute__((format(printf, 3, 4))) void facts_print(struct facts *facts, const char *name, const char *format, ...);

/* Adds the first word as "the command", "the benchmark" if it is an option, and each option under its name, --lr=1 as
 * --lr 1, --max_norm as --max-norm. The word after an option is its value, unless it begins with -- or is one letter
 * after a -; a flag's value is "". Adds other words as "an argument", and the order of all to the digest. */
void facts_add_words(struct facts *facts, int argc, char *const argv[]);

/* Adds under a name the size and the digest of a file: of all bytes if `whole` is 1; else of its first and last MiB and
 * of 64 blocks of 4 KiB at equal distances. If the file cannot be read, adds the reason. */
void facts_add_file(struct facts *facts, const char *name, const char *path, int whole);

/* Copies the name of the fact at *at, which is 0 at first, and moves *at to the next fact. Returns 0 at the end. */
int facts_next(const struct facts *facts, size_t *at, char name[FACTS_NAME]);

/* Copies the value of the first fact of that name; returns 0, and copies "", if there is none. */
int facts_find(const struct facts *facts, const char *name, char value[FACTS_VALUE]);

/* Compares the fact of that name of all ranks with rank 0's. Returns how many ranks differ and, if any does, writes
 * such as "threads: 1 on rank 0, 2 on rank 5 (7 ranks differ from rank 0)"; of long values, a part that differs. */
int facts_compare(const struct facts *of, int ranks, const char *name, char words[FACTS_DIFFERENCE]);

/* Compares the facts of a rank with rank 0's. Returns 0 if they are equal; or -1, reported with the first fact that
 * differs and both values; or, if only the digests differ, with what that can mean. */
int facts_check(const struct facts *first, const struct facts *mine);

#endif
