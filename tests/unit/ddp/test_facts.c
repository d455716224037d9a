/* test_facts.c - facts of a rank are listed, and the first that differs is reported with both values. */
#include "ddp/facts.h"
#include "kernels/error.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct facts first, mine;

static void setup(void)
{
    memset(&first, 0, sizeof first);
    memset(&mine, 0, sizeof mine);
}

#define WORDS(...)                                                                                                     \
    (int)(sizeof(char *[]){"ddpbench", __VA_ARGS__} / sizeof(char *)), (char *[])                                      \
    {                                                                                                                  \
        "ddpbench", __VA_ARGS__                                                                                        \
    }

static void differs(const char *message)
{
    ck_assert_int_eq(facts_check(&first, &mine), -1);
    ck_assert_str_eq(error_text(), message);
    error_clear();
}

TEST(a_command_line_may_be_written_in_many_ways)
{
    facts_add_words(&first, WORDS("tune", "--lr", "0.1", "--max-norm=2", "-e", "8M", "--check", "--low", "-5"));
    facts_add_words(&mine, WORDS("tune", "--lr=0.1", "--max_norm", "2", "-e8M", "--check", "--low=-5"));
    ck_assert_str_eq(first.text, "the command\ttune\n--lr\t0.1\n--max-norm\t2\n-e\t8M\n--check\t\n--low\t-5\n");
    ck_assert_int_eq(facts_check(&first, &mine), 0);
}

/* Checks the message about a command line that differs from rank 0's. */
static void check_difference(int first_n, char *const *first_words, int n, char *const *words, const char *message)
{
    setup();
    facts_add_words(&first, first_n, first_words);
    facts_add_words(&mine, n, words);
    differs(message);
}

TEST(the_first_difference_is_named)
{
    check_difference(WORDS("--seed", "1", "--lr=0.1", "--inject-delay=a", "--check"),
                     WORDS("--seed", "1", "--lr=0.2", "--inject-delay=a", "--check"),
                     "--lr is 0.2 here and 0.1 on rank 0; they must be equal on all ranks");
    check_difference(WORDS("--lr=0.1", "--inject-delay=a", "--inject-delay=b", "--check"),
                     WORDS("--lr=0.1", "--inject-delay=a", "--inject-delay=c", "--check"),
                     "--inject-delay is c here and b on rank 0; they must be equal on all ranks");
    check_difference(WORDS("--seed", "1", "--check"), WORDS("--seed", "1"),
                     "--check is not given here and given on rank 0; they must be equal on all ranks");
    check_difference(WORDS("--seed", "1"), WORDS("isolate", "--seed", "1"),
                     "the command is isolate here and the benchmark on rank 0; they must be equal on all ranks");
    /* an option of one letter is not the value of a flag */
    check_difference(WORDS("--flag", "-T", "50"), WORDS("--flag", "-T", "49"),
                     "-T is 49 here and 50 on rank 0; they must be equal on all ranks");
    check_difference(WORDS("--flag", "-T", "50"), WORDS("--flag"),
                     "-T is not given here and 50 on rank 0; they must be equal on all ranks");
}

#define UNNAMED                                                                                                        \
    "the command line or the environment differs from rank 0's in the order of options, in tabs or new lines, or "     \
    "after the first 16368 bytes; it must be equal on all ranks"

/* The order is compared because facts_add_words does not know which options are flags. */
TEST(the_order_of_words_is_compared)
{
    check_difference(WORDS("--flag", "--seed", "1"), WORDS("--seed", "1", "--flag"), UNNAMED);
}

/* 150 of 400 characters of a value are shown: the first ones, or from 60 before the first difference on. */
TEST(long_values)
{
    static const struct {
        int at, from, shown;
    } row[] = {{10, 0, 150}, {90, 0, 150}, {91, 31, 150}, {200, 140, 150}, {390, 330, 70}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct facts of[2];
        char a[401], b[401], expected[800], words[FACTS_DIFFERENCE];
        const char *before = row[i].from ? "..." : "", *after = row[i].shown == 150 ? "..." : "";
        memset(of, 0, sizeof of);
        for (size_t c = 0; c < 400; c++)
            a[c] = b[c] = (char)('a' + c % 26);
        a[400] = b[400] = 0;
        b[row[i].at] = '!';
        facts_add(&of[0], "--x", a);
        facts_add(&of[1], "--x", b);
        snprintf(expected, sizeof expected, "--x: %s%.*s%s on rank 0, %s%.*s%s on rank 1", before, row[i].shown,
                 a + row[i].from, after, before, row[i].shown, b + row[i].from, after);
        ck_assert_int_eq(facts_compare(of, 2, "--x", words), 1);
        ck_assert_str_eq(words, expected);
        first = of[0];
        mine = of[1];
        snprintf(expected, sizeof expected,
                 "--x is %s%.*s%s here and %s%.*s%s on rank 0; they must be equal on all ranks", before, row[i].shown,
                 b + row[i].from, after, before, row[i].shown, a + row[i].from, after);
        differs(expected);
    }
}

