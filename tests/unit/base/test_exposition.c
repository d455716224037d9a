/* test_exposition.c - numbers as Prometheus text. */
#include "base/exposition.h"

#include "base/text.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>

static char *text;
static FILE *out;

static void begin(void)
{
    static size_t length;
    out = text_begin(&text, &length);
}

static void printed(const char *expected)
{
    text_end(out);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(a_metric_and_its_samples)
{
    const struct exposition_label label[] = {{"gpu", "0"}, {"Hostname", "node-1"}};
    begin();
    exposition_metric(out, "a_total", "counter", "What it is.");
    exposition_sample(out, "a_total", label, 0, 3);
    exposition_sample(out, "a_total", label, 1, 0.5);
    exposition_sample(out, "a_total", label, 2, -1e-9);
    printed("# HELP a_total What it is.\n# TYPE a_total counter\na_total 3\na_total{gpu=\"0\"} 0.5\n"
            "a_total{gpu=\"0\",Hostname=\"node-1\"} -1e-09\n");
}
END_TEST

START_TEST(label_values_are_escaped)
{
    static const struct {
        const char *value, *expected;
    } cases[] = {{"", "a{l=\"\"} 1\n"},
                 {"say \"hi\"", "a{l=\"say \\\"hi\\\"\"} 1\n"},
                 {"C:\\n", "a{l=\"C:\\\\n\"} 1\n"},
                 {"two\nlines", "a{l=\"two\\nlines\"} 1\n"},
                 {"\"} 2\nb{x=\"", "a{l=\"\\\"} 2\\nb{x=\\\"\"} 1\n"},
                 {"caf\xc3\xa9", "a{l=\"caf\xc3\xa9\"} 1\n"},
                 {"\x1b[2J\x7f\xc2\x9b", "a{l=\"?[2J???\"} 1\n"},
                 {"bad\xff\xc3", "a{l=\"bad??\"} 1\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct exposition_label label = {"l", cases[i].value};
        begin();
        exposition_sample(out, "a", &label, 1, 1);
        printed(cases[i].expected);
    }
}
END_TEST

START_TEST(numbers)
{
    static const struct {
        double value;
        const char *expected;
    } cases[] = {{0, "a 0\n"},
                 {123456789012345, "a 123456789012345\n"},
                 {1.234567891, "a 1.234567891\n"},
                 {1e300, "a 1e+300\n"},
                 {NAN, "a NaN\n"},
                 {-NAN, "a NaN\n"},
                 {INFINITY, "a +Inf\n"},
                 {-INFINITY, "a -Inf\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        exposition_sample(out, "a", NULL, 0, cases[i].value);
        printed(cases[i].expected);
    }
}
END_TEST

START_TEST(what_is_unknown_is_left_out)
{
    begin();
    exposition_single(out, "a", "gauge", "Known.", 2);
    exposition_single(out, "b", "gauge", "Unknown.", NAN);
    printed("# HELP a Known.\n# TYPE a gauge\na 2\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exposition");
    TCase *tests = tcase_create("text");
    tcase_add_test(tests, a_metric_and_its_samples);
    tcase_add_test(tests, label_values_are_escaped);
    tcase_add_test(tests, numbers);
    tcase_add_test(tests, what_is_unknown_is_left_out);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
