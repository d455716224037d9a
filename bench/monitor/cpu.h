/* cpu.h - a line a second of what the CPUs of a machine do and for whom, and what in them makes measured times
 * doubtful. */
#ifndef BENCH_MONITOR_CPU_H
#define BENCH_MONITOR_CPU_H

#include "base/lines.h"
#include "monitor/findings.h"
#include "monitor/proc.h"

#include <stdint.h>

/* From where on what was seen is told. Throttling, by temperature or by quota, is told whenever there was any. */
#define MONITOR_STEAL_PERCENT 2.0  /* of a second's CPU time */
#define MONITOR_CLOCK_FALL    0.10 /* of the mean clock below its largest value so far, in seconds in which */
#define MONITOR_CLOCK_BUSY                                                                                             \
    50.0 /* percent of the machine at least were busy, since idle cores slow down by themselves */

/* What happened between two readings of the counters; NAN is unknown. */
struct cpu_row {
    double length;                           /* s */
    double user, system, iowait, steal;      /* percent of the machine's CPU time */
    double job_cores, other_processes_cores; /* used by the job's ranks on this machine; by all else, at least 0 */
    double thermal_throttles;                /* how many more */
    double quota_throttles, quota_ms;        /* how many more periods, and ms */
    double context_switches;                 /* a second, of the machine */
    struct proc_counters now;                /* what is no difference: load, clocks, memory */
};

/* length_s lies between the two. */
void cpu_row_between(const struct proc_counters *before, const struct proc_counters *after, double length_s,
                     struct cpu_row *row);

/* What all rows together say. */
struct cpu_seen {
    double seconds;                                       /* all */
    double other_processes_seconds, other_processes_most; /* s; cores */
    double steal_seconds, steal_most;                     /* s; percent */
    double busy_seconds, slow_seconds;                    /* in which the clock counts; in which it had fallen */
    double clock_most;                                    /* MHz, of the busy seconds so far */
    double fall, fall_from, fall_to;                      /* the deepest: its share, from and to how many MHz */
    double thermal_seconds, thermal;                      /* s; how many */
    double quota_seconds, quota, quota_ms;                /* s; periods; ms */
};

void cpu_seen_add(struct cpu_seen *seen, const struct cpu_row *row); /* seen starts as zero */
void cpu_seen_find(const struct cpu_seen *seen, struct monitor_report *report);

/* The monitor of a machine. */
struct monitor_cpu {
    struct proc proc;
    struct proc_counters last;
    int64_t last_ns;
    struct cpu_seen seen;
    struct csv csv; /* {.file = -1} until it is opened */
};

extern const char cpu_columns[]; /* the first line of cpu_monitor.csv */

/* Takes the first reading. */
void monitor_cpu_begin(struct monitor_cpu *cpu);

/* Takes another one and writes the line of the time since the last, with `seconds` as its time. */
void monitor_cpu_sample(struct monitor_cpu *cpu, double seconds);

#endif
