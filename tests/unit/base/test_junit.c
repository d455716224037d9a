/* test_junit.c - the JUnit XML file of known test cases, read back by an XML parser. */
#include "base/junit.h"
#include "base/text.h"
#include "tests/support/suite.h"
#include "tests/support/xml.h"

#include <math.h>
#include <stdlib.h>

/* Returns the JUnit file of test[n] as text: a suite `name` with `words` as its output. */
static const char *file_of(const struct junit_case *test, size_t n, const char *name, const char *words)
{
    struct junit junit;
    junit_begin(&junit);
    for (size_t i = 0; i < n; i++)
        junit_add(&junit, &test[i]);
    junit_end(&junit, printing(), name, words);
    return printed();
}

static const struct junit_case some[] = {{"c", "good", 1.5e-6, JUNIT_PASSED, NULL, NULL},
                                         {"c", "slow", 0.25, JUNIT_FAILED, "regressed", "took 2 s"},
                                         {"c", "gone", NAN, JUNIT_FAILED, "missing", "is missing"},
                                         {"c", "odd", NAN, JUNIT_SKIPPED, "ambiguous", "may be chance"},
                                         {"c", "other", NAN, JUNIT_ERROR, "incomparable", "other settings"}};

TEST(known_cases)
{
    static const char sums[] =
        " name=\"suite\" tests=\"5\" failures=\"2\" errors=\"1\" skipped=\"1\" time=\"0.250001500\">\n";
    const char *text = file_of(some, 5, "suite", "two\nlines\n");
    char expected[2000];
    snprintf(expected, sizeof expected,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
             "<testsuites%s"
             "  <testsuite%s"
             "    <testcase classname=\"c\" name=\"good\" time=\"0.000001500\"/>\n"
             "    <testcase classname=\"c\" name=\"slow\" time=\"0.250000000\">\n"
             "      <failure type=\"regressed\" message=\"took 2 s\">took 2 s</failure>\n"
             "    </testcase>\n"
             "    <testcase classname=\"c\" name=\"gone\">\n"
             "      <failure type=\"missing\" message=\"is missing\">is missing</failure>\n"
             "    </testcase>\n"
             "    <testcase classname=\"c\" name=\"odd\">\n"
             "      <skipped type=\"ambiguous\" message=\"may be chance\">may be chance</skipped>\n"
             "    </testcase>\n"
             "    <testcase classname=\"c\" name=\"other\">\n"
             "      <error type=\"incomparable\" message=\"other settings\">other settings</error>\n"
             "    </testcase>\n"
             "    <system-out>two\nlines\n</system-out>\n"
             "  </testsuite>\n"
             "</testsuites>\n",
             sums, sums);
    ck_assert_str_eq(text, expected);
}

TEST(no_case_and_no_words)
{
    const char *text = file_of(NULL, 0, "", "");
    ck_assert_str_eq(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                           "<testsuites name=\"\" tests=\"0\" failures=\"0\" errors=\"0\" skipped=\"0\" "
                           "time=\"0.000000000\">\n"
                           "  <testsuite name=\"\" tests=\"0\" failures=\"0\" errors=\"0\" skipped=\"0\" "
                           "time=\"0.000000000\">\n"
                           "  </testsuite>\n"
                           "</testsuites>\n");
}

/* Each text is written as an attribute; the message and the words are also written between tags. */
TEST(texts_come_back_as_they_were)
{
    static const char *const cases[][2] = {{"<script>&amp; ]]>", NULL},
                                           {"\"/></testcase><x a='", NULL},
                                           {"\x1b[0m\x01\xff \xe2\x82", "?[0m?? ??"},
                                           {"\xe2\x82\xac \xf0\x9f\x98\x80", NULL},
                                           {"--> <!-- <![CDATA[ %s", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *in = cases[i][0], *seen = cases[i][1] ? cases[i][1] : in;
        const struct junit_case test = {in, in, 1, JUNIT_FAILED, in, in};
        const char *text = file_of(&test, 1, in, in);
        char expected[600],
            *found = xml_ask(text, "'\\n'.join([e.text for e in each('failure') + each('system-out')] + "
                                   "[value for e in root.iter() for key, value in e.items() if key in "
                                   "('classname', 'name', 'type', 'message')])");
        snprintf(expected, sizeof expected, "%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s", seen, seen, seen, seen, seen, seen, seen,
                 seen);
        if (found)
            ck_assert_str_eq(found, expected);
    }
}

SUITE("junit", NULL, NULL)
