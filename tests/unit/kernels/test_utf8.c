/* test_utf8.c - the length of a UTF-8 character, and control characters. */
#include "kernels/utf8.h"
#include "tests/support/suite.h"

static const struct {
    const char *text;
    int length, character;
} rows[] = {
    {"a", 1, 1},
    {"~", 1, 1},
    {"", 1, 0}, /* the end of the text counts as a control character */
    {"\n", 1, 0},
    {"\x7f", 1, 0},
    {"\xc2\x80", 2, 0}, /* U+0080 to U+009F are control characters */
    {"\xc2\x9f", 2, 0},
    {"\xc2\xa0", 2, 2},
    {"\xdf\xbf", 2, 2},
    {"\xe0\xa0\x80", 3, 3},
    {"\xed\x9f\xbf", 3, 3},
    {"\xef\xbf\xbd", 3, 3},
    {"\xef\xbf\xbe", 3, 0}, /* U+FFFE is no character */
    {"\xf0\x90\x80\x80", 4, 4},
    {"\xf4\x8f\xbf\xbf", 4, 4},
    {"\x80", 0, 0},
    {"\xc1\xbf", 0, 0}, /* U+007F in a form that is too long */
    {"\xe0\x9f\xbf", 0, 0},
    {"\xf0\x8f\xbf\xbf", 0, 0},
    {"\xed\xa0\x80", 0, 0},     /* a surrogate */
    {"\xf4\x90\x80\x80", 0, 0}, /* above U+10FFFF */
    {"\xf8\x88\x80\x80\x80", 0, 0},
    {"\xc3", 0, 0}, /* cut off */
    {"\xe2\x82", 0, 0},
    {"\xf0\x9f\x98", 0, 0},
};

TEST_EACH(characters, sizeof rows / sizeof *rows)
{
    ck_assert_int_eq(utf8_length(rows[_i].text), rows[_i].length);
    ck_assert_int_eq(utf8_character(rows[_i].text), rows[_i].character);
}

SUITE("utf8", NULL, NULL)
