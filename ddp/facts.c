/* facts.c - lists facts of a rank, and compares them with rank 0's. */
#include "ddp/facts.h"

#include "ddp/read_fully.h"
#include "kernels/error.h"
#include "kernels/random.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- listing ---- */

/* Returns the digest of more bytes: FNV-1a over words of 8 bytes, each mixed by SplitMix64's finaliser (random.h). */
static uint64_t add_bytes(uint64_t digest, const char *bytes, size_t n)
{
    for (size_t at = 0; at < n; at += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + at, n - at < 8 ? n - at : 8);
        digest = random_bits((digest ^ word) * 0x100000001b3u + n);
    }
    return digest;
}

/* Copies a text without its zero byte, with a space for a tab or a new line. Returns its end. */
static char *put(char *to, const char *text)
{
    for (; *text; text++)
        *to++ = strchr("\t\n", *text) ? ' ' : *text;
    return to;
}

void facts_add(struct facts *facts, const char *name, const char *value)
{
    size_t names = strlen(name), values = strlen(value);
    char *line = facts->text + facts->bytes, *end = line;
    facts->digest += add_bytes(add_bytes(0, name, names + 1), value, values + 1); /* in any order */
    if (facts->bytes + names + values + sizeof "\t\n" > FACTS_TEXT)
        return;
    end = put(end, name);
    *end++ = '\t';
    end = put(end, value);
    *end++ = '\n';
    facts->bytes += (uint64_t)(end - line);
}

