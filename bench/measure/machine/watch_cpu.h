/* watch_cpu.h - the monitor of a machine's CPUs. */
#ifndef BENCH_MEASURE_MACHINE_WATCH_CPU_H
#define BENCH_MEASURE_MACHINE_WATCH_CPU_H

#include "base/lines.h"
#include "machine/watch_findings.h"

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

/* A reading of the kernel's counters; NAN: the kernel does not have that counter. */
struct cpu_counters {
    double user, system, idle, iowait, steal; /* CPU seconds since boot; user includes nice, and system interrupts */
    double mhz;                               /* current clock, mean over the CPUs that the job may use */
    double thermal_throttles;         /* throttling events since boot, summed over the CPUs that the job may use */
    double quota_ms;                  /* ms for which CPU quotas stopped this process's control groups */
    double memory_used;               /* MiB of the machine's memory in use */
    double job_seconds, job_resident; /* of the job's processes here: CPU seconds so far, resident MiB now */
    double cpus;                      /* number of CPUs of the machine */
};

/* What happened between two readings of the counters; NAN: unknown. */
struct cpu_sample {
    double length;                           /* seconds */
    double user, system, iowait, steal;      /* percent of the machine's CPU time */
    double job_cores, other_processes_cores; /* mean cores used on this machine: by the job, by other processes */
    double thermal_throttles, quota_ms;      /* increase of these counters */
    struct cpu_counters now;                 /* the later reading, which has the clock and the memory */
};

struct cpu_sample cpu_sample_between(const struct cpu_counters *before, const struct cpu_counters *after,
                                     double length_s); /* returns the sample between readings length_s seconds apart */

/* Thresholds of findings, in addition to MONITOR_OTHER_CORES. Any throttling is a finding. A fallen clock counts only
 * while the machine is busy, because idle cores slow down on purpose. */
#define MONITOR_STEAL_PERCENT      2.0  /* percent of a second's CPU time, taken by the hypervisor */
#define MONITOR_CLOCK_FALL         0.10 /* fall of the mean clock, as a share of its maximum so far */
#define MONITOR_CLOCK_BUSY_PERCENT 50.0 /* percent of CPU time that makes the machine busy */

/* Totals and extremes over all samples; zeroed at first. */
struct cpu_tally {
    double seconds;                                       /* all seconds watched */
    double other_processes_seconds, other_processes_most; /* seconds at or above the threshold; most cores used */
    double steal_seconds, steal_most;                     /* seconds at or above the threshold; most percent */
    double busy_seconds, slow_seconds;                    /* seconds while busy; seconds while busy with a low clock */
    double clock_most;                                    /* highest clock in MHz so far, while the machine was busy */
    double fall_from, fall_to;                            /* MHz before and after the clock's deepest fall; 0: none */
    double thermal_seconds, thermal;                      /* seconds with throttling; number of throttling events */
};

void cpu_tally_add(struct cpu_tally *tally, const struct cpu_sample *sample); /* adds a sample to the totals */
void cpu_tally_report(const struct cpu_tally *tally, struct monitor_findings *findings); /* adds the findings */

enum cpu_file { CPU_CLOCK, CPU_CORE_THROTTLES, CPU_PACKAGE_THROTTLES, CPU_FILES };

/* The monitor of a machine's CPUs. Its owner sets root, pid, pids, cpus, last and last_ns. */
struct monitor_cpu {
    const char *root; /* prefix of /proc and /sys: "", or a directory in tests */
    const int *pid;   /* [pids] processes of the job on this machine; pids 0: unknown */
    int pids;
    cpu_set_t cpus;           /* CPUs that the job may use */
    int missing[CPU_FILES];   /* 1: no CPU has that file, so it is not read again */
    struct cpu_counters last; /* the previous reading, made at last_ns */
    int64_t last_ns;
    struct cpu_tally tally;
    struct lines csv; /* csv.file is -1 until the file is opened */
};

/* Reads all counters now. Sources: Linux Documentation/filesystems/proc.rst, admin-guide/cgroup-v2.rst. */
struct cpu_counters cpu_counters_read(struct monitor_cpu *cpu);

extern const char cpu_column_names[]; /* header line of the CSV file */

/* Reads the counters and writes a CSV line about the time since the last reading. seconds: the line's first column. */
void monitor_cpu_sample(struct monitor_cpu *cpu, double seconds);

#endif
