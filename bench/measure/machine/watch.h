/* watch.h - the parts of the monitors: their findings, and what they measure of a machine's CPUs and GPUs. */
#ifndef BENCH_MEASURE_MACHINE_WATCH_H
#define BENCH_MEASURE_MACHINE_WATCH_H

#include "base/lines.h"

#include <cJSON.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>

/* ---- findings ---- */

enum { MONITOR_HOST = 64, MONITOR_TEXT = 256, MONITOR_FINDINGS_MOST = 9 };

/* The findings of one host. */
struct monitor_findings {
    char host[MONITOR_HOST]; /* host name; "" if the job has one host */
    int n;
    struct monitor_finding {
        char name[32], text[MONITOR_TEXT]; /* name: kind, such as "other_processes"; text: without a full stop */
    } finding[MONITOR_FINDINGS_MOST];
    double samples, cpu_seconds; /* number of samples taken, and the CPU seconds spent on taking them */
};

/* Adds a finding; the host must have none of that name yet. The text is formatted as by printf. */
void monitor_findings_add(struct monitor_findings *findings, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Joins the findings of all ranks, all[n], into the JSON described at the function monitor_findings; NULL if no rank
 * took a sample. A rank that watched nothing has zeroed findings. The caller owns the JSON. */
cJSON *monitor_findings_join(const struct monitor_findings *all, int n);

/* ---- the CPUs ---- */

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
    int *pid;         /* [pids] processes of the job on this machine; pids 0: unknown */
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

/* ---- the GPUs, through NVIDIA's management library (NVML), which is loaded at run time ---- */

/* Memory in use above this percentage is a finding; so is any clock held back by power, temperature or hardware. */
#define MONITOR_GPU_MEMORY_PERCENT 90.0

/* The state of a GPU; NAN: unknown. */
struct gpu_sample {
    double utilization;               /* percent */
    double memory_used, memory_total; /* MiB */
    double power, temperature;        /* power in W, temperature in degrees Celsius */
    double sm_clock;                  /* MHz */
    int has_reasons;                  /* 1: `reasons` is known */
    unsigned long long reasons;       /* why the clock is below its maximum: NVML's bits */
};

enum { GPU_FINDINGS = 4, GPU_ID = 96 };

/* A GPU, and counts over all its samples. */
struct gpu {
    unsigned index;                   /* NVML's number of the GPU */
    struct nvml_device *device;       /* NVML's handle */
    char uuid[GPU_ID];                /* "" if the GPU has no UUID */
    int samples, count[GPU_FINDINGS]; /* number of all samples, and of the samples with each finding */
    double memory_most;               /* most memory in use, in percent of all */
};

/* Adds a sample to the counts of a GPU. */
void gpu_tally_add(struct gpu *gpu, const struct gpu_sample *sample);

/* For each kind of finding, adds a text about the GPU that has it in most samples, and how many other GPUs have it. */
void gpu_tally_report(const struct gpu *gpu, int n, struct monitor_findings *findings);

enum { GPU_REASONS_TEXT = 192 };
/* Writes the names of the bits set in gpu_sample.reasons, joined by |; "none" for no bit, "other" for unknown ones. */
const char *gpu_reasons_words(unsigned long long reasons, char text[GPU_REASONS_TEXT]);

/* The monitor of all GPUs of a host, whether or not this run computes on them. */
struct monitor_gpu {
    int n;
    struct gpu *gpu;  /* [n] */
    struct lines csv; /* csv.file is -1 until the file is opened */
};

/* Loads and starts libnvidia-ml.so.1 and finds the GPUs. Returns 0; or -1, reported, if the library, one of its
 * functions, the driver or a GPU is missing. */
int monitor_gpu_create(struct monitor_gpu *monitor);
void monitor_gpu_destroy(struct monitor_gpu *monitor); /* a zeroed monitor is fine; csv is not closed */

extern const char gpu_column_names[]; /* header line of the CSV file */

/* Reads every GPU and writes a CSV line for each. seconds: the first column of these lines. */
void monitor_gpu_sample(struct monitor_gpu *monitor, double seconds);

#endif
