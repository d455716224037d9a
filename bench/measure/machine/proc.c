/* proc.c - reads and parses the kernel's files. */
#include "machine/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB 1048576.0

/* ---- texts ---- */

/* What follows `key` at the start of a line; NULL if no line begins so. */
static const char *after_key(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, key, length))
            return line + length;
    }
    return NULL;
}

/* The number that follows a key, times `scale`; NAN if there is none. */
static double number_after(const char *text, const char *key, double scale)
{
    const char *rest = after_key(text, key);
    char *end = NULL;
    double value = rest ? strtod(rest, &end) : 0;
    return end != rest ? scale * value : NAN;
}

/* Adds the counters of a control group's cpu.stat, version 2 or 1; returns 0, or -1 if it has none. */
static int add_group(const char *text, double *throttles, double *ms)
{
    double periods = number_after(text, "nr_throttled ", 1), usec = number_after(text, "throttled_usec ", 1e-3);
    double duration = isnan(usec) ? number_after(text, "throttled_time ", 1e-6) : usec;
    if (isnan(periods) || isnan(duration))
        return -1;
    *throttles += periods;
    *ms += duration;
    return 0;
}

/* Adds the n-th clock, from 0 on, to the figures. */
static void add_clock(struct proc_counters *c, int n, double mhz)
{
    c->mhz_min = n ? fmin(c->mhz_min, mhz) : mhz;
    c->mhz_mean = n ? c->mhz_mean + (mhz - c->mhz_mean) / (n + 1) : mhz;
}

/* What follows the colon on a line "key    : value"; NULL if the line has another key. */
static const char *value_of(const char *line, const char *key)
{
    size_t length = strlen(key);
    if (strncmp(line, key, length))
        return NULL;
    line += length + strspn(line + length, " \t");
    return *line == ':' ? line + 1 : NULL;
}

/* The clocks in the text of /proc/cpuinfo of these CPUs; without any the fields stay as they are. Not by sscanf, which
 * goes to the end of the text on each call: that of a large machine has ten thousand lines. */
static void parse_cpuinfo(const char *text, const cpu_set_t *cpus, struct proc_counters *c)
{
    size_t cpu = CPU_SETSIZE;
    int n = 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *number = value_of(line, "processor"), *clock = value_of(line, "cpu MHz");
        char *end = NULL;
        if (number)
            cpu = strtoul(number, NULL, 10);
        double mhz = clock ? strtod(clock, &end) : 0;
        if (end != clock && cpu < CPU_SETSIZE && CPU_ISSET(cpu, cpus))
            add_clock(c, n++, mhz);
    }
}

/* ---- files ---- */

/* The content of a file below the root, until the next call; "" if it cannot be read. */
static const char *read_kernel_file(struct proc *proc, const char *path)
{
    char whole[2 * PROC_PATH];
    snprintf(whole, sizeof whole, "%s%s", proc->root, path);
    FILE *file = fopen(whole, "re");
    if (file) /* few reads, and most files in one: the kernel suggests 1 KiB */
        setvbuf(file, NULL, _IOFBF, 1 << 16);
    ssize_t n = file ? getdelim(&proc->text, &proc->room, 0, file) : -1; /* all of it, since it holds no 0 */
    if (file)
        fclose(file);
    return n > 0 ? proc->text : "";
}

/* The number in a file of a CPU that holds one; NAN if there is none, or the job may not use that CPU. */
static double cpu_number(struct proc *proc, size_t cpu, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%zu/%s", cpu, name);
    return CPU_ISSET(cpu, &proc->cpus) ? number_after(read_kernel_file(proc, path), "", 1) : NAN;
}

static void read_clocks(struct proc *proc, struct proc_counters *c)
{
    int n = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE && proc->has_clock; cpu++) {
        double khz = cpu_number(proc, cpu, "cpufreq/scaling_cur_freq");
        if (isfinite(khz))
            add_clock(c, n++, 1e-3 * khz);
    }
    proc->has_clock = n > 0;
    if (!n)
        parse_cpuinfo(read_kernel_file(proc, "/proc/cpuinfo"), &proc->cpus, c);
}

static void read_thermal(struct proc *proc, struct proc_counters *c)
{
    double all = 0;
    int n = 0;
    static const char *const name[] = {"thermal_throttle/core_throttle_count",
                                       "thermal_throttle/package_throttle_count"};
    for (size_t i = 0; i < 2 * CPU_SETSIZE && proc->has_thermal; i++) {
        double count = cpu_number(proc, i / 2, name[i % 2]);
        if (isfinite(count)) {
            all += count;
            n++;
        }
    }
    proc->has_thermal = n > 0;
    c->thermal_throttles = n ? all : NAN;
}

