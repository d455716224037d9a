/* other_processes.c - measures how many cores other processes use while a run measures. */
#include "kernels/clock.h"
#include "machine/machine.h"

#include <math.h>

/* The kernel counts CPU time in hundredths of a second. */
static const double shortest_window_s = 0.2;

double other_processes_watch(struct other_processes *o, const struct job *job)
{
    const struct host_cpu_time now = host_cpu_time(), last = o->last;
    double seconds = last.at_ns ? 1e-9 * (double)(now.at_ns - last.at_ns) : 0;
    if (!last.at_ns) {
        o->last = now;
        o->first = control_group_stops("");
    }
    if (job_max(job, seconds) < shortest_window_s)
        return NAN;
    double used = now.used - last.used - job_sum_machine(job, now.process - last.process);
    double all = now.all - last.all;       /* `used` may be a few hundredths below 0, but not above `all` */
    int known = isfinite(used) && all > 0; /* 0: the kernel does not count */
    struct control_group_stops stops = control_group_stops_between(o->first, control_group_stops(""));
    o->stops = (struct control_group_stops){job_max(job, stops.periods), job_max(job, stops.ms)};
    o->last = now;
    o->seconds += seconds;
    o->used_here += known ? used : 0;
    o->all_here += known ? all : 0;
    double share = o->all_here > 0 ? fmax(0, o->used_here / o->all_here) : -1;
    o->share = job_max(job, share);
    o->machine_cores = job_max(job, share >= o->share ? now.cores : 0);
    return job_max(job, known ? now.cores * fmax(0, used / all) : 0);
}
