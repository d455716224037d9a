/* test_watch_findings.c - findings of the monitors of several hosts are merged; findings about GPUs, and their text. */
#include "machine/watch.h"

#include "base/json.h"
#include "tests/support/suite.h"

#include <cJSON.h>
#include <math.h>
#include <string.h>

/* ---- several hosts ---- */

TEST(findings_of_hosts_follow_one_another)
{
    static const char *const text[] = {"a: quota 1", "a: load 2", "b: load 3"};
    struct monitor_findings all[4] = {{.host = "a", .samples = 10, .cpu_seconds = 0.002},
                                      {.host = ""},
                                      {.host = "b", .samples = 30, .cpu_seconds = 0.004},
                                      {.host = ""}};
    monitor_findings_add(&all[0], "cpu_quota", "quota %d", 1);
    monitor_findings_add(&all[0], "other", "load %d", 2);
    monitor_findings_add(&all[2], "other", "load %d", 3);
    cJSON *json = kept_json(monitor_findings_join(all, 4)), *findings = cJSON_GetObjectItem(json, "findings");
    ck_assert_int_eq(cJSON_GetArraySize(findings), 3);
    for (int i = 0; i < 3; i++)
        ck_assert_str_eq(json_string(cJSON_GetArrayItem(findings, i), "text"), text[i]);
    ck_assert_str_eq(json_string(cJSON_GetArrayItem(findings, 0), "name"), "cpu_quota");
    ck_assert_double_eq(json_number(json, "samples"), 40);
    ck_assert_double_eq_tol(json_number(json, "cpu_seconds_per_sample"), 0.00015, 1e-12);
    all[0].samples = all[2].samples = 0;
    ck_assert_ptr_null(monitor_findings_join(all, 4));
}

TEST(a_long_name_and_text_are_kept)
{
    struct monitor_findings all = {.samples = 1};
    memset(all.host, 'h', MONITOR_HOST - 1);
    monitor_findings_add(&all, "steal", "%300d", 7);
    cJSON *json = kept_json(monitor_findings_join(&all, 1)), *findings = cJSON_GetObjectItem(json, "findings");
    ck_assert_uint_eq(strlen(json_string(cJSON_GetArrayItem(findings, 0), "text")),
                      MONITOR_HOST - 1 + 2 + MONITOR_TEXT - 1);
}

/* ---- GPUs ---- */

TEST(reasons_as_text)
{
    char text[GPU_REASONS_TEXT];
    ck_assert_str_eq(gpu_reasons_words(0, text), "none");
    ck_assert_str_eq(gpu_reasons_words(0x1, text), "gpu_idle");
    ck_assert_str_eq(gpu_reasons_words(0x8 | 0x4, text), "sw_power_cap|hw_slowdown");
    ck_assert_str_eq(gpu_reasons_words(1ull << 63, text), "other");
    gpu_reasons_words(~0ull, text);
    ck_assert_str_eq(text + strlen(text) - 6, "|other");
    ck_assert_uint_lt(strlen(text), GPU_REASONS_TEXT - 1); /* the text is not cut */
}

static const struct gpu_case {
    unsigned long long reasons; /* bits of NVML's clock event reasons */
    double used;                /* MiB in use, of 1000 MiB */
    const char *name, *words;
} gpu_cases[] = {
    {0x1 | 0x2 | 0x10 | 0x100, 900, NULL, NULL},
    {0x4, 0, "gpu_power_cap", "was held back by its power limit in 1 of 3 samples"},
    {0x80, 0, "gpu_power_cap", "in 1 of 3 samples"},
    {0x20, 0, "gpu_thermal_throttling", "temperature in 1 of 3 samples"},
    {0x40, 0, "gpu_thermal_throttling", "temperature in 1 of 3 samples"},
    {0x8, 0, "gpu_hardware_slowdown", "hardware in 1 of 3 samples"},
    {0, 901, "gpu_memory", "nearly full in 1 of 3 samples (90.1 % at most, threshold 90 %)"},
    {0, NAN, NULL, NULL},
};

TEST_EACH(gpu_finding_has_known_words, sizeof gpu_cases / sizeof *gpu_cases)
{
    const struct gpu_case *c = &gpu_cases[_i];
    struct monitor_findings report = {0};
    struct gpu tally[2] = {{.index = 4}, {.index = 6}};
    for (int i = 0; i < 3; i++) {
        struct gpu_sample sample = {.memory_used = 10, .memory_total = 1000, .has_reasons = 1};
        gpu_tally_add(&tally[0], &sample);
        sample.reasons = i == 1 ? c->reasons : 0;
        sample.memory_used = i == 1 ? c->used : 10;
        gpu_tally_add(&tally[1], &sample);
    }
    gpu_tally_report(tally, 2, &report);
    ck_assert_int_eq(report.n, c->name != NULL);
    if (!c->name)
        return;
    ck_assert_str_eq(report.finding[0].name, c->name);
    ck_assert_int_eq(strncmp(report.finding[0].text, "host GPU 6 ", 11), 0);
    check_has(report.finding[0].text, c->words);
    check_lacks(report.finding[0].text, "likewise");
}

TEST(the_worst_gpu_is_named)
{
    struct monitor_findings report = {0};
    struct gpu tally[4] = {{.index = 0}, {.index = 1}, {.index = 2}, {.index = 3}};
    for (int i = 0; i < 6; i++)
        for (int g = 0; g < 4; g++) { /* GPU 1 is never held back, GPU 2 most often */
            struct gpu_sample sample = {.memory_total = 1000, .has_reasons = 1};
            sample.reasons = (g == 0 && i < 2) || (g == 2 && i < 5) || (g == 3 && i < 3) ? 0x4 : 0;
            gpu_tally_add(&tally[g], &sample);
        }
    gpu_tally_report(tally, 4, &report);
    ck_assert_int_eq(report.n, 1);
    ck_assert_str_eq(
        report.finding[0].text,
        "host GPU 2 (NVML's number) was held back by its power limit in 5 of 6 samples; 2 more GPUs likewise");
    gpu_tally_report(tally, 0, &report);
    ck_assert_int_eq(report.n, 1);
}

SUITE("monitor_findings", NULL, NULL)
