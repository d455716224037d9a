/* test_watch_findings.c - findings of the monitors of several hosts are merged; findings about GPUs, and their text. */
#include "machine/watch.h"

#include "tests/support/suite.h"

#include <cJSON.h>
#include <math.h>
#include <string.h>

/* ---- several hosts ---- */

static struct monitor_findings findings;

static void join(const struct monitor_findings *all, int n)
{
    memset(&findings, 0x55, sizeof findings);
    monitor_findings_join(&findings, all, n);
}

static const char *text_of(int i)
{
    ck_assert_int_lt(i, findings.n);
    return findings.finding[i].text;
}

TEST(reports_follow_one_another)
{
    struct monitor_findings all[4] = {{.host = "a"}, {.host = ""}, {.host = "b"}, {.host = ""}};
    monitor_findings_add(&all[0], "cpu_quota", "quota %d", 1);
    monitor_findings_add(&all[0], "other", "load %d", 2);
    monitor_findings_add(&all[2], "other", "load %d", 3);
    join(all, 4);
    ck_assert_int_eq(findings.n, 3);
    ck_assert_str_eq(text_of(0), "a: quota 1");
    ck_assert_str_eq(text_of(1), "a: load 2");
    ck_assert_str_eq(text_of(2), "b: load 3");
    ck_assert_str_eq(findings.finding[0].name, "cpu_quota");
    all[0].samples = 10;
    all[0].cpu_seconds = 0.002;
    all[2].samples = 30;
    all[2].cpu_seconds = 0.004;
    join(all, 4);
    ck_assert(findings.samples == 40);
    ck_assert_double_eq_tol(findings.cpu_seconds, 0.006, 1e-12);
}

TEST(more_than_there_is_room_for)
{
    enum { HOSTS = MONITOR_FINDINGS_MOST + 7 };
    struct monitor_findings all[HOSTS] = {{.n = 0}};
    for (int r = 0; r < HOSTS; r++) {
        memset(all[r].host, 'h', MONITOR_HOST - 1);
        monitor_findings_add(&all[r], "steal", "%300d", r);
    }
    join(all, HOSTS);
    ck_assert_int_eq(findings.n, MONITOR_FINDINGS_MOST);
    ck_assert_int_eq(findings.dropped, 7);
    for (int i = 0; i < findings.n; i++)
        ck_assert_uint_lt(strlen(text_of(i)), MONITOR_TEXT);
    findings.samples = 40;
    findings.cpu_seconds = 0.006;
    cJSON *json = cJSON_CreateObject(), *monitor;
    monitor_findings_describe(&findings, json);
    ck_assert_ptr_nonnull(monitor = cJSON_GetObjectItem(json, "monitor"));
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(monitor, "findings")), MONITOR_FINDINGS_MOST);
    ck_assert_int_eq(cJSON_GetObjectItem(monitor, "dropped")->valueint, 7);
    ck_assert_double_eq_tol(cJSON_GetObjectItem(monitor, "cpu_seconds_per_sample")->valuedouble, 0.00015, 1e-12);
    cJSON_Delete(json);
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
    ck_assert_uint_lt(strlen(text), GPU_REASONS_TEXT - 1); /* the text is complete */
}

static const struct gpu_case {
    unsigned long long reasons; /* bits of NVML's clock event reasons */
    double used;                /* MiB of 1000 MiB */
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

TEST_EACH(gpu_finding_is, sizeof gpu_cases / sizeof *gpu_cases)
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
    ck_assert_msg(strstr(report.finding[0].text, c->words) != NULL, "%s", report.finding[0].text);
    ck_assert_ptr_null(strstr(report.finding[0].text, "likewise"));
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
