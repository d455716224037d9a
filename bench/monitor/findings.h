/* findings.h - the report of one host, and all reports together. */
#ifndef BENCH_MONITOR_FINDINGS_H
#define BENCH_MONITOR_FINDINGS_H

#include "monitor/monitor.h"

enum { MONITOR_HOST = 64 };

/* Of the monitor of one host; all zero of a rank that ran none. */
struct monitor_report {
    char host[MONITOR_HOST]; /* its name; empty when the job has one host only */
    int n;
    struct monitor_finding finding[MONITOR_KINDS];
    double samples, cpu_seconds; /* taken, and what they cost */
};

/* Adds a finding (printf's format, without a full stop) to the report of a host, one of each kind at most. */
void monitor_report_add(struct monitor_report *report, enum monitor_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts the reports of all ranks, all[n], one after the other. */
void monitor_findings_join(struct monitor_findings *findings, const struct monitor_report *all, int n);

#endif
