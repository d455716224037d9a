/* diagnosis.h - which members of a job are slow, and in what, from the times of pairs. Pure functions, for rank 0.
 * Members are the hosts of a job, or its ranks, numbered from 0. In an array partner[members], partner[partner[m]] ==
 * m; -1: m rests.
 *
 * The search is a loop: diagnosis_next says who is paired with whom in the next round, the members measure, and
 * diagnosis_add takes what they measured. In a round all pairs send a message in one direction, then in the other, each
 * sender timing its own; they time round trips of a few bytes; and every member times the same matrix product and the
 * same copy in memory.
 *
 * First, the rounds of the ring (ddp/links.h) are repeated; a repetition runs each of them once. Each time is divided
 * by the median of the times of its sort in its round, so that what slows all members equally cancels. A series is the
 * ratios of one directed pair (messages), one pair (round trips) or one member (products, copies) over the repetitions.
 * It is slow once its median is above 1 + resolve / 2, healthy once it is below 1 + resolve, and until then undecided
 * (isolate/ratios.h), at a level that allows for all series (Bonferroni): in a job without faults the probability of
 * any false alarm is at most 5 %.
 *
 * Suspects are both members of each slow message or round trip of the ring. They are then paired, up to twice each,
 * with members far away that are not suspected. These pairings are repeated in the same way; products and copies are
 * not judged in them.
 *
 * Faults: a member sends slowly if, among its messages to members that do not receive slowly, at least two are slow and
 * none is healthy. The rule for receiving mirrors this one. The member that explains most slow messages is taken first.
 * A slow message that no member explains is a fault of the pair; it is open as long as one of the two has undecided
 * messages and no healthy one. The same holds for round trips. A delay slows both a pair's round trips and its
 * messages. So if the round trips are slow, a slow message counts only if its excess over the median, in seconds, is
 * twice that of the round trips or more. */
#ifndef BENCH_MEASURE_ISOLATE_DIAGNOSIS_H
#define BENCH_MEASURE_ISOLATE_DIAGNOSIS_H

#include <stddef.h>

/* What one member measured in a round, in seconds; NAN: not measured. A sort that is NAN in the first repetition is not
 * judged. Products and copies are read from the rounds of the ring only. */
struct member_times {
    float send;       /* its message to its partner and the partner's answer */
    float round_trip; /* a round trip of a few bytes, typical of several; the lower of both partners' times counts */
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
    int open;                /* 1: it is not known yet whether the pair or one of its two members is at fault */
    double ratio, low, high; /* its time / the median of its peers; an interval at a family-wise 95 % */
    double seconds;          /* its median time in the ring; else in the first other pairing that measures it */
    size_t n;                /* number of ratios, or of means of several (ratios.h) */
};

enum member_state { MEMBER_HEALTHY, MEMBER_UNDECIDED, MEMBER_SLOW }; /* values of the figure member_state */

struct diagnosis;

/* The fewest members that can be told apart: with fewer, a slow member has no partner that others vouch for. */
enum { DIAGNOSIS_LEAST = 3 };

/* Creates a diagnosis of members >= DIAGNOSIS_LEAST at a resolution of `resolve`, such as 0.05. Round trips are judged
 * at ROUND_TRIP_RESOLVE if that is more, since the place in the network makes healthy members differ. */
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

/* Returns a member's partner in a pairing (of diagnosis_progress().pairings); -1: it rests, or they met earlier. */
int diagnosis_partner(const struct diagnosis *diagnosis, int pairing, int member);

/* Returns the faults that explain the slow series, by member; *n is their number. The caller frees the array. */
struct fault *diagnosis_faults(const struct diagnosis *diagnosis, size_t *n);

/* Returns the state of a member: slow if it has a fault that is not open (a pair's fault counts for both members);
 * undecided if it has an open fault or an undecided series. */
enum member_state diagnosis_member(const struct diagnosis *diagnosis, const struct fault *fault, size_t n, int member);

/* Returns what a member measured, in the form of a fault of that kind, for tables and the matrix: its messages to
 * `other` (FAULT_SENDS), messages from `other` (FAULT_RECEIVES), round trips of both (FAULT_ROUND_TRIP), its products
 * or its copies. other -1: all its partners together. Not measured: n is 0 and the rest NAN. */
struct fault diagnosis_typical(const struct diagnosis *diagnosis, enum fault_kind kind, int member, int other);

#endif
