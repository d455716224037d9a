/* test_early_option.c - the value of an option in a command line that is not parsed yet. */
#include "kernels/early_option.h"
#include "tests/support/suite.h"

#include <stddef.h>

static const struct {
    const char *words[5];
    const char *value;
} cases[] = {
    {{"ddpbench"}, NULL},
    {{"ddpbench", "--timeout", "7"}, "7"},
    {{"ddpbench", "--timeout=7.5"}, "7.5"},
    {{"ddpbench", "--timeout="}, ""},
    {{"ddpbench", "allreduce", "-T", "7"}, "7"},
    {{"ddpbench", "-T7"}, "7"},
    {{"ddpbench", "-T7", "--timeout", "8"}, "7"},
    {{"ddpbench", "--timeout", "8", "-T7"}, "8"},
    {{"ddpbench", "--timeout"}, NULL},
    {{"ddpbench", "-T"}, NULL},
    {{"ddpbench", "--timeout", "8", "--timeout"}, "8"},
    {{"ddpbench", "--timeouts", "7"}, NULL},
    {{"ddpbench", "--time=7"}, NULL},
    {{"ddpbench", "timeout", "7"}, NULL},
    {{"ddpbench", "-t", "7"}, NULL},
};

TEST_EACH(the_first_value_counts, sizeof cases / sizeof *cases)
{
    char *words[5];
    int n = 0;
    for (; n < 5 && cases[_i].words[n]; n++)
        words[n] = (char *)cases[_i].words[n];
    ck_assert_pstr_eq(early_option(n, words, "timeout", 'T'), cases[_i].value);
}

TEST(an_option_may_have_no_letter)
{
    ck_assert_str_eq(early_option(2, (char *[]){"ddpbench", "--data_digest=all"}, "data-digest", 0), "all");
    ck_assert_ptr_null(early_option(3, (char *[]){"ddpbench", "-", "7"}, "threads", 0));
}

SUITE("early_option", NULL, NULL)
