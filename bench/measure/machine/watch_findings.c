/* watch_findings.c - findings of the monitors of all hosts. */
#include "machine/watch_findings.h"

#include "base/json.h"

#include <stdarg.h>
#include <stdio.h>

void monitor_findings_add(struct monitor_findings *findings, const char *name, const char *format, ...)
{
    struct monitor_finding *finding = &findings->finding[findings->n++];
    va_list arguments;
    snprintf(finding->name, sizeof finding->name, "%s", name);
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

cJSON *monitor_findings_join(const struct monitor_findings *all, int n)
{
    double samples = 0, cpu_seconds = 0;
    cJSON *json = cJSON_CreateObject(), *list = cJSON_CreateArray();
    for (const struct monitor_findings *host = all; host < all + n; host++) {
        samples += host->samples;
        cpu_seconds += host->cpu_seconds;
        for (int i = 0; i < host->n; i++) {
            char text[MONITOR_HOST + MONITOR_TEXT + 2];
            cJSON *finding = json_add_row(list);
            snprintf(text, sizeof text, "%s%s%s", host->host, *host->host ? ": " : "", host->finding[i].text);
            json_add_text(finding, "name", host->finding[i].name);
            json_add_text(finding, "text", text);
        }
    }
    json_add_number(json, "samples", samples);
    json_add_number(json, "cpu_seconds_per_sample", cpu_seconds / samples);
    cJSON_AddItemToObject(json, "findings", list);
    if (samples > 0)
        return json;
    cJSON_Delete(json);
    return NULL;
}
