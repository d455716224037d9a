/* test_text.c - figures as cells of a table, and that no figure is too large for one. */
#include "base/text.h"
#include "tests/support/suite.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is behind the cell must stay. */
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

START_TEST(values)
{
    static const struct {
        double value;
        const char *unit;
        size_t n, runs;
        const char *words;
    } rows[] = {
        {12.5, "ms", 3, 3, "12.5 ms"},
        {1.23456, "", 3, 3, "1.235"},
        {0, "us", 1, 1, "0 us"},
        {-0.25, "ms", 1, 1, "-0.25 ms"},
        {9999, "us", 1, 2, "9999 us (n=1)"},
        {123456.7, "1/s", 4, 5, "123457 1/s (n=4)"},
        {999999999999999, "B", 4, 5, "999999999999999 B (n=4)"},
        {1e15, "B", 4, 5, "1e+15 B (n=4)"},
        {1.2345e300, "GFLOP/s", 4, 5, "1.234e+300 GFLOP/s (n=4)"},
        {-DBL_MAX, "GFLOP/s", 4, 5, "-1.798e+308 GFLOP/s (n=4)"},
        {NAN, "ms", 0, 5, "-"},
        {INFINITY, "ms", 1, 5, "-"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setup();
        ck_assert_str_eq(text_value(room.text, rows[i].value, rows[i].unit, rows[i].n, rows[i].runs), rows[i].words);
        check_behind();
    }
}
END_TEST

START_TEST(sizes)
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
    ck_assert_ptr_nonnull(strstr(room.text, "e+2")); /* of some unit */
    check_behind();
}
END_TEST

START_TEST(ratios)
{
    ck_assert_str_eq(text_ratio(room.text, 1.05), "1.050");
    ck_assert_str_eq(text_ratio(room.text, NAN), "-");
    ck_assert_str_eq(text_range(room.text, 0.9994, 1.0506), "0.999 to 1.051");
    ck_assert_str_eq(text_range(room.text, NAN, NAN), "-");
    text_ratio(room.text, DBL_MAX);
    check_behind();
    text_range(room.text, DBL_MAX, DBL_MAX);
    check_behind();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compare_cells");
    TCase *all = tcase_create("cells");
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, values);
    tcase_add_test(all, sizes);
    tcase_add_test(all, ratios);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
