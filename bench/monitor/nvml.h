/* nvml.h - the few functions of NVIDIA's management library that a monitor needs, found at run time, so that the
 * program is built and runs without it.
 *
 * Names, numbers and layouts are those of the library's documented interface (NVML API Reference), which only grows. */
#ifndef BENCH_MONITOR_NVML_H
#define BENCH_MONITOR_NVML_H

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

/* Loads libnvidia-ml.so.1 and starts it. Returns 0; or -1, reported: no library, one without a function that is needed,
 * or one that cannot start (no driver). */
int nvml_open(struct nvml *nvml);
void nvml_close(struct nvml *nvml); /* one that is not open is fine */

#endif
