/* monitor.h - watches the CPUs (--monitor-cpu) and GPUs (--monitor-gpu) of every host while a program measures.
 *
 * A thread on the first rank of each host writes a line a second to cpu_monitor.csv and gpu_monitor.csv; in a job of
 * several hosts to cpu_monitor_<host>.csv and so on, since hosts may share the directory. The column `seconds` is the
 * time of the line on the scale of that rank's `start` in rank_<r>_metrics.jsonl; a line is about the time since the
 * one before. A field is empty where the machine does not provide it. */
#ifndef BENCH_MONITOR_MONITOR_H
#define BENCH_MONITOR_MONITOR_H

#include "base/option_table.h"
#include "ddp/job.h"

#include <cJSON.h>
#include <stdint.h>
#include <stdio.h>

/* Other processes count from so many cores on, on average over a second or a block. */
#define MONITOR_OTHER_CORES 0.25

struct monitor_options {
    int cpu, gpu; /* 1: watch them */
};

/* --monitor-cpu and --monitor-gpu. */
struct option_section monitor_options_section(struct monitor_options *options);

struct monitor;

/* Finds what there is to watch. All ranks call. Returns 0, with *monitor NULL if neither is wanted; or -1, reported,
 * for a library or a GPU that is missing. Release with destroy, also after a failure. */
int monitor_create(struct monitor **monitor, const struct job *job, int cpu, int gpu);

/* Opens the files in an existing directory and starts to watch; times count from origin_ns. Returns 0; or -1, reported:
 * not writable. */
int monitor_start(struct monitor *monitor, const char *directory, int64_t origin_ns);

/* Conditions that make measured times doubtful. */
enum monitor_kind {
    MONITOR_OTHER_PROCESSES,
    MONITOR_STEAL,
    MONITOR_CPU_CLOCK,
    MONITOR_CPU_THERMAL,
    MONITOR_CPU_QUOTA,
    MONITOR_GPU_POWER,
    MONITOR_GPU_THERMAL,
    MONITOR_GPU_SLOWDOWN,
    MONITOR_GPU_MEMORY,
    MONITOR_KINDS
};
extern const char *const monitor_kind_name[MONITOR_KINDS]; /* such as "other_processes" */

enum { MONITOR_TEXT = 320, MONITOR_FINDINGS_MOST = 24 };

struct monitor_finding {
    enum monitor_kind kind;
    char text[MONITOR_TEXT]; /* a sentence without its full stop; begins with the host if the job has several */
};

/* What the monitors of all hosts found, host by host. */
struct monitor_findings {
    int n, dropped; /* findings kept; findings that there was no room for */
    struct monitor_finding finding[MONITOR_FINDINGS_MOST];
    double samples;     /* of all monitors */
    double cpu_seconds; /* of a sample, on average; NAN without samples */
};

/* Ends the watching. All ranks call, and get what all monitors found since the start. Returns 0; or -1, reported, if a
 * line could not be written: what was written before it is whole. NULL finds nothing. */
int monitor_stop(struct monitor *monitor, struct monitor_findings *findings);

void monitor_destroy(struct monitor *monitor); /* NULL, or one that still watches, is fine */

/* One line "Note: text." for each finding; nothing without any. */
void monitor_findings_print(FILE *out, const struct monitor_findings *findings);

/* Adds "monitor" to a JSON object: the findings, the number of samples and what one cost; nothing without samples. */
void monitor_findings_describe(const struct monitor_findings *findings, cJSON *json);

#endif
