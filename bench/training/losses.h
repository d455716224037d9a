/* losses.h - do the strategies train the same model? Every block starts from the same weights and data, so all that
 * reduce the whole gradient in fp32 must find the same losses, up to the order of the sums. */
#ifndef BENCH_TRAINING_LOSSES_H
#define BENCH_TRAINING_LOSSES_H

#include "ddp/job.h"

struct losses {
    int steps;        /* of a block, the ones that are not timed included */
    int judged;       /* the first step whose loss comes after an update that moved the weights; -1 if none does */
    double *mean;     /* [steps] of the last block, over ranks */
    double *expected; /* [steps] of the first block that must agree */
    double *gathered; /* [ranks, steps] */
    int have_expected;
    double difference; /* largest relative difference so far, NAN before there were two to compare */
    double wrong;      /* the same in the judged step, where only the order of the sums may tell */
    int not_a_number;  /* a loss was NaN or infinite */
};

/* For blocks of that many steps on that many ranks; `judged` as in the struct. Release with losses_destroy. */
void losses_create(struct losses *losses, int steps, int judged, int ranks);
void losses_destroy(struct losses *losses); /* a zeroed one is fine */

/* Takes this rank's loss of each step, mine[steps], of a block. must_agree: its strategy reduces the whole gradient in
 * fp32. All ranks call it and know the same afterwards. */
void losses_add(struct losses *losses, const struct job *job, const double *mine, int must_agree);

/* Whether a gradient was reduced wrongly: the judged step differs by more than 1e-3, which no order of fp32 sums
 * explains. */
int losses_are_wrong(const struct losses *losses);

#endif
