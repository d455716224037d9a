/* watch_cpu.c - what the CPUs do, second by second. */
#include "machine/watch.h"

#include "kernels/clock.h"

#include <math.h>

/* ---- one sample ---- */

/* At least 0, since the kernel may count a little back; NAN stays NAN. */
static double increase(double before, double after)
{
    double difference = after - before;
    return difference < 0 ? 0 : difference;
}

struct cpu_sample cpu_sample_between(const struct proc_counters *a, const struct proc_counters *b, double length_s)
{
    double user = increase(a->user, b->user), system = increase(a->system, b->system);
    double idle = increase(a->idle, b->idle), iowait = increase(a->iowait, b->iowait);
    double steal = increase(a->steal, b->steal), job = increase(a->job_seconds, b->job_seconds);
    double percent = 100 / (user + system + idle + iowait + steal);
    return (struct cpu_sample){
        .length = length_s,
        .user = percent * user,
        .system = percent * system,
        .iowait = percent * iowait,
        .steal = percent * steal,
        .job_cores = job / length_s,
        .other_processes_cores = increase(job, user + system) / length_s,
        .thermal_throttles = increase(a->thermal_throttles, b->thermal_throttles),
        .quota_throttles = increase(a->quota_throttles, b->quota_throttles),
        .quota_ms = increase(a->quota_ms, b->quota_ms),
        .context_switches = increase(a->context_switches, b->context_switches) / length_s,
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
    double mhz = sample->now.mhz_mean;
    if (sample->user + sample->system >= MONITOR_CLOCK_BUSY_PERCENT && isfinite(mhz)) {
        tally->busy_seconds += sample->length;
        tally->clock_most = fmax(tally->clock_most, mhz);
        tally->slow_seconds += 1 - mhz / tally->clock_most > MONITOR_CLOCK_FALL ? sample->length : 0;
        if (tally->fall_from <= 0 || mhz / tally->clock_most < tally->fall_to / tally->fall_from) {
            tally->fall_from = tally->clock_most;
            tally->fall_to = mhz;
        }
    }
    int throttled = sample->quota_throttles > 0;
    tally->thermal_seconds += sample->thermal_throttles > 0 ? sample->length : 0;
    tally->thermal += fmax(sample->thermal_throttles, 0); /* NAN counts for nothing, too */
    tally->quota_seconds += throttled ? sample->length : 0;
    tally->quota += throttled ? sample->quota_throttles : 0;
    tally->quota_ms += throttled ? sample->quota_ms : 0;
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
    if (tally->quota > 0)
        monitor_findings_add(findings, "cpu_quota_throttling",
                             "the CPU quota of the control group stopped it in %.0f of %.0f s (%.0f times, %.0f ms)",
                             tally->quota_seconds, tally->seconds, tally->quota, tally->quota_ms);
}

/* ---- the file ---- */

const char cpu_column_names[] =
    "seconds,user_percent,system_percent,iowait_percent,steal_percent,job_cores,other_processes_cores,load_1min,"
    "mhz_min,mhz_mean,thermal_throttle_count,quota_throttled_periods,quota_throttled_ms,memory_used_mib,"
    "memory_available_mib,job_resident_mib,context_switches_per_s\n";

void monitor_cpu_sample(struct monitor_cpu *cpu, double seconds)
{
    struct proc_counters counters;
    struct csv_line line = {0};
    int64_t now_ns = clock_now_ns();
    proc_read(&cpu->proc, &counters);
    struct cpu_sample s = cpu_sample_between(&cpu->last, &counters, 1e-9 * (double)(now_ns - cpu->last_ns));
    cpu->last = counters;
    cpu->last_ns = now_ns;
    cpu_tally_add(&cpu->tally, &s);
    csv_add_numbers(&line, 3, 1, &seconds);
    csv_add_numbers(&line, 1, 4, (double[]){s.user, s.system, s.iowait, s.steal});
    csv_add_numbers(&line, 2, 3, (double[]){s.job_cores, s.other_processes_cores, s.now.load});
    csv_add_numbers(&line, 0, 4, (double[]){s.now.mhz_min, s.now.mhz_mean, s.thermal_throttles, s.quota_throttles});
    csv_add_numbers(&line, 1, 1, &s.quota_ms);
    csv_add_numbers(&line, 0, 2, (double[]){s.now.memory_total - s.now.memory_available, s.now.memory_available});
    csv_add_numbers(&line, 0, 2, (double[]){s.now.job_resident, s.context_switches});
    csv_end_line(&line, &cpu->csv);
}
