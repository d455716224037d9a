/* other_processes.c - measures how many cores other processes use while a run measures. */
#include "kernels/clock.h"
#include "machine/machine.h"

#include <math.h>

/* The kernel counts CPU time in hundredths of a second. */
static const double shortest_window_s = 0.2;

static void begin_window(struct other_processes *o)
{
    o->start_ns = clock_now_ns();
    o->process_cpu = host_process_cpu_seconds();
    o->machine_cpu = host_machine_cpu_seconds();
}

double other_processes_watch(struct other_processes *o, const struct job *job)
{
    double seconds = o->start_ns ? 1e-9 * (double)(clock_now_ns() - o->start_ns) : 0;
    if (!o->start_ns)
        begin_window(o);
    if (job_max(job, seconds) < shortest_window_s)
        return NAN;
    double ranks = job_sum_machine(job, host_process_cpu_seconds() - o->process_cpu);
    double used = host_machine_cpu_seconds() - o->machine_cpu - ranks; /* may be below 0 by a few hundredths */
    o->seconds += seconds;
    o->used_here += isfinite(used) ? used : 0;
    o->used = fmax(0, job_max(job, o->used_here));
    double worst = job_max(job, isfinite(used) ? fmax(0, used / seconds) : 0);
    o->busy_seconds += worst >= MONITOR_OTHER_CORES ? seconds : 0;
    o->most_cores = fmax(o->most_cores, worst);
    begin_window(o);
    return worst;
}
