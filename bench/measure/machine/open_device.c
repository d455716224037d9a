/* open_device.c - chooses the device that each rank computes on. */
#include "machine/machine.h"

#include "base/json.h"
#include "ddp/gpu.h"
#include "kernels/cuda_parts.h"
#include "kernels/error.h"
#include "kernels/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void open_device_explain(const struct open_device *opened)
{
    if (*opened->why_cpu)
        fprintf(stderr, "ddpbench: computing on the CPU: %s\n", opened->why_cpu);
}

/* Returns the accelerator that the options name, or for auto the first kind with a GPU that this process sees. NULL:
 * none is seen, which is reported unless the option is --device cpu. */
static const struct accelerator *find_accelerator(const struct device_options *o)
{
    for (int i = 0; accelerators[i]; i++) {
        int tried = o->kind == DEVICE_AUTO || o->kind == DEVICE_FIRST_ACCELERATOR + i;
        const struct accelerator *accelerator = tried ? accelerators[i]() : NULL;
        if (accelerator && accelerator->count() > 0)
            return accelerator;
    }
    return NULL;
}

/* Checks that this process, for which find_accelerator found none, may compute on the CPU. others: another rank sees a
 * GPU. With auto, keeps the reported reason in why_cpu, unless the program lacks the accelerators and the machine shows
 * none. Returns 0; or -1, already reported. */
static int fall_back_to_cpu(struct open_device *opened, const struct device_options *o, int others)
{
    if (o->kind == DEVICE_CPU)
        return 0;
    if (others || o->kind != DEVICE_AUTO)
        return -1;
    for (int i = 0; accelerators[i]; i++)
        if (accelerators[i]() || cuda_gpu_is_here())
            snprintf(opened->why_cpu, sizeof opened->why_cpu, "%s", error_text());
    error_clear();
    return 0;
}

static int open_index(struct open_device *opened, const struct accelerator *accelerator, int index,
                      const struct device_options *o)
{
    const struct gpu_products products = {o->blas, o->gemm_sms};
    return accelerator->open(index, o->precision, &products, &opened->device);
}

static int open_gpu(struct open_device *opened, const struct accelerator *accelerator, const struct job *job,
                    const struct device_options *o)
{
    int index;
    if (job_agree(job, gpu_choose(accelerator, job, o->share_gpu, &index, &opened->hides_gpus)))
        return -1;
    opened->on_gpu = 1;
    int status = accelerator->describe(index, &opened->gpu);
    struct gpu_facts *all = allocate((size_t)job->size, sizeof *all);
    job_gather(job, &opened->gpu, sizeof opened->gpu, all);
    for (int i = 0; i < job->size; i++)
        opened->sharing += !strcmp(all[i].id, opened->gpu.id);
    free(all);
    return job_agree(job, status ? status : open_index(opened, accelerator, index, o));
}

struct gpu_facts *open_device_seen(const struct open_device *opened, int *n)
{
    const struct accelerator *accelerator = opened->device->accelerator;
    int gpus = opened->on_gpu ? accelerator->count() : 0;
    struct gpu_facts *seen = allocate((size_t)gpus + 1, sizeof *seen);
    *n = 0;
    for (int i = 0; i < gpus; i++) /* leaves out GPUs of other users, which do not answer */
        *n += accelerator->identify(i, &seen[*n]) == 0;
    return seen;
}

const char *open_device_words(const struct open_device *opened, char text[300])
{
    snprintf(text, 300, "%s, %s%s", opened->gpu.name, precision_name[opened->device->precision],
             opened->device->accelerator->algorithms(NULL) ? ", cublaslt" : "");
    return text;
}

size_t open_device_memory(const struct open_device *opened)
{
    struct gpu_facts now;
    if (!opened->on_gpu)
        return host_peak_memory();
    if (opened->device->accelerator->describe(opened->gpu.index, &now))
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
        return error_report("--dtype %s needs a GPU; on the CPU it is fp32%s%s", precision_name[o->precision],
                            *opened->why_cpu ? ". No GPU is used: " : "", opened->why_cpu);
    const char *why = blas_find(o->blas);
    if (why)
        return error_report("--blas %s: %s", blas_library_name[o->blas], why);
    if (threads_prepare(threads))
        return -1;
    blas_use(o->blas);
    opened->device = device_cpu(threads);
    return 0;
}

int open_device_wants_gpus(const struct job *job, const struct device_options *o)
{
    int wants = job_max(job, find_accelerator(o) || o->kind >= DEVICE_FIRST_ACCELERATOR) > 0;
    error_clear(); /* open_device reports the error again */
    return wants;
}

int open_device(struct open_device *opened, const struct job *job, const struct device_options *o, int threads)
{
    *opened = (struct open_device){0};
    const struct accelerator *accelerator = find_accelerator(o);
    int others = job_max(job, accelerator != NULL) > 0;
    int status = accelerator ? 0 : fall_back_to_cpu(opened, o, others);
    if (job->rank)
        *opened->why_cpu = 0;
    if (job_agree(job, status))
        return -1;
    return accelerator ? open_gpu(opened, accelerator, job, o) : job_agree(job, open_cpu(opened, o, threads));
}

int open_device_alone(struct open_device *opened, const struct device_options *o, int threads)
{
    *opened = (struct open_device){0};
    const struct accelerator *accelerator = find_accelerator(o);
    if (!accelerator && fall_back_to_cpu(opened, o, 0))
        return -1;
    open_device_explain(opened);
    if (!accelerator)
        return open_cpu(opened, o, threads);
    opened->on_gpu = opened->sharing = 1;
    return accelerator->describe(0, &opened->gpu) ? -1 : open_index(opened, accelerator, 0, o);
}

static void describe_algorithm(const struct gpu_algorithm *algorithm, cJSON *json)
{
    json_add_number(json, "rows", algorithm->product.rows);
    json_add_number(json, "columns", algorithm->product.columns);
    json_add_number(json, "inner", algorithm->product.inner);
    json_add_number(json, "proposals", algorithm->proposals);
    json_add_number(json, "used", algorithm->used);
    json_add_number(json, "time_ratio", algorithm->time_ratio);
}

void open_device_describe(const struct open_device *opened, cJSON *json)
{
    const struct gpu_facts *gpu = &opened->gpu;
    if (!opened->on_gpu)
        return;
    const struct gpu_algorithms *table = opened->device->accelerator->algorithms(NULL);
    cJSON *rows = table ? cJSON_AddArrayToObject(json, "cublaslt_algorithms") : NULL;
    for (size_t i = 0; table && i < table->n; i++)
        describe_algorithm(&table->item[i], json_add_row(rows));
    cJSON_AddStringToObject(json, "dtype", precision_name[opened->device->precision]);
    cJSON_AddStringToObject(json, "gpu_id", gpu->id);
    cJSON *facts = cJSON_AddObjectToObject(json, "gpu");
    json_add_text(facts, "name", gpu->name);
    cJSON_AddNumberToObject(facts, "ranks", opened->sharing);
    cJSON_AddNumberToObject(facts, "memory_bytes", (double)gpu->total_memory);
    cJSON_AddNumberToObject(facts, "multiprocessors", gpu->multiprocessors);
    cJSON_AddNumberToObject(facts, "compute_capability", gpu->compute_major + 0.1 * gpu->compute_minor);
    cJSON_AddNumberToObject(facts, "driver_cuda", gpu->driver);
    cJSON_AddNumberToObject(facts, "runtime_cuda", gpu->runtime);
    cJSON_AddStringToObject(facts, "built", opened->device->accelerator->built);
}
