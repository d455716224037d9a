/* test_options.c - the command line of compare: accepted and refused options, and error messages. */
#include "compare/options.h"
#include "kernels/error.h"
#include "tests/support/suite.h"

#include <string.h>

static struct compare_options options;

static void destroy(void)
{
    compare_options_destroy(&options);
    error_clear();
}

/* Parses a command line whose words are separated by spaces. */
static int parse(const char *line)
{
    static char words[400];
    char *argv[40] = {words}, *save = NULL;
    int argc = 0;
    snprintf(words, sizeof words, "compare %s", line);
    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    destroy();
    return compare_options_parse(&options, argc, argv);
}

TEST(directories_are_read)
{
    ck_assert_int_eq(parse("--tolerance 3 a b c --candidate d e --all f --candidate=g"), 0);
    ck_assert(options.baselines == 3 && options.candidates == 4);
    ck_assert_str_eq(options.directory[2], "c");
    const char *const candidates[] = {"d", "e", "f", "g"};
    for (int i = 0; i < 4; i++)
        ck_assert_str_eq(options.directory[options.baselines + (size_t)i], candidates[i]);
    ck_assert(options.tolerance == 3 && options.all);
    ck_assert_int_eq(parse("a b"), 0); /* one baseline, one candidate */
    ck_assert(options.baselines == 1 && options.candidates == 1);
    ck_assert_str_eq(options.directory[0], "a");
    ck_assert_str_eq(options.directory[1], "b");
}

TEST(values_are_read)
{
    ck_assert_int_eq(parse("a b"), 0);
    ck_assert(options.tolerance == 5 && options.floor == 10 && !options.all);
    ck_assert(!*options.allow && !*options.metrics && !*options.label && !*options.form[COMPARE_JSON]);
    ck_assert_str_eq(options.name[0], "baseline");
    ck_assert_str_eq(options.name[1], "candidate");
    ck_assert_int_eq(
        parse("a b --tolerance 2.5% --floor 0 --allow threads,data --metrics step --label cuda,rocm-6.1 --json -"), 0);
    ck_assert(options.tolerance == 2.5 && options.floor == 0);
    ck_assert_str_eq(options.allow, "threads,data");
    ck_assert_str_eq(options.metrics, "step");
    ck_assert_str_eq(options.form[COMPARE_JSON], "-");
    ck_assert_str_eq(options.name[0], "cuda");
    ck_assert_str_eq(options.name[1], "rocm-6.1");
    ck_assert_int_eq(parse("a --help all"), 1);
    ck_assert_int_eq(parse("--version"), 1);
}

TEST(bad_values_are_refused)
{
    static const char *const bad[][2] = {
        {"", "no baseline"},
        {"a", "no candidate"},
        {"a b c", "no candidate"},
        {"--candidate a b", "no baseline"},
        {"a --candidate", "--candidate needs a value"},
        {"a --candidate=", "an empty word"},
        {"a b --tolerance -1", "--tolerance -1: expected a percentage from 0 to 1000"},
        {"a b --tolerance 5%%", "--tolerance 5%%: expected a percentage"},
        {"a b --floor ten", "--floor ten: expected a percentage"},
        {"a b --json", "--json needs a value"},
        {"a b --all=1", "--all takes no value"},
        {"a b --bogus", "unknown option '--bogus'; see --help all"},
        {"a b --tollerance 3", "did you mean --tolerance?"},
        {"a b --label one", "--label 'one': expected two names"},
        {"a b --label one,", "expected two names"},
        {"a b --label ,two", "expected two names"},
        {"a b --label one,two,three", "expected two names"},
        {"a b --label one,tw/o", "may hold letters"},
        {"a b --label one,one", "'one' is listed twice"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(parse(bad[i][0]) == -1, "'%s' is accepted", bad[i][0]);
        check_has(error_text(), bad[i][1]);
    }
}

SUITE("compare_options", NULL, destroy)
