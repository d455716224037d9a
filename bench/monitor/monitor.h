/* monitor.h - watches the CPUs (--monitor-cpu) and GPUs (--monitor-gpu) of every host while a program measures.
 *
 * A thread on the first rank of each host writes a line a second to cpu_monitor.csv and gpu_monitor.csv; in a job of
 * several hosts to cpu_monitor_<host>.csv and so on, since hosts may share the directory. The column `seconds` is the
 * time of the line on the scale of that rank's `start` in rank_<r>_metrics.jsonl; a line is about the time since the
 * one before. A source that a machine lacks leaves its field empty. */
#ifndef BENCH_MONITOR_MONITOR_H
#define BENCH_MONITOR_MONITOR_H

#include "base/option_table.h"
#include "ddp/job.h"
#include "monitor/findings.h"

#include <stdint.h>

/* Seconds: a sample over less at the end of a run is left out, since the kernel counts CPU time in hundredths. */
#define MONITOR_SHORTEST 0.2

/* Cores that other processes use in a second, or during a block, from which on they count. */
#define MONITOR_OTHER_CORES 0.25

struct monitor_options {
    int cpu, gpu; /* 1: watch them */
};

/* --monitor-cpu and --monitor-gpu. */
struct option_section monitor_options_section(struct monitor_options *options);

struct monitor;

/* Finds what there is to watch. All ranks call, with the id of the GPU that they compute on ("": on none), since what
 * is found of GPUs is about the run's own, as far as they are known. Returns 0, with *monitor NULL if neither is
 * wanted; or -1, reported, for a library or a GPU that is missing. Release with destroy, also after a failure. */
int monitor_create(struct monitor **monitor, const struct job *job, int cpu, int gpu, const char *gpu_id);

/* Opens the files in an existing directory and starts to watch. Returns 0; or -1, reported: not writable. */
int monitor_start(struct monitor *monitor, const char *directory, int64_t origin_ns);

/* Ends the watching. All ranks call, and get what all monitors found since the start. Returns 0; or -1, reported, if a
 * line could not be written: what was written before it is whole. NULL finds nothing. */
int monitor_stop(struct monitor *monitor, struct monitor_findings *findings);

void monitor_destroy(struct monitor *monitor); /* NULL, or one that still watches, is fine */

#endif
