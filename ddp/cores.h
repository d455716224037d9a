/* cores.h - divides a machine's CPUs among the ranks that may use them. Only cores_read reads the machine. */
#ifndef DDP_CORES_H
#define DDP_CORES_H

#include "kernels/control_group.h"

#include <sched.h>

/* What a rank may use. */
struct cores_allowed {
    int machine;                                            /* index of the rank's machine (struct job) */
    cpu_set_t cpus;                                         /* its affinity */
    struct control_group_quota quota[CONTROL_GROUP_QUOTAS]; /* of its control groups; cpus 0 after the last one */
};

/* Fills in what this process may use. */
void cores_read(struct cores_allowed *mine, int machine);

/* Return a rank's share of CPUs. all: [ranks].
 * cores_by_affinity: each logical CPU that the rank may use is divided evenly among the ranks of its machine that may
 * use that CPU. cores_by_quota: each control group of the rank divides its quota evenly among the ranks of this machine
 * in that group, and the result is the smallest of these shares; INFINITY: no quota. */
double cores_by_affinity(const struct cores_allowed *all, int ranks, int rank);
double cores_by_quota(const struct cores_allowed *all, int ranks, int rank);

#endif
