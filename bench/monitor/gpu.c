/* gpu.c - what the GPUs of a host do, second by second. */
#include "monitor/gpu.h"

#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0

/* ---- words ---- */

const char *gpu_reasons_words(unsigned long long reasons, char text[GPU_REASONS_TEXT])
{
    static const struct {
        enum nvml_reason bit;
        const char *word;
    } words[] = {{NVML_GPU_IDLE, "gpu_idle"},
                 {NVML_APPLICATIONS_CLOCKS, "applications_clocks"},
                 {NVML_SW_POWER_CAP, "sw_power_cap"},
                 {NVML_HW_SLOWDOWN, "hw_slowdown"},
                 {NVML_SYNC_BOOST, "sync_boost"},
                 {NVML_SW_THERMAL, "sw_thermal_slowdown"},
                 {NVML_HW_THERMAL, "hw_thermal_slowdown"},
                 {NVML_HW_POWER_BRAKE, "hw_power_brake"},
                 {NVML_DISPLAY_CLOCKS, "display_clocks"}};
    size_t at = 0;
    snprintf(text, GPU_REASONS_TEXT, "none");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (reasons & words[i].bit) {
            at += (size_t)snprintf(text + at, GPU_REASONS_TEXT - at, "%s%s", at ? "|" : "", words[i].word);
            reasons &= ~(unsigned long long)words[i].bit;
        }
    if (reasons)
        snprintf(text + at, GPU_REASONS_TEXT - at, "%sother", at ? "|" : "");
    return text;
}

/* ---- findings ---- */

static int *count_of(struct gpu_seen *seen, enum monitor_kind kind)
{
    return &seen->count[kind - MONITOR_GPU_POWER];
}

void gpu_seen_add(struct gpu_seen *seen, const struct gpu_row *row)
{
    unsigned long long reasons = row->has_reasons ? row->reasons : 0;
    double memory = 100 * row->memory_used / row->memory_total;
    seen->samples++;
    *count_of(seen, MONITOR_GPU_POWER) += (reasons & (NVML_SW_POWER_CAP | NVML_HW_POWER_BRAKE)) != 0;
    *count_of(seen, MONITOR_GPU_THERMAL) += (reasons & (NVML_SW_THERMAL | NVML_HW_THERMAL)) != 0;
    *count_of(seen, MONITOR_GPU_SLOWDOWN) += (reasons & NVML_HW_SLOWDOWN) != 0;
    *count_of(seen, MONITOR_GPU_MEMORY) += memory > MONITOR_GPU_MEMORY_PERCENT;
    seen->memory_most = fmax(seen->memory_most, memory);
}

void gpu_seen_find(const struct gpu_seen *seen, int n, int chosen, struct monitor_report *report)
{
    static const char *const text[GPU_KINDS] = {"was held back by its power limit",
                                                "was throttled because of its temperature",
                                                "was slowed down by its hardware", "had its memory nearly full"};
    for (int kind = 0; kind < GPU_KINDS; kind++) {
        char more[64] = "", most[64] = "";
        int worst = 0, others = -1;
        for (int i = 0; i < n; i++) {
            others += seen[i].count[kind] > 0;
            worst = seen[i].count[kind] > seen[worst].count[kind] ? i : worst;
        }
        if (others < 0)
            continue;
        if (others)
            snprintf(more, sizeof more, "; %d more GPU%s likewise", others, others == 1 ? "" : "s");
        if (kind == MONITOR_GPU_MEMORY - MONITOR_GPU_POWER)
            snprintf(most, sizeof most, " (%.1f %% at most, threshold %g %%)", seen[worst].memory_most,
                     MONITOR_GPU_MEMORY_PERCENT);
        monitor_findings_add(report, (enum monitor_kind)(MONITOR_GPU_POWER + kind),
                             "host GPU %u (NVML's number%s) %s in %d of %d samples%s%s", seen[worst].index,
                             chosen ? "; with CUDA_VISIBLE_DEVICES set it may not be this run's" : "", text[kind],
                             seen[worst].count[kind], seen[worst].samples, most, more);
    }
}

void monitor_gpu_note_ours(struct monitor_gpu *gpu, const char *uuid)
{
    for (int i = 0; i < gpu->n; i++)
        gpu->gpu[i].ours |= *uuid && !strcmp(gpu->gpu[i].uuid, uuid);
}

void monitor_gpu_find(const struct monitor_gpu *gpu, struct monitor_report *report)
{
    struct gpu_seen *ours = allocate((size_t)gpu->n + 1, sizeof *ours);
    int n = 0;
    for (int i = 0; i < gpu->n; i++)
        if (gpu->gpu[i].ours)
            ours[n++] = gpu->seen[i];
    if (n)
        gpu_seen_find(ours, n, 0, report);
    else
        gpu_seen_find(gpu->seen, gpu->n, gpu->chosen, report);
    free(ours);
}

/* ---- the file ---- */