/* A very long value is described by its length and digest. */
TEST(very_long_values_are_named)
{
    static char value[120001];
    memset(value, 'a', sizeof value - 1);
    facts_add(&first, "--x", value);
    value[60000] = '!';
    facts_add(&mine, "--x", value);
    ck_assert_int_eq(facts_check(&first, &mine), -1);
    check_has(error_text(), "--x is 120000 characters with the digest ");
    error_clear();
}

/* Facts that do not fit into the text are compared, too. */
TEST(long_command_lines)
{
    char value[600];
    for (int i = 0; i < 100; i++) {
        memset(value, 'a' + i % 26, sizeof value - 1);
        value[sizeof value - 1] = 0;
        facts_add(&first, "--name", value);
        value[500] = i == 99 ? '!' : value[500];
        facts_add(&mine, "--name", value);
    }
    ck_assert_uint_lt(first.bytes, FACTS_TEXT);
    ck_assert_int_eq(first.text[first.bytes], 0);
    differs(UNNAMED);
    memset(&mine, 0, sizeof mine);
    facts_add(&mine, "a\tb", "c\nd");
    ck_assert_str_eq(mine.text, "a b\tc d\n");
}

TEST(what_differs_is_found_by_name)
{
    static struct facts of[4];
    char name[FACTS_NAME], value[FACTS_VALUE], words[FACTS_DIFFERENCE];
    size_t at = 0;
    memset(of, 0, sizeof of);
    for (int r = 0; r < 4; r++) {
        facts_add(&of[r], "CPU", "one");
        facts_print(&of[r], "threads", "%d", r < 2 ? 1 : 2);
    }
    facts_add(&of[3], "$A", "x");
    facts_add(&of[3], "threads", "3");
    ck_assert_int_eq(facts_compare(of, 4, "CPU", words), 0);
    ck_assert_int_eq(facts_compare(of, 4, "CP", words), 0);
    ck_assert_int_eq(facts_compare(of, 4, "threads", words), 2);
    ck_assert_str_eq(words, "threads: 1 on rank 0, 2 on rank 2 (2 ranks differ from rank 0)");
    ck_assert_int_eq(facts_compare(of, 4, "$A", words), 1);
    ck_assert_str_eq(words, "$A: not set on rank 0, x on rank 3");
    for (const char *const *expected = (const char *[]){"CPU", "threads", "$A", "threads", NULL}; *expected;
         expected++) {
        ck_assert_int_eq(facts_next(&of[3], &at, name), 1);
        ck_assert_str_eq(name, *expected);
    }
    ck_assert_int_eq(facts_next(&of[3], &at, name), 0);
    ck_assert_int_eq(facts_find(&of[3], "threads", value), 1);
    ck_assert_str_eq(value, "2");
    ck_assert_int_eq(facts_find(&of[0], "$A", value), 0);
    ck_assert_str_eq(value, "");
}

static void write_file(const char *path, size_t bytes, size_t changed)
{
    FILE *file = fopen(path, "w");
    for (size_t i = 0; i < bytes; i++)
        fputc(i == changed ? '!' : (int)('a' + i % 23), file);
    ck_assert_int_eq(fclose(file), 0);
}

/* A change of one byte is seen in a small file, at both ends of a large one, and anywhere if all bytes are read. */
TEST(files)
{
    const size_t large = 9 << 20, middle = (1 << 20) + 10;
    const struct {
        size_t bytes, changed;
        int whole, seen;
    } row[] = {
        {1000, 999, 0, 1}, {large, 0, 0, 1}, {large, large - 1, 0, 1}, {large, middle, 0, 0}, {large, middle, 1, 1}};
    char path[200];
    snprintf(path, sizeof path, "%s/data", scratch_make());
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        setup();
        write_file(path, row[i].bytes, SIZE_MAX);
        facts_add_file(&first, "data", path, row[i].whole);
        write_file(path, row[i].bytes, row[i].changed);
        facts_add_file(&mine, "data", path, row[i].whole);
        ck_assert_msg(!strcmp(first.text, mine.text) == !row[i].seen, "row %zu: %s%s", i, first.text, mine.text);
    }
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    setup();
    facts_add_file(&mine, "data", path, 0); /* does not wait for a writer */
    check_has(mine.text, "\tnot a regular file\n");
    unlink(path);
    setup();
    facts_add_file(&mine, "data", path, 0);
    check_has(mine.text, "\tunreadable (No such file or directory)\n");
}

SUITE("facts", setup, scratch_remove_all)
