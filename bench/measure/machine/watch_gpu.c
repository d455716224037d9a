/* watch_gpu.c - watches the GPUs of a host through NVML. */
#include "machine/watch.h"

#include "base/text.h"
#include "kernels/error.h"
#include "kernels/library.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0

/* ---- the library ---- */

#define LIBRARY "libnvidia-ml.so.1"

/* Constants, layouts and functions as in the NVML API Reference; later versions of NVML only add to them. */
enum { NVML_OK = 0, NVML_CLOCK_SM = 1, NVML_SENSOR_GPU = 0 };

typedef struct nvml_device *nvml_device;

/* All but `error` return NVML_OK or an error number. */
static struct nvml {
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *count);
    int (*handle)(unsigned index, nvml_device *device);
    const char *(*error)(int error);
    int (*uuid)(nvml_device device, char *uuid, unsigned length);
    /* percent: share of NVML's sampling period in which [0] a kernel ran, [1] memory was read or written */
    int (*utilization)(nvml_device device, unsigned percent[2]);
    int (*memory)(nvml_device device, unsigned long long bytes[3]); /* bytes: total, free, used */
    int (*power)(nvml_device device, unsigned *milliwatt);
    int (*temperature)(nvml_device device, int sensor, unsigned *celsius);
    int (*clock)(nvml_device device, int clock, unsigned *mhz);
    int (*reasons)(nvml_device device, unsigned long long *reasons);
} nvml;
static int has_started;

static const struct library_function functions[] = {
    {"nvmlInit_v2", offsetof(struct nvml, init), 1},
    {"nvmlShutdown", offsetof(struct nvml, shutdown), 1},
    {"nvmlDeviceGetCount_v2", offsetof(struct nvml, count), 1},
    {"nvmlDeviceGetHandleByIndex_v2", offsetof(struct nvml, handle), 1},
    {"nvmlErrorString", offsetof(struct nvml, error), 1},
    {"nvmlDeviceGetUUID", offsetof(struct nvml, uuid), 1},
    {"nvmlDeviceGetUtilizationRates", offsetof(struct nvml, utilization), 1},
    {"nvmlDeviceGetMemoryInfo", offsetof(struct nvml, memory), 1},
    {"nvmlDeviceGetPowerUsage", offsetof(struct nvml, power), 1},
    {"nvmlDeviceGetTemperature", offsetof(struct nvml, temperature), 1},
    {"nvmlDeviceGetClockInfo", offsetof(struct nvml, clock), 1},
    {"nvmlDeviceGetCurrentClocksThrottleReasons", offsetof(struct nvml, reasons), 1}};

/* Loads and starts NVML. Returns 0; or -1, reported. */
static int nvml_open(void)
{
    const char *why = library_open(&nvml, functions, sizeof functions / sizeof *functions, LIBRARY);
    if (why)
        return error_report("--monitor-gpu needs NVIDIA's management library, which comes with the driver: %s", why);
    int error = nvml.init();
    has_started = error == NVML_OK;
    return has_started
               ? 0
               : error_report("--monitor-gpu: %s cannot start (error %d: %s); is the driver loaded? see nvidia-smi",
                              LIBRARY, error, nvml.error(error));
}

/* ---- words ---- */

const char *gpu_reasons_words(unsigned long long reasons, char text[GPU_REASONS_TEXT])
{
    static const char *const word[] = {"gpu_idle",      "applications_clocks", "sw_power_cap",        "hw_slowdown",
                                       "sync_boost",    "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake",
                                       "display_clocks"}; /* entry i names bit i */
    snprintf(text, GPU_REASONS_TEXT, "%s", reasons ? "" : "none");
    for (size_t i = 0; i < sizeof word / sizeof *word; i++, reasons >>= 1)
        if (reasons & 1)
            text_append(text, GPU_REASONS_TEXT, "%s%s", *text ? "|" : "", word[i]);
    if (reasons)
        text_append(text, GPU_REASONS_TEXT, "%sother", *text ? "|" : "");
    return text;
}

/* ---- findings ---- */

/* NVML's bits for reasons why a clock is below its maximum. */
enum { SW_POWER_CAP = 0x4, HW_SLOWDOWN = 0x8, SW_THERMAL = 0x20, HW_THERMAL = 0x40, HW_POWER_BRAKE = 0x80 };

static const struct {
    const char *name, *text;
    unsigned long long reasons; /* NVML's bits; any one of them is enough */
} conditions[GPU_FINDINGS] = {
    {"gpu_power_cap", "was held back by its power limit", SW_POWER_CAP | HW_POWER_BRAKE},
    {"gpu_thermal_throttling", "was throttled because of its temperature", SW_THERMAL | HW_THERMAL},
    {"gpu_hardware_slowdown", "was slowed down by its hardware", HW_SLOWDOWN},
    {"gpu_memory", "had its memory nearly full", 0},
};
enum { GPU_MEMORY = GPU_FINDINGS - 1 };

