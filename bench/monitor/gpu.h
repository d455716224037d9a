/* gpu.h - what the GPUs of a host do: a line a second for each, and findings over all of them; by the few functions of
 * NVIDIA's management library that this needs, found at run time, so that the program is built and runs without it.
 *
 * Names, numbers and layouts of NVML_ and nvml_ are those of the library's documented interface (NVML API Reference),
 * which only grows. */
#ifndef BENCH_MONITOR_GPU_H
#define BENCH_MONITOR_GPU_H

#include "base/lines.h"
#include "monitor/findings.h"

/* ---- the library ---- */

enum { NVML_OK = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2, NVML_SENSOR_GPU = 0, NVML_NAME = 96 };

/* Why clocks are below their maximum. */
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

typedef struct nvml_device *nvml_device; /* the library's own handle */

struct nvml_utilization {
    unsigned gpu, memory; /* percent of the library's sampling period in which a kernel ran, memory was accessed */
};

struct nvml_memory {
    unsigned long long total, free, used; /* bytes */
};

/* The library's functions; each returns NVML_OK or its error's number. Those below the line may be NULL: an old library
 * may lack them. */
struct nvml {
    void *library; /* NULL: not open */
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *count);
    int (*handle)(unsigned index, nvml_device *device);
    /* ---- */
    const char *(*error)(int error);
    int (*name)(nvml_device device, char *name, unsigned length);
    int (*uuid)(nvml_device device, char *uuid, unsigned length);
    int (*utilization)(nvml_device device, struct nvml_utilization *utilization);
    int (*memory)(nvml_device device, struct nvml_memory *memory);
    int (*power)(nvml_device device, unsigned *milliwatt);
    int (*temperature)(nvml_device device, int sensor, unsigned *celsius);
    int (*clock)(nvml_device device, int clock, unsigned *mhz);
    int (*reasons)(nvml_device device, unsigned long long *reasons);
};

/* ---- samples and findings ---- */

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
    struct nvml nvml;
    int n;
    struct gpu {
        unsigned index;
        nvml_device device;
        char name[NVML_NAME], uuid[NVML_NAME];
    } * gpu;                 /* [n] */
    struct gpu_tally *tally; /* [n] */
    struct lines csv;        /* csv.file is -1 until it is opened */
};

/* Loads libnvidia-ml.so.1, starts it and finds the GPUs. Returns 0; or -1, reported: no library, one without a function
 * that is needed, one that cannot start (no driver), or no GPU. */
int monitor_gpu_create(struct monitor_gpu *gpu);
void monitor_gpu_destroy(struct monitor_gpu *gpu); /* a zeroed one is fine; leaves csv alone */

/* Opens the file, with its line of column names. Returns 0; or -1, reported. */
int monitor_gpu_open(struct monitor_gpu *gpu, const char *path);

/* Reads every GPU and writes its line, with `seconds` as its time. */
void monitor_gpu_sample(struct monitor_gpu *gpu, double seconds);

#endif
