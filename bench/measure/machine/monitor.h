/* monitor.h - watches the CPUs (--monitor-cpu) and GPUs (--monitor-gpu) of every host while a program measures.
 *
 * A thread on the first rank of each host writes a line a second to cpu_monitor.csv and gpu_monitor.csv; in a job of
 * several hosts to cpu_monitor_<host>.csv and so on, since hosts may share the directory. The column `seconds` is the
 * time of the line on the scale of that rank's `start` in rank_<r>_metrics.jsonl; a line is about the time since the
 * one before. A field is empty where the machine does not provide it. */
#ifndef BENCH_MEASURE_MACHINE_MONITOR_H
#define BENCH_MEASURE_MACHINE_MONITOR_H

#include "base/option_table.h"
#include "ddp/job.h"

#include <cJSON.h>
#include <stdint.h>

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

enum { MONITOR_HOST = 64, MONITOR_TEXT = 320, MONITOR_FINDINGS_MOST = 24 };

/* Something that makes measured times doubtful. */
struct monitor_finding {
    char name[32];           /* of its kind, such as "other_processes" */
    char text[MONITOR_TEXT]; /* a sentence without its full stop; begins with the host if the job has several */
};

/* What the monitor of a host found, or the monitors of all, host by host. */
struct monitor_findings {
    char host[MONITOR_HOST]; /* its name; empty in a job of one host, and of all together */
    int n, dropped;          /* findings kept; findings that there was no room for */
    struct monitor_finding finding[MONITOR_FINDINGS_MOST];
    double samples, cpu_seconds; /* taken, and what they cost */
};

/* Ends the watching. All ranks call, and get what all monitors found since the start. Returns 0; or -1, reported, if a
 * line could not be written: what was written before it is whole. NULL finds nothing. */
int monitor_stop(struct monitor *monitor, struct monitor_findings *findings);

void monitor_destroy(struct monitor *monitor); /* NULL, or one that still watches, is fine */

/* Adds "monitor" to a JSON object: the findings, the number of samples and the CPU seconds that one cost; nothing
 * without samples. */
void monitor_findings_describe(const struct monitor_findings *findings, cJSON *json);

#endif
