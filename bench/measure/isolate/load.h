/* load.h - faults that need load: groups of members that are slow together though each member is healthy alone. Keeps
 * the times of all-reduces of groups, and judges them. Pure functions, for rank 0; load_measure.h measures.
 *
 * The members are cut into blocks of 2, 4, 8, ... consecutive members, and at last into one of all; members that fill
 * no block rest. The blocks of a size are a level: all of them all-reduce at once, over and over.
 *
 * A level of at least LOAD_LEAST blocks is judged as the search judges members: each time is divided by the median of
 * its repetition, and a block is slow once the median of its ratios is above 1 + resolve / 2, healthy once it is below
 * 1
 * + resolve (base/ratios.h), at a level that allows for all groups, so that the probability of any false alarm is at
 * most 5 %. A block that is slow though its members are healthy, and no smaller block in it is slow, is a fault.
 *
 * Fewer blocks have no peers, but a time that is expected of the messages and round trips of the pairs. In T(p, S) = 2
 * ceil(log2 p) a + 2 (p - 1) / p S b a is half a round trip and b the seconds of a byte, of the slowest neighbours in
 * the block. A block exceeds its halves if its time / expected is above that of both by more than resolve, with
 * intervals apart. That is no fault, because an all-reduce does more than send messages: it adds, and shares cores.
 * Source: Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH, Int. J. High
 * Performance Computing Applications 19 (2005) 49-66, Rabenseifner's all-reduce, without the time of the additions.
 *
 * Of a block that is slow, or exceeds its halves, the mixed halves are measured next: its even and its odd members, as
 * many as a half has. They are slow, too, if the cause lies between the halves of the block. */
#ifndef BENCH_MEASURE_ISOLATE_LOAD_H
#define BENCH_MEASURE_ISOLATE_LOAD_H

#include "base/ratios.h"
#include "base/stats.h"

enum { LOAD_LEAST = 3, LOAD_MOST_LEVELS = 32 };

/* Groups that all-reduce at once. */
struct load_level {
    int block, mixed;     /* members of a block; 1: the groups are the even and the odd members of each block */
    int size, groups;     /* members of a group; number of groups */
    size_t n;             /* repetitions; 0: not measured */
    float **seconds;      /* [n][groups] */
    double *expected;     /* [groups] seconds; NAN: unknown */
    struct ratios ratios; /* a column for each group */
};

struct load {
    struct estimate across; /* time of messages while all pairs across the middle send / alone; n 0: not known */
    int members;
    double resolve, alpha; /* alpha: of one group */
    char *healthy;         /* [members] 1: known to be healthy alone */
    int levels;
    struct load_level level[LOAD_MOST_LEVELS]; /* by size */
    struct load_level mixed[LOAD_MOST_LEVELS]; /* mixed halves of the blocks of each level */
};

/* What the search found. message[m], round_trip[m]: seconds between members m and m + 1 (the slower direction; with the
 * short answer), [members - 1]; NAN: unknown. */
struct load_pairs {
    int members;
    const char *healthy; /* [members] */
    const double *message, *round_trip;
};

/* Sets up the levels, without times; the message is as large as what is all-reduced. Release with load_destroy. */
void load_create(struct load *load, const struct load_pairs *pairs, double resolve);
void load_destroy(struct load *load); /* a zeroed one is fine */

/* Returns T(members, S) for a message of S bytes that takes `message` seconds with its answer, or NAN. */
double load_expected(int members, double message, double round_trip);

/* Returns the group of a member in a level, and its place in that; -1: it rests. */
int load_group(const struct load_level *level, int member, int *place);

/* Adds a repetition, seconds[groups], and judges the groups. Returns how many are undecided. */
size_t load_add(struct load *load, struct load_level *level, const float *seconds);

enum load_state {
    LOAD_UNJUDGED, /* the level has less than LOAD_LEAST groups */
    LOAD_UNDECIDED,
    LOAD_HEALTHY,
    LOAD_SLOW,        /* a fault */
    LOAD_SLOW_PART,   /* slow, and so is a smaller block in it */
    LOAD_SLOW_MEMBER, /* slow, and a member is not known to be healthy */
};
enum load_state load_state(const struct load *load, int level, int block);

/* Returns whether a block that has too few peers exceeds its halves, and sets the time / expected of the block and of
 * the slower half. */
int load_exceeds(const struct load *load, int level, int block, struct estimate *whole, struct estimate *half);

/* Return whether a block of a level is a fault, or exceeds its halves; the number of faults in all levels. */
int load_is_suspect(const struct load *load, int level);
int load_faults(const struct load *load);

/* Whether one of the mixed halves of a suspect block is slow, too; or both are not. */
enum load_mixed { MIXED_UNKNOWN, MIXED_SLOW, MIXED_HEALTHY };
enum load_mixed load_mixed(const struct load *load, int level, int block);

/* Return the seconds of a group over the repetitions; of the median group in each of them; the same ratio to the median
 * group as decides whether a group is slow, with its interval (n 0: the level is not judged); the seconds that are
 * expected of the median group. */
struct estimate load_seconds(const struct load_level *level, int group);
struct estimate load_median_seconds(const struct load_level *level);
struct paired load_ratio(const struct load *load, const struct load_level *level, int group);
double load_median_expected(const struct load_level *level);

#endif
