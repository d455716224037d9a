/* test_settings.c - differences between the settings of runs, and which are allowed. */
#include "compare/settings.h"
#include "kernels/error.h"
#include "tests/support/suite.h"

static struct compare_run first, second;
static cJSON *differences;

static void make(void)
{
    for (int kind = 0; kind < SETTING_KINDS; kind++) {
        first.setting[kind] = cJSON_CreateObject();
        second.setting[kind] = cJSON_CreateObject();
    }
    settings_add(first.setting[SETTING], "mode", "benchmark");
    settings_add(first.setting[SETTING], "d-model", "32");
    settings_add(first.setting[SETTING], "threads", "0");
    settings_add(first.setting[SETTING], "ranks", "2");
    settings_add(first.setting[LISTED], "kernel", "Linux 6.1");
    settings_add(second.setting[SETTING], "mode", "benchmark");
    settings_add(second.setting[SETTING], "d-model", "64");
    settings_add(second.setting[SETTING], "ranks", "4");
    settings_add(second.setting[LISTED], "kernel", "Linux 6.2");
    settings_add(second.setting[SETTING], "data", "");
    differences = cJSON_CreateArray();
}

static void destroy(void)
{
    compare_run_destroy(&first);
    compare_run_destroy(&second);
    cJSON_Delete(differences);
    error_clear();
}

static int count(void)
{
    return cJSON_GetArraySize(differences);
}

static int refused(void)
{
    int n = 0;
    for (int i = 0; i < count(); i++)
        n += difference_kind(cJSON_GetArrayItem(differences, i)) == DIFFERENCE_REFUSED;
    return n;
}

static const cJSON *member(int i, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(differences, i), name);
}

static void is(int i, const char *key, const char *baseline, const char *other, int environment)
{
    ck_assert_str_eq(member(i, "key")->valuestring, key);
    ck_assert_pstr_eq(cJSON_GetStringValue(member(i, "baseline")), baseline);
    ck_assert_pstr_eq(cJSON_GetStringValue(member(i, "other")), other);
    ck_assert_int_eq(cJSON_IsTrue(member(i, "environment")), environment);
    ck_assert(cJSON_IsFalse(member(i, "allowed")));
}

TEST(settings_are_replaced)
{
    cJSON *settings = first.setting[SETTING];
    settings_add(settings, "d_model", "48"); /* the value in use replaces the option's value */
    ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(settings, "d-model")->valuestring, "48");
    settings_add(settings, "d-mode", "1");
    settings_add(settings, "d-models", "2");
    ck_assert_int_eq(cJSON_GetArraySize(settings), 6);
}

TEST(all_differences_are_listed)
{
    differences_add(differences, &first, &second, "candidate");
    ck_assert_int_eq(count(), 5);
    is(0, "d-model", "32", "64", 0);
    is(1, "threads", "0", NULL, 1);
    is(2, "ranks", "2", "4", 0);
    is(3, "data", NULL, "", 1);
    is(4, "kernel", "Linux 6.1", "Linux 6.2", 1);
    ck_assert_int_eq(refused(), 2); /* a differing kernel or missing setting is not refused */
    differences_add(differences, &first, &second, "candidate"); /* a difference is not listed twice */
    ck_assert_int_eq(count(), 5);
    differences_add(differences, &first, &second, "another baseline");
    ck_assert_int_eq(count(), 10);
    differences_add(differences, &first, &first, "candidate");
    ck_assert_int_eq(count(), 10);
}

/* Returns a digit for each difference: 1 if the difference is allowed, else 0. */
static const char *allowed_ones(void)
{
    static char text[32];
    for (int i = 0; i < count(); i++)
        text[i] = cJSON_IsTrue(member(i, "allowed")) ? '1' : '0';
    text[count()] = 0;
    return text;
}

TEST(named_differences_are_allowed)
{
    differences_add(differences, &first, &second, "candidate");
    ck_assert_int_eq(differences_allow(differences, "d_model,mode", &first), 0);
    ck_assert_int_eq(refused(), 1);
    ck_assert_str_eq(allowed_ones(), "10000");
    ck_assert_int_eq(differences_allow(differences, "threads,data", &first), 0);
    ck_assert_str_eq(allowed_ones(), "11010");
    ck_assert_int_eq(differences_allow(differences, "ranks,kernel", &first), 0);
    ck_assert_int_eq(refused(), 0);
    ck_assert_int_eq(differences_allow(differences, "", &first), 0);
}

TEST(all_differences_can_be_allowed)
{
    static const char *const lists[] = {"all", "all,threads", "mode,all"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        cJSON_Delete(differences);
        differences = cJSON_CreateArray();
        differences_add(differences, &first, &second, "candidate");
        ck_assert_int_eq(differences_allow(differences, lists[i], &first), 0);
        ck_assert_str_eq(allowed_ones(), "11111");
    }
}

TEST(unknown_settings_are_refused)
{
    static const char *const bad[] = {"thread",       "threads,", ",threads", "threads,,mode",
                                      "threads mode", "ALL",      "all,",     "al"};
    differences_add(differences, &first, &second, "candidate");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(differences_allow(differences, bad[i], &first), -1);
        check_has(error_text(), "no such setting; known: all mode d-model threads");
        error_clear();
    }
}

SUITE("compare_settings", make, destroy)
