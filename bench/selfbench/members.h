/* members.h - made-up members of a job, with planted faults: what they would measure in a round of `isolate`. */
#ifndef BENCH_SELFBENCH_MEMBERS_H
#define BENCH_SELFBENCH_MEMBERS_H

#include "isolate/diagnosis.h"

#include <stdint.h>

/* Typical seconds of what a healthy member measures. */
#define MEMBERS_MESSAGE    10e-3
#define MEMBERS_ROUND_TRIP 50e-6
#define MEMBERS_PRODUCT    20e-3
#define MEMBERS_COPY       5e-3

/* Every time is the typical time x the ratios of the faults that affect it x exp(noise z), z normal; one time in
 * `outlier_every` is 3 times as long (0: none). A round multiplies its times by exp(drift z). A fault of round trips
 * adds the same delay to round trips and messages, in both directions. */
struct members {
    int n;
    double noise, drift, message; /* message: its typical seconds */
    int outlier_every;
    uint64_t seed;           /* changes with each number that is drawn */
    struct fault planted[2]; /* kind, member, other (-1 unless of a pair) and ratio */
    int faults;
};

enum members_scenario {
    MEMBERS_NO_FAULT,
    MEMBERS_SENDS,
    MEMBERS_RECEIVES,
    MEMBERS_NEIGHBOURS, /* messages from a member to its neighbour in the ring are slow */
    MEMBERS_TWO,        /* one sends slowly and another receives slowly */
    MEMBERS_COMPUTES,
    MEMBERS_COPIES,
    MEMBERS_DELAY,
    MEMBERS_ANY_PAIR, /* messages to one that is not its neighbour are slow; the ring does not measure them */
    MEMBERS_SCENARIOS = MEMBERS_ANY_PAIR
};
extern const char *const members_scenario_name[MEMBERS_SCENARIOS + 1];

/* Plants the faults of a scenario at random members, with the given ratio (3 for delays of round trips). */
void members_plant(struct members *members, enum members_scenario scenario, double ratio);

/* Returns the seconds of one message, without noise. */
double members_message(const struct members *members, int from, int to);

/* Writes what the members measure in a round: times[n]. */
void members_measure(struct members *members, const int *partner, struct member_times *times);

/* Runs a search to its end, or for `most` rounds; their second half is late. The caller destroys the diagnosis. */
struct diagnosis *members_search(struct members *members, double resolve, size_t most);

/* Returns whether the faults found are those planted, without others. */
int members_found(const struct members *members, const struct fault *fault, size_t n);

#endif