void facts_print(struct facts *facts, const char *name, const char *format, ...)
{
    char value[FACTS_VALUE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    facts_add(facts, name, value);
}

void facts_add_words(struct facts *facts, int argc, char *const argv[])
{
    int first = argc > 1 && argv[1][0] != '-';
    facts_add(facts, "the command", first ? argv[1] : "the benchmark");
    for (int i = 1 + first; i < argc; i++) {
        const char *word = argv[i], *value = "";
        size_t length = word[0] == '-' && word[1] != '-' ? 2 : strcspn(word, "=");
        char name[80];
        if (*word != '-') {
            facts_add(facts, "an argument", word);
            continue;
        }
        if (strlen(word) > length)
            value = word + length + (word[length] == '=');
        else if (i + 1 < argc && strncmp(argv[i + 1], "--", 2) != 0) /* as option_table reads a value */
            value = argv[++i];
        snprintf(name, sizeof name, "%.*s", (int)length, word);
        for (char *c = name; (c = strchr(c, '_'));)
            *c = '-';
        facts_add(facts, name, value);
    }
}

/* Adds bytes [at, at + n) of a file to a digest. Returns 0; or -1 with errno, which is 0 if the file is too short. */
static int add_range(uint64_t *digest, int file, size_t at, size_t n)
{
    enum { PIECE = 1 << 20 };
    char *piece = allocate(PIECE, 1);
    int failed = 0;
    for (size_t end = at + n, m; at < end && !failed; at += m) {
        m = end - at < PIECE ? end - at : PIECE;
        failed = read_fully(file, piece, m, at);
        *digest = add_bytes(*digest, piece, m);
    }
    free(piece);
    return failed;
}

void facts_add_file(struct facts *facts, const char *path, int whole)
{
    const size_t mib = (size_t)1 << 20, block = 4096, blocks = 64;
    char name[200];
    struct stat about = {0};
    uint64_t digest = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait for a writer */
    int failed = file < 0 || fstat(file, &about), is_file = S_ISREG(about.st_mode);
    size_t bytes = (size_t)about.st_size;
    if (!failed && is_file && (whole || bytes <= 2 * mib + blocks * block))
        failed = add_range(&digest, file, 0, bytes);
    else if (!failed && is_file) {
        failed = add_range(&digest, file, 0, mib) || add_range(&digest, file, bytes - mib, mib);
        for (size_t i = 1; i <= blocks && !failed; i++)
            failed = add_range(&digest, file, bytes / (blocks + 1) * i, block);
    }
    if (file >= 0)
        close(file);
    snprintf(name, sizeof name, "the file %s", path);
    if (failed)
        facts_print(facts, name, "unreadable (%s)", errno ? strerror(errno) : "it became shorter");
    else if (!is_file)
        facts_add(facts, name, "not a regular file");
    else
        facts_print(facts, name, "%zu bytes with the digest %016" PRIx64, bytes, digest);
}

/* ---- comparing ---- */

/* Returns the length of a text up to one of the characters. */
static int length(const char *text, const char *ends)
{
    return (int)strcspn(text, ends);
}

/* Returns the value of the nth fact, from 0, that has the name of the fact at `line`; NULL if there is none. */
static const char *find(const char *text, const char *line, int nth)
{
    int n = length(line, "\t") + 1;
    for (; *text; text += length(text, "\n") + 1)
        if (!strncmp(text, line, (size_t)n) && !nth--)
            return text + n;
    return NULL;
}

int facts_next(const struct facts *facts, size_t *at, char name[FACTS_NAME])
{
    const char *line = facts->text + *at;
    snprintf(name, FACTS_NAME, "%.*s", length(line, "\t"), line);
    *at += (size_t)length(line, "\n") + (*line != 0);
    return *line != 0;
}

int facts_find(const struct facts *facts, const char *name, char value[FACTS_VALUE])
{
    char line[FACTS_NAME + 1];
    snprintf(line, sizeof line, "%s\t", name);
    const char *found = find(facts->text, line, 0);
    snprintf(value, FACTS_VALUE, "%.*s", found ? length(found, "\n") : 0, found ? found : "");
    return found != NULL;
}

static void find_words(const struct facts *facts, const char *name, char value[FACTS_VALUE])
{
    const char *none = !facts_find(facts, name, value) ? "not set" : !*value ? "empty" : NULL;
    if (none)
        snprintf(value, FACTS_VALUE, "%s", none);
}

int facts_compare(const struct facts *of, int ranks, const char *name, char words[2 * FACTS_VALUE])
{
    char first[FACTS_VALUE], other[FACTS_VALUE], value[FACTS_VALUE];
    int differ = 0, n = 0;
    find_words(of, name, first);
    for (int r = 1; r < ranks; r++) {
        find_words(&of[r], name, value);
        if (strcmp(value, first) != 0 && !differ++) {
            memcpy(other, value, sizeof other);
            n = r;
        }
    }
    if (differ) /* a value of over 150 characters is cut */
        n = snprintf(words, 2 * FACTS_VALUE, "%.80s: %.150s on rank 0, %.150s on rank %d", name, first, other, n);
    if (differ > 1)
        snprintf(words + n, 2 * FACTS_VALUE - (size_t)n, " (%d ranks differ from rank 0)", differ);
    return differ;
}

/* Returns the line of the first fact of `of` that `other` lacks or has with another value; stores both values, NULL if
 * `other` lacks it. Returns NULL if there is no such fact. */
static const char *find_difference(const char *of, const char *other, const char **value, const char **others)
{
    for (const char *line = of; *line; line += length(line, "\n") + 1) {
        int nth = 0, n;
        for (const char *before = of; before < line; before += length(before, "\n") + 1)
            nth += !strncmp(before, line, (size_t)length(line, "\t") + 1);
        *value = line + length(line, "\t") + 1;
        *others = find(other, line, nth);
        n = length(*value, "\n");
        if (!*others || n != length(*others, "\n") || memcmp(*value, *others, (size_t)n) != 0)
            return line;
    }
    return NULL;
}

/* Returns a value in words; a long one is cut. */
static const char *words_of(const char *value, char words[320])
{
    int n = value ? length(value, "\n") : 0;
    snprintf(words, 320, "%s%.*s%s",
             !value ? "not given"
             : !n   ? "given"
                    : "",
             n < 300 ? n : 300, value ? value : "", n > 300 ? "..." : "");
    return words;
}

int facts_check(const struct facts *first, const struct facts *mine)
{
    const char *on_first, *here, *line = find_difference(first->text, mine->text, &on_first, &here);
    char a[320], b[320];
    if (!line)
        line = find_difference(mine->text, first->text, &here, &on_first);
    if (line)
        return error_report("%.*s is %s here and %s on rank 0; they must be equal on all ranks", length(line, "\t"),
                            line, words_of(here, a), words_of(on_first, b));
    if (first->digest != mine->digest)
        return error_report("command lines or environments differ from rank 0's, after the first %d bytes; they must "
                            "be equal on all ranks",
                            FACTS_TEXT);
    return 0;
}
