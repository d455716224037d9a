/* gpu.h - a line a second for each GPU of a host, and what in them makes measured times doubtful. */
#ifndef BENCH_MONITOR_GPU_H
#define BENCH_MONITOR_GPU_H

#include "base/lines.h"
#include "monitor/findings.h"
#include "monitor/nvml.h"

/* From where on what was seen is told. A power cap, thermal throttling and a slowdown by hardware are told whenever a
 * sample named them as a reason for lower clocks. */
#define MONITOR_GPU_MEMORY_PERCENT 90.0 /* of a GPU's memory, in more than which it counts as nearly full */

/* What a GPU says now; NAN is unknown. */
struct gpu_row {
    double utilization_gpu, utilization_memory; /* percent */
    double memory_used, memory_total;           /* MiB */
    double power, temperature;                  /* W, degrees Celsius */
    double sm_clock, memory_clock;              /* MHz */
    int has_reasons;
    unsigned long long reasons; /* of enum nvml_reason */
};

enum { GPU_KINDS = MONITOR_KINDS - MONITOR_GPU_POWER };

/* What all rows of a GPU say. */
struct gpu_seen {
    unsigned index;                /* the library's number of it */
    int samples, count[GPU_KINDS]; /* all; those that say so, of enum monitor_kind from MONITOR_GPU_POWER on */
    double memory_most;            /* percent */
};

void gpu_seen_add(struct gpu_seen *seen, const struct gpu_row *row); /* seen starts as zero but for its index */

/* Findings of n GPUs: of each kind, the GPU that had the most of it, and how many more had it too. chosen: the run was
 * given some of them only (CUDA_VISIBLE_DEVICES), and perhaps not that one. */
void gpu_seen_find(const struct gpu_seen *seen, int n, int chosen, struct monitor_report *report);

enum { GPU_REASONS_TEXT = 192 };
/* Reasons as words joined by |; "none" without one; "other" for bits without a name. */
const char *gpu_reasons_words(unsigned long long reasons, char text[GPU_REASONS_TEXT]);

/* The monitor of a host's GPUs. */
struct monitor_gpu {
    struct nvml nvml;
    int n;      /* that may be asked; others of the host belong to somebody else */
    int chosen; /* CUDA_VISIBLE_DEVICES is set */
    struct gpu {
        unsigned index;
        nvml_device device;
        char name[NVML_NAME], uuid[NVML_NAME];
        int ours;          /* a rank of this run computes on it */
    } * gpu;               /* [n] */
    struct gpu_seen *seen; /* [n] */
    struct csv csv;        /* {.file = -1} until it is opened */
};

extern const char gpu_columns[]; /* the first line of gpu_monitor.csv */

/* Starts the library and finds the GPUs. Returns 0; or -1, reported: nvml_open's reasons, or no GPU. */
int monitor_gpu_create(struct monitor_gpu *gpu);
void monitor_gpu_destroy(struct monitor_gpu *gpu); /* a zeroed one, but for csv.file, is fine */

/* A rank of this host computes on the GPU with this uuid. */
void monitor_gpu_note_ours(struct monitor_gpu *gpu, const char *uuid);

/* Findings of the run's own GPUs; of all where none of them is known to be the run's. */
void monitor_gpu_find(const struct monitor_gpu *gpu, struct monitor_report *report);

/* Asks every GPU and writes its line, with `seconds` as its time. */
void monitor_gpu_sample(struct monitor_gpu *gpu, double seconds);

#endif
