/* gpu.c - what the GPUs of a host do, second by second. */
#include "monitor/gpu.h"

#include "kernels/error.h"

#include <dlfcn.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0

/* ---- the library ---- */

#define LIBRARY "libnvidia-ml.so.1"

static const struct function {
    size_t offset; /* in struct nvml */
    int needed;
    const char *name, *or_name; /* by either */
} functions[] = {
    {offsetof(struct nvml, init), 1, "nvmlInit_v2", NULL},
    {offsetof(struct nvml, shutdown), 1, "nvmlShutdown", NULL},
    {offsetof(struct nvml, count), 1, "nvmlDeviceGetCount_v2", NULL},
    {offsetof(struct nvml, handle), 1, "nvmlDeviceGetHandleByIndex_v2", NULL},
    {offsetof(struct nvml, error), 0, "nvmlErrorString", NULL},
    {offsetof(struct nvml, name), 0, "nvmlDeviceGetName", NULL},
    {offsetof(struct nvml, uuid), 0, "nvmlDeviceGetUUID", NULL},
    {offsetof(struct nvml, utilization), 0, "nvmlDeviceGetUtilizationRates", NULL},
    {offsetof(struct nvml, memory), 0, "nvmlDeviceGetMemoryInfo", NULL},
    {offsetof(struct nvml, power), 0, "nvmlDeviceGetPowerUsage", NULL},
    {offsetof(struct nvml, temperature), 0, "nvmlDeviceGetTemperature", NULL},
    {offsetof(struct nvml, clock), 0, "nvmlDeviceGetClockInfo", NULL},
    {offsetof(struct nvml, reasons), 0, "nvmlDeviceGetCurrentClocksThrottleReasons",
     "nvmlDeviceGetCurrentClocksEventReasons"},
};

/* The library's words for an error, behind a colon; "" if it has none. */
static const char *error_words(const struct nvml *nvml, int error, char text[128])
{
    snprintf(text, 128, nvml->error ? ": %s" : "%s", nvml->error ? nvml->error(error) : "");
    return text;
}

/* Returns 0; or -1, reported. */
static int nvml_open(struct nvml *nvml)
{
    char words[128];
    *nvml = (struct nvml){.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL)};
    if (!nvml->library)
        return error_report("--monitor-gpu needs NVIDIA's management library, which comes with the driver: %s",
                            dlerror());
    int status = 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && !status; i++) {
        const struct function *f = &functions[i];
        void *found = dlsym(nvml->library, f->name);
        if (!found && f->or_name)
            found = dlsym(nvml->library, f->or_name);
        if (!found && f->needed)
            status = error_report("--monitor-gpu: %s has no %s; it needs a newer driver", LIBRARY, f->name);
        memcpy((char *)nvml + f->offset, &found, sizeof found); /* POSIX lets a function have a data pointer's form */
    }
    int error = status ? NVML_OK : nvml->init();
    if (error != NVML_OK)
        status = error_report("--monitor-gpu: %s cannot start (error %d%s); is the driver loaded? see nvidia-smi",
                              LIBRARY, error, error_words(nvml, error, words));
    if (status) {
        dlclose(nvml->library);
        nvml->library = NULL;
    }
    return status;
}

/* ---- words ---- */

const char *gpu_reasons_words(unsigned long long reasons, char text[GPU_REASONS_TEXT])
{
    static const char *const word[] = {"gpu_idle",      "applications_clocks", "sw_power_cap",        "hw_slowdown",
                                       "sync_boost",    "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake",
                                       "display_clocks"}; /* from bit 0 on */
    size_t at = 0;
    snprintf(text, GPU_REASONS_TEXT, "none");
    for (size_t i = 0; i < sizeof word / sizeof *word; i++, reasons >>= 1)
        if (reasons & 1)
            at += (size_t)snprintf(text + at, GPU_REASONS_TEXT - at, "%s%s", at ? "|" : "", word[i]);
    if (reasons)
        snprintf(text + at, GPU_REASONS_TEXT - at, "%sother", at ? "|" : "");
    return text;
}

/* ---- findings ---- */

void gpu_tally_add(struct gpu_tally *tally, const struct gpu_sample *sample)
{
    unsigned long long reasons = sample->has_reasons ? sample->reasons : 0;
    double memory = 100 * sample->memory_used / sample->memory_total;
    tally->samples++;
    tally->count[MONITOR_GPU_POWER] += (reasons & (NVML_SW_POWER_CAP | NVML_HW_POWER_BRAKE)) != 0;
    tally->count[MONITOR_GPU_THERMAL] += (reasons & (NVML_SW_THERMAL | NVML_HW_THERMAL)) != 0;
    tally->count[MONITOR_GPU_SLOWDOWN] += (reasons & NVML_HW_SLOWDOWN) != 0;
    tally->count[MONITOR_GPU_MEMORY] += memory > MONITOR_GPU_MEMORY_PERCENT;
    tally->memory_most = fmax(tally->memory_most, memory);
}

void gpu_tally_report(const struct gpu_tally *tally, int n, struct monitor_report *report)
{
    static const char *const text[] = {"was held back by its power limit", "was throttled because of its temperature",
                                       "was slowed down by its hardware", "had its memory nearly full"};
    for (enum monitor_kind kind = MONITOR_GPU_POWER; kind < MONITOR_KINDS; kind++) {
        char more[64] = "", most[64] = "";
        int worst = 0, others = -1;
        for (int i = 0; i < n; i++) {
            others += tally[i].count[kind] > 0;
            worst = tally[i].count[kind] > tally[worst].count[kind] ? i : worst;
        }
        if (others < 0)
            continue;
        if (others)
            snprintf(more, sizeof more, "; %d more GPU%s likewise", others, others == 1 ? "" : "s");
        if (kind == MONITOR_GPU_MEMORY)
            snprintf(most, sizeof most, " (%.1f %% at most, threshold %g %%)", tally[worst].memory_most,
                     MONITOR_GPU_MEMORY_PERCENT);
        monitor_report_add(report, kind, "host GPU %u (NVML's number) %s in %d of %d samples%s%s", tally[worst].index,
                           text[kind - MONITOR_GPU_POWER], tally[worst].count[kind], tally[worst].samples, most, more);
    }
}

