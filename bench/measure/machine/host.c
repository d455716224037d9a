/* host.c - facts about this machine, from hwloc and the kernel. */
#include "machine/machine.h"

#include "base/files.h"
#include "kernels/clock.h"
#include "kernels/control_group.h"
#include "kernels/error.h"
#include "kernels/omp_threads.h"

#include <hwloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

int host_scan_line(const char *root, const char *path, const char *format, ...)
{
    char whole[FILES_PATH], line[HOST_LINE];
    int found = 0;
    snprintf(whole, sizeof whole, "%s%s", root, path);
    FILE *file = fopen(whole, "re");
    while (file && found < 1 && fgets(line, sizeof line, file)) {
        va_list values;
        va_start(values, format);
        found = vsscanf(line, format, values);
        va_end(values);
    }
    if (file)
        fclose(file);
    return found < 1 ? 0 : found;
}

void host_facts(struct host_facts *facts)
{
    *facts = (struct host_facts){0};
    gethostname(facts->name, sizeof facts->name - 1);
    struct utsname kernel;
    if (!uname(&kernel))
        snprintf(facts->kernel, sizeof facts->kernel, "%.40s %.80s", kernel.sysname, kernel.release);
    size_t kib;
    facts->memory_bytes = host_scan_line("", "/proc/meminfo", "MemTotal: %zu kB", &kib) ? kib * 1024 : 0;

    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology))
        return;
    if (!hwloc_topology_load(topology)) {
        facts->packages = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
        facts->numa_nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
        facts->cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
        facts->pus = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
        hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
        const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
        snprintf(facts->cpu, sizeof facts->cpu, "%s", model ? model : "");
        hwloc_obj_t l3 = hwloc_get_obj_by_type(topology, HWLOC_OBJ_L3CACHE, 0);
        facts->l3_bytes = l3 ? (size_t)l3->attr->cache.size : 0;
        facts->caches_bytes = facts->l3_bytes * (size_t)hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_L3CACHE);
        hwloc_bitmap_t set = hwloc_bitmap_alloc();
        if (set && !hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS))
            hwloc_bitmap_list_snprintf(facts->binding, sizeof facts->binding, set);
        hwloc_bitmap_free(set);
    }
    hwloc_topology_destroy(topology);
}

int host_threads(size_t requested, double cores_per_rank)
{
    const char *list = getenv("OMP_NUM_THREADS");
    int threads = requested ? (int)requested : omp_threads_of_list(list);
    if (threads < 0)
        return error_report("OMP_NUM_THREADS is '%s' in the environment: expected a whole number from 1 to %d, or a "
                            "list of such numbers; or give --threads",
                            list, OMP_MOST_THREADS);
    return threads ? threads : cores_per_rank < 1 ? 1 : (int)cores_per_rank;
}

size_t host_memory_available(void)
{
    size_t kib, group = control_group_memory_left("");
    size_t available = host_scan_line("", "/proc/meminfo", "MemAvailable: %zu kB", &kib) ? kib * 1024 : SIZE_MAX;
    return available < group ? available : group;
}

size_t host_resident_memory(void)
{
    size_t pages;
    return host_scan_line("", "/proc/self/statm", "%*u %zu", &pages) ? pages * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

size_t host_peak_memory(void)
{
    size_t kib;
    return host_scan_line("", "/proc/self/status", "VmHWM: %zu kB", &kib) ? kib * 1024 : 0;
}

int host_reset_peak_memory(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return -1;
    int failed = fputs("5", file) < 0;
    return fclose(file) || failed ? -1 : 0;
}

double host_process_cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct host_cpu_time host_cpu_time(void)
{
    unsigned long long user, nice_, system, idle, wait, irq, soft, steal;
    double tick = 1 / (double)sysconf(_SC_CLK_TCK);
    struct host_cpu_time now = {clock_now_ns(), host_process_cpu_seconds(), NAN, NAN,
                                (double)sysconf(_SC_NPROCESSORS_ONLN)};
    if (host_scan_line("", "/proc/stat", "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice_, &system, &idle,
                       &wait, &irq, &soft, &steal) == 8) {
        now.used = tick * (double)(user + nice_ + system + steal);
        now.all = now.used + tick * (double)(idle + wait + irq + soft);
    }
    return now;
}
