/* cpu.c - what the CPUs did, second by second. */
#include "monitor/cpu.h"

#include "monitor/monitor.h"

#include "kernels/clock.h"

#include <math.h>

/* ---- one row ---- */

/* NAN stays NAN; the kernel may count a little back. */
static double more(double before, double after)
{
    double difference = after - before;
    return difference < 0 ? 0 : difference;
}

void cpu_row_between(const struct proc_counters *a, const struct proc_counters *b, double length_s, struct cpu_row *row)
{
    double user = more(a->user, b->user), system = more(a->system, b->system), idle = more(a->idle, b->idle);
    double iowait = more(a->iowait, b->iowait), steal = more(a->steal, b->steal);
    double percent = 100 / (user + system + idle + iowait + steal), job = more(a->job_seconds, b->job_seconds);
    *row = (struct cpu_row){
        .length = length_s,
        .user = percent * user,
        .system = percent * system,
        .iowait = percent * iowait,
        .steal = percent * steal,
        .job_cores = job / length_s,
        .other_processes_cores = more(job, user + system) / length_s,
        .thermal_throttles = more(a->thermal_throttles, b->thermal_throttles),
        .quota_throttles = more(a->quota_throttles, b->quota_throttles),
        .quota_ms = more(a->quota_ms, b->quota_ms),
        .context_switches = more(a->context_switches, b->context_switches) / length_s,
        .now = *b,
    };
}

/* ---- all rows ---- */

static void add_clock(struct cpu_seen *seen, const struct cpu_row *row)
{
    double mhz = row->now.mhz_mean;
    if (!(row->user + row->system >= MONITOR_CLOCK_BUSY && isfinite(mhz)))
        return;
    seen->busy_seconds += row->length;
    seen->clock_most = fmax(seen->clock_most, mhz);
    double fall = 1 - mhz / seen->clock_most;
    if (fall > MONITOR_CLOCK_FALL)
        seen->slow_seconds += row->length;
    if (fall > seen->fall) {
        seen->fall = fall;
        seen->fall_from = seen->clock_most;
        seen->fall_to = mhz;
    }
}

void cpu_seen_add(struct cpu_seen *seen, const struct cpu_row *row)
{
    seen->seconds += row->length;
    seen->other_processes_seconds += row->other_processes_cores >= MONITOR_OTHER_CORES ? row->length : 0;
    seen->other_processes_most = fmax(seen->other_processes_most, row->other_processes_cores);
    seen->steal_seconds += row->steal >= MONITOR_STEAL_PERCENT ? row->length : 0;
    seen->steal_most = fmax(seen->steal_most, row->steal);
    add_clock(seen, row);
    if (row->thermal_throttles > 0) {
        seen->thermal_seconds += row->length;
        seen->thermal += row->thermal_throttles;
    }
    if (row->quota_throttles > 0) {
        seen->quota_seconds += row->length;
        seen->quota += row->quota_throttles;
        seen->quota_ms += row->quota_ms;
    }
}

void cpu_seen_find(const struct cpu_seen *seen, struct monitor_report *report)
{
    if (seen->other_processes_seconds > 0)
        monitor_findings_add(
            report, MONITOR_FOREIGN_LOAD, "other processes used %g cores or more in %.0f of %.0f s, %.2f at most",
            MONITOR_OTHER_CORES, seen->other_processes_seconds, seen->seconds, seen->other_processes_most);
    if (seen->steal_seconds > 0)
        monitor_findings_add(report, MONITOR_STEAL,
                             "the hypervisor gave %g %% or more of the CPU time to other machines in %.0f of %.0f s, "
                             "%.1f %% at most",
                             MONITOR_STEAL_PERCENT, seen->steal_seconds, seen->seconds, seen->steal_most);
    if (seen->slow_seconds > 0)
        monitor_findings_add(report, MONITOR_CPU_CLOCK,
                             "the mean clock of the busy cores was more than %.0f %% below its maximum in %.0f of %.0f "
                             "s: it fell from %.0f to %.0f MHz",
                             100 * MONITOR_CLOCK_FALL, seen->slow_seconds, seen->busy_seconds, seen->fall_from,
                             seen->fall_to);
    if (seen->thermal > 0)
        monitor_findings_add(report, MONITOR_CPU_THERMAL,
                             "cores were throttled because of their temperature in %.0f of %.0f s (%.0f times)",
                             seen->thermal_seconds, seen->seconds, seen->thermal);
    if (seen->quota > 0)
        monitor_findings_add(report, MONITOR_CPU_QUOTA,
                             "the CPU quota of the control group stopped it in %.0f of %.0f s (%.0f times, %.0f ms)",
                             seen->quota_seconds, seen->seconds, seen->quota, seen->quota_ms);
}

/* ---- the file ---- */

const char cpu_columns[] =
    "seconds,user_percent,system_percent,iowait_percent,steal_percent,job_cores,other_cores,load_1min,mhz_min,mhz_mean,"
    "thermal_throttle_count,quota_throttled_periods,quota_throttled_ms,memory_used_mib,memory_available_mib,"
    "job_resident_mib,context_switches_per_s";

static void write_row(struct csv *csv, double seconds, const struct cpu_row *row)
{
    csv_number(csv, 3, seconds);
    csv_number(csv, 1, row->user);
    csv_number(csv, 1, row->system);
    csv_number(csv, 1, row->iowait);
    csv_number(csv, 1, row->steal);
    csv_number(csv, 2, row->job_cores);
    csv_number(csv, 2, row->other_processes_cores);
    csv_number(csv, 2, row->now.load);
    csv_number(csv, 0, row->now.mhz_min);
    csv_number(csv, 0, row->now.mhz_mean);
    csv_number(csv, 0, row->thermal_throttles);
    csv_number(csv, 0, row->quota_throttles);
    csv_number(csv, 1, row->quota_ms);
    csv_number(csv, 0, row->now.memory_total - row->now.memory_available);
    csv_number(csv, 0, row->now.memory_available);
    csv_number(csv, 0, row->now.job_resident);
    csv_number(csv, 0, row->context_switches);
    csv_end_line(csv);
}

void monitor_cpu_begin(struct monitor_cpu *cpu)
{
    cpu->last_ns = clock_now_ns();
    proc_read(&cpu->proc, &cpu->last);
}

void monitor_cpu_sample(struct monitor_cpu *cpu, double seconds)
{
    struct proc_counters counters;
    struct cpu_row row;
    int64_t now = clock_now_ns();
    double length = 1e-9 * (double)(now - cpu->last_ns);
    proc_read(&cpu->proc, &counters);
    cpu_row_between(&cpu->last, &counters, length, &row);
    cpu_seen_add(&cpu->seen, &row);
    write_row(&cpu->csv, seconds, &row);
    cpu->last = counters;
    cpu->last_ns = now;
}
