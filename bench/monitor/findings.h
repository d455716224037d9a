/* findings.h - what a monitor saw that makes measured times doubtful: one short text for each kind of it on
 * each host, and all of them together for rank 0 to print. */
#ifndef BENCH_MONITOR_FINDINGS_H
#define BENCH_MONITOR_FINDINGS_H

#include <cJSON.h>
#include <stdio.h>

enum monitor_kind {
    /* of a machine: hosts made of namespaces or containers that share one see the same */
    MONITOR_FOREIGN_LOAD,
    MONITOR_STEAL,
    MONITOR_CPU_CLOCK,
    MONITOR_CPU_THERMAL,
    MONITOR_MACHINE_KINDS,
    /* of a host */
    MONITOR_CPU_QUOTA = MONITOR_MACHINE_KINDS,
    MONITOR_GPU_POWER,
    MONITOR_GPU_THERMAL,
    MONITOR_GPU_SLOWDOWN,
    MONITOR_GPU_MEMORY,
    MONITOR_KINDS
};
extern const char *const monitor_kind_name[MONITOR_KINDS]; /* such as "foreign_load" */

enum { MONITOR_TEXT = 320, MONITOR_HOST = 64, MONITOR_FINDINGS_MOST = 24 };

struct monitor_finding {
    enum monitor_kind kind;
    char text[MONITOR_TEXT]; /* a sentence without its full stop */
};

/* What the monitor of one host saw; all zero of a rank that ran none. */
struct monitor_report {
    int machine;             /* which kernel it ran under, as in struct job */
    char host[MONITOR_HOST]; /* its name; empty when the job has one host only */
    int n;
    struct monitor_finding finding[MONITOR_KINDS];
    double samples, cpu_seconds; /* taken, and what they cost */
};

/* What all of them saw. */
struct monitor_findings {
    int n, more; /* findings kept; findings that there was no room for */
    struct monitor_finding finding[MONITOR_FINDINGS_MOST];
    double samples;     /* of all monitors */
    double cpu_seconds; /* that a sample cost, on average; NAN without samples */
};

/* Adds a finding (printf's format, without a full stop) to the report of a host, one of each kind at most. */
void monitor_findings_add(struct monitor_report *report, enum monitor_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Joins the reports of all ranks, all[n]: by kind, then by rank; what several hosts say of the machine that they share
 * once. A text begins with its host where the job has several. */
void monitor_findings_merge(struct monitor_findings *findings, const struct monitor_report *all, int n);

/* One line "Note: text." for each finding; nothing without any. */
void monitor_findings_print(FILE *out, const struct monitor_findings *findings);

/* Adds what the monitors found, and what a sample cost them, as "monitor" to a JSON object; nothing of a run without
 * them. */
void monitor_findings_describe(const struct monitor_findings *findings, cJSON *json);

#endif
