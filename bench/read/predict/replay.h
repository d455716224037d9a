/* replay.h - replays a training step: computation on one stream, collectives in launch order on the link's stream.
 *
 * Pure: no files and no measurement. Times are seconds. Gradients become final when they do without communication, plus
 * the time by which communication slows computation. A bucket's collectives are issued when its last gradient is final,
 * and run one after the other, more slowly while computation goes on. */
#ifndef BENCH_READ_PREDICT_REPLAY_H
#define BENCH_READ_PREDICT_REPLAY_H

#include "results/step_profile.h"

/* A bucket: its last tensor, its bytes of fp32, its share of the arena, and the times of its collectives alone:
 * `reduce` between all ranks or hosts, `within` hosts, and `gather`, the all-gather. The stages of several buckets
 * overlap: after the first reduction of a step, a reduction takes only the longer of `reduce` and `within`. */
struct replay_bucket {
    int last_tensor;
    double bytes, share, reduce, within, gather;
};

/* How computation and communication hinder each other while both go on: computation takes (1 + slowdown) times as long,
 * and a collective has `progress` times its speed alone, from above 0 to 1. */
struct replay_overlap {
    double slowdown, progress;
};

/* What a strategy does with buckets. */
struct replay_plan {
    struct replay_bucket *bucket; /* [n], in the order in which backward completes them */
    int n;
    int after_backward;  /* 1: collectives start when backward has ended */
    int updates_early;   /* 1: a bucket's weights are updated as soon as its sum is there */
    int shards;          /* 1: buckets are gathered after the update of their range, for the next forward */
    double update_share; /* the part of the update that a rank does: 1, or 1 / ranks */
    double gather_share; /* bytes of an all-gather / bytes of its bucket; 1, unless weights are sent as bfloat16 */
};

struct replay_step {
    double step;          /* seconds of the whole step */
    double exposed;       /* time in which computation waits for reductions, after backward */
    double gather_wait;   /* time in which the forward waits for gathered weights */
    double slowed;        /* time by which communication slows computation down */
    double communication; /* sum of the collectives' times */
    double hidden;        /* time in which computation and communication both go on */
    int events;           /* number of events */
};

/* An event: a piece of computation, or a collective. */
enum replay_part { REPLAY_FORWARD, REPLAY_BACKWARD, REPLAY_UPDATE, REPLAY_REST, REPLAY_REDUCE, REPLAY_GATHER };
struct replay_event {
    enum replay_part part;
    int bucket;     /* -1: none */
    double seconds; /* how long it took, slowed down by what went on beside it, without waiting */
    int after;      /* for computation: the event of the collective for which it waited; -1: none */
};

/* Replays a step, in the steady state of many such steps. Fills event[5 n + 4] (n: number of the plan's buckets),
 * unless it is NULL, in the order in which the events were issued. Computation is one stream, collectives are another;
 * a collective depends on all computation before it in the list. If weights are gathered, the list begins with the
 * update of the step before, when no collective is in flight, and ends with the last reduction. It covers one step. */
struct replay_step replay(const struct step_compute *compute, const struct replay_plan *plan,
                          struct replay_overlap overlap, struct replay_event *event);

/* Returns when forward needs tensor t, without communication. Forward uses tensors in the reverse order of backward,
 * and is assumed to spend the same part of its time on each: forward_end x (backward_end - ready[t]) / b. Here b is the
 * time of the last backward: with n tensors, the time from the first final gradient on x n / (n - 1), and at most
 * backward_end - forward_end (which is longer if there are several micro-batches). */
double replay_needed(const struct step_compute *compute, int tensor);

#endif
