/* watch_cpu.c - watches the CPUs through the kernel's counters. */
#include "machine/watch.h"

#include "base/text.h"
#include "kernels/clock.h"
#include "kernels/control_group.h"
#include "machine/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB 1048576.0

/* ---- reading the kernel's files ---- */

/* Returns the sum of a file's number over the CPUs that the job may use; *n: how many have the file; NAN if none. */
static double sum_over_cpus(struct monitor_cpu *cpu, enum cpu_file file, int *n)
{
    static const char *const name[CPU_FILES] = {"cpufreq/scaling_cur_freq", "thermal_throttle/core_throttle_count",
                                                "thermal_throttle/package_throttle_count"};
    double sum = 0;
    *n = 0;
    for (size_t i = 0; i < CPU_SETSIZE && !cpu->missing[file]; i++) {
        char path[128];
        double number;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%zu/%s", i, name[file]);
        if (CPU_ISSET(i, &cpu->cpus) && host_scan_line(cpu->root, path, "%lf", &number)) {
            sum += number;
            ++*n;
        }
    }
    cpu->missing[file] = !*n;
    return *n ? sum : NAN;
}

/* Sets job_seconds and job_resident from /proc/<pid>/stat of the job's processes; neither if a file is unreadable. */
static void read_processes(const struct monitor_cpu *cpu, double tick, struct cpu_counters *c)
{
    double seconds = 0, pages = 0;
    if (!cpu->pids)
        return;
    for (int i = 0; i < cpu->pids; i++) {
        char path[64], line[HOST_LINE] = "";
        double user, system, resident;
        snprintf(path, sizeof path, "/proc/%d/stat", cpu->pid[i]);
        (void)host_scan_line(cpu->root, path, "%511[^\n]", line);
        const char *rest = strrchr(line, ')'); /* the last ): a process name may contain ) too */
        if (!rest ||
            sscanf(rest, ") %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lf %lf %*s %*s %*s %*s %*s %*s %*s %*s %lf",
                   &user, &system, &resident) != 3)
            return;
        seconds += tick * (user + system);
        pages += resident;
    }
    c->job_seconds = seconds;
    c->job_resident = pages * (double)sysconf(_SC_PAGESIZE) / MIB;
}

struct cpu_counters cpu_counters_read(struct monitor_cpu *cpu)
{
    double user, nice_, system, idle, iowait, irq, soft, steal, tick = 1 / (double)sysconf(_SC_CLK_TCK);
    double total, available;
    struct cpu_counters c = {NAN, NAN, NAN, NAN, NAN, NAN,
                             NAN, NAN, NAN, NAN, NAN, (double)sysconf(_SC_NPROCESSORS_ONLN)};
    int n;
    if (host_scan_line(cpu->root, "/proc/stat", "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice_, &system, &idle,
                       &iowait, &irq, &soft, &steal) == 8) {
        c.user = tick * (user + nice_);
        c.system = tick * (system + irq + soft);
        c.idle = tick * idle;
        c.iowait = tick * iowait;
        c.steal = tick * steal;
    }
    read_processes(cpu, tick, &c); /* right after /proc/stat: the job's time is subtracted from the machine's */
    if (host_scan_line(cpu->root, "/proc/meminfo", "MemTotal: %lf", &total) &&
        host_scan_line(cpu->root, "/proc/meminfo", "MemAvailable: %lf", &available))
        c.memory_used = (total - available) / 1024;
    double khz = sum_over_cpus(cpu, CPU_CLOCK, &n);
    c.mhz = 1e-3 * khz / n;
    c.thermal_throttles = sum_over_cpus(cpu, CPU_CORE_THROTTLES, &n);
    c.thermal_throttles += sum_over_cpus(cpu, CPU_PACKAGE_THROTTLES, &n);
    c.quota_ms = control_group_stops(cpu->root).ms;
    return c;
}

/* ---- one sample ---- */

/* Returns after - before, or 0 if that is negative, since the kernel's counts may step back a little; NAN stays NAN. */
static double increase(double before, double after)
{
    double difference = after - before;
    return difference < 0 ? 0 : difference;
}

struct cpu_sample cpu_sample_between(const struct cpu_counters *a, const struct cpu_counters *b, double length_s)
{
    double user = increase(a->user, b->user), system = increase(a->system, b->system);
    double idle = increase(a->idle, b->idle), iowait = increase(a->iowait, b->iowait);
    double steal = increase(a->steal, b->steal), job = increase(a->job_seconds, b->job_seconds);
    double all = user + system + idle + iowait + steal, percent = 100 / all;
    double cores = all > 0 ? b->cpus / all : NAN; /* factor from CPU seconds to mean cores, by the same reading */
    return (struct cpu_sample){
        .length = length_s,
        .user = percent * user,
        .system = percent * system,
        .iowait = percent * iowait,
        .steal = percent * steal,
        .job_cores = cores * job,
        .other_processes_cores = cores * increase(job, user + system),
        .thermal_throttles = increase(a->thermal_throttles, b->thermal_throttles),
        .quota_ms = increase(a->quota_ms, b->quota_ms),
        .now = *b,
    };
}

