/* test_findings.c - what the monitors of several hosts found is joined; what GPUs found, and the words for it;
 * and lines of values are written whole or not at all. */
#include "base/lines.h"
#include "monitor/gpu.h"

#include "kernels/error.h"
#include "tests/support/suite.h"

#include <cJSON.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- of several hosts ---- */

static struct monitor_findings findings;

static void merge(const struct monitor_report *all, int n)
{
    memset(&findings, 0x55, sizeof findings);
    monitor_findings_merge(&findings, all, n);
}

static const char *text_of(int i)
{
    ck_assert_int_lt(i, findings.n);
    return findings.finding[i].text;
}

START_TEST(hosts_are_joined_by_kind)
{
    struct monitor_report all[4] = {{.host = "a"}, {.host = ""}, {.machine = 1, .host = "b"}, {.machine = 1}};
    monitor_findings_add(&all[0], MONITOR_CPU_QUOTA, "quota %d", 1);
    monitor_findings_add(&all[0], MONITOR_FOREIGN_LOAD, "load %d", 2);
    monitor_findings_add(&all[2], MONITOR_FOREIGN_LOAD, "load %d", 3);
    merge(all, 4);
    ck_assert_int_eq(findings.n, 3);
    ck_assert_str_eq(text_of(0), "a: load 2");
    ck_assert_str_eq(text_of(1), "b: load 3");
    ck_assert_str_eq(text_of(2), "a: quota 1");
    ck_assert_int_eq(findings.finding[2].kind, MONITOR_CPU_QUOTA);
    ck_assert(isnan(findings.cpu_seconds));
    all[0].samples = 10;
    all[0].cpu_seconds = 0.002;
    all[2].samples = 30;
    all[2].cpu_seconds = 0.004;
    merge(all, 4);
    ck_assert(findings.samples == 40);
    ck_assert_double_eq_tol(findings.cpu_seconds, 0.00015, 1e-12);
}
END_TEST

/* Hosts on one machine see the same load, but each has its own control group and GPUs. */
START_TEST(a_shared_machine_is_told_once)
{
    struct monitor_report all[2] = {{.host = "a"}, {.host = "b"}};
    for (int r = 0; r < 2; r++)
        for (int kind = 0; kind < MONITOR_KINDS; kind++)
            monitor_findings_add(&all[r], (enum monitor_kind)kind, "%s", monitor_kind_name[kind]);
    merge(all, 2);
    ck_assert_int_eq(findings.n, 2 * MONITOR_KINDS - MONITOR_MACHINE_KINDS);
    ck_assert_str_eq(text_of(0), "a: foreign_load");
    ck_assert_str_eq(text_of(1), "a: steal");
    ck_assert_str_eq(text_of(MONITOR_MACHINE_KINDS), "a: cpu_quota_throttling");
    ck_assert_str_eq(text_of(MONITOR_MACHINE_KINDS + 1), "b: cpu_quota_throttling");
}
END_TEST

START_TEST(more_than_there_is_room_for)
{
    enum { HOSTS = MONITOR_FINDINGS_MOST + 7 };
    struct monitor_report all[HOSTS] = {{0}};
    char *text = NULL;
    size_t length;
    for (int r = 0; r < HOSTS; r++) {
        all[r].machine = r;
        memset(all[r].host, 'h', MONITOR_HOST - 1);
        monitor_findings_add(&all[r], MONITOR_STEAL, "%300d", r);
    }
    merge(all, HOSTS);
    ck_assert_int_eq(findings.n, MONITOR_FINDINGS_MOST);
    ck_assert_int_eq(findings.more, 7);
    for (int i = 0; i < findings.n; i++)
        ck_assert_uint_lt(strlen(text_of(i)), MONITOR_TEXT);
    FILE *out = open_memstream(&text, &length);
    monitor_findings_print(out, &findings);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "Note: monitors saw 7 more of this"));
    free(text);
    findings.samples = 1;
    cJSON *json = cJSON_CreateObject(), *monitor;
    monitor_findings_describe(&findings, json);
    ck_assert_ptr_nonnull(monitor = cJSON_GetObjectItem(json, "monitor"));
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(monitor, "findings")), MONITOR_FINDINGS_MOST);
    ck_assert_int_eq(cJSON_GetObjectItem(monitor, "more")->valueint, 7);
    cJSON_Delete(json);
}
END_TEST

