/* pairing.h - who is paired with whom in a round of `isolate`. Members are the hosts of a job, or its ranks, numbered
 * from 0. A pairing is an array partner[members]: partner[partner[m]] == m; -1: m rests. Pure functions. */
#ifndef BENCH_MEASURE_ISOLATE_PAIRING_H
#define BENCH_MEASURE_ISOLATE_PAIRING_H

/* The fewest members that can be told apart: with fewer, a slow member has no partner that others vouch for. */
enum { PAIRING_LEAST = 3 };

/* Returns whether two members are paired in partner[rounds][members]. */
int pairing_met(int *const *partner, int rounds, int member, int other);

/* Pairs each suspect (suspect[m] 1) with a member that is not suspected, as far away as possible in the ring and not
 * its partner in earlier[rounds][members]; if there is none, with another suspect that was not its partner. Pairs the
 * members left, so that the network carries as much as before. Returns how many suspects have a new partner. */
int pairing_suspects(int members, const char *suspect, int *const *earlier, int rounds, int *partner);

/* Pairs i with i + members / 2: the messages of all pairs cross the middle of the fabric. */
void pairing_across(int members, int *partner);

#endif
