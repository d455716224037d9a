/* control_group.h - limits that control groups (cgroups) set for this process, for example the limits of a container,
 * Kubernetes, Slurm or systemd, and how often they stopped it.
 *
 * The groups are this process's group and all groups above it, in version 2 and, for the controller in question, in
 * version 1. root: prefix of /proc and /sys, "" or a directory in tests. Sources: Linux
 * Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst, scheduler/sched-bwc.rst. */
#ifndef KERNELS_CONTROL_GROUP_H
#define KERNELS_CONTROL_GROUP_H

#include <stddef.h>

/* Returns the fewest bytes that any of the groups may still use, counting file pages that the kernel can reclaim;
 * SIZE_MAX: no limit. */
size_t control_group_memory_left(const char *root);

/* A CPU quota: all processes of a group together may use `cpus` CPU seconds a second. */
struct control_group_quota {
    unsigned long long group; /* number of the group, the same for all processes in it; no two groups share it */
    double cpus;
};
enum { CONTROL_GROUP_QUOTAS = 8 };

/* Fills quota[] with the quotas of the groups, from the innermost group outwards, and then with zeros. Returns the
 * number of quotas; if there are more than CONTROL_GROUP_QUOTAS, the outer ones are left out. */
int control_group_quotas(const char *root, struct control_group_quota quota[CONTROL_GROUP_QUOTAS]);

/* Returns the lowest of the quotas, in CPUs; INFINITY: none. */
double control_group_cpus(const char *root);

/* What quotas did so far, summed over the groups; NAN: no group counts it. */
struct control_group_stops {
    double periods; /* number of periods, usually of 100 ms, in which a group had used up its quota and was stopped */
    double ms;      /* ms for which its processes were stopped, summed over CPUs */
};
struct control_group_stops control_group_stops(const char *root);

/* Returns what happened between two readings; 0 for a number that is not known. */
struct control_group_stops control_group_stops_between(struct control_group_stops before,
                                                       struct control_group_stops after);

#endif
