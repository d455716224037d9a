/* facts.c - lists facts about a rank, and compares them with rank 0's. */
#include "ddp/facts.h"

#include "ddp/read_fully.h"
#include "kernels/error.h"
#include "kernels/random.h"

#include <ctype.h>
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
    const uint64_t digest = add_bytes(0, value, values + 1);
    if (values > FACTS_LONG) {
        facts_print(facts, name, "%zu characters with the digest %016" PRIx64, values, digest);
        return;
    }
    facts->digest += add_bytes(digest, name, names + 1); /* in any order */
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

/* Tests whether a word is an option (--lr, -n) and not the value of the option before it (-5, -c1). */
static int begins_option(const char *word)
{
    return word[0] == '-' && (word[1] == '-' || (isalpha((unsigned char)word[1]) && !word[2]));
}

void facts_add_words(struct facts *facts, int argc, char *const argv[])
{
    int first = argc > 1 && argv[1][0] != '-';
    uint64_t order = 0;
    facts_add(facts, "the command", first ? argv[1] : "the benchmark");
    for (int i = 1 + first; i < argc; i++) {
        const char *word = argv[i], *value = "";
        size_t length = word[0] == '-' && word[1] != '-' ? 2 : strcspn(word, "=");
        char name[80];
        snprintf(name, sizeof name, *word == '-' ? "%.*s" : "an argument", (int)length, word);
        if (*word != '-')
            value = word;
        else if (strlen(word) > length)
            value = word + length + (word[length] == '=');
        else if (i + 1 < argc && !begins_option(argv[i + 1]))
            value = argv[++i];
        for (char *c = name; (c = strchr(c, '_'));)
            *c = '-';
        facts_add(facts, name, value);
        order = add_bytes(add_bytes(order, name, strlen(name) + 1), value, strlen(value) + 1);
    }
    facts->digest += order;
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

void facts_add_file(struct facts *facts, const char *name, const char *path, int whole)
{
    const size_t mib = (size_t)1 << 20, block = 4096, blocks = 64;
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
    if (failed)
        facts_print(facts, name, "unreadable (%s)", errno ? strerror(errno) : "it became shorter");
    else if (!is_file)
        facts_add(facts, name, "not a regular file");
    else
        facts_print(facts, name, "%zu bytes with the digest %016" PRIx64, bytes, digest);
}

/* ---- comparing ---- */

/* Returns the number of characters before the first one that is in `ends`, or before the end of the text. */
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

/* Tests whether two values are equal; NULL: there is no value. */
static int are_equal(const char *a, const char *b)
{
    return a && b ? length(a, "\n") == length(b, "\n") && !memcmp(a, b, (size_t)length(a, "\n")) : a == b;
}

/* Writes a value that differs from another; `none` stands for NULL, and `empty` for "". Shortens a long value to its
 * first characters, or to the characters around the first difference. */
static const char *words_of(const char *value, const char *other, const char *none, const char *empty, char words[320])
{
    enum { BEFORE = 60, SHOWN = 150 };
    int n = value ? length(value, "\n") : 0, m = other ? length(other, "\n") : 0, same = 0;
    while (same < n && same < m && value[same] == other[same])
        same++;
    int from = same > SHOWN - BEFORE ? same - BEFORE : 0, shown = n - from < SHOWN ? n - from : SHOWN;
    const char *quote = n && (value[0] == ' ' || value[n - 1] == ' ') ? "'" : ""; /* a space would not be seen */
    if (!n)
        snprintf(words, 320, "%s", value ? empty : none);
    else
        snprintf(words, 320, "%s%s%.*s%s%s", quote, from ? "..." : "", shown, value + from,
                 from + shown < n ? "..." : "", quote);
    return words;
}

int facts_compare(const struct facts *of, int ranks, const char *name, char words[FACTS_DIFFERENCE])
{
    char line[FACTS_NAME + 1], a[320], b[320];
    int differ = 0, n = 0;
    snprintf(line, sizeof line, "%s\t", name);
    const char *first = find(of->text, line, 0), *other = NULL;
    for (int r = 1; r < ranks; r++) {
        const char *value = find(of[r].text, line, 0);
        if (!are_equal(value, first) && !differ++) {
            other = value;
            n = r;
        }
    }
    if (differ)
        n = snprintf(words, FACTS_DIFFERENCE, "%.80s: %s on rank 0, %s on rank %d", name,
                     words_of(first, other, "not set", "empty", a), words_of(other, first, "not set", "empty", b), n);
    if (differ > 1)
        snprintf(words + n, FACTS_DIFFERENCE - (size_t)n, " (%d ranks differ from rank 0)", differ);
    return differ;
}

/* Returns the line of the first fact of `of` that `other` lacks or has with another value; stores both values, NULL if
 * `other` lacks it. Returns NULL if there is no such fact. */
static const char *find_difference(const char *of, const char *other, const char **value, const char **others)
{
    for (const char *line = of; *line; line += length(line, "\n") + 1) {
        int nth = 0;
        for (const char *before = of; before < line; before += length(before, "\n") + 1)
            nth += !strncmp(before, line, (size_t)length(line, "\t") + 1);
        *value = line + length(line, "\t") + 1;
        *others = find(other, line, nth);
        if (!are_equal(*value, *others))
            return line;
    }
    return NULL;
}

int facts_check(const struct facts *first, const struct facts *mine)
{
    const char *on_first, *here, *line = find_difference(first->text, mine->text, &on_first, &here);
    char a[320], b[320];
    if (!line)
        line = find_difference(mine->text, first->text, &here, &on_first);
    if (line)
        return error_report("%.*s is %s here and %s on rank 0; they must be equal on all ranks", length(line, "\t"),
                            line, words_of(here, on_first, "not given", "given", a),
                            words_of(on_first, here, "not given", "given", b));
    if (first->digest != mine->digest)
        return error_report("the command line or the environment differs from rank 0's in the order of options, in "
                            "tabs or new lines, or after the first %d bytes; it must be equal on all ranks",
                            FACTS_TEXT);
    return 0;
}
