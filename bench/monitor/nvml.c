/* nvml.c - finds NVIDIA's management library and its functions. */
#include "monitor/nvml.h"

#include "kernels/error.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

/* Fills the table; returns the name of a function that is needed and not there, or NULL. */
static const char *find_functions(struct nvml *nvml)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const struct function *f = &functions[i];
        void *found = dlsym(nvml->library, f->name);
        if (!found && f->or_name)
            found = dlsym(nvml->library, f->or_name);
        if (!found && f->needed)
            return f->name;
        memcpy((char *)nvml + f->offset, &found, sizeof found); /* POSIX lets a function have a data pointer's form */
    }
    return NULL;
}

int nvml_open(struct nvml *nvml)
{
    *nvml = (struct nvml){.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL)};
    if (!nvml->library)
        return error_report("--monitor-gpu needs NVIDIA's management library, which comes with the driver: %s",
                            dlerror());
    const char *missing = find_functions(nvml);
    int error = missing ? NVML_OK : nvml->init();
    if (!missing && error == NVML_OK)
        return 0;
    char why[128];
    snprintf(why, sizeof why, "%s", !missing && nvml->error ? nvml->error(error) : "");
    dlclose(nvml->library);
    nvml->library = NULL;
    if (missing)
        return error_report("--monitor-gpu: %s has no %s; it needs a newer driver", LIBRARY, missing);
    return error_report("--monitor-gpu: %s cannot start (error %d%s%s); is the driver loaded? see nvidia-smi", LIBRARY,
                        error, *why ? ": " : "", why);
}

void nvml_close(struct nvml *nvml)
{
    if (!nvml->library)
        return;
    nvml->shutdown();
    dlclose(nvml->library);
    nvml->library = NULL;
}
