/* contention.c - measures how many cores other processes use while a run measures. */
#include "kernels/clock.h"
#include "machine/machine.h"

#include <math.h>

/* The kernel counts CPU time in hundredths of a second. */
static const double shortest_window_s = 0.2;

static void begin_window(struct contention *c)
{
    c->start_ns = clock_now_ns();
    c->process_cpu = host_process_cpu_seconds();
    c->machine_cpu = host_machine_cpu_seconds();
}

double contention_watch(struct contention *c, const struct job *job)
{
    double seconds = c->start_ns ? 1e-9 * (double)(clock_now_ns() - c->start_ns) : 0;
    if (!c->start_ns)
        begin_window(c);
    if (job_max(job, seconds) < shortest_window_s)
        return NAN;
    double ranks = job_sum_machine(job, host_process_cpu_seconds() - c->process_cpu);
    double cores = (host_machine_cpu_seconds() - c->machine_cpu - ranks) / seconds;
    double worst = job_max(job, fmax(0, cores));
    c->seconds += seconds;
    c->core_seconds += worst * seconds;
    c->busy_seconds += worst >= MONITOR_OTHER_CORES ? seconds : 0;
    c->most_cores = fmax(c->most_cores, worst);
    begin_window(c);
    return worst;
}