/* ---- the file ---- */

static const char column_names[] =
    "seconds,gpu,name,uuid,utilization_gpu_percent,utilization_memory_percent,memory_used_mib,memory_total_mib,power_w,"
    "temperature_c,sm_clock_mhz,memory_clock_mhz,throttle_reasons\n";

static double clock_mhz(const struct nvml *nvml, nvml_device device, int clock)
{
    unsigned mhz;
    return nvml->clock && nvml->clock(device, clock, &mhz) == NVML_OK ? (double)mhz : NAN;
}

/* A value that a GPU does not support stays unknown. */
static void read_gpu(const struct nvml *nvml, nvml_device device, struct gpu_sample *sample)
{
    struct nvml_utilization utilization;
    struct nvml_memory memory;
    unsigned value;
    *sample = (struct gpu_sample){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0};
    if (nvml->utilization && nvml->utilization(device, &utilization) == NVML_OK) {
        sample->utilization_gpu = utilization.gpu;
        sample->utilization_memory = utilization.memory;
    }
    if (nvml->memory && nvml->memory(device, &memory) == NVML_OK) {
        sample->memory_used = (double)memory.used / MIB;
        sample->memory_total = (double)memory.total / MIB;
    }
    if (nvml->power && nvml->power(device, &value) == NVML_OK)
        sample->power = 1e-3 * value;
    if (nvml->temperature && nvml->temperature(device, NVML_SENSOR_GPU, &value) == NVML_OK)
        sample->temperature = value;
    sample->sm_clock = clock_mhz(nvml, device, NVML_CLOCK_SM);
    sample->memory_clock = clock_mhz(nvml, device, NVML_CLOCK_MEMORY);
    sample->has_reasons = nvml->reasons && nvml->reasons(device, &sample->reasons) == NVML_OK;
}

int monitor_gpu_open(struct monitor_gpu *gpu, const char *path)
{
    if (lines_open(&gpu->csv, path))
        return -1;
    return lines_append(&gpu->csv, column_names, strlen(column_names)) ? lines_close(&gpu->csv) : 0;
}

static void write_gpu_line(struct lines *csv, double seconds, const struct gpu *gpu, const struct gpu_sample *s)
{
    char words[GPU_REASONS_TEXT];
    struct csv_line line = {0};
    csv_add_number(&line, 3, seconds);
    csv_add_number(&line, 0, gpu->index);
    csv_add_text(&line, gpu->name);
    csv_add_text(&line, gpu->uuid);
    csv_add_numbers(&line, 0, 4,
                    (double[]){s->utilization_gpu, s->utilization_memory, s->memory_used, s->memory_total});
    csv_add_number(&line, 1, s->power);
    csv_add_numbers(&line, 0, 3, (double[]){s->temperature, s->sm_clock, s->memory_clock});
    csv_add_text(&line, s->has_reasons ? gpu_reasons_words(s->reasons, words) : "");
    csv_end_line(&line, csv);
}

void monitor_gpu_sample(struct monitor_gpu *gpu, double seconds)
{
    for (int i = 0; i < gpu->n; i++) {
        struct gpu_sample sample;
        read_gpu(&gpu->nvml, gpu->gpu[i].device, &sample);
        gpu_tally_add(&gpu->tally[i], &sample);
        write_gpu_line(&gpu->csv, seconds, &gpu->gpu[i], &sample);
    }
}

/* ---- start ---- */

int monitor_gpu_create(struct monitor_gpu *monitor)
{
    const struct nvml *nvml = &monitor->nvml;
    unsigned count = 0;
    char words[128];
    monitor->n = 0;
    if (nvml_open(&monitor->nvml))
        return -1;
    int error = nvml->count(&count);
    monitor->gpu = allocate(count, sizeof *monitor->gpu);
    monitor->tally = allocate(count, sizeof *monitor->tally);
    for (unsigned i = 0; i < count; i++) {
        struct gpu *gpu = &monitor->gpu[monitor->n];
        int refused = nvml->handle(i, &gpu->device);
        if (refused != NVML_OK) {
            error = refused;
            continue;
        }
        gpu->index = monitor->tally[monitor->n++].index = i;
        if (!nvml->name || nvml->name(gpu->device, gpu->name, sizeof gpu->name) != NVML_OK)
            *gpu->name = 0;
        if (!nvml->uuid || nvml->uuid(gpu->device, gpu->uuid, sizeof gpu->uuid) != NVML_OK)
            *gpu->uuid = 0;
    }
    if (monitor->n)
        return 0;
    int status = error == NVML_OK ? error_report("--monitor-gpu: the driver is there, but it knows no GPU")
                                  : error_report("--monitor-gpu: no GPU can be asked (error %d%s); see nvidia-smi",
                                                 error, error_words(nvml, error, words));
    monitor_gpu_destroy(monitor);
    return status;
}

void monitor_gpu_destroy(struct monitor_gpu *gpu)
{
    if (gpu->nvml.library) {
        gpu->nvml.shutdown();
        dlclose(gpu->nvml.library);
    }
    gpu->nvml.library = NULL;
    free(gpu->gpu);
    free(gpu->tally);
    gpu->gpu = NULL;
    gpu->tally = NULL;
    gpu->n = 0;
}
