/* diagnosis.h - which members of a job are slow, and in what, from the times of pairs. Pure functions, for rank 0.
 *
 * The search is a loop: diagnosis_next says who is paired with whom in the next round, the members measure, and
 * diagnosis_add takes what they measured. In a round all pairs send a message in one direction, then in the other, each
 * sender timing its own; they time round trips of a few bytes; and every member times the same matrix product and the
 * same copy in memory.
 *
 * First come the rounds of the ring (ddp/links.h), over and over; a repetition is one of each. Each time is divided by
 * the median of the times of its sort in its round (isolate/ratios.h), so that what slows all members alike cancels:
 * the ratio of a healthy member is about 1. A series is the ratios of one directed pair (messages), one pair (round
 * trips) or one member (products, copies) over the repetitions. It is slow once its median is above 1 + resolve / 2,
 * healthy once it is below 1 + resolve, each by an interval that holds however many repetitions are made
 * (stats_paired_anytime), at a level that allows for all series (Bonferroni), so that in a job without faults the
 * probability of any false alarm is at most 5 %. Else it is undecided. What is slow must still
 * be so after twice as many repetitions, since a disturbance that passes is no fault.
 *
 * Then the suspects, which are both members of each slow message or round trip of the ring, are paired with members far
 * away that are not suspected, up to twice each; these pairings are repeated likewise. Products and copies are not
 * judged there.
 *
 * Faults: a member sends slowly if at least two of its messages are slow, and none is healthy, of those that go to
 * members which do not receive slowly; and receives slowly likewise. The member that explains most slow messages is
 * taken first. A slow message that no member explains is the fault of the pair, or open as long as one of the two has
 * no healthy message but undecided ones. Round trips likewise. A delay slows
 * both a pair's round trips and its messages: a slow message counts only if its excess over the median, in seconds, is
 * at least twice that of the pair's round trips, unless these are not slow. */
#ifndef BENCH_MEASURE_ISOLATE_DIAGNOSIS_H
#define BENCH_MEASURE_ISOLATE_DIAGNOSIS_H

#include <stddef.h>

/* What one member measured in a round, in seconds; NAN: not measured. A sort that is NAN in the first repetition is not
 * judged. Products and copies are read from the rounds of the ring only. */
struct member_times {
    float send;       /* its message to its partner and the partner's answer */
    float round_trip; /* of a few bytes, the typical one of several; the lower one of both partners counts */
    float product, copy;
};

enum fault_kind {
    FAULT_SENDS,           /* sends slowly, to any member */
    FAULT_RECEIVES,        /* receives slowly, from any member */
    FAULT_ROUND_TRIP,      /* its round trips are slow, with any member */
    FAULT_COMPUTES,        /* its matrix products are slow */
    FAULT_COPIES,          /* its copies in memory are slow */
    FAULT_PAIR,            /* only messages from member to other are slow */
    FAULT_PAIR_ROUND_TRIP, /* only round trips between member and other are slow */
    FAULT_GROUP,           /* all-reduces of all members from member to other are slow (load.h) */
    FAULTS
};
extern const char *const fault_name[FAULTS + 1]; /* such as sends, or pair_round_trip */

struct fault {
    enum fault_kind kind;
    int member, other;       /* other: -1 unless of a pair or a group */
    int open;                /* 1: of a pair or of one of its members, which others of their series have yet to tell */
    double ratio, low, high; /* its time / the median of its peers; an interval at a family-wise 95 % */
    double seconds;          /* its time (median) in the first of the pairings by which it is measured */
    size_t n;                /* ratios, or means of several (ratios.h) */
};

enum member_state { MEMBER_HEALTHY, MEMBER_UNDECIDED, MEMBER_SLOW }; /* values of the figure member_state */

struct diagnosis;

/* Creates a diagnosis of members >= PAIRING_LEAST at a resolution of `resolve`, such as 0.05. Round trips are judged at
 * ROUND_TRIP_RESOLVE if that is more, since those of healthy members differ by where they stand in the network. */
#define ROUND_TRIP_RESOLVE 0.5
struct diagnosis *diagnosis_create(int members, double resolve);
void diagnosis_destroy(struct diagnosis *diagnosis); /* NULL is fine */

/* Returns the partners[members] of the next round (-1: rests), valid until diagnosis_destroy; NULL: all series are
 * decided, and further pairings would tell no more. late 1: time is short (half of it is over, say), so suspects are
 * paired even if series of the ring are undecided. The caller may stop at any time. */
const int *diagnosis_next(struct diagnosis *diagnosis, int late);

/* Adds what the members measured in the round that diagnosis_next returned last: times[members]. */
void diagnosis_add(struct diagnosis *diagnosis, const struct member_times *times);

/* The course of the search so far. */
struct diagnosis_progress {
    size_t rounds;                                  /* measured */
    int pairings, ring;                             /* different pairings, of which `ring` are of the ring */
    size_t series, undecided;                       /* undecided: as of the last complete repetition of each pairing */
    size_t messages, round_trips, products, copies; /* undecided series of each sort */
};
struct diagnosis_progress diagnosis_progress(const struct diagnosis *diagnosis);

/* Returns the partner of a member in a pairing (0 <= pairing < diagnosis_progress().pairings); -1: it rests, or both
 * were paired earlier. */
int diagnosis_partner(const struct diagnosis *diagnosis, int pairing, int member);

/* Returns the faults that explain the slow series, by member; *n is their number. The caller frees the array. */
struct fault *diagnosis_faults(const struct diagnosis *diagnosis, size_t *n);

/* Returns the state of a member: slow if it is at fault (both members are for a pair's fault); undecided if one of its
 * series is, or a fault of it is open. */
enum member_state diagnosis_member(const struct diagnosis *diagnosis, const struct fault *fault, size_t n, int member);

/* Returns what a member measured, as a fault of that kind would be reported, for tables and the matrix: its messages to
 * `other` (FAULT_SENDS), other's to it (FAULT_RECEIVES), their round trips (FAULT_ROUND_TRIP), its products or copies.
 * other -1: with all its partners together. Not measured: n is 0 and the rest NAN. */
struct fault diagnosis_typical(const struct diagnosis *diagnosis, enum fault_kind kind, int member, int other);

#endif
