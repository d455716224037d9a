/* cpu.h - what the CPUs of a machine do, and for whom: a line a second, and findings over all of them. */
#ifndef BENCH_MONITOR_CPU_H
#define BENCH_MONITOR_CPU_H

#include "base/lines.h"
#include "monitor/findings.h"

#include <sched.h>
#include <stddef.h>

/* ---- what the kernel counts of a machine and of some processes: CPU time, clocks, throttling, memory ----
 *
 * Read from /proc and /sys below a root directory, which tests make up. A number that the kernel does not give is NAN.
 * Sources: Linux Documentation/filesystems/proc.rst, admin-guide/cgroup-v2.rst, scheduler/sched-bwc.rst (version 1). */

struct proc_counters {
    /* CPU seconds of the machine since boot; user with nice, system with interrupts */
    double user, system, idle, iowait, steal;
    double context_switches;               /* of the machine since boot */
    double load;                           /* processes that run or want to, averaged over a minute */
    double mhz_min, mhz_mean;              /* clocks now, over the CPUs that the job may use */
    double thermal_throttles;              /* increments of the throttle counters of those CPUs since boot; what holds
                                              for a package is counted by each of its CPUs */
    double quota_throttles, quota_ms;      /* periods in which a CPU quota stopped the control group of this process or
                                              one above it, and for how long, since the groups were made */
    double memory_total, memory_available; /* MiB */
    double job_seconds, job_resident;      /* of the processes together: CPU seconds so far, MiB now */
};

enum { PROC_GROUPS = 16, PROC_PATH = 512 };

/* Where to read. */
struct proc {
    char root[PROC_PATH];               /* "" for the machine itself */
    const int *pid;                     /* [pids], the caller's */
    int pids;                           /* 0: unknown */
    cpu_set_t cpus;                     /* that the job may use */
    int has_clock, has_thermal;         /* 0 once no CPU was found to have one */
    char group[PROC_GROUPS][PROC_PATH]; /* files cpu.stat with a quota's counters, below root */
    int groups;
    char *text; /* [room], a file's content */
    size_t room;
};

/* Finds out what there is to read. pid[pids] has to outlive it. */
void proc_create(struct proc *proc, const char *root, const int *pid, int pids, const cpu_set_t *cpus);
void proc_destroy(struct proc *proc); /* a zeroed one is fine */

/* Reads all counters now. */
void proc_read(struct proc *proc, struct proc_counters *counters);

/* The clocks in the text of /proc/cpuinfo of these CPUs; without any the fields stay as they are. */
void proc_parse_cpuinfo(const char *text, const cpu_set_t *cpus, struct proc_counters *counters);

/* ---- what follows from it ---- */

/* Thresholds of findings, beside MONITOR_OTHER_CORES. Throttling, by temperature or by quota, always is one. A clock
 * counts while the machine is busy, since idle cores slow down by themselves. */
#define MONITOR_STEAL_PERCENT      2.0  /* of a second's CPU time */
#define MONITOR_CLOCK_FALL         0.10 /* of the mean clock, below its largest value so far */
#define MONITOR_CLOCK_BUSY_PERCENT 50.0 /* of the machine's CPU time */

/* The time between two readings of the counters; NAN is unknown. */
struct cpu_sample {
    double length;                           /* s */
    double user, system, iowait, steal;      /* percent of the machine's CPU time */
    double job_cores, other_processes_cores; /* used by the job's ranks on this machine; by all else, at least 0 */
    double thermal_throttles;                /* in this time */
    double quota_throttles, quota_ms;        /* periods, and ms, in this time */
    double context_switches;                 /* a second, of the machine */
    struct proc_counters now;                /* the later reading: load, clocks, memory */
};

/* length_s is the time between the two. */
void cpu_sample_between(const struct proc_counters *before, const struct proc_counters *after, double length_s,
                        struct cpu_sample *sample);

/* Totals and extremes of all samples. */
struct cpu_tally {
    double seconds;                                       /* all */
    double other_processes_seconds, other_processes_most; /* s; cores */
    double steal_seconds, steal_most;                     /* s; percent */
    double busy_seconds, slow_seconds;                    /* in which the clock counts; in which it had fallen */
    double clock_most;                                    /* MHz, of the busy seconds so far */
    double fall_from, fall_to;                            /* the deepest: from and to how many MHz; 0: none */
    double thermal_seconds, thermal;                      /* s; throttles */
    double quota_seconds, quota, quota_ms;                /* s; periods; ms */
};

void cpu_tally_add(struct cpu_tally *tally, const struct cpu_sample *sample); /* zeroed to begin with */
void cpu_tally_report(const struct cpu_tally *tally, struct monitor_report *report);

/* The monitor of a machine. */
struct monitor_cpu {
    struct proc proc;
    struct proc_counters last;
    int64_t last_ns;
    struct cpu_tally tally;
    struct lines csv; /* csv.file is -1 until it is opened */
};

extern const char cpu_column_names[]; /* of its file, a line */

/* Takes the first reading. */
void monitor_cpu_begin(struct monitor_cpu *cpu);

/* Takes another one and writes the line of the time since the last, with `seconds` as its time. */
void monitor_cpu_sample(struct monitor_cpu *cpu, double seconds);

#endif
