/* facts.h - facts about a rank that should be the same on all ranks: version, command line, data, environment.
 *
 * Facts are lines "NAME\tVALUE". The size of the structure and its exchange in job_begin stay the same in every version
 * of the program, so that an error can name the versions if they differ between ranks. */
#ifndef DDP_FACTS_H
#define DDP_FACTS_H

#include <stddef.h>
#include <stdint.h>

enum { FACTS_TEXT = 16368, FACTS_NAME = 160, FACTS_VALUE = 256, FACTS_LONG = 4096, FACTS_DIFFERENCE = 800 };

struct facts {
    uint64_t digest;       /* of all facts, including facts that do not fit into the text */
    uint64_t bytes;        /* of text, without the zero byte at its end */
    char text[FACTS_TEXT]; /* as many whole lines as fit */
};

/* Adds a fact to a zeroed structure or after other facts. A tab or a new line in a text becomes a space. A value of
 * more than FACTS_LONG characters is replaced by its length and digest. facts_print formats the value as printf does,
 * with at most FACTS_VALUE - 1 characters. */
void facts_add(struct facts *facts, const char *name, const char *value);
__attribute__((format(printf, 3, 4))) void facts_print(struct facts *facts, const char *name, const char *format, ...);

/* Adds the words of a command line. The fact "the command" is the first word, or "the benchmark" if that is an option.
 * Each option is added under its name, --lr=1 like --lr 1, and --max_norm like --max-norm. The word after an option is
 * its value, unless it begins with -- or is one letter after a -; a flag's value is "". Every other word is added as
 * "an argument". The order of options and arguments goes into the digest. */
void facts_add_words(struct facts *facts, int argc, char *const argv[]);

/* Adds under a name the size and the digest of a file. The digest covers all bytes if `whole` is 1, otherwise the first
 * and last MiB and 64 blocks of 4 KiB at equal distances. If the file cannot be read, adds the reason. */
void facts_add_file(struct facts *facts, const char *name, const char *path, int whole);

/* Copies the name of the fact at *at, which is 0 at first, and moves *at to the next fact. Returns 0 at the end. */
int facts_next(const struct facts *facts, size_t *at, char name[FACTS_NAME]);

/* Copies the value of the first fact of that name; returns 0, and copies "", if there is none. */
int facts_find(const struct facts *facts, const char *name, char value[FACTS_VALUE]);

/* Compares every rank's fact of that name with rank 0's. Returns how many ranks differ. If any rank differs, describes
 * the difference in words, for example "threads: 1 on rank 0, 2 on rank 5 (7 ranks differ from rank 0)", and shortens
 * long values to a part that differs. */
int facts_compare(const struct facts *of, int ranks, const char *name, char words[FACTS_DIFFERENCE]);

/* Compares the facts of a rank with rank 0's. Returns 0 if they are equal; or -1, reported with the first fact that
 * differs and both values; or, if only the digests differ, with what that can mean. */
int facts_check(const struct facts *first, const struct facts *mine);

#endif
