/* proc.h - what the kernel counts of a machine and of some processes: CPU time, clocks, throttling, memory.
 *
 * Read from /proc and /sys below a root directory, which tests make up. A number that the kernel does not give is NAN.
 * Sources: Linux Documentation/filesystems/proc.rst, admin-guide/cgroup-v2.rst, scheduler/sched-bwc.rst (version 1). */
#ifndef BENCH_MONITOR_PROC_H
#define BENCH_MONITOR_PROC_H

#include <sched.h>
#include <stddef.h>

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

#endif
