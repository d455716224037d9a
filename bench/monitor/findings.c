/* findings.c - what the monitors of all hosts found: joined, in words, as JSON. */
#include "monitor/findings.h"

#include "base/json.h"

#include <math.h>
#include <stdarg.h>

const char *const monitor_kind_name[MONITOR_KINDS] = {
    [MONITOR_OTHER_PROCESSES] = "other_processes",
    [MONITOR_STEAL] = "steal",
    [MONITOR_CPU_CLOCK] = "cpu_clock",
    [MONITOR_CPU_THERMAL] = "cpu_thermal_throttling",
    [MONITOR_CPU_QUOTA] = "cpu_quota_throttling",
    [MONITOR_GPU_POWER] = "gpu_power_cap",
    [MONITOR_GPU_THERMAL] = "gpu_thermal_throttling",
    [MONITOR_GPU_SLOWDOWN] = "gpu_hardware_slowdown",
    [MONITOR_GPU_MEMORY] = "gpu_memory",
};

void monitor_report_add(struct monitor_report *report, enum monitor_kind kind, const char *format, ...)
{
    struct monitor_finding *finding = &report->finding[report->n++];
    va_list arguments;
    finding->kind = kind;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

void monitor_findings_join(struct monitor_findings *findings, const struct monitor_report *all, int n)
{
    double cpu_seconds = 0;
    *findings = (struct monitor_findings){0};
    for (const struct monitor_report *report = all; report < all + n; report++) {
        findings->samples += report->samples;
        cpu_seconds += report->cpu_seconds;
        for (int i = 0; i < report->n; i++) {
            if (findings->n == MONITOR_FINDINGS_MOST) {
                findings->dropped++;
                continue;
            }
            struct monitor_finding *joined = &findings->finding[findings->n++];
            joined->kind = report->finding[i].kind;
            snprintf(joined->text, sizeof joined->text, "%s%s%.*s", report->host, *report->host ? ": " : "",
                     MONITOR_TEXT - MONITOR_HOST - 2, report->finding[i].text);
        }
    }
    findings->cpu_seconds = findings->samples > 0 ? cpu_seconds / findings->samples : NAN;
}

void monitor_findings_print(FILE *out, const struct monitor_findings *findings)
{
    for (int i = 0; i < findings->n; i++)
        fprintf(out, "Note: %s.\n", findings->finding[i].text);
    if (findings->dropped)
        fprintf(out, "Note: %d more findings of monitors; see cpu_monitor*.csv and gpu_monitor*.csv.\n",
                findings->dropped);
}

void monitor_findings_describe(const struct monitor_findings *findings, cJSON *json)
{
    if (findings->samples <= 0)
        return;
    cJSON *monitor = cJSON_AddObjectToObject(json, "monitor");
    cJSON_AddNumberToObject(monitor, "samples", findings->samples);
    json_add_number(monitor, "cpu_us_per_sample", 1e6 * findings->cpu_seconds);
    cJSON *list = cJSON_AddArrayToObject(monitor, "findings");
    for (int i = 0; i < findings->n; i++) {
        cJSON *finding = json_add_row(list);
        cJSON_AddStringToObject(finding, "name", monitor_kind_name[findings->finding[i].kind]);
        json_add_text(finding, "text", findings->finding[i].text);
    }
    cJSON_AddNumberToObject(monitor, "dropped", findings->dropped);
}
