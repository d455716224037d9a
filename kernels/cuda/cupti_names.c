/* cupti_names.c - names for CUPTI's records. */
#include "kernels/cuda/cupti_names.h"

#include "kernels/error.h"

#include <stdio.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- kernels ---- */

/* Demangles a name, by the C++ library; returns NULL for a name that is not mangled. */
char *__cxa_demangle(const char *mangled, char *to, size_t *size, int *status); /* NOLINT: the C++ ABI's own name */

enum { KERNELS = 4096 };
static struct {
    const char *mangled;
    char *name;
} kernel[KERNELS]; /* a hash table whose keys are pointers */

const char *cupti_kernel_name(const char *mangled)
{
    if (!mangled)
        return "kernel";
    size_t i = (uintptr_t)mangled / 8 % KERNELS;
    for (size_t tries = 0; tries < KERNELS; tries++, i = (i + 1) % KERNELS) {
        if (kernel[i].mangled == mangled)
            return kernel[i].name;
        if (!kernel[i].mangled) {
            int status;
            kernel[i].mangled = mangled;
            kernel[i].name = __cxa_demangle(mangled, NULL, NULL, &status);
            if (!kernel[i].name)
                kernel[i].name = strdup(mangled);
            if (!kernel[i].name)
                fatal_no_memory(strlen(mangled) + 1, 1);
            return kernel[i].name;
        }
    }
    return "kernel"; /* the table is full */
}

/* ---- copies, fills, waits ---- */

static const char *const copy_kind[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                        "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
static const char *const memory_kind[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                          "Array",   "Managed",  "Device Static", "Managed Static"};
static const char *const wait_kind[] = {"Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                        "Context Sync"};

const char *cupti_copy_name(unsigned kind, unsigned from, unsigned to)
{
    static char name[LENGTH(copy_kind)][LENGTH(memory_kind)][LENGTH(memory_kind)][48];
    kind = kind < LENGTH(copy_kind) ? kind : 0;
    from = from < LENGTH(memory_kind) ? from : 0;
    to = to < LENGTH(memory_kind) ? to : 0;
    if (!*name[kind][from][to])
        snprintf(name[kind][from][to], sizeof name[kind][from][to], "Memcpy %s (%s -> %s)", copy_kind[kind],
                 memory_kind[from], memory_kind[to]);
    return name[kind][from][to];
}

const char *cupti_fill_name(unsigned memory)
{
    static char name[LENGTH(memory_kind)][32];
    memory = memory < LENGTH(memory_kind) ? memory : 0;
    if (!*name[memory])
        snprintf(name[memory], sizeof name[memory], "Memset (%s)", memory_kind[memory]);
    return name[memory];
}

const char *cupti_wait_name(unsigned type)
{
    return wait_kind[type < LENGTH(wait_kind) ? type : 0];
}

/* ---- calls ---- */

/* Prefixes of the names of calls that start work of the GPU, wait for it, or allocate memory. */
static const char *const runtime_calls[] = {
    "cudaLaunch",    "cudaMemcpy",     "cudaMemset",     "cudaMalloc",    "cudaFree",        "cudaStreamWaitEvent",
    "cudaEventSync", "cudaStreamSync", "cudaDeviceSync", "cudaHostAlloc", "cudaEventRecord", "cudaGraphLaunch"};

enum { CALLS = 2048 };
static struct {
    enum { UNSEEN, IGNORED, KEPT } state;
    int marks;
    char name[64];
} call[2][CALLS];

static int is_kept(int driver, const char *name)
{
    if (driver)
        return strstr(name, "LaunchKernel") != NULL;
    for (size_t i = 0; i < LENGTH(runtime_calls); i++)
        if (!strncmp(name, runtime_calls[i], strlen(runtime_calls[i])))
            return 1;
    return 0;
}

/* Strips suffixes: "cudaLaunchKernel_v7000" and "cudaLaunchKernel_ptsz_v7000" become cudaLaunchKernel. */
static void strip_suffixes(char *name)
{
    char *version = strstr(name, "_v");
    if (version && strspn(version + 2, "0123456789") == strlen(version + 2))
        *version = 0;
    size_t n = strlen(name);
    if (n > 5 && (!strcmp(name + n - 5, "_ptsz") || !strcmp(name + n - 5, "_ptds")))
        name[n - 5] = 0;
}

const char *cupti_call_name(const struct cupti *cupti, int driver, uint32_t number, int *marks)
{
    if (number >= CALLS)
        return NULL;
    if (call[driver][number].state == UNSEEN) {
        CUpti_CallbackDomain domain = driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
        const char *name = NULL;
        if (cupti->callback_name(domain, number, &name) != CUPTI_SUCCESS || !name)
            name = "";
        snprintf(call[driver][number].name, sizeof call[driver][number].name, "%s", name);
        strip_suffixes(call[driver][number].name);
        call[driver][number].marks = !strncmp(name, "cudaEventRecord", 15);
        call[driver][number].state = is_kept(driver, name) ? KEPT : IGNORED;
    }
    *marks = call[driver][number].marks;
    return call[driver][number].state == KEPT ? call[driver][number].name : NULL;
}
