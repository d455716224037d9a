/* test_text.c - numbers as cells of a table, none too large for its cell; UTF-8, escapes and line wrapping. */
#include "base/text.h"
#include "tests/support/suite.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A cell and, behind it, memory that no function may change. */
static struct {
    char text[CELL], behind[512];
} room;

static void setup(void)
{
    memset(&room, '#', sizeof room);
}

static void check_behind(void)
{
    for (size_t i = 0; i < sizeof room.behind; i++)
        ck_assert_int_eq(room.behind[i], '#');
    ck_assert_ptr_nonnull(memchr(room.text, 0, CELL));
}

TEST(values_have_a_prefix_of_their_size)
{
    static const struct {
        double value;
        const char *unit, *words;
    } rows[] = {
        {0.0125, "s", "12.5 ms"},
        {0.9999, "s", "999.9 ms"},
        {1, "s", "1 s"},
        {9.999e-4, "s", "999.9 us"},
        {0, "s", "0 us"},
        {-0.00025, "s", "-250 us"},
        {1.23456, "1", "1.235"},
        {1e-5, "1", "1e-05"},
        {1536, "B", "1.5 KiB"},
        {3 << 20, "B", "3 MiB"},
        {12.5e9, "B/s", "12.5 GB/s"},
        {1.25e11, "FLOP/s", "125 GFLOP/s"},
        {5, "an unknown", "5 an unknown"},
        {999999999999999, "1", "999999999999999"},
        {1e15, "1", "1e+15"},
        {-DBL_MAX, "FLOP/s", "-1.798e+296 TFLOP/s"},
        {NAN, "s", "-"},
        {INFINITY, "s", "-"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setup();
        ck_assert_str_eq(text_value_like(room.text, rows[i].value, rows[i].unit, rows[i].value), rows[i].words);
        check_behind();
    }
}

/* A value is printed in the unit that suits the value beside it. */
TEST(values_beside_each_other_share_a_unit)
{
    ck_assert_str_eq(text_value_like(room.text, 0.000999, "s", 0.001), "0.999 ms");
    ck_assert_str_eq(text_value_like(room.text, 0, "s", 0.5), "0 ms");
    ck_assert_str_eq(text_value_like(room.text, 2048, "B", 0x1p20), "0.001953 MiB");
    ck_assert_str_eq(text_value_like(room.text, NAN, "s", 1), "-");
    text_value_like(room.text, -DBL_MAX, "s", 1e-9);
    ck_assert_str_eq(room.text, "-");
    check_behind();
}

TEST(changes_are_percentages)
{
    setup();
    ck_assert_str_eq(text_change(room.text, 1.0194, 0.984, 1.055), "+1.9 % [-1.6, +5.5]");
    ck_assert_str_eq(text_change(room.text, 0.5, NAN, 1), "-50.0 %");
    ck_assert_str_eq(text_change(room.text, 1.0002, 1, 1.0000001), "+0.02 % [+0.0, +0.000]");
    ck_assert_str_eq(text_change(room.text, NAN, NAN, NAN), "-");
    text_change(room.text, DBL_MAX, DBL_MAX, DBL_MAX);
    check_behind();
    text_change(room.text, 1, DBL_MAX, DBL_MAX);
    check_behind();
}

TEST(sizes_have_binary_units)
{
    static const struct {
        double bytes;
        const char *words;
    } rows[] = {{0, "-"},          {8, "8 B"},           {1000, "1000 B"},
                {1024, "1 KiB"},   {1536, "1536 B"},     {3 << 20, "3 MiB"},
                {0x1p30, "1 GiB"}, {0x1p52, "4096 TiB"}, {1e15 - 1, "999999999999999 B"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_str_eq(text_bytes(room.text, rows[i].bytes), rows[i].words);
    text_bytes(room.text, 1e300);
    ck_assert_ptr_nonnull(strstr(room.text, "e+2")); /* an exponent of 200 or more, whatever the unit */
    check_behind();
}

TEST(ratios_have_three_decimals)
{
    ck_assert_str_eq(text_ratio(room.text, 1.05), "1.050");
    ck_assert_str_eq(text_ratio(room.text, NAN), "-");
    text_ratio(room.text, DBL_MAX);
    check_behind();
}

TEST(seconds_as_text)
{
    static const struct {
        double seconds;
        const char *words;
    } known[] = {{0, "0 ms"},          {0.0021, "2.1 ms"},      {0.2, "0.2 s"},        {0.96, "1 s"},
                 {59.4, "59 s"},       {59.7, "1 min 00 s"},    {3599, "59 min 59 s"}, {3600, "1 h 00 min"},
                 {7200, "2 h 00 min"}, {172700, "47 h 58 min"}, {360000, "4 days"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char words[CELL];
        ck_assert_str_eq(text_duration(words, known[i].seconds), known[i].words);
    }
}

TEST(bytes_as_text)
{
    static const struct {
        size_t bytes;
        const char *words;
    } known[] = {
        {0, "0 B"}, {1024, "1 KiB"}, {1536, "1.5 KiB"}, {(size_t)5 << 29, "2.5 GiB"}, {(size_t)3 << 40, "3 TiB"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char words[CELL];
        ck_assert_str_eq(text_memory(words, known[i].bytes), known[i].words);
    }
}

TEST(other_bytes_than_utf8_are_replaced)
{
    char valid[] = "a \xc3\xa9 \xf4\x8f\xbf\xbf", mixed[] = "\x80 a\xff \xc3\xa9\xc3\" \xe2\x82";
    ck_assert_uint_eq(text_make_utf8(valid), 0); /* tests/unit/kernels/test_utf8.c tests more characters */
    ck_assert_str_eq(valid, "a \xc3\xa9 \xf4\x8f\xbf\xbf");
    ck_assert_uint_eq(text_make_utf8(mixed), 5);
    ck_assert_str_eq(mixed, "? a? \xc3\xa9?\" ??");
}

static void prints(void (*print)(FILE *out, const char *text), const char *text, const char *expected)
{
    print(printing(), text);
    ck_assert_str_eq(printed(), expected);
}

TEST(csv_is_quoted)
{
    static const char *const cases[][2] = {{"", ""},
                                           {"a b", "a b"},
                                           {"a,b", "\"a,b\""},
                                           {"say \"x\"", "\"say \"\"x\"\"\""},
                                           {"one\ntwo", "one two"},
                                           {"\x1b[0m\x7f\xc2\x9b\xff", " [0m????"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        prints(text_print_csv, cases[i][0], cases[i][1]);
}

TEST(csv_numbers_may_be_unknown)
{
    FILE *out = printing();
    text_print_csv_numbers(out, 2, 3, (double[]){1.005001, NAN, INFINITY});
    text_print_csv_numbers(out, 0, 1, (double[]){-3});
    ck_assert_str_eq(printed(), ",1.01,,,-3");
}

/* Escaped text cannot end an element, an attribute or the file. */
TEST(markup_is_escaped)
{
    static const char *const cases[][2] = {
        {"a < b && c > \"d\" 'e'", "a &lt; b &amp;&amp; c &gt; &quot;d&quot; &#39;e&#39;"},
        {"]]><script>", "]]&gt;&lt;script&gt;"},
        {"one\ntwo\tthree", "one two three"},
        {"\x01\x1b[0m\x7f", "??[0m?"},
        {"\xe2\x82\xac \xff \xe2\x82", "\xe2\x82\xac ? ??"},
        {"\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd", "??????\xef\xbf\xbd"},
        {"\xc2\x9b[0m \xc2\xa0", "??[0m \xc2\xa0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        prints(text_print_markup, cases[i][0], cases[i][1]);
}

/* Newlines and tabs stay; all other control characters are replaced. */
TEST(control_characters_are_replaced)
{
    prints(text_print_lines, "one\n\ttwo \xe2\x82\xac\r\x1b[2J\xc2\x9b\xff", "one\n\ttwo \xe2\x82\xac??[2J???");
    ck_assert_uint_eq(text_columns("\xe2\x82\xac\xff"
                                   "ab",
                                   5),
                      3);
}

static void wrapped(const char *prefix, const char *text, const char *expected)
{
    text_wrap(printing(), TEXT_COLUMNS, prefix, text);
    ck_assert_str_eq(printed(), expected);
}

/* A line has at most 100 columns; further words go to the next line, below the first word or after another '#'. */
TEST(wrapping)
{
#define NINE "12345678 "
#define LINE NINE NINE NINE NINE NINE NINE NINE NINE NINE "12345678" /* 89 columns */
    wrapped("", "", "\n");
    wrapped("", " two\n\twords ", "two words\n");
    wrapped("", LINE " 1234567890", LINE " 1234567890\n");
    wrapped("", LINE " 12345678901", LINE "\n12345678901\n");
    wrapped("- ", LINE " 123456789", "- " LINE "\n  123456789\n");
    wrapped("# ", LINE " 123456789", "# " LINE "\n# 123456789\n");
    wrapped("", "\x1b[2J \xe2\x82\xac", "?[2J \xe2\x82\xac\n");
#undef LINE
#undef NINE
}

TEST(rounded_has_no_exponent)
{
    static const struct {
        double value;
        int digits;
        const char *text;
    } known[] = {{1650, 2, "1700"}, {1649, 3, "1650"},   {0.0123, 2, "0.012"}, {-7.25, 2, "-7.2"}, {0, 3, "0.00"},
                 {5, 1, "5"},       {1e6, 2, "1000000"}, {NAN, 2, "-"},        {INFINITY, 2, "-"}};
    char text[CELL];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_str_eq(text_rounded(text, known[i].value, known[i].digits), known[i].text);
}

TEST(what_is_appended_may_be_cut_off)
{
    char text[8] = "a";
    ck_assert_int_eq(text_append(text, sizeof text, "%d, %s", 12, "bc"), 1);
    ck_assert_int_eq(text_append(text, sizeof text, "d"), 0);
    ck_assert_str_eq(text, "a12, bc");
}

SUITE("text", setup, NULL)
