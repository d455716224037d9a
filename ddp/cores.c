/* cores.c - divides a machine's CPUs among the ranks that may use them. */
#include "ddp/cores.h"

#include <math.h>
#include <string.h>

void cores_read(struct cores_allowed *mine, int machine)
{
    memset(mine, 0, sizeof *mine);
    mine->machine = machine;
    if (sched_getaffinity(0, sizeof mine->cpus, &mine->cpus))
        CPU_SET(0, &mine->cpus);
    control_group_quotas("", mine->quota);
}

/* Rounds, so that 6 CPUs shared by 3 ranks give 2, not 1.9999999999999998. */
static double tidy(double cores)
{
    return round(1e9 * cores) / 1e9;
}

double cores_by_affinity(const struct cores_allowed *all, int ranks, int rank)
{
    double cores = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all[rank].cpus)) {
            int sharing = 0;
            for (int r = 0; r < ranks; r++)
                sharing += all[r].machine == all[rank].machine && CPU_ISSET(cpu, &all[r].cpus);
            cores += 1.0 / sharing;
        }
    return tidy(cores);
}

static int is_in_group(const struct cores_allowed *rank, unsigned long long group)
{
    for (int i = 0; i < CONTROL_GROUP_QUOTAS; i++)
        if (rank->quota[i].cpus > 0 && rank->quota[i].group == group)
            return 1;
    return 0;
}

double cores_by_quota(const struct cores_allowed *all, int ranks, int rank)
{
    double least = INFINITY;
    for (int i = 0; i < CONTROL_GROUP_QUOTAS && all[rank].quota[i].cpus > 0; i++) {
        const struct control_group_quota *quota = &all[rank].quota[i];
        int sharing = 0;
        for (int r = 0; r < ranks; r++)
            sharing += all[r].machine == all[rank].machine && is_in_group(&all[r], quota->group);
        least = fmin(least, quota->cpus / sharing);
    }
    return tidy(least);
}
