/* search.h - the state of a search, for diagnosis.c, which leads it, pairing.c and faults.c, which explains it. */
#ifndef BENCH_MEASURE_ISOLATE_SEARCH_H
#define BENCH_MEASURE_ISOLATE_SEARCH_H

#include "isolate/diagnosis.h"
#include "isolate/ratios.h"

enum { SEARCH_MOST_PAIRINGS = 8 };

/* What is timed. */
enum sort { SORT_MESSAGE, SORT_ROUND_TRIP, SORT_PRODUCT, SORT_COPY, SORTS };

/* Pairings that are repeated together: all pairings of the ring, or one pairing of suspects. */
struct stage {
    int first, rounds, done; /* pairings [first, first + rounds), of which `done` are in the current repetition */
    float *seconds;          /* [columns] of the current repetition */
    struct ratios ratios;    /* columns: see search_column */
    size_t undecided;
};

struct diagnosis {
    int members;
    double alpha, resolve; /* alpha: of one series */
    int pairings, ring;
    int *partner[SEARCH_MOST_PAIRINGS]; /* [pairings][members] */
    int stages, current;
    struct stage stage[SEARCH_MOST_PAIRINGS]; /* the first is the ring's */
    size_t rounds;
};

/* Returns the column of a sort in a round of a stage: of the message from a member to another, of the round trips of
 * both, or of the product or copy of `from`. These have one column for all rounds of the ring, and none elsewhere. */
static inline size_t search_column(const struct diagnosis *d, const struct stage *stage, int round, enum sort sort,
                                   int from, int to)
{
    int part = sort < SORT_PRODUCT ? 2 * round + (int)sort : 2 * stage->rounds + (int)(sort - SORT_PRODUCT);
    return (size_t)part * (size_t)d->members + (size_t)(sort == SORT_ROUND_TRIP && to < from ? to : from);
}

static inline enum series_state search_state(const struct diagnosis *d, const struct stage *stage, int round,
                                             enum sort sort, int from, int to)
{
    return (enum series_state)stage->ratios.state[search_column(d, stage, round, sort, from, to)];
}

/* Returns whether a message between two partners, in either direction, or their round trips are in that state. */
static inline int search_pair_is(const struct diagnosis *d, const struct stage *stage, int round, int member, int other,
                                 enum series_state state)
{
    return search_state(d, stage, round, SORT_MESSAGE, member, other) == state ||
           search_state(d, stage, round, SORT_MESSAGE, other, member) == state ||
           search_state(d, stage, round, SORT_ROUND_TRIP, member, other) == state;
}

/* Returns the partners[members] in a round of a stage. */
static inline const int *search_partners(const struct diagnosis *d, const struct stage *stage, int round)
{
    return d->partner[stage->first + round];
}

/* ---- pairing.c ---- */

/* Returns whether two members are paired in partner[rounds][members]. */
int pairing_met(int *const *partner, int rounds, int member, int other);

/* Pairs each suspect (suspect[m] 1) with a member that is not suspected, as far away as possible in the ring and not
 * its partner in earlier[rounds][members]; if there is none, with another suspect that was not its partner. Pairs the
 * members left, so that the network carries as much as before. Returns how many suspects have a new partner. */
int pairing_suspects(int members, const char *suspect, int *const *earlier, int rounds, int *partner);

#endif
