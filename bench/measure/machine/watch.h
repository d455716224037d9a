/* watch.h - the parts of the monitor of a host: the kernel's counters, CPUs, GPUs, and findings over all samples. */
#ifndef BENCH_MEASURE_MACHINE_WATCH_H
#define BENCH_MEASURE_MACHINE_WATCH_H

#include "base/lines.h"
#include "machine/monitor.h"

#include <sched.h>
#include <stddef.h>

/* ---- findings ---- */

/* Adds a finding (printf's format, without a full stop) to those of a host, one of each name at most. */
void monitor_findings_add(struct monitor_findings *findings, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts those of all ranks, all[n], one after the other; all zero of a rank that watched nothing. */
void monitor_findings_join(struct monitor_findings *findings, const struct monitor_findings *all, int n);

/* ---- what the kernel counts of a machine and of some processes: CPU time, clocks, throttling, memory ----
 *
 * Read from /proc and /sys below a root directory, which tests make up. A number that the kernel does not give is NAN.
 * Sources: Linux Documentation/filesystems/proc.rst, admin-guide/cgroup-v2.rst, scheduler/sched-bwc.rst (version 1). */

struct proc_counters {
    /* CPU seconds of the machine since boot; user with nice, system with interrupts */
    double user, system, idle, iowait, steal;
    double context_switches;               /* of the machine since boot */
    double load;                           /* processes that run or are ready to, averaged over a minute */
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

/* ---- CPUs ---- */

/* Thresholds of findings, in addition to MONITOR_OTHER_CORES. Throttling, by temperature or by quota, always is one. A
 * clock counts while the machine is busy, since idle cores slow down by themselves. */
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
struct cpu_sample cpu_sample_between(const struct proc_counters *before, const struct proc_counters *after,
                                     double length_s);

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
void cpu_tally_report(const struct cpu_tally *tally, struct monitor_findings *findings);

/* The monitor of a machine; last and last_ns are of the first reading to begin with. */
struct monitor_cpu {
    struct proc proc;
    struct proc_counters last;
    int64_t last_ns;
    struct cpu_tally tally;
    struct lines csv; /* csv.file is -1 until it is opened */
};

extern const char cpu_column_names[]; /* of its file, a line */

/* Takes another reading and writes the line of the time since the last, with `seconds` as its time. */
void monitor_cpu_sample(struct monitor_cpu *cpu, double seconds);

/* ---- GPUs, by NVIDIA's management library (NVML), found at run time: the program is built and runs without it ---- */

/* The share of a GPU's memory above which it counts as nearly full. Clocks held back by power, temperature or hardware
 * always are a finding. */
#define MONITOR_GPU_MEMORY_PERCENT 90.0

/* The state of a GPU; NAN is unknown. */
struct gpu_sample {
    double utilization_gpu, utilization_memory; /* percent */
    double memory_used, memory_total;           /* MiB */
    double power, temperature;                  /* W, degrees Celsius */
    double sm_clock, memory_clock;              /* MHz */
    int has_reasons;
    unsigned long long reasons; /* why clocks are below their maximum, by the bits of NVML */
};

enum { GPU_FINDINGS = 4, GPU_NAME = 96 };

/* A GPU, and counts over all its samples. */
struct gpu {
    unsigned index;                      /* the library's number of it */
    struct nvml_device *device;          /* the library's handle */
    char name[GPU_NAME], uuid[GPU_NAME]; /* empty where it has none */
    int samples, count[GPU_FINDINGS];    /* all; those with that finding */
    double memory_most;                  /* percent */
};

/* Adds a sample to a GPU's tally, zeroed but for the handle, name and index to begin with. */
void gpu_tally_add(struct gpu *gpu, const struct gpu_sample *sample);

/* Findings of n GPUs: of each kind, the GPU that had it in most samples, and how many more had it too. */
void gpu_tally_report(const struct gpu *gpu, int n, struct monitor_findings *findings);

enum { GPU_REASONS_TEXT = 192 };
/* Reasons as words joined by |; "none" without one; "other" for bits without a name. */
const char *gpu_reasons_words(unsigned long long reasons, char text[GPU_REASONS_TEXT]);

/* The monitor of a host's GPUs, of all that NVML gives access to, whether or not this run computes on them. */
struct monitor_gpu {
    int n;
    struct gpu *gpu;  /* [n] */
    struct lines csv; /* csv.file is -1 until it is opened */
};

/* Loads libnvidia-ml.so.1, starts it and finds the GPUs. Returns 0; or -1, reported: no library, one without a function
 * that is needed, one that cannot start (no driver), or no GPU. */
int monitor_gpu_create(struct monitor_gpu *monitor);
void monitor_gpu_destroy(struct monitor_gpu *monitor); /* a zeroed one is fine; leaves csv alone */

extern const char gpu_column_names[]; /* of its file, a line */

/* Reads every GPU and writes its line, with `seconds` as its time. */
void monitor_gpu_sample(struct monitor_gpu *monitor, double seconds);

#endif
