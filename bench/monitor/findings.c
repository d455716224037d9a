/* findings.c - texts of what monitors saw, joined over the hosts. */
#include "monitor/findings.h"

#include "base/json.h"

#include <math.h>
#include <stdarg.h>

const char *const monitor_kind_name[MONITOR_KINDS] = {
    [MONITOR_FOREIGN_LOAD] = "foreign_load",
    [MONITOR_STEAL] = "steal",
    [MONITOR_CPU_CLOCK] = "cpu_clock",
    [MONITOR_CPU_THERMAL] = "cpu_thermal_throttling",
    [MONITOR_CPU_QUOTA] = "cpu_quota_throttling",
    [MONITOR_GPU_POWER] = "gpu_power_cap",
    [MONITOR_GPU_THERMAL] = "gpu_thermal_throttling",
    [MONITOR_GPU_SLOWDOWN] = "gpu_hardware_slowdown",
    [MONITOR_GPU_MEMORY] = "gpu_memory",
};

void monitor_findings_add(struct monitor_report *report, enum monitor_kind kind, const char *format, ...)
{
    struct monitor_finding *finding = &report->finding[report->n++];
    va_list arguments;
    finding->kind = kind;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

static const struct monitor_finding *find(const struct monitor_report *report, enum monitor_kind kind)
{
    for (int i = 0; i < report->n; i++)
        if (report->finding[i].kind == kind)
            return &report->finding[i];
    return NULL;
}

/* Whether a rank before number r has told this of the same machine. */
static int is_told(const struct monitor_report *all, int r, enum monitor_kind kind)
{
    for (int q = 0; q < r && kind < MONITOR_MACHINE_KINDS; q++)
        if (all[q].machine == all[r].machine && find(&all[q], kind))
            return 1;
    return 0;
}

static void keep(struct monitor_findings *findings, const char *host, const struct monitor_finding *finding)
{
    if (findings->n == MONITOR_FINDINGS_MOST) {
        findings->more++;
        return;
    }
    struct monitor_finding *kept = &findings->finding[findings->n++];
    kept->kind = finding->kind;
    snprintf(kept->text, sizeof kept->text, "%s%s%.*s", host, *host ? ": " : "", MONITOR_TEXT - MONITOR_HOST - 2,
             finding->text);
}

void monitor_findings_merge(struct monitor_findings *findings, const struct monitor_report *all, int n)
{
    double cpu_seconds = 0;
    *findings = (struct monitor_findings){0};
    for (int kind = 0; kind < MONITOR_KINDS; kind++)
        for (int r = 0; r < n; r++) {
            const struct monitor_finding *finding = find(&all[r], (enum monitor_kind)kind);
            if (finding && !is_told(all, r, finding->kind))
                keep(findings, all[r].host, finding);
        }
    for (int r = 0; r < n; r++) {
        findings->samples += all[r].samples;
        cpu_seconds += all[r].cpu_seconds;
    }
    findings->cpu_seconds = findings->samples > 0 ? cpu_seconds / findings->samples : NAN;
}

void monitor_findings_print(FILE *out, const struct monitor_findings *findings)
{
    for (int i = 0; i < findings->n; i++)
        fprintf(out, "Note: %s.\n", findings->finding[i].text);
    if (findings->more)
        fprintf(out, "Note: monitors saw %d more of this; see cpu_monitor*.csv and gpu_monitor*.csv.\n",
                findings->more);
}

void monitor_findings_describe(const struct monitor_findings *findings, cJSON *json)
{
    if (!(findings->samples > 0))
        return;
    cJSON *monitor = cJSON_AddObjectToObject(json, "monitor");
    cJSON_AddNumberToObject(monitor, "samples", findings->samples);
    json_add_number(monitor, "cpu_us_per_sample", 1e6 * findings->cpu_seconds);
    cJSON *list = cJSON_AddArrayToObject(monitor, "findings");
    for (int i = 0; i < findings->n; i++) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddItemToArray(list, row);
        cJSON_AddStringToObject(row, "name", monitor_kind_name[findings->finding[i].kind]);
        cJSON_AddStringToObject(row, "text", findings->finding[i].text);
    }
    cJSON_AddNumberToObject(monitor, "more", findings->more);
}