START_TEST(nothing_found_prints_nothing)
{
    struct monitor_report all[2] = {{.samples = 3}, {0}};
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    merge(all, 2);
    monitor_findings_print(out, &findings);
    fflush(out);
    ck_assert_str_eq(text, "");
    monitor_findings_add(&all[1], MONITOR_STEAL, "a sentence");
    merge(all, 2);
    monitor_findings_print(out, &findings);
    fclose(out);
    ck_assert_str_eq(text, "Note: a sentence.\n");
    free(text);
}
END_TEST

/* ---- GPUs ---- */

START_TEST(reasons_in_words)
{
    char text[GPU_REASONS_TEXT];
    ck_assert_str_eq(gpu_reasons_words(0, text), "none");
    ck_assert_str_eq(gpu_reasons_words(NVML_GPU_IDLE, text), "gpu_idle");
    ck_assert_str_eq(gpu_reasons_words(NVML_HW_SLOWDOWN | NVML_SW_POWER_CAP, text), "sw_power_cap|hw_slowdown");
    ck_assert_str_eq(gpu_reasons_words(1ull << 63, text), "other");
    gpu_reasons_words(~0ull, text);
    ck_assert_str_eq(text + strlen(text) - 6, "|other");
    ck_assert_uint_lt(strlen(text), GPU_REASONS_TEXT - 1); /* nothing was cut */
}
END_TEST

static const struct gpu_case {
    unsigned long long reasons;
    double used; /* of 1000 MiB */
    const char *name, *words;
} gpu_cases[] = {
    {NVML_GPU_IDLE | NVML_APPLICATIONS_CLOCKS | NVML_SYNC_BOOST | NVML_DISPLAY_CLOCKS, 900, NULL, NULL},
    {NVML_SW_POWER_CAP, 0, "gpu_power_cap", "was held back by its power limit in 1 of 3 samples"},
    {NVML_HW_POWER_BRAKE, 0, "gpu_power_cap", "in 1 of 3 samples"},
    {NVML_SW_THERMAL, 0, "gpu_thermal_throttling", "temperature in 1 of 3 samples"},
    {NVML_HW_THERMAL, 0, "gpu_thermal_throttling", "temperature in 1 of 3 samples"},
    {NVML_HW_SLOWDOWN, 0, "gpu_hardware_slowdown", "hardware in 1 of 3 samples"},
    {0, 901, "gpu_memory", "nearly full in 1 of 3 samples (90.1 % at most, threshold 90 %)"},
    {0, NAN, NULL, NULL},
};

START_TEST(gpu_finding_is)
{
    const struct gpu_case *c = &gpu_cases[_i];
    struct monitor_report report = {0};
    struct gpu_seen seen[2] = {{.index = 4}, {.index = 6}};
    for (int i = 0; i < 3; i++) {
        struct gpu_row row = {.memory_used = 10, .memory_total = 1000, .has_reasons = 1};
        gpu_seen_add(&seen[0], &row);
        row.reasons = i == 1 ? c->reasons : 0;
        row.memory_used = i == 1 ? c->used : 10;
        gpu_seen_add(&seen[1], &row);
    }
    gpu_seen_find(seen, 2, 0, &report);
    ck_assert_int_eq(report.n, c->name != NULL);
    if (!c->name)
        return;
    ck_assert_str_eq(monitor_kind_name[report.finding[0].kind], c->name);
    ck_assert_int_eq(strncmp(report.finding[0].text, "host GPU 6 ", 11), 0);
    ck_assert_msg(strstr(report.finding[0].text, c->words) != NULL, "%s", report.finding[0].text);
    ck_assert_ptr_null(strstr(report.finding[0].text, "likewise"));
}
END_TEST

