/* open_device.c - chooses what ranks compute on. */
#include "machine/machine.h"

#include "base/json.h"
#include "ddp/gpu.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

void open_device_explain(const struct open_device *opened)
{
    if (*opened->why_cpu)
        fprintf(stderr, "ddpbench: computing on the CPU: %s\n", opened->why_cpu);
}

/* Whether this process computes on a GPU: 1 or 0; or -1, reported (by device_cuda_count, which has said why there is
 * none). others: another rank sees one. Where auto finds none, remembers why, unless the program was built without
 * CUDA. */
static int wants_gpu(struct open_device *opened, const struct device_options *o, int sees, int others)
{
    if (o->kind == DEVICE_CPU || sees)
        return sees;
    if (others || o->kind == DEVICE_CUDA)
        return -1;
    if (strcmp(device_cuda_built(), "none"))
        snprintf(opened->why_cpu, sizeof opened->why_cpu, "%s", error_text());
    error_clear();
    return 0;
}

static int open_gpu(struct open_device *opened, const struct job *job, const struct device_options *o)
{
    int index;
    if (job_agree(job, gpu_choose(job, o->share_gpu, &index)))
        return -1;
    opened->on_gpu = 1;
    int status = device_cuda_describe(index, &opened->gpu);
    struct gpu_facts *all = allocate((size_t)job->size, sizeof *all);
    job_gather(job, &opened->gpu, sizeof opened->gpu, all);
    for (int i = 0; i < job->size; i++)
        opened->sharing += !strcmp(all[i].id, opened->gpu.id);
    free(all);
    return job_agree(job, status ? status : device_cuda_open(index, o->precision, &opened->device));
}

struct gpu_facts *open_device_seen(const struct open_device *opened, int *n)
{
    int gpus = opened->on_gpu ? device_cuda_count() : 0;
    struct gpu_facts *seen = allocate((size_t)gpus + 1, sizeof *seen);
    *n = 0;
    for (int i = 0; i < gpus; i++) /* one that does not answer, and is not ours, is left out */
        *n += device_cuda_look(i, &seen[*n]) == 0;
    return seen;
}

const char *open_device_words(const struct open_device *opened, char text[300])
{
    snprintf(text, 300, "%s, %s", opened->gpu.name, precision_name[opened->device->precision]);
    return text;
}

size_t open_device_memory(const struct open_device *opened)
{
    struct gpu_facts now;
    if (!opened->on_gpu)
        return host_peak_memory();
    if (device_cuda_describe(opened->gpu.index, &now))
        FATAL("%s", error_text());
    return now.total_memory - now.free_memory;
}

int open_device_reset_memory(const struct open_device *opened)
{
    return opened->on_gpu ? 0 : host_reset_peak_memory();
}

size_t open_device_available(const struct open_device *opened)
{
    const struct gpu_facts *gpu = &opened->gpu;
    double libraries = fmax(1073741824, 0.03 * (double)gpu->total_memory) * opened->sharing;
    return (size_t)fmax(0, (double)gpu->free_memory - libraries);
}

static int open_cpu(struct open_device *opened, const struct device_options *o, int threads)
{
    if (o->precision != PRECISION_FP32)
        return error_report("--dtype %s needs a GPU; on the CPU it is fp32", precision_name[o->precision]);
    opened->device = device_cpu(threads);
    return 0;
}

static int sees_gpu(const struct device_options *o)
{
    return o->kind != DEVICE_CPU && device_cuda_count() > 0;
}

int open_device_wants_gpus(const struct job *job, const struct device_options *o)
{
    int wants = job_max(job, o->kind == DEVICE_CUDA || sees_gpu(o)) > 0;
    error_clear(); /* why there is none: open_device will say it */
    return wants;
}

int open_device(struct open_device *opened, const struct job *job, const struct device_options *o, int threads)
{
    *opened = (struct open_device){0};
    int sees = sees_gpu(o);
    int gpu = wants_gpu(opened, o, sees, job_max(job, sees) > 0);
    if (job->rank)
        *opened->why_cpu = 0;
    if (job_agree(job, gpu < 0 ? -1 : 0))
        return -1;
    return gpu ? open_gpu(opened, job, o) : job_agree(job, open_cpu(opened, o, threads));
}

int open_device_alone(struct open_device *opened, const struct device_options *o, int threads)
{
    *opened = (struct open_device){0};
    int gpu = wants_gpu(opened, o, sees_gpu(o), 0);
    if (gpu < 0)
        return -1;
    open_device_explain(opened);
    if (!gpu)
        return open_cpu(opened, o, threads);
    opened->on_gpu = opened->sharing = 1;
    return device_cuda_describe(0, &opened->gpu) ? -1 : device_cuda_open(0, o->precision, &opened->device);
}

void open_device_describe(const struct open_device *opened, cJSON *json)
{
    const struct gpu_facts *gpu = &opened->gpu;
    if (!opened->on_gpu)
        return;
    cJSON_AddStringToObject(json, "dtype", precision_name[opened->device->precision]);
    cJSON *facts = cJSON_AddObjectToObject(json, "gpu");
    json_add_text(facts, "name", gpu->name);
    cJSON_AddStringToObject(facts, "id", gpu->id);
    cJSON_AddNumberToObject(facts, "ranks", opened->sharing);
    cJSON_AddNumberToObject(facts, "memory_bytes", (double)gpu->total_memory);
    cJSON_AddNumberToObject(facts, "multiprocessors", gpu->multiprocessors);
    cJSON_AddNumberToObject(facts, "compute_capability", gpu->compute_major + 0.1 * gpu->compute_minor);
    cJSON_AddNumberToObject(facts, "driver_cuda", gpu->driver);
    cJSON_AddNumberToObject(facts, "runtime_cuda", gpu->runtime);
    cJSON_AddStringToObject(facts, "built", device_cuda_built());
}
