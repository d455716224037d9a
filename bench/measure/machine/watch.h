/* watch.h - the parts of the monitor of a host: counters of the kernel, CPUs, GPUs, and findings. */
#ifndef BENCH_MEASURE_MACHINE_WATCH_H
#define BENCH_MEASURE_MACHINE_WATCH_H

#include "base/lines.h"
#include "machine/machine.h"

#include <sched.h>
#include <stddef.h>

/* ---- findings ---- */

/* Adds a finding (printf's format, no full stop) to those of a host, at most one of each name. */
void monitor_findings_add(struct monitor_findings *findings, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Joins the findings of all ranks, all[n], which are zeroed for ranks that watched nothing. */
void monitor_findings_join(struct monitor_findings *findings, const struct monitor_findings *all, int n);

/* ---- counters of the kernel, read from /proc and /sys below a root directory; NAN: the kernel has none ----
 *
 * Sources: Linux Documentation/filesystems/proc.rst, admin-guide/cgroup-v2.rst, scheduler/sched-bwc.rst (version 1). */

struct proc_counters {
    double user, system, idle, iowait, steal; /* CPU seconds since boot; user with nice, system with interrupts */
    double context_switches;                  /* since boot */
    double load;                              /* runnable processes, averaged over a minute */
    double mhz_min, mhz_mean;                 /* clocks now, of the CPUs that the job may use */
    double thermal_throttles;                 /* of those CPUs since boot; each counts the events of its package */
    double quota_throttles, quota_ms;         /* periods, and ms, in which CPU quotas stopped this process's groups */
    double memory_total, memory_available;    /* MiB */
    double job_seconds, job_resident;         /* of the job's processes: CPU seconds so far, MiB now */
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

/* Finds what can be read. pid[pids] must outlive it. */
void proc_create(struct proc *proc, const char *root, const int *pid, int pids, const cpu_set_t *cpus);
void proc_destroy(struct proc *proc); /* a zeroed one is fine */

/* Reads all counters now. */
void proc_read(struct proc *proc, struct proc_counters *counters);

/* ---- CPUs ---- */

/* Thresholds of findings, besides MONITOR_OTHER_CORES. Throttling always is a finding. Clocks count only while the
 * machine is busy, because idle cores slow down by themselves. */
#define MONITOR_STEAL_PERCENT      2.0  /* of a second's CPU time */
#define MONITOR_CLOCK_FALL         0.10 /* of the mean clock, below its largest value so far */
#define MONITOR_CLOCK_BUSY_PERCENT 50.0 /* of the machine's CPU time */

/* The time between two readings of the counters; NAN is unknown. */
struct cpu_sample {
    double length;                           /* s */
    double user, system, iowait, steal;      /* percent of the machine's CPU time */
    double job_cores, other_processes_cores; /* used by the job on this machine; by all else, at least 0 */
    double thermal_throttles, quota_throttles, quota_ms;
    double context_switches;  /* per second */
    struct proc_counters now; /* the later reading: load, clocks, memory */
};

/* length_s is the time between the two. */
struct cpu_sample cpu_sample_between(const struct proc_counters *before, const struct proc_counters *after,
                                     double length_s);

/* Totals and extremes over all samples; zeroed at first. */
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

void cpu_tally_add(struct cpu_tally *tally, const struct cpu_sample *sample);
void cpu_tally_report(const struct cpu_tally *tally, struct monitor_findings *findings);

/* The monitor of a machine; last and last_ns must hold a first reading. */
struct monitor_cpu {
    struct proc proc;
    struct proc_counters last;
    int64_t last_ns;
    struct cpu_tally tally;
    struct lines csv; /* csv.file is -1 until it is opened */
};

extern const char cpu_column_names[]; /* of its file, a line */

/* Reads the counters and writes a line about the time since the last reading; `seconds` is its time. */
void monitor_cpu_sample(struct monitor_cpu *cpu, double seconds);

/* ---- GPUs, by NVIDIA's management library (NVML), which is loaded when it is needed ---- */

/* Memory in use above this is a finding; clocks held back by power, temperature or hardware always are one. */
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

/* Adds a sample to the counts of a GPU. */
void gpu_tally_add(struct gpu *gpu, const struct gpu_sample *sample);

/* Adds a finding of each kind: the GPU that has it in most samples, and how many others have it. */
void gpu_tally_report(const struct gpu *gpu, int n, struct monitor_findings *findings);

enum { GPU_REASONS_TEXT = 192 };
/* Reasons as words joined by |; "none" without one; "other" for bits without a name. */
const char *gpu_reasons_words(unsigned long long reasons, char text[GPU_REASONS_TEXT]);

/* The monitor of all GPUs of a host, whether or not this run computes on them. */
struct monitor_gpu {
    int n;
    struct gpu *gpu;  /* [n] */
    struct lines csv; /* csv.file is -1 until it is opened */
};

/* Loads and starts libnvidia-ml.so.1 and finds the GPUs. Returns 0; or -1, reported: the library, one of its functions,
 * the driver or a GPU is missing. */
int monitor_gpu_create(struct monitor_gpu *monitor);
void monitor_gpu_destroy(struct monitor_gpu *monitor); /* a zeroed one is fine; leaves csv alone */

extern const char gpu_column_names[]; /* of its file, a line */

/* Reads every GPU and writes its line, with `seconds` as its time. */
void monitor_gpu_sample(struct monitor_gpu *monitor, double seconds);

#endif
