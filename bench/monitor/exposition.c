/* exposition.c - the last sample of a host as Prometheus text. */
#include "base/exposition.h"
#include "monitor/watch.h"

#include <math.h>

void cpu_sample_print(const struct cpu_sample *s, FILE *out)
{
    const double MIB = 1048576;
    if (s->length <= 0)
        return;
    exposition_single(out, "ddpbench_job_cores", "gauge", "Cores that the ranks of this host use.", s->job_cores);
    exposition_single(out, "ddpbench_other_processes_cores", "gauge", "Cores that all else on this host uses.",
                      s->other_processes_cores);
    exposition_single(out, "ddpbench_cpu_clock_hertz", "gauge", "Mean clock of the CPUs that the job may use.",
                      1e6 * s->now.mhz_mean);
    exposition_single(out, "ddpbench_job_resident_bytes", "gauge", "Resident size of the ranks of this host.",
                      MIB * s->now.job_resident);
    exposition_single(out, "ddpbench_memory_available_bytes", "gauge", "Memory that this host has left.",
                      MIB * s->now.memory_available);
}

/* Names, units and labels are those of dcgm-exporter, so that its dashboards show these GPUs. Source: its
 * etc/default-counters.csv (release 4.6.0-4.8.3). */
void gpu_samples_print(const struct gpu *gpu, int n, const char *host, FILE *out)
{
    static const struct {
        const char *name, *help;
        size_t offset;
    } metrics[] = {
        {"DCGM_FI_DEV_GPU_UTIL", "GPU utilization in percent.", offsetof(struct gpu_sample, utilization_gpu)},
        {"DCGM_FI_DEV_MEM_COPY_UTIL", "Memory utilization in percent.",
         offsetof(struct gpu_sample, utilization_memory)},
        {"DCGM_FI_DEV_FB_USED", "Memory used in MiB.", offsetof(struct gpu_sample, memory_used)},
        {"DCGM_FI_DEV_POWER_USAGE", "Power draw in W.", offsetof(struct gpu_sample, power)},
        {"DCGM_FI_DEV_GPU_TEMP", "Temperature in degrees Celsius.", offsetof(struct gpu_sample, temperature)},
        {"DCGM_FI_DEV_SM_CLOCK", "Clock of the multiprocessors in MHz.", offsetof(struct gpu_sample, sm_clock)},
        {"DCGM_FI_DEV_MEM_CLOCK", "Clock of the memory in MHz.", offsetof(struct gpu_sample, memory_clock)},
    };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        int begun = 0;
        for (const struct gpu *g = gpu; g < gpu + n; g++) {
            double value = *(const double *)(const void *)((const char *)&g->sample + metrics[i].offset);
            char index[16], device[32];
            if (!g->samples || isnan(value))
                continue;
            snprintf(index, sizeof index, "%u", g->index);
            snprintf(device, sizeof device, "nvidia%u", g->index);
            const struct exposition_label label[] = {
                {"gpu", index}, {"UUID", g->uuid}, {"device", device}, {"modelName", g->name}, {"Hostname", host}};
            if (!begun++)
                exposition_metric(out, metrics[i].name, "gauge", metrics[i].help);
            exposition_sample(out, metrics[i].name, label, sizeof label / sizeof *label, value);
        }
    }
}
