/* hosts.h - which hosts of a run of `isolate` are to be used, and which are to be left out. Rank 0 only. */
#ifndef BENCH_MEASURE_ISOLATE_HOSTS_H
#define BENCH_MEASURE_ISOLATE_HOSTS_H

#include "isolate/output.h"

/* Returns which hosts are to be left out, [outcome->members], by number of the host: 1 if one of its members has a
 * fault, or is slow with another of its members; or if it was chosen of a slow pair, neither host of which is left out
 * otherwise: the host in more such pairs, then the one with more undecided members, then the second. The caller frees
 * the array. */
char *hosts_leave_out(const struct outcome *outcome);

/* Print good.txt, the names of the hosts that are not left out and have no undecided member or open fault, and bad.txt,
 * of those that are left out, one a line. */
void hosts_print_good(FILE *out, const struct outcome *outcome);
void hosts_print_bad(FILE *out, const struct outcome *outcome);

#endif