const char gpu_columns[] =
    "seconds,gpu,name,uuid,utilization_gpu_percent,utilization_memory_percent,memory_used_mib,memory_total_mib,power_w,"
    "temperature_c,sm_clock_mhz,memory_clock_mhz,throttle_reasons";

static double clock_mhz(const struct nvml *nvml, nvml_device device, int clock)
{
    unsigned mhz;
    return nvml->clock && nvml->clock(device, clock, &mhz) == NVML_OK ? (double)mhz : NAN;
}

/* What a GPU does not support stays unknown. */
static void read_row(const struct nvml *nvml, nvml_device device, struct gpu_row *row)
{
    struct nvml_utilization utilization;
    struct nvml_memory memory;
    unsigned value;
    *row = (struct gpu_row){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0};
    if (nvml->utilization && nvml->utilization(device, &utilization) == NVML_OK) {
        row->utilization_gpu = utilization.gpu;
        row->utilization_memory = utilization.memory;
    }
    if (nvml->memory && nvml->memory(device, &memory) == NVML_OK) {
        row->memory_used = (double)memory.used / MIB;
        row->memory_total = (double)memory.total / MIB;
    }
    if (nvml->power && nvml->power(device, &value) == NVML_OK)
        row->power = 1e-3 * value;
    if (nvml->temperature && nvml->temperature(device, NVML_SENSOR_GPU, &value) == NVML_OK)
        row->temperature = value;
    row->sm_clock = clock_mhz(nvml, device, NVML_CLOCK_SM);
    row->memory_clock = clock_mhz(nvml, device, NVML_CLOCK_MEMORY);
    row->has_reasons = nvml->reasons && nvml->reasons(device, &row->reasons) == NVML_OK;
}

static void write_row(struct csv *csv, double seconds, const struct gpu *gpu, const struct gpu_row *row)
{
    char words[GPU_REASONS_TEXT];
    csv_number(csv, 3, seconds);
    csv_number(csv, 0, gpu->index);
    csv_text(csv, gpu->name);
    csv_text(csv, gpu->uuid);
    csv_number(csv, 0, row->utilization_gpu);
    csv_number(csv, 0, row->utilization_memory);
    csv_number(csv, 0, row->memory_used);
    csv_number(csv, 0, row->memory_total);
    csv_number(csv, 1, row->power);
    csv_number(csv, 0, row->temperature);
    csv_number(csv, 0, row->sm_clock);
    csv_number(csv, 0, row->memory_clock);
    csv_text(csv, row->has_reasons ? gpu_reasons_words(row->reasons, words) : "");
    csv_end_line(csv);
}

void monitor_gpu_sample(struct monitor_gpu *gpu, double seconds)
{
    for (int i = 0; i < gpu->n; i++) {
        struct gpu_row row;
        read_row(&gpu->nvml, gpu->gpu[i].device, &row);
        gpu_seen_add(&gpu->seen[i], &row);
        write_row(&gpu->csv, seconds, &gpu->gpu[i], &row);
    }
}

/* ---- start ---- */

static void add_gpu(struct monitor_gpu *monitor, unsigned index, nvml_device device)
{
    const struct nvml *nvml = &monitor->nvml;
    struct gpu *gpu = &monitor->gpu[monitor->n];
    monitor->seen[monitor->n] = (struct gpu_seen){.index = index};
    monitor->n++;
    *gpu = (struct gpu){.index = index, .device = device};
    if (!nvml->name || nvml->name(device, gpu->name, sizeof gpu->name) != NVML_OK)
        *gpu->name = 0;
    if (!nvml->uuid || nvml->uuid(device, gpu->uuid, sizeof gpu->uuid) != NVML_OK)
        *gpu->uuid = 0;
}

int monitor_gpu_create(struct monitor_gpu *gpu)
{
    unsigned count = 0;
    gpu->n = 0;
    gpu->chosen = getenv("CUDA_VISIBLE_DEVICES") != NULL;
    if (nvml_open(&gpu->nvml))
        return -1;
    int error = gpu->nvml.count(&count);
    gpu->gpu = allocate(count, sizeof *gpu->gpu);
    gpu->seen = allocate(count, sizeof *gpu->seen);
    for (unsigned i = 0; i < count; i++) {
        nvml_device device;
        int refused = gpu->nvml.handle(i, &device);
        if (refused == NVML_OK)
            add_gpu(gpu, i, device);
        else
            error = refused;
    }
    if (gpu->n)
        return 0;
    int status = error == NVML_OK
                     ? error_report("--monitor-gpu: the driver is there, but it knows no GPU")
                     : error_report("--monitor-gpu: no GPU can be asked (error %d%s%s); nvidia-smi tells more", error,
                                    gpu->nvml.error ? ": " : "", gpu->nvml.error ? gpu->nvml.error(error) : "");
    monitor_gpu_destroy(gpu);
    return status;
}

void monitor_gpu_destroy(struct monitor_gpu *gpu)
{
    nvml_close(&gpu->nvml);
    free(gpu->gpu);
    free(gpu->seen);
    gpu->gpu = NULL;
    gpu->seen = NULL;
    gpu->n = 0;
}
