/* watch_gpu.h - the monitor of a host's GPUs, through NVIDIA's management library (NVML), which is loaded at run time.
 */
#ifndef BENCH_MEASURE_MACHINE_WATCH_GPU_H
#define BENCH_MEASURE_MACHINE_WATCH_GPU_H

#include "base/lines.h"
#include "machine/watch_findings.h"

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
