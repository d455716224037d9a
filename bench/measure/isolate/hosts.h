/* hosts.h - which hosts of a run of `isolate` to use, and which to leave out. Rank 0 only. */
#ifndef BENCH_MEASURE_ISOLATE_HOSTS_H
#define BENCH_MEASURE_ISOLATE_HOSTS_H

#include "isolate/output.h"

/* Returns an array [outcome->members], by number of the host; 1: leave the host out. A host is left out if one of its
 * members has a fault, or if two of its members are a slow pair. If two hosts have a slow pair and neither is left out
 * otherwise, one of them is: the host in more such pairs, then the host with more undecided members, then the second
 * host. The caller frees the array. */
char *hosts_leave_out(const struct outcome *outcome);

/* Print the names of hosts, one a line: good.txt has the hosts that are not left out and have no undecided member or
 * open fault; bad.txt has the hosts that are left out. */
void hosts_print_good(FILE *out, const struct outcome *outcome);
void hosts_print_bad(FILE *out, const struct outcome *outcome);

#endif
