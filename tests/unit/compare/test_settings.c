/* test_settings.c - in what runs differ, and what is allowed. */
#include "compare/settings.h"
#include "kernels/error.h"
#include "tests/support/suite.h"

#include <string.h>

static struct settings first, second;
static struct differences differences;

static void make(void)
{
    settings_add(&first, "mode", "benchmark", 0);
    settings_add(&first, "d-model", "32", 0);
    settings_add(&first, "threads", "0", 0);
    settings_add(&first, "ranks", "2", 0);
    settings_add(&first, "kernel", "Linux 6.1", 1);
    settings_add(&second, "mode", "benchmark", 0);
    settings_add(&second, "d-model", "64", 0);
    settings_add(&second, "ranks", "4", 0);
    settings_add(&second, "kernel", "Linux 6.2", 1);
    settings_add(&second, "data", "", 0);
}

static void destroy(void)
{
    settings_destroy(&first);
    settings_destroy(&second);
    differences_destroy(&differences);
    error_clear();
}

static void is(size_t i, const char *key, const char *baseline, const char *other, int environment)
{
    const struct difference *d = &differences.item[i];
    ck_assert_str_eq(d->key, key);
    ck_assert_pstr_eq(d->baseline, baseline);
    ck_assert_pstr_eq(d->other, other);
    ck_assert_int_eq(d->environment, environment);
    ck_assert_int_eq(d->allowed, 0);
}

START_TEST(values)
{
    ck_assert_str_eq(settings_value(&first, "d_model"), "32");
    ck_assert_ptr_null(settings_value(&first, "d-mode"));
    ck_assert_ptr_null(settings_value(&first, "d-models"));
    settings_add(&first, "d_model", "48", 0); /* what was made of an option stands in its place */
    ck_assert_str_eq(settings_value(&first, "d-model"), "48");
    ck_assert_uint_eq(first.n, 5);
}
END_TEST

START_TEST(all_differences)
{
    differences_add(&differences, &first, &second, "candidate");
    ck_assert_uint_eq(differences.n, 5);
    is(0, "d-model", "32", "64", 0);
    is(1, "threads", "0", NULL, 1);
    is(2, "ranks", "2", "4", 0);
    is(3, "kernel", "Linux 6.1", "Linux 6.2", 1);
    is(4, "data", NULL, "", 1);
    ck_assert_uint_eq(differences_refused(&differences), 2);     /* the kernel, and what one side lacks, is only told */
    differences_add(&differences, &first, &second, "candidate"); /* another run like it */
    ck_assert_uint_eq(differences.n, 5);
    differences_add(&differences, &first, &second, "another baseline");
    ck_assert_uint_eq(differences.n, 10);
    differences_add(&differences, &first, &first, "candidate");
    ck_assert_uint_eq(differences.n, 10);
}
END_TEST

START_TEST(allowed)
{
    differences_add(&differences, &first, &second, "candidate");
    ck_assert_int_eq(differences_allow(&differences, "d_model,mode", &first), 0);
    ck_assert_uint_eq(differences_refused(&differences), 1);
    ck_assert(differences.item[0].allowed && !differences.item[1].allowed && !differences.item[4].allowed);
    ck_assert_int_eq(differences_allow(&differences, "threads,data", &first), 0);
    ck_assert(differences.item[1].allowed && !differences.item[2].allowed && differences.item[4].allowed);
    ck_assert_int_eq(differences_allow(&differences, "ranks", &first), 0);
    ck_assert_uint_eq(differences_refused(&differences), 0);
    ck_assert_int_eq(differences_allow(&differences, "", &first), 0);
}
END_TEST

START_TEST(all_allowed)
{
    static const char *const lists[] = {"all", "all,threads", "mode,all"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        differences_destroy(&differences);
        differences_add(&differences, &first, &second, "candidate");
        ck_assert_int_eq(differences_allow(&differences, lists[i], &first), 0);
        for (size_t k = 0; k < differences.n; k++)
            ck_assert_int_eq(differences.item[k].allowed, 1);
        ck_assert_uint_eq(differences.n, 5);
    }
}
END_TEST

START_TEST(unknown_refused)
{
    static const char *const bad[] = {"thread",       "threads,", ",threads", "threads,,mode",
                                      "threads mode", "ALL",      "all,",     "al"};
    differences_add(&differences, &first, &second, "candidate");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(differences_allow(&differences, bad[i], &first), -1);
        ck_assert_msg(strstr(error_text(), "no such setting; known: all mode d-model threads") != NULL, "%s: %s",
                      bad[i], error_text());
        error_clear();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compare_settings");
    TCase *all = tcase_create("settings");
    tcase_add_checked_fixture(all, make, destroy);
    tcase_add_test(all, values);
    tcase_add_test(all, all_differences);
    tcase_add_test(all, allowed);
    tcase_add_test(all, all_allowed);
    tcase_add_test(all, unknown_refused);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
