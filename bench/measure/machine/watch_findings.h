/* watch_findings.h - findings of the monitors of all hosts. */
#ifndef BENCH_MEASURE_MACHINE_WATCH_FINDINGS_H
#define BENCH_MEASURE_MACHINE_WATCH_FINDINGS_H

#include <cJSON.h>

enum { MONITOR_HOST = 64, MONITOR_TEXT = 256, MONITOR_FINDINGS_MOST = 9 };

/* The findings of one host. */
struct monitor_findings {
    char host[MONITOR_HOST]; /* host name; "" if the job has one host */
    int n;
    struct monitor_finding {
        char name[32], text[MONITOR_TEXT]; /* name: kind, such as "other_processes"; text: without a full stop */
    } finding[MONITOR_FINDINGS_MOST];
    double samples, cpu_seconds; /* number of samples taken, and the CPU seconds spent on taking them */
};

/* Adds a finding; the host must have none of that name yet. The text is formatted as by printf. */
void monitor_findings_add(struct monitor_findings *findings, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Joins the findings of all ranks, all[n], into the JSON described at the function monitor_findings; NULL if no rank
 * took a sample. A rank that watched nothing has zeroed findings. The caller owns the JSON. */
cJSON *monitor_findings_join(const struct monitor_findings *all, int n);

#endif