START_TEST(the_worst_gpu_is_named)
{
    struct monitor_report report = {0};
    struct gpu_seen seen[4] = {{.index = 0}, {.index = 1}, {.index = 2}, {.index = 3}};
    for (int i = 0; i < 6; i++)
        for (int g = 0; g < 4; g++) { /* GPU 1 never, 2 most often */
            struct gpu_row row = {.memory_total = 1000, .has_reasons = 1};
            row.reasons = (g == 0 && i < 2) || (g == 2 && i < 5) || (g == 3 && i < 3) ? NVML_SW_POWER_CAP : 0;
            gpu_seen_add(&seen[g], &row);
        }
    gpu_seen_find(seen, 4, 0, &report);
    ck_assert_int_eq(report.n, 1);
    ck_assert_str_eq(
        report.finding[0].text,
        "host GPU 2 (NVML's number) was held back by its power limit in 5 of 6 samples; 2 more GPUs likewise");
    gpu_seen_find(seen, 0, 0, &report);
    ck_assert_int_eq(report.n, 1);
    gpu_seen_find(seen, 4, 1, &report);
    ck_assert_ptr_nonnull(
        strstr(report.finding[1].text, "number; with CUDA_VISIBLE_DEVICES set it may not be this run's)"));
}
END_TEST

/* A job next door has the GPU that is throttled most. */
START_TEST(other_jobs_gpus_are_theirs)
{
    struct monitor_report report = {0};
    struct gpu gpus[] = {{.index = 0, .uuid = "GPU-a"}, {.index = 1, .uuid = "GPU-b"}, {.index = 2, .uuid = "GPU-c"}};
    struct gpu_seen seen[3] = {{.index = 0}, {.index = 1}, {.index = 2}};
    struct monitor_gpu monitor = {.n = 3, .chosen = 1, .gpu = gpus, .seen = seen};
    for (int i = 0; i < 6; i++)
        for (int g = 0; g < 3; g++) {
            struct gpu_row row = {.memory_total = 1000, .has_reasons = 1, .reasons = i <= g ? NVML_SW_POWER_CAP : 0};
            gpu_seen_add(&seen[g], &row);
        }
    monitor_gpu_note_ours(&monitor, ""); /* on the CPU */
    monitor_gpu_note_ours(&monitor, "GPU-x");
    monitor_gpu_find(&monitor, &report);
    ck_assert_ptr_nonnull(strstr(report.finding[0].text, "host GPU 2 (NVML's number; with CUDA_VISIBLE_DEVICES set"));
    monitor_gpu_note_ours(&monitor, "GPU-b");
    monitor_gpu_find(&monitor, &report);
    ck_assert_str_eq(report.finding[1].text,
                     "host GPU 1 (NVML's number) was held back by its power limit in 2 of 6 samples");
    ck_assert_int_eq(report.n, 2);
}
END_TEST

START_TEST(all_gpu_findings_fit)
{
    struct monitor_report report = {0};
    struct gpu_seen seen[101];
    for (int i = 0; i < 101; i++)
        seen[i] = (struct gpu_seen){1000000 + (unsigned)i, 10000000, {9999999, 9999999, 9999999, 9999999}, 100};
    gpu_seen_find(seen, 101, 1, &report);
    ck_assert_int_eq(report.n, GPU_KINDS);
    for (int i = 0; i < report.n; i++) {
        ck_assert_uint_lt(strlen(report.finding[i].text), MONITOR_TEXT - MONITOR_HOST - 2);
        ck_assert_ptr_nonnull(strstr(report.finding[i].text, "; 100 more GPUs likewise"));
    }
}
END_TEST

/* ---- lines ---- */

static char directory[64];

