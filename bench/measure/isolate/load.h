/* load.h - faults that need load: groups of members whose all-reduces are slow though each member is healthy alone.
 * Keeps the times of the groups, and judges them. Pure functions, for rank 0; load_measure.h measures.
 *
 * The members are cut into blocks of 2, 4, 8, ... consecutive members, and at last into one of all; members that fill
 * no block rest. The groups of a level are the blocks of a size: all of them all-reduce at once, over and over.
 *
 * A level of at least LOAD_LEAST groups is judged as the search judges members: each time is divided by the median of
 * its repetition, and a group is slow or healthy by its ratios (base/ratios.h), at a level that allows for all groups,
 * so that the probability of any false alarm is at most 5 %.
 *
 * x of a group is its time / T(p, S) = 2 ceil(log2 p) a + 2 (p - 1) / p S b, the time that is expected of messages: a
 * is half a round trip and b the seconds of a byte, of the slowest neighbours in its block. A block whose level has too
 * few groups is compared with its halves by x. It may be above theirs without a fault, because an all-reduce does more
 * than send messages: it adds, and shares cores. Source: Thakur, Rabenseifner and Gropp, Optimization of Collective
 * Communication Operations in MPICH, Int. J. High Performance Computing Applications 19 (2005) 49-66, Rabenseifner's
 * all-reduce, without the time of the additions.
 *
 * The mixed halves of a block are its even and its odd members. If their x is above that of its halves, too, then what
 * slows the block lies between its halves. */
#ifndef BENCH_MEASURE_ISOLATE_LOAD_H
#define BENCH_MEASURE_ISOLATE_LOAD_H

#include "base/ratios.h"
#include "isolate/diagnosis.h"

enum { LOAD_LEAST = 3, LOAD_MOST_LEVELS = 32 };

/* Groups that all-reduce at once. */
struct load_level {
    int block, mixed;     /* members of a block; 1: the groups are its mixed halves */
    int size, groups;     /* members of a group; number of groups */
    struct ratios ratios; /* a column for each group; ratios.n 0: not measured */
};

struct load {
    struct estimate across; /* time of messages while all pairs across the middle send / alone; n 0: not known */
    int members;
    double resolve, alpha; /* alpha: of one group */
    /* what the search found, set by the caller after load_create, [members]: 1: m is known to be healthy; the seconds
     * of a message between m and m + 1 with its answer, in the slower direction, and of a round trip; NAN: unknown */
    char *healthy;
    double *message, *round_trip;
    int levels;
    struct load_level level[LOAD_MOST_LEVELS]; /* by size */
    struct load_level mixed[LOAD_MOST_LEVELS]; /* mixed halves of the blocks of each level */
};

/* Sets up the levels, without times. Release with load_destroy. */
void load_create(struct load *load, int members, double resolve);
void load_destroy(struct load *load); /* a zeroed one is fine */

/* Returns the group of a member in a level, and its place in that; -1: it rests. */
int load_group(const struct load_level *level, int member, int *place);

/* Adds a repetition, seconds[groups], and judges the groups. Returns how many are undecided. */
size_t load_add(const struct load *load, struct load_level *level, const float *seconds);

/* Returns T(members, S) for a message of S bytes that takes `message` seconds with its answer, or NAN. */
double load_expected(int members, double message, double round_trip);

/* Return the seconds of a group; the largest x of groups [first, first + n) of a level. */
struct estimate load_seconds(const struct load_level *level, int group);
struct estimate load_x(const struct load *load, const struct load_level *level, int first, int n);

/* Compares x of a block, or mixed 1: of the slower of its mixed halves, with x of the slower of its halves.
 * SERIES_SLOW: it is above by more than resolve, with intervals apart; SERIES_HEALTHY: it is not; SERIES_NONE: not
 * measured. */
enum series_state load_against_halves(const struct load *load, int level, int block, int mixed);

/* Return whether a block is at fault: it is slow, its members are healthy, and no smaller block in it is slow; whether
 * a block that has too few peers to be judged is slow against its halves; whether a block of the level is either. */
int load_is_fault(const struct load *load, int level, int block);
int load_is_excess(const struct load *load, int level, int block);
int load_is_suspect(const struct load *load, int level);

/* Returns a block, compared with the median of its level, as a fault of its first and its last member; n is 0 if the
 * level is not judged. */
struct fault load_fault(const struct load *load, int level, int block);

/* Returns a sentence, after a space, on what the mixed halves of a block tell; or "". */
const char *load_cause(const struct load *load, int level, int block);

#endif