static void read_groups(struct proc *proc, struct proc_counters *c)
{
    double throttles = 0, ms = 0;
    for (int i = 0; i < proc->groups; i++)
        if (add_group(read_kernel_file(proc, proc->group[i]), &throttles, &ms))
            return;
    c->quota_throttles = proc->groups ? throttles : NAN;
    c->quota_ms = proc->groups ? ms : NAN;
}

/* From /proc/<pid>/stat; unknown unless every process can be read. */
static void read_processes(struct proc *proc, double tick, struct proc_counters *c)
{
    double seconds = 0, pages = 0;
    for (int i = 0; i < proc->pids; i++) {
        char path[64];
        double user, system, resident;
        snprintf(path, sizeof path, "/proc/%d/stat", proc->pid[i]);
        const char *rest = strrchr(read_kernel_file(proc, path), ')'); /* the name before it may hold anything */
        if (!rest ||
            sscanf(rest, ") %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lf %lf %*s %*s %*s %*s %*s %*s %*s %*s %lf",
                   &user, &system, &resident) != 3)
            return;
        seconds += tick * (user + system);
        pages += resident;
    }
    c->job_seconds = proc->pids ? seconds : NAN;
    c->job_resident = proc->pids ? pages * (double)sysconf(_SC_PAGESIZE) / MIB : NAN;
}

void proc_read(struct proc *proc, struct proc_counters *c)
{
    double user, nice_, system, idle, iowait, irq, soft, steal, tick = 1 / (double)sysconf(_SC_CLK_TCK);
    *c = (struct proc_counters){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    const char *text = read_kernel_file(proc, "/proc/stat"), *cpu = after_key(text, "cpu ");
    if (cpu && sscanf(cpu, "%lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice_, &system, &idle, &iowait, &irq, &soft,
                      &steal) == 8) {
        c->user = tick * (user + nice_);
        c->system = tick * (system + irq + soft);
        c->idle = tick * idle;
        c->iowait = tick * iowait;
        c->steal = tick * steal;
    }
    c->context_switches = number_after(text, "ctxt ", 1);
    read_processes(proc, tick, c); /* right behind, since the two are subtracted from each other */
    c->load = number_after(read_kernel_file(proc, "/proc/loadavg"), "", 1);
    text = read_kernel_file(proc, "/proc/meminfo");
    c->memory_total = number_after(text, "MemTotal:", 1 / 1024.0);
    c->memory_available = number_after(text, "MemAvailable:", 1 / 1024.0);
    read_clocks(proc, c);
    read_thermal(proc, c);
    read_groups(proc, c);
}

/* ---- what there is ---- */

/* Adds the cpu.stat of a group and of those above it up to the mount, where they count what a quota does; whether any
 * is there. */
static int add_groups(struct proc *proc, const char *mount, const char *path)
{
    char level[PROC_PATH];
    int found = 0;
    snprintf(level, sizeof level, "%s", strcmp(path, "/") ? path : "");
    for (;;) {
        char file[2 * PROC_PATH];
        double throttles = 0, ms = 0;
        snprintf(file, sizeof file, "%s%s/cpu.stat", mount, level);
        if (strlen(file) < PROC_PATH && proc->groups < PROC_GROUPS &&
            !add_group(read_kernel_file(proc, file), &throttles, &ms)) {
            memcpy(proc->group[proc->groups++], file, strlen(file) + 1);
            found = 1;
        }
        char *slash = strrchr(level, '/');
        if (!slash)
            return found;
        *slash = 0;
    }
}

/* The groups of this process: a line is "0::/path" in version 2, "4:cpu,cpuacct:/path" in version 1. */
static void find_groups(struct proc *proc)
{
    char *lines = strdup(read_kernel_file(proc, "/proc/self/cgroup")), *rest = lines;
    for (char *line; lines && (line = strsep(&rest, "\n"));) {
        char mount[PROC_PATH], names[128] = "", path[PROC_PATH / 2] = "/";
        if (sscanf(line, "0::%255s", path) == 1) {
            if (!add_groups(proc, "/sys/fs/cgroup", path))
                add_groups(proc, "/sys/fs/cgroup/unified", path);
        } else if (sscanf(line, "%*d:%127[^:]:%255s", names, path) == 2) {
            char words[130];
            snprintf(words, sizeof words, ",%s,", names);
            snprintf(mount, sizeof mount, "/sys/fs/cgroup/%s", names);
            if (strstr(words, ",cpu,") && !add_groups(proc, mount, path))
                add_groups(proc, "/sys/fs/cgroup/cpu", path);
        }
    }
    free(lines);
}

void proc_create(struct proc *proc, const char *root, const int *pid, int pids, const cpu_set_t *cpus)
{
    *proc = (struct proc){.pid = pid, .pids = pids, .cpus = *cpus, .has_clock = 1, .has_thermal = 1};
    snprintf(proc->root, sizeof proc->root, "%s", root);
    find_groups(proc);
}

void proc_destroy(struct proc *proc)
{
    free(proc->text);
    *proc = (struct proc){0};
}
