/* made_up_profile.h - controls of a profile with known ratios: rows, plans and measurements. */
#ifndef TESTS_SUPPORT_MADE_UP_PROFILE_H
#define TESTS_SUPPORT_MADE_UP_PROFILE_H

#include "profile/controls.h"

enum {
    PROFILE_ROUNDS = 7,
    PROFILE_ROOM = 9,
    PROFILE_TENSORS = 5,
    PROFILE_TIMED = 2,
    PROFILE_BUCKETS = 3,
    PROFILE_ROWS = 4
};

/* The parts point at each other: not to be copied. */
struct made_up_profile {
    struct implementation row[PROFILE_ROWS];
    struct bucket bucket[PROFILE_BUCKETS];
    struct reducer reducer[PROFILE_ROWS];
    struct measurements measurements;
    struct attainable *attainable;
    struct controls controls;
};

/* The rows that a profile of that strategy has. PROFILE_ROUNDS rounds, in room for more that hold NAN. A step takes 100
 * ms, without tracing 80, with its collectives after backward 120, and that of `none` 50, of which 40 are backward; 1 %
 * more in each round than in the one before. Operations run in 60 ms of it, in 50 of `none`; collectives alone take 30
 * ms, and 1.5 times as long beside the step. */
void made_up_profile_create(struct made_up_profile *profile, int ranks, const struct strategy *strategy);
void made_up_profile_destroy(struct made_up_profile *profile);

/* A figure in the middle round, which is the median too. */
double made_up_median(double first);

/* Fails a test unless that says nothing: n = 0 and NAN. */
void check_no_estimate(const struct estimate *estimate, const char *what);

/* Fails a test unless there are all rounds of it, and that median; or that ratio in every round. */
void check_estimate(const struct estimate *estimate, double median, const char *what);
void check_ratio(const struct estimate *estimate, double ratio, const char *what);

#endif
