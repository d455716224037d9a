/* made_up_profile.h - a profile's controls for tests: rows, bucket plans, and measurements whose times are 0. */
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

/* A profile and its controls. Must not be copied: members point to each other. */
struct made_up_profile {
    struct implementation row[PROFILE_ROWS];
    struct bucket bucket[PROFILE_BUCKETS];
    struct owned_range all;
    struct model model;
    struct reducer reducer[PROFILE_ROWS];
    struct measurements measurements;
    struct attainable *attainable;
    struct controls controls;
};

/* Creates the controls of a profile of a strategy on `ranks` ranks, with PROFILE_ROUNDS rounds of times equal to 0. */
void made_up_profile_create(struct made_up_profile *profile, int ranks, const struct strategy *strategy);
void made_up_profile_destroy(struct made_up_profile *profile);

#endif
