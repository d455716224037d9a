/* watch.h - the parts of the monitor of a host: CPUs, GPUs, findings. */
#ifndef BENCH_MEASURE_MACHINE_WATCH_H
#define BENCH_MEASURE_MACHINE_WATCH_H

#include "base/lines.h"
#include "machine/machine.h"

#include <sched.h>
#include <stddef.h>

/* ---- findings (watch.c) ---- */

enum { MONITOR_HOST = 64, MONITOR_TEXT = 256, MONITOR_FINDINGS_MOST = 9 };

/* The findings of one host. */
struct monitor_findings {
    char host[MONITOR_HOST]; /* its name; "" in a job of one host */
    int n;
    struct monitor_finding {
        char name[32], text[MONITOR_TEXT]; /* its kind, such as "other_processes"; a sentence without a full stop */
    } finding[MONITOR_FINDINGS_MOST];
    double samples, cpu_seconds; /* how many samples were taken, and their CPU time */
};

/* Adds a finding (printf's format) to those of a host, at most one of each name. */
void monitor_findings_add(struct monitor_findings *findings, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Joins the findings of all ranks, all[n], as monitor_findings returns them; NULL without a sample. Those of ranks that
 * watched nothing are zeroed. The caller owns the JSON. */
cJSON *monitor_findings_join(const struct monitor_findings *all, int n);

/* ---- CPUs ---- */

/* Counters of the kernel; NAN: it has none. */
struct cpu_counters {
    double user, system, idle, iowait, steal; /* CPU seconds since boot; user with nice, system with interrupts */
    double mhz;                               /* mean clock now, of the CPUs that the job may use */
    double thermal_throttles;                 /* of those CPUs since boot; each counts the events of its package */
    double quota_ms;                          /* in which CPU quotas stopped the control groups of this process */
    double memory_used;                       /* MiB */
    double job_seconds, job_resident;         /* of the job's processes: CPU seconds so far, MiB now */
};

/* The time between two readings of the counters; NAN is unknown. */
struct cpu_sample {
    double length;                           /* s */
    double user, system, iowait, steal;      /* percent of the machine's CPU time */
    double job_cores, other_processes_cores; /* used by the job on this machine; by all else, at least 0 */
    double thermal_throttles, quota_ms;
    struct cpu_counters now; /* the later reading: clock, memory */
};

struct cpu_sample cpu_sample_between(const struct cpu_counters *before, const struct cpu_counters *after,
                                     double length_s);

/* Thresholds of findings, besides MONITOR_OTHER_CORES. Throttling is always a finding. Clocks count only while the
 * machine is busy, because idle cores slow down by themselves. */
#define MONITOR_STEAL_PERCENT      2.0  /* of a second's CPU time */
#define MONITOR_CLOCK_FALL         0.10 /* of the mean clock, below its largest value so far */
#define MONITOR_CLOCK_BUSY_PERCENT 50.0 /* of the machine's CPU time */

/* Totals and extremes over all samples; zeroed at first. */
struct cpu_tally {
    double seconds;                                       /* all */
    double other_processes_seconds, other_processes_most; /* s; cores */
    double steal_seconds, steal_most;                     /* s; percent */
    double busy_seconds, slow_seconds;                    /* in which the clock counts; in which it had fallen */
    double clock_most;                                    /* MHz, of the busy seconds so far */
    double fall_from, fall_to;                            /* the deepest fall, MHz; 0: none */
    double thermal_seconds, thermal;                      /* s; throttles */
    double quota_seconds, quota_ms;                       /* s; ms */
};

void cpu_tally_add(struct cpu_tally *tally, const struct cpu_sample *sample);
void cpu_tally_report(const struct cpu_tally *tally, struct monitor_findings *findings);

enum cpu_file { CPU_CLOCK, CPU_CORE_THROTTLES, CPU_PACKAGE_THROTTLES, CPU_FILES };

/* The monitor of a machine's CPUs; root, pid, pids, cpus, last and last_ns are set by whoever starts it. */
struct monitor_cpu {
    const char *root; /* the directory that /proc and /sys are below; "" for the machine itself */
    const int *pid;   /* [pids] processes of the job on this machine; 0 pids: unknown */
    int pids;
    cpu_set_t cpus;         /* that the job may use */
    int missing[CPU_FILES]; /* 1: no CPU has that file, so that it is not looked for again */
    char *text;             /* [room], a file's content; freed by whoever ends the monitor */
    size_t room;
    struct cpu_counters last; /* reading, at last_ns */
    int64_t last_ns;
    struct cpu_tally tally;
    struct lines csv; /* csv.file is -1 until it is opened */
};

/* Reads all counters now. Sources: Linux Documentation/filesystems/proc.rst, admin-guide/cgroup-v2.rst. */
struct cpu_counters cpu_counters_read(struct monitor_cpu *cpu);

extern const char cpu_column_names[]; /* the header of the file, a line */

/* Reads the counters and writes a line about the time since the last reading; `seconds` is its time. */
void monitor_cpu_sample(struct monitor_cpu *cpu, double seconds);

/* ---- GPUs, by NVIDIA's management library (NVML), which is loaded when it is needed ---- */

/* Memory in use above this is a finding; clocks held back by power, temperature or hardware always are one. */
#define MONITOR_GPU_MEMORY_PERCENT 90.0

/* The state of a GPU; NAN is unknown. */
struct gpu_sample {
    double utilization;               /* percent */
    double memory_used, memory_total; /* MiB */
    double power, temperature;        /* W, degrees Celsius */
    double sm_clock;                  /* MHz */
    int has_reasons;
    unsigned long long reasons; /* why clocks are below their maximum, by the bits of NVML */
};

enum { GPU_FINDINGS = 4, GPU_ID = 96 };

/* A GPU, and counts over all its samples. */
struct gpu {
    unsigned index;                   /* the library's number of it */
    struct nvml_device *device;       /* the library's handle */
    char uuid[GPU_ID];                /* empty where it has none */
    int samples, count[GPU_FINDINGS]; /* all; those with that finding */
    double memory_most;               /* percent */
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

extern const char gpu_column_names[]; /* the header of the file, a line */

/* Reads every GPU and writes its line, with `seconds` as its time. */
void monitor_gpu_sample(struct monitor_gpu *monitor, double seconds);

#endif
