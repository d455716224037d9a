/* on_hosts.h - a job whose ranks are on made-up hosts. */
#ifndef TESTS_SUPPORT_ON_HOSTS_H
#define TESTS_SUPPORT_ON_HOSTS_H

#include "ddp/job.h"

/* Returns a copy of the job with its ranks on made-up hosts, in one of PLACINGS ways. An even number of ranks above 2
 * is on hosts of two ranks: neighbours, or dealt to the hosts in turn. Other numbers are on one host, or each on its
 * own. */
enum { PLACINGS = 2 };
static inline struct job on_hosts(const struct job *job, int placing)
{
    struct job made = *job;
    made.local_size = job->size > 2 && job->size % 2 == 0 ? 2 : placing ? 1 : job->size;
    made.hosts = job->size / made.local_size;
    made.host = placing ? job->rank % made.hosts : job->rank / made.local_size;
    made.local_rank = placing ? job->rank / made.hosts : job->rank % made.local_size;
    return made;
}

#endif
