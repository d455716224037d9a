/* load.h - faults that need load: groups of members whose all-reduces are slow though each member is healthy alone.
 * Keeps the times of the groups, and judges them. Pure functions, for rank 0; load_measure.c measures.
 *
 * The members are cut into groups of 2, 4, 8, ... consecutive members, and at last into one of all; members that fill
 * no group rest. A level is all groups of one size: they all-reduce at the same time, repeatedly.
 *
 * A level of at least LOAD_LEAST groups is judged as members are: by ratios to the median of a repetition
 * (isolate/ratios.h), at a level that allows for all groups: the probability of any false alarm is at most 5 %.
 *
 * x of a group is its time / T(p, S) = 2 ceil(log2 p) a + 2 (p - 1) / p S b, the time that its messages should take: a
 * is half a round trip and b the seconds of a byte, both of the slowest neighbours in the group. It may be above 1
 * without a fault, because an all-reduce does more than send messages: it adds, and shares cores. Source: Thakur,
 * Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH, Int. J. High Performance
 * Computing Applications 19 (2005) 49-66, Rabenseifner's all-reduce, without the time of the additions. */
#ifndef BENCH_MEASURE_ISOLATE_LOAD_H
#define BENCH_MEASURE_ISOLATE_LOAD_H

#include "isolate/diagnosis.h"
#include "isolate/ratios.h"

enum { LOAD_LEAST = 3, LOAD_MOST_LEVELS = 32 };

/* Groups that all-reduce at once. */
struct load_level {
    int size, groups;     /* members of a group; number of groups */
    struct ratios ratios; /* a column for each group; ratios.n 0: not measured */
};

struct load {
    struct estimate across; /* time of messages while all pairs across the middle send / alone; n 0: not known */
    int members;
    double alpha; /* of one group */
    /* [members] results of the search, set by the caller after load_create. healthy 1: m is known to be healthy;
     * message: seconds of one between m and m + 1 with its answer, in the slower direction; round_trip; NAN: unknown */
    char *healthy;
    double *message, *round_trip;
    int levels;
    struct load_level level[LOAD_MOST_LEVELS]; /* by size */
};

/* Sets up the levels, without times. Release with load_destroy. */
void load_create(struct load *load, int members, double resolve);
void load_destroy(struct load *load); /* a zeroed one is fine */

/* Returns the group of a member in a level; -1: it rests. */
int load_group(const struct load_level *level, int member);

/* Adds a repetition, seconds[groups], and judges the groups. Returns how many are undecided. */
size_t load_add(const struct load *load, struct load_level *level, const float *seconds);

/* Returns T(members, S) for a message of S bytes that takes `message` seconds with its answer, or NAN. */
double load_expected(int members, double message, double round_trip);

/* Return the seconds of a group; its x, or NAN. */
struct estimate load_seconds(const struct load_level *level, int group);
double load_x(const struct load *load, const struct load_level *level, int group);

/* Returns whether a group is at fault: it is slow, its members are healthy, and no smaller group in it is slow. */
int load_is_fault(const struct load *load, int level, int group);

/* Returns a group's time / the median of its level, as a fault of its first and last member; n 0: not judged. */
struct fault load_fault(const struct load *load, int level, int group);

#endif