void gpu_tally_add(struct gpu *gpu, const struct gpu_sample *sample)
{
    unsigned long long reasons = sample->has_reasons ? sample->reasons : 0;
    double memory = 100 * sample->memory_used / sample->memory_total;
    gpu->samples++;
    for (int i = 0; i < GPU_FINDINGS; i++)
        gpu->count[i] += (reasons & conditions[i].reasons) != 0;
    gpu->count[GPU_MEMORY] += memory > MONITOR_GPU_MEMORY_PERCENT;
    gpu->memory_most = fmax(gpu->memory_most, memory);
}

void gpu_tally_report(const struct gpu *gpu, int n, struct monitor_findings *findings)
{
    for (int k = 0; k < GPU_FINDINGS; k++) {
        char more[64] = "", most[64] = "";
        const struct gpu *worst = gpu;
        int others = -1; /* number of GPUs with this finding, minus 1 for the worst */
        for (int i = 0; i < n; i++) {
            others += gpu[i].count[k] > 0;
            worst = gpu[i].count[k] > worst->count[k] ? &gpu[i] : worst;
        }
        if (others < 0)
            continue;
        if (others)
            snprintf(more, sizeof more, "; %d more GPU%s likewise", others, text_plural((size_t)others));
        if (k == GPU_MEMORY)
            snprintf(most, sizeof most, " (%.1f %% at most, threshold %g %%)", worst->memory_most,
                     MONITOR_GPU_MEMORY_PERCENT);
        monitor_findings_add(findings, conditions[k].name, "host GPU %u (NVML's number) %s in %d of %d samples%s%s",
                             worst->index, conditions[k].text, worst->count[k], worst->samples, most, more);
    }
}

/* ---- the file ---- */

const char gpu_column_names[] = "seconds,gpu,uuid,utilization_gpu_percent,memory_used_mib,memory_total_mib,power_w,"
                                "temperature_c,sm_clock_mhz,throttle_reasons\n";

/* Reads the state of a GPU; values that the GPU does not support stay NAN. */
static void read_gpu(nvml_device device, struct gpu_sample *sample)
{
    unsigned percent[2], value;
    unsigned long long bytes[3];
    *sample = (struct gpu_sample){NAN, NAN, NAN, NAN, NAN, NAN, 0, 0};
    if (nvml.utilization(device, percent) == NVML_OK)
        sample->utilization = percent[0];
    if (nvml.memory(device, bytes) == NVML_OK) {
        sample->memory_used = (double)bytes[2] / MIB;
        sample->memory_total = (double)bytes[0] / MIB;
    }
    if (nvml.power(device, &value) == NVML_OK)
        sample->power = 1e-3 * value;
    if (nvml.temperature(device, NVML_SENSOR_GPU, &value) == NVML_OK)
        sample->temperature = value;
    if (nvml.clock(device, NVML_CLOCK_SM, &value) == NVML_OK)
        sample->sm_clock = value;
    sample->has_reasons = nvml.reasons(device, &sample->reasons) == NVML_OK;
}

void monitor_gpu_sample(struct monitor_gpu *monitor, double seconds)
{
    char words[GPU_REASONS_TEXT], *text;
    size_t length;
    FILE *out = text_begin(&text, &length);
    for (struct gpu *gpu = monitor->gpu; gpu < monitor->gpu + monitor->n; gpu++) {
        struct gpu_sample s;
        read_gpu(gpu->device, &s);
        gpu_tally_add(gpu, &s);
        fprintf(out, "%.3f,%u,%s", seconds, gpu->index, gpu->uuid);
        text_print_csv_numbers(out, 0, 3, (double[]){s.utilization, s.memory_used, s.memory_total});
        text_print_csv_numbers(out, 1, 1, &s.power);
        text_print_csv_numbers(out, 0, 2, (double[]){s.temperature, s.sm_clock});
        fprintf(out, ",%s\n", s.has_reasons ? gpu_reasons_words(s.reasons, words) : "");
    }
    text_end(out);
    (void)lines_append(&monitor->csv, text, length); /* lines_close reports a failure */
    free(text);
}

/* ---- start ---- */

int monitor_gpu_create(struct monitor_gpu *monitor)
{
    unsigned count = 0;
    if (nvml_open())
        return -1;
    if (nvml.count(&count) != NVML_OK)
        count = 0;
    monitor->gpu = allocate(count, sizeof *monitor->gpu);
    for (unsigned i = 0; i < count; i++) {
        struct gpu *gpu = &monitor->gpu[monitor->n];
        if (nvml.handle(i, &gpu->device) != NVML_OK) /* the GPU belongs to another user */
            continue;
        monitor->n++;
        gpu->index = i;
        if (nvml.uuid(gpu->device, gpu->uuid, sizeof gpu->uuid) != NVML_OK)
            *gpu->uuid = 0;
    }
    return monitor->n ? 0
                      : error_report("--monitor-gpu: the driver is loaded, but no GPU can be accessed; see nvidia-smi");
}

void monitor_gpu_destroy(struct monitor_gpu *monitor)
{
    if (has_started)
        nvml.shutdown();
    has_started = 0;
    free(monitor->gpu);
}
