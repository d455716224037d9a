/* test_error.c - error messages are one printable line, whatever text they quote. */
#include "kernels/error.h"
#include "kernels/utf8.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

TEST(quotes_are_one_printable_line)
{
    static const struct {
        const char *quoted, *kept;
    } texts[] = {
        {"plain", "plain"},
        {"two\nlines", "two\\nlines"},
        {"tab\tbell\a\x7f", "tab\\x09bell\\x07\\x7f"},
        {"red\033[31m", "red\\x1b[31m"},
        {"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80"},
        {"half \xc3", "half \\xc3"},
        {"\xff\xc3(", "\\xff\\xc3("},
        {"control \xc2\x9b", "control \\xc2\\x9b"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char expected[64];
        error_clear();
        ck_assert_int_eq(error_report("--x %s: bad", texts[i].quoted), -1);
        snprintf(expected, sizeof expected, "--x %s: bad", texts[i].kept);
        ck_assert_str_eq(error_text(), expected);
    }
    ck_assert_int_eq(error_report("another"), -1);
    check_lacks(error_text(), "another");
    error_clear();
}

/* A long message is shortened in the middle, so that the allowed values at its end stay. */
TEST(long_words_lose_their_middle)
{
    static char word[100001], wide[100001];
    memset(word, 'x', sizeof word - 1);
    for (size_t i = 0; i + 2 < sizeof wide; i += 2)
        memcpy(wide + i, "\xc3\xbc", 2);
    for (int i = 0; i < 2; i++) {
        error_clear();
        error_report("--lr %s%s: expected a number", i ? "." : "", i ? wide : word);
        const char *text = error_text();
        ck_assert_uint_lt(strlen(text), 1024);
        ck_assert_uint_gt(strlen(text), 1000);
        ck_assert(!strncmp(text, "--lr ", 5) && strstr(text, "..."));
        ck_assert_str_eq(text + strlen(text) - 19, ": expected a number");
        for (const char *c = text; *c; c += utf8_character(c))
            ck_assert_int_ne(utf8_character(c), 0);
    }
    error_clear();
}

SUITE("error", NULL, NULL)
