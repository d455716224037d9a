/* watch.h - the parts of the monitor of a host: CPUs, GPUs, and findings about them. */
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
    char host[MONITOR_HOST]; /* host name; "" if the job has one host */
    int n;
    struct monitor_finding {
        char name[32], text[MONITOR_TEXT]; /* name: its kind, such as "other_processes"; text: no full stop */
    } finding[MONITOR_FINDINGS_MOST];
    double samples, cpu_seconds; /* number of samples taken; CPU time that taking them used */
};

/* Adds a finding to a host, unless it has one of the same name. format is printf's. */
void monitor_findings_add(struct monitor_findings *findings, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Joins the findings of all ranks, all[n], into the JSON that monitor_findings returns; NULL without a sample. A rank
 * that watched nothing has zeroed findings. The caller owns the JSON. */
cJSON *monitor_findings_join(const struct monitor_findings *all, int n);

/* ---- CPUs ---- */

/* A reading of the kernel's counters; NAN: the kernel does not have this one. */
struct cpu_counters {
    double user, system, idle, iowait, steal; /* CPU seconds since boot; user with nice, system with interrupts */
    double mhz;                               /* current clock, mean over the CPUs that the job may use */
    double thermal_throttles;         /* throttling events since boot, summed over the CPUs that the job may use */
    double quota_ms;                  /* ms that CPU quotas stopped this process's control groups */
    double memory_used;               /* MiB */
    double job_seconds, job_resident; /* of the job's processes: CPU seconds so far; MiB resident now */
};

/* What happened between two readings of the counters; NAN: unknown. */
struct cpu_sample {
    double length;                           /* s */
    double user, system, iowait, steal;      /* percent of the machine's CPU time */
    double job_cores, other_processes_cores; /* used by the job on this machine; by all else (0 or more) */
    double thermal_throttles, quota_ms;
    struct cpu_counters now; /* the later reading, for clock and memory */
};

struct cpu_sample cpu_sample_between(const struct cpu_counters *before, const struct cpu_counters *after,
                                     double length_s);

/* Thresholds of findings, in addition to MONITOR_OTHER_CORES. Throttling is always a finding. A fallen clock counts
 * only while the machine is busy, because idle cores slow down on purpose. */
#define MONITOR_STEAL_PERCENT      2.0  /* percent of a second's CPU time, taken by the hypervisor */
#define MONITOR_CLOCK_FALL         0.10 /* fall of the mean clock, as a share of its maximum so far */
#define MONITOR_CLOCK_BUSY_PERCENT 50.0 /* percent of CPU time that makes the machine busy */

/* Totals and extremes over all samples; zeroed at first. */
struct cpu_tally {
    double seconds;                                       /* all seconds watched */
    double other_processes_seconds, other_processes_most; /* s; cores */
    double steal_seconds, steal_most;                     /* s; percent */
    double busy_seconds, slow_seconds;                    /* with a busy machine; with a fallen clock as well */
    double clock_most;                                    /* MHz, the maximum while busy so far */
    double fall_from, fall_to;                            /* MHz, of the deepest fall; 0: none */
    double thermal_seconds, thermal;                      /* s; throttles */
    double quota_seconds, quota_ms;                       /* s; ms */
};

void cpu_tally_add(struct cpu_tally *tally, const struct cpu_sample *sample);
void cpu_tally_report(const struct cpu_tally *tally, struct monitor_findings *findings);

enum cpu_file { CPU_CLOCK, CPU_CORE_THROTTLES, CPU_PACKAGE_THROTTLES, CPU_FILES };

/* The monitor of a machine's CPUs. Its owner sets root, pid, pids, cpus, last and last_ns. */
struct monitor_cpu {
    const char *root; /* prefix of /proc and /sys: "", or a directory in tests */
    const int *pid;   /* [pids] processes of the job on this machine; pids 0: unknown */
    int pids;
    cpu_set_t cpus;         /* CPUs that the job may use */
    int missing[CPU_FILES]; /* 1: no CPU has that file; it is not read again */
    char *text;             /* [room] content of a file; the owner frees it */
    size_t room;
    struct cpu_counters last; /* the previous reading, made at last_ns */
    int64_t last_ns;
    struct cpu_tally tally;
    struct lines csv; /* csv.file is -1 until the file is opened */
};

/* Reads all counters now. Sources: Linux Documentation/filesystems/proc.rst, admin-guide/cgroup-v2.rst. */
struct cpu_counters cpu_counters_read(struct monitor_cpu *cpu);

extern const char cpu_column_names[]; /* header line of the CSV file */

/* Reads the counters and writes a CSV line about the time since the last reading; `seconds` is the line's time. */
void monitor_cpu_sample(struct monitor_cpu *cpu, double seconds);

/* ---- GPUs, through NVIDIA's management library (NVML), which is loaded at run time ---- */

/* More memory in use than this is a finding. A clock held back by power, temperature or hardware always is. */
#define MONITOR_GPU_MEMORY_PERCENT 90.0

/* The state of a GPU; NAN: unknown. */
struct gpu_sample {
    double utilization;               /* percent */
    double memory_used, memory_total; /* MiB */
    double power, temperature;        /* W, degrees Celsius */
    double sm_clock;                  /* MHz */
    int has_reasons;
    unsigned long long reasons; /* why the clock is below its maximum: NVML's bits */
};

enum { GPU_FINDINGS = 4, GPU_ID = 96 };

/* A GPU, and counts over all its samples. */
struct gpu {
    unsigned index;                   /* NVML's number of the GPU */
    struct nvml_device *device;       /* NVML's handle */
    char uuid[GPU_ID];                /* "" if it has none */
    int samples, count[GPU_FINDINGS]; /* number of samples; of samples with each finding */
    double memory_most;               /* percent */
};

/* Adds a sample to the counts of a GPU. */
void gpu_tally_add(struct gpu *gpu, const struct gpu_sample *sample);

/* For each kind of finding, adds the GPU that has it in most samples, and how many other GPUs have it. */
void gpu_tally_report(const struct gpu *gpu, int n, struct monitor_findings *findings);

enum { GPU_REASONS_TEXT = 192 };
/* Writes the names of NVML's clock reasons joined by |; "none" without a reason; "other" for unnamed bits. */
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

/* Reads every GPU and writes a CSV line for each; `seconds` is the line's time. */
void monitor_gpu_sample(struct monitor_gpu *monitor, double seconds);

#endif
