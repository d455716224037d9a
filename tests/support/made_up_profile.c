/* made_up_profile.c - creates a profile's controls, whose measured times are 0. */
#include "tests/support/made_up_profile.h"

#include "profile/profile.h"

#include <check.h>
#include <stdio.h>

void made_up_profile_create(struct made_up_profile *p, int ranks, const struct strategy *strategy)
{
    *p = (struct made_up_profile){
        .bucket = {{0, 10, 3, 2}, {10, 20, 1, 2}, {30, 5, 0, 1}}, .all.count = 35, .model.arena = 35};
    struct training_options training = {.workload = {.strategies = {.n = 1, .item = {{.strategy = strategy}}},
                                                     .bucket_sizes = {.n = 1, .automatic = 1},
                                                     .wire_dtypes = 1u << COMM_FLOAT32}};
    struct named_strategy *item = training.workload.strategies.item;
    snprintf(item->label, sizeof item->label, "%s", strategy->name);
    ck_assert_int_eq(profile_rows_make(&training), 0);
    ck_assert_int_le(training.n, PROFILE_ROWS);
    for (int i = 0; i < training.n; i++) {
        const struct strategy *row = training.implementation[i].strategy;
        p->row[i] = training.implementation[i];
        p->reducer[i] = (struct reducer){.strategy = row,
                                         .traits = row->traits[VARIANT_PLAIN],
                                         .model = &p->model,
                                         .plan = {row->plan == plan_whole ? 1 : PROFILE_BUCKETS, p->bucket},
                                         .owned = &p->all,
                                         .ranges = 1};
    }
    measurements_create(&p->measurements, training.n, PROFILE_ROOM);
    p->measurements.rounds = PROFILE_ROUNDS;
    p->attainable = attainable_create(p->reducer, training.n, PROFILE_TENSORS, PROFILE_TIMED, PROFILE_ROOM);
    p->controls = (struct controls){.rows = profile_rows_find(p->row, training.n, 0),
                                    .communicates = ranks > 1 && strategy->traits[VARIANT_PLAIN]->reduces,
                                    .attainable_of = p->attainable};
    controls_create(&p->controls, PROFILE_ROOM);
}

void made_up_profile_destroy(struct made_up_profile *p)
{
    controls_destroy(&p->controls);
    attainable_destroy(p->attainable);
    measurements_destroy(&p->measurements);
}
