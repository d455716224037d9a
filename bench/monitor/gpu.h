/* gpu.h - what the GPUs of a host do: a line a second for each, and findings over all of them; by NVIDIA's management
 * library (NVML), found at run time, so that the program is built and runs without it. */
#ifndef BENCH_MONITOR_GPU_H
#define BENCH_MONITOR_GPU_H

#include "base/lines.h"
#include "monitor/findings.h"

/* Why clocks are below their maximum, by the numbers of NVML. */
enum nvml_reason {
    NVML_GPU_IDLE = 0x1,
    NVML_APPLICATIONS_CLOCKS = 0x2,
    NVML_SW_POWER_CAP = 0x4,
    NVML_HW_SLOWDOWN = 0x8,
    NVML_SYNC_BOOST = 0x10,
    NVML_SW_THERMAL = 0x20,
    NVML_HW_THERMAL = 0x40,
    NVML_HW_POWER_BRAKE = 0x80,
    NVML_DISPLAY_CLOCKS = 0x100,
};

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
    unsigned long long reasons; /* of enum nvml_reason */
};

/* Counts over all samples of a GPU. */
struct gpu_tally {
    unsigned index;                    /* the library's number of it */
    int samples, count[MONITOR_KINDS]; /* all; those with that finding */
    double memory_most;                /* percent */
};

void gpu_tally_add(struct gpu_tally *tally, const struct gpu_sample *sample); /* to begin with zeroed but for index */

/* Findings of n GPUs: of each kind, the GPU that had it in most samples, and how many more had it too. */
void gpu_tally_report(const struct gpu_tally *tally, int n, struct monitor_report *report);

enum { GPU_REASONS_TEXT = 192 };
/* Reasons as words joined by |; "none" without one; "other" for bits without a name. */
const char *gpu_reasons_words(unsigned long long reasons, char text[GPU_REASONS_TEXT]);

/* ---- the monitor ---- */

/* The monitor of a host's GPUs, of all that NVML gives access to, whether or not this run computes on them. */
struct monitor_gpu {
    int n;
    struct gpu *gpu;         /* [n] */
    struct gpu_tally *tally; /* [n] */
    struct lines csv;        /* csv.file is -1 until it is opened */
};

/* Loads libnvidia-ml.so.1, starts it and finds the GPUs. Returns 0; or -1, reported: no library, one without a function
 * that is needed, one that cannot start (no driver), or no GPU. */
int monitor_gpu_create(struct monitor_gpu *gpu);
void monitor_gpu_destroy(struct monitor_gpu *gpu); /* a zeroed one is fine; leaves csv alone */

extern const char gpu_column_names[]; /* of its file, a line */

/* Reads every GPU and writes its line, with `seconds` as its time. */
void monitor_gpu_sample(struct monitor_gpu *gpu, double seconds);

#endif
