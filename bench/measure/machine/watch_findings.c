/* watch_findings.c - the findings of monitors: added, joined, and as JSON. */
#include "machine/watch.h"

#include "base/json.h"

#include <stdarg.h>

void monitor_findings_add(struct monitor_findings *findings, const char *name, const char *format, ...)
{
    struct monitor_finding *finding = &findings->finding[findings->n++];
    va_list arguments;
    snprintf(finding->name, sizeof finding->name, "%s", name);
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

void monitor_findings_join(struct monitor_findings *findings, const struct monitor_findings *all, int n)
{
    *findings = (struct monitor_findings){0};
    for (const struct monitor_findings *of_rank = all; of_rank < all + n; of_rank++) {
        findings->samples += of_rank->samples;
        findings->cpu_seconds += of_rank->cpu_seconds;
        for (int i = 0; i < of_rank->n; i++) {
            if (findings->n == MONITOR_FINDINGS_MOST) {
                findings->dropped++;
                continue;
            }
            struct monitor_finding *joined = &findings->finding[findings->n++];
            *joined = of_rank->finding[i];
            if (*of_rank->host)
                snprintf(joined->text, sizeof joined->text, "%s: %.*s", of_rank->host, MONITOR_TEXT - MONITOR_HOST - 2,
                         of_rank->finding[i].text);
        }
    }
}

void monitor_findings_describe(const struct monitor_findings *findings, cJSON *json)
{
    if (findings->samples <= 0)
        return;
    cJSON *monitor = cJSON_AddObjectToObject(json, "monitor");
    json_add_number(monitor, "samples", findings->samples);
    json_add_number(monitor, "cpu_seconds_per_sample", findings->cpu_seconds / findings->samples);
    cJSON *list = cJSON_AddArrayToObject(monitor, "findings");
    for (int i = 0; i < findings->n; i++) {
        cJSON *finding = json_add_row(list);
        json_add_text(finding, "name", findings->finding[i].name);
        json_add_text(finding, "text", findings->finding[i].text);
    }
    json_add_number(monitor, "dropped", findings->dropped);
}