/* ---- all samples ---- */

void cpu_tally_add(struct cpu_tally *tally, const struct cpu_sample *sample)
{
    tally->seconds += sample->length;
    tally->other_processes_seconds += sample->other_processes_cores >= MONITOR_OTHER_CORES ? sample->length : 0;
    tally->other_processes_most = fmax(tally->other_processes_most, sample->other_processes_cores);
    tally->steal_seconds += sample->steal >= MONITOR_STEAL_PERCENT ? sample->length : 0;
    tally->steal_most = fmax(tally->steal_most, sample->steal);
    double mhz = sample->now.mhz;
    if (sample->user + sample->system >= MONITOR_CLOCK_BUSY_PERCENT && isfinite(mhz)) {
        tally->busy_seconds += sample->length;
        tally->clock_most = fmax(tally->clock_most, mhz);
        tally->slow_seconds += 1 - mhz / tally->clock_most > MONITOR_CLOCK_FALL ? sample->length : 0;
        if (tally->fall_from <= 0 || mhz / tally->clock_most < tally->fall_to / tally->fall_from) {
            tally->fall_from = tally->clock_most;
            tally->fall_to = mhz;
        }
    }
    tally->thermal_seconds += sample->thermal_throttles > 0 ? sample->length : 0;
    tally->thermal += fmax(sample->thermal_throttles, 0); /* NAN counts as 0 */
}

void cpu_tally_report(const struct cpu_tally *tally, struct monitor_findings *findings)
{
    if (tally->other_processes_seconds > 0)
        monitor_findings_add(
            findings, "other_processes", "other processes used %g cores or more in %.0f of %.0f s, %.2f at most",
            MONITOR_OTHER_CORES, tally->other_processes_seconds, tally->seconds, tally->other_processes_most);
    if (tally->steal_seconds > 0)
        monitor_findings_add(findings, "steal",
                             "the hypervisor gave %g %% or more of the CPU time to other machines in %.0f of %.0f s, "
                             "%.1f %% at most",
                             MONITOR_STEAL_PERCENT, tally->steal_seconds, tally->seconds, tally->steal_most);
    if (tally->slow_seconds > 0)
        monitor_findings_add(findings, "cpu_clock",
                             "the mean clock of the busy cores was more than %.0f %% below its maximum in %.0f of %.0f "
                             "s: it fell from %.0f to %.0f MHz",
                             100 * MONITOR_CLOCK_FALL, tally->slow_seconds, tally->busy_seconds, tally->fall_from,
                             tally->fall_to);
    if (tally->thermal > 0)
        monitor_findings_add(findings, "cpu_thermal_throttling",
                             "cores were throttled because of their temperature in %.0f of %.0f s (%.0f times)",
                             tally->thermal_seconds, tally->seconds, tally->thermal);
}

/* ---- the file ---- */

const char cpu_column_names[] =
    "seconds,user_percent,system_percent,iowait_percent,steal_percent,job_cores,other_processes_cores,mhz_mean,"
    "thermal_throttle_count,quota_throttled_ms,memory_used_mib,job_resident_mib\n";

void monitor_cpu_sample(struct monitor_cpu *cpu, double seconds)
{
    char *text;
    size_t length;
    int64_t now_ns = clock_now_ns();
    struct cpu_counters counters = cpu_counters_read(cpu);
    struct cpu_sample s = cpu_sample_between(&cpu->last, &counters, 1e-9 * (double)(now_ns - cpu->last_ns));
    cpu->last = counters;
    cpu->last_ns = now_ns;
    cpu_tally_add(&cpu->tally, &s);
    FILE *out = text_begin(&text, &length);
    fprintf(out, "%.3f", seconds);
    text_print_csv_numbers(out, 1, 4, (double[]){s.user, s.system, s.iowait, s.steal});
    text_print_csv_numbers(out, 2, 2, (double[]){s.job_cores, s.other_processes_cores});
    text_print_csv_numbers(out, 0, 2, (double[]){s.now.mhz, s.thermal_throttles});
    text_print_csv_numbers(out, 1, 1, &s.quota_ms);
    text_print_csv_numbers(out, 0, 2, (double[]){s.now.memory_used, s.now.job_resident});
    fputc('\n', out);
    text_end(out);
    (void)lines_append(&cpu->csv, text, length); /* lines_close reports a failure */
    free(text);
}
