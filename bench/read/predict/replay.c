/* replay.c - replays a training step from when gradients are final and how long collectives take. */
#include "predict/replay.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* The time, and the collectives issued so far: of them, the first `done` are complete. */
struct state {
    double now;
    struct replay_overlap overlap;
    double *remaining; /* [n] seconds that each collective still takes without computation */
    int n, done;
    struct replay_step *result;
};

/* Computes for so many seconds, longer while a collective is in flight. */
static void compute_for(struct state *s, double seconds)
{
    const struct replay_overlap *o = &s->overlap;
    while (seconds > 0 && s->done < s->n) {
        double both = s->remaining[s->done] / o->progress, longer = seconds * (1 + o->slowdown);
        int ends = both <= longer;
        both = fmin(both, longer);
        s->now += both;
        s->result->hidden += both;
        s->result->slowed += both * o->slowdown / (1 + o->slowdown);
        s->remaining[s->done] -= both * o->progress;
        s->done += ends;
        seconds = ends ? seconds - both / (1 + o->slowdown) : 0;
    }
    s->now += fmax(0, seconds);
}

/* Waits until the first n collectives are complete. Returns the seconds that computation stands still. */
static double wait_for(struct state *s, int n)
{
    double start = s->now;
    for (; s->done < n; s->done++)
        s->now += s->remaining[s->done];
    return s->now - start;
}

/* Issues a collective of so many seconds. Returns the number of those issued, for wait_for. */
static int issue(struct state *s, double seconds)
{
    s->remaining[s->n] = seconds;
    s->result->communication += seconds;
    return ++s->n;
}

static int issue_reduction(struct state *s, const struct replay_bucket *b, int is_first)
{
    return issue(s, is_first ? b->reduce + b->within : fmax(b->reduce, b->within));
}

void replay_add_compute(struct replay_compute *to, const struct replay_compute *from, double scale, int add)
{
    to->tensors = from->tensors;
    to->forward_end = add * to->forward_end + scale * from->forward_end;
    to->backward_end = add * to->backward_end + scale * from->backward_end;
    to->update = add * to->update + scale * from->update;
    to->rest = add * to->rest + scale * from->rest;
    for (int i = 0; i < from->tensors; i++)
        to->ready[i] = add * to->ready[i] + scale * from->ready[i];
}

double replay_needed(const struct replay_compute *c, int tensor)
{
    double n = c->tensors, after_first = c->backward_end - c->ready[c->tensors - 1];
    double backward = fmin(c->backward_end - c->forward_end, n > 1 ? after_first * n / (n - 1) : INFINITY);
    return backward > 0 ? c->forward_end * fmin(1, fmax(0, (c->backward_end - c->ready[tensor]) / backward)) : 0;
}

/* The forward: waits before each bucket's first tensor until its weights are gathered. */
static void replay_forward(struct state *s, const struct replay_compute *c, const struct replay_plan *plan,
                           const int *gathered)
{
    double done = 0;
    for (int b = plan->n - 1; b >= 0 && plan->shards; b--) {
        double needed = fmax(done, replay_needed(c, plan->bucket[b].last_tensor));
        compute_for(s, needed - done);
        s->result->gather_wait += wait_for(s, gathered[b]);
        done = needed;
    }
    compute_for(s, c->forward_end - done);
}

/* Backward: starts the reduction of each bucket when its last gradient is final. With early updates, also updates the
 * buckets whose sums are there; all others remain, and *updated is the number of those updated. */
static void replay_backward(struct state *s, const struct replay_compute *c, const struct replay_plan *plan,
                            int *reduced, int *updated)
{
    double done = c->forward_end;
    for (int b = 0; b < plan->n; b++) {
        double ready = fmax(done, c->ready[plan->bucket[b].last_tensor]);
        compute_for(s, ready - done);
        done = ready;
        if (plan->after_backward)
            continue;
        reduced[b] = issue_reduction(s, &plan->bucket[b], !b);
        for (; plan->updates_early && *updated < b && reduced[*updated] <= s->done; ++*updated)
            compute_for(s, c->update * plan->bucket[*updated].share);
    }
    compute_for(s, c->backward_end - done);
    for (int b = 0; b < plan->n && plan->after_backward; b++)
        reduced[b] = issue_reduction(s, &plan->bucket[b], !b);
}

/* The optimizer: waits for the sums, updates, and starts to gather what this rank does not update. */
static void replay_update(struct state *s, const struct replay_compute *c, const struct replay_plan *plan,
                          const int *reduced, int updated, int *gathered)
{
    for (int b = updated; b < plan->n; b++) {
        s->result->exposed += wait_for(s, reduced[b]);
        if (plan->updates_early)
            compute_for(s, c->update * plan->bucket[b].share);
    }
    if (!plan->shards && !plan->updates_early)
        compute_for(s, c->update * plan->update_share);
    for (int b = plan->n - 1; b >= 0 && plan->shards; b--) {
        compute_for(s, c->update * plan->update_share * plan->bucket[b].share);
        gathered[b] = issue(s, plan->bucket[b].gather);
    }
}

struct replay_step replay(const struct replay_compute *compute, const struct replay_plan *plan,
                          struct replay_overlap overlap)
{
    enum { STEADY = 2 }; /* gathers last into the next step: the second step is like all later ones */
    size_t n = (size_t)plan->n;
    struct replay_step step = {0};
    struct state s = {.overlap = overlap, .remaining = allocate(2 * STEADY * n + 1, sizeof *s.remaining)};
    int *reduced = allocate(2 * n + 1, sizeof *reduced), *gathered = reduced + n;
    for (int steps = plan->shards ? STEADY : 1; steps; steps--) {
        double start = s.now;
        int updated = 0;
        step = (struct replay_step){0};
        s.result = &step;
        replay_forward(&s, compute, plan, gathered);
        replay_backward(&s, compute, plan, reduced, &updated);
        replay_update(&s, compute, plan, reduced, updated, gathered);
        compute_for(&s, compute->rest);
        step.step = s.now - start;
    }
    free(s.remaining);
    free(reduced);
    return step;
}
