/* replay.h - replays a training step: computation on one stream, collectives in launch order on the link's stream.
 *
 * Pure: no files and no measurement. Times are seconds. Gradients become final as they do without communication, later
 * by what communication slows down. A bucket's collectives are issued when its last gradient is final, and run one
 * after the other, more slowly while computation goes on. */
#ifndef BENCH_READ_PREDICT_REPLAY_H
#define BENCH_READ_PREDICT_REPLAY_H

/* A step without communication: when, from its start, the first forward and the last backward end and each gradient is
 * final; then `update`, the time of the optimizer, and `rest`, that of all else. */
struct replay_compute {
    double forward_end, backward_end, update, rest;
    double *ready; /* [tensors], the gradient of tensor 0 is the last to be final */
    int tensors;
};

/* A bucket: its last tensor, its bytes of fp32, its share of the arena, and the times of its collectives alone: of
 * those that reduce it between all ranks or hosts, of those within hosts, of the all-gather. The stages of several
 * buckets overlap: all reductions but the first of a step take only the longer of `reduce` and `within`. */
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

/* A piece of computation, or a collective, of a bucket (-1: of none). */
enum replay_part { REPLAY_FORWARD, REPLAY_BACKWARD, REPLAY_UPDATE, REPLAY_REST, REPLAY_REDUCE, REPLAY_GATHER };
struct replay_event {
    enum replay_part part;
    int bucket;
    double seconds; /* how long it took, slowed down by what went on beside it, without waiting */
    int after;      /* of computation: the event of the collective for which it waited; -1: none */
};

/* Replays a step, in the steady state of many such steps, and fills event[5 n + 4], n being the plan's buckets, unless
 * it is NULL, in the order in which the events were issued. Computation is one stream, collectives are another; a
 * collective needs all computation before it in the list. With gathered weights the list begins with the update of the
 * step before, when no collective is in flight, and ends with the last reduction. In either case it lasts as long as a
 * step. */
struct replay_step replay(const struct replay_compute *compute, const struct replay_plan *plan,
                          struct replay_overlap overlap, struct replay_event *event);

/* Sets *to, whose `ready` has room, to *from with all times multiplied by `scale`; or, if add is 1, adds that. */
void replay_add_compute(struct replay_compute *to, const struct replay_compute *from, double scale, int add);

/* Returns when forward needs tensor t, without communication. Forward uses tensors in the reverse order of backward,
 * and is taken to spend on each the same part of its time as backward does: forward_end x (backward_end - ready[t]) /
 * b, where b, the time of the last backward, is that from the first gradient on x n / (n - 1) of n tensors, and at most
 * backward_end - forward_end (which is longer if there are several micro-batches). */
double replay_needed(const struct replay_compute *compute, int tensor);

#endif