static void setup(void)
{
    strcpy(directory, "/tmp/ddpbench_monitor.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %.50s", directory);
    ck_assert_int_eq(system(command), 0);
}

static void check_file(const char *name, const char *expected)
{
    char path[128], text[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    ck_assert_str_eq(text, expected);
}

START_TEST(fields_and_lines)
{
    struct csv csv = {.file = -1};
    ck_assert_int_eq(csv_open(&csv, directory, "m", "node/1 x", "a,b,c"), 0);
    check_file("m_node_1_x.csv", "a,b,c\n");
    csv_number(&csv, 2, 1.005001);
    csv_number(&csv, 0, NAN);
    csv_text(&csv, "a, \"b\"\n");
    check_file("m_node_1_x.csv", "a,b,c\n"); /* nothing of a line before its end */
    csv_end_line(&csv);
    check_file("m_node_1_x.csv", "a,b,c\n1.01,,a   b  \n");
    csv_text(&csv, "");
    csv_number(&csv, 0, -3);
    csv_end_line(&csv);
    ck_assert_int_eq(csv_close(&csv), 0);
    ck_assert_int_eq(csv_close(&csv), 0);
    check_file("m_node_1_x.csv", "a,b,c\n1.01,,a   b  \n,-3\n");
}
END_TEST

START_TEST(a_line_that_is_too_long_is_still_one)
{
    struct csv csv = {.file = -1};
    char text[3000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    ck_assert_int_eq(csv_open(&csv, directory, "m", "", "a"), 0);
    csv_text(&csv, text);
    csv_end_line(&csv);
    ck_assert_int_eq(csv_close(&csv), 0);
    memcpy(text, "a\n", 2);
    strcpy(text + 2 + sizeof csv.text - 1, "\n");
    check_file("m.csv", text);
}
END_TEST

/* A limit on the size of files cuts a line; what was before it stays. */
START_TEST(a_full_disk_keeps_whole_lines)
{
    struct csv csv = {.file = -1};
    struct rlimit limit = {10, 10};
    ck_assert_int_eq(csv_open(&csv, directory, "m", "", "abc"), 0);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (int i = 0; i < 4; i++) { /* the third does not fit, and the fourth is not tried */
        csv_text(&csv, i == 2 ? "1234" : "x");
        csv_end_line(&csv);
    }
    ck_assert_int_eq(csv_close(&csv), -1);
    ck_assert_ptr_nonnull(strstr(error_text(), "m.csv"));
    ck_assert_ptr_nonnull(strstr(error_text(), strerror(EFBIG)));
    check_file("m.csv", "abc\nx\nx\n");
}
END_TEST

START_TEST(a_file_that_cannot_be)
{
    struct csv csv = {.file = -1};
    ck_assert_int_eq(csv_open(&csv, "/proc/nowhere", "m", "", "abc"), -1);
    ck_assert_ptr_nonnull(strstr(error_text(), "/proc/nowhere/m.csv"));
    ck_assert_int_eq(csv_close(&csv), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("monitor_findings");
    TCase *tests = tcase_create("monitor_findings");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, hosts_are_joined_by_kind);
    tcase_add_test(tests, a_shared_machine_is_told_once);
    tcase_add_test(tests, more_than_there_is_room_for);
    tcase_add_test(tests, nothing_found_prints_nothing);
    tcase_add_test(tests, reasons_in_words);
    tcase_add_loop_test(tests, gpu_finding_is, 0, (int)(sizeof gpu_cases / sizeof *gpu_cases));
    tcase_add_test(tests, the_worst_gpu_is_named);
    tcase_add_test(tests, other_jobs_gpus_are_theirs);
    tcase_add_test(tests, all_gpu_findings_fit);
    tcase_add_test(tests, fields_and_lines);
    tcase_add_test(tests, a_line_that_is_too_long_is_still_one);
    tcase_add_test(tests, a_full_disk_keeps_whole_lines);
    tcase_add_test(tests, a_file_that_cannot_be);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
