/* trained.h - what a run of the benchmark shows about its steps: computation, collectives alone, and step times. */
#ifndef BENCH_READ_PREDICT_TRAINED_H
#define BENCH_READ_PREDICT_TRAINED_H

#include "ddp/plan.h"
#include "ddp/strategy.h"
#include "predict/replay.h"
#include "results/busy.h"

#include <stddef.h>

/* An implementation of the run: `none`, or one that sums all gradients once a step, in fp32. */
struct trained_row {
    char label[128];
    const struct strategy *strategy; /* NULL: `none` */
    enum variant variant;
    struct replay_plan plan; /* recorded buckets; plan.bucket[rounds, plan.n]: times alone of the slowest rank */
    double *step;            /* [rounds] step of the slowest rank */
    double *computing;       /* [rounds] forward and backward, mean over ranks */
    /* ---- set by points_replay ---- */
    double measured, replayed, error; /* step, geometric means over the rounds; replayed / measured - 1 */
};

struct trained {
    size_t ranks, rows;
    struct step_profile profile; /* the steps are rounds of `none`: each time is that of the slowest rank */
    double gather_share;         /* bytes of gathered weights / bytes of fp32: 1, or 0.5 with --dtype bf16 */
    cJSON *settings;             /* what decides how much a rank computes: trained_settings */
    struct busy busy;            /* what other processes used meanwhile */
    double spread; /* standard deviation over ranks of the logarithm of a step of `none`; NAN: one rank was traced */
    char *traced;  /* owned: what a user's file was, and what was assumed; NULL: a run of the benchmark */
    struct trained_row *row; /* [rows + 1], owned; row[rows] is `none` */
};

/* Returns the settings of a run.json, by name (null: lacking), that decide how much a rank computes. Caller owns it. */
cJSON *trained_settings(const cJSON *run);

/* Reads a finished run of the benchmark that had --attainable, `none` and another implementation. A round's times are
 * multiplied by a ratio, since ranks that synchronise wait for the slowest one in every step: the mean over steps of
 * the slowest rank's step / the slowest rank's mean step. Returns 0; or -1, reported. Release it in any case. */
int trained_read(struct trained *trained, const char *directory);

/* Reads a trace (import.h) in place of a run. Its steps are the rounds. `none` has the computation of the traced rank,
 * although communication went on beside it; the other row has the trace's own all-reduces, if the trace has their
 * times. Returns 0; or -1, reported. Release it in any case. */
int trained_import(struct trained *trained, const char *files);
void trained_destroy(struct trained *trained);

/* Cuts the model into buckets for a strategy's variant; sets all but their times. The caller frees plan.bucket. */
struct replay_plan trained_cut(const struct trained *trained, const struct strategy *strategy, enum variant variant,
                               const struct bucket_caps *caps, size_t ranks);

#endif
