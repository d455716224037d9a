/* replay.c - replays a training step from when gradients are final and how long collectives take. */
#include "predict/replay.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* A collective that was issued: its remaining seconds if nothing is computed, when it was issued, and its event. */
struct flight {
    double remaining, issued;
    int event;
};

/* The time, and the collectives issued so far, of which the first `done` are complete. */
struct state {
    double now, freed; /* freed: when the last collective was complete */
    struct replay_overlap overlap;
    struct flight *flight; /* [n] */
    int n, done;
    struct replay_step *result;
    struct replay_event *event;  /* [events] */
    int events, records, waited; /* records: whether to append events; waited: the event for which computation waited */
};

/* Appends an event, if they are recorded. Returns its index; -1: they are not. */
static int record(struct state *s, enum replay_part part, int bucket, double seconds, int after)
{
    if (!s->records)
        return -1;
    s->event[s->events] = (struct replay_event){part, bucket, seconds, after};
    return s->events++;
}

/* Completes the first collective in flight. */
static void complete(struct state *s)
{
    const struct flight *f = &s->flight[s->done++];
    if (s->event && f->event >= 0)
        s->event[f->event].seconds = s->now - fmax(f->issued, s->freed);
    s->freed = s->now;
}

/* Computes for so many seconds, longer while a collective is in flight. */
static void compute_for(struct state *s, enum replay_part part, int bucket, double seconds)
{
    const struct replay_overlap *o = &s->overlap;
    double start = s->now;
    while (seconds > 0 && s->done < s->n) {
        double *remaining = &s->flight[s->done].remaining;
        double both = *remaining / o->progress, longer = seconds * (1 + o->slowdown);
        int ends = both <= longer;
        both = fmin(both, longer);
        s->now += both;
        s->result->hidden += both;
        s->result->slowed += both * o->slowdown / (1 + o->slowdown);
        *remaining -= both * o->progress;
        seconds = ends ? seconds - both / (1 + o->slowdown) : 0;
        if (ends)
            complete(s);
    }
    s->now += fmax(0, seconds);
    record(s, part, bucket, s->now - start, s->waited);
    s->waited = -1;
}

/* Waits until the first n collectives are complete. Returns the seconds that computation stands still. */
static double wait_for(struct state *s, int n)
{
    double start = s->now;
    while (s->done < n) {
        s->now += s->flight[s->done].remaining;
        complete(s);
    }
    s->waited = n ? s->flight[n - 1].event : -1;
    return s->now - start;
}

/* Issues a collective of so many seconds. Returns how many are issued now, for wait_for. */
static int issue(struct state *s, enum replay_part part, int bucket, double seconds)
{
    s->flight[s->n] = (struct flight){seconds, s->now, record(s, part, bucket, 0, -1)};
    s->result->communication += seconds;
    return ++s->n;
}

static int issue_reduction(struct state *s, const struct replay_plan *plan, int b)
{
    const struct replay_bucket *bucket = &plan->bucket[b];
    return issue(s, REPLAY_REDUCE, b, b ? fmax(bucket->reduce, bucket->within) : bucket->reduce + bucket->within);
}

double replay_needed(const struct step_compute *c, int tensor)
{
    double n = c->tensors, after_first = c->backward_end - c->ready[c->tensors - 1];
    double backward = fmin(c->backward_end - c->forward_end, n > 1 ? after_first * n / (n - 1) : INFINITY);
    return backward > 0 ? c->forward_end * fmin(1, fmax(0, (c->backward_end - c->ready[tensor]) / backward)) : 0;
}

/* The forward: waits before each bucket's first tensor until its weights are gathered. */
static void replay_forward(struct state *s, const struct step_compute *c, const struct replay_plan *plan,
                           const int *gathered)
{
    double done = 0;
    for (int b = plan->n - 1; b >= 0 && plan->shards; b--) {
        double needed = fmax(done, replay_needed(c, plan->bucket[b].last_tensor));
        compute_for(s, REPLAY_FORWARD, b + 1 < plan->n ? b + 1 : -1, needed - done);
        s->result->gather_wait += wait_for(s, gathered[b]);
        done = needed;
    }
    compute_for(s, REPLAY_FORWARD, plan->shards && plan->n ? 0 : -1, c->forward_end - done);
}

/* Backward: starts the reduction of each bucket when its last gradient is final. With early updates, also updates the
 * buckets whose sums are there, and increments *updated for each. */
static void replay_backward(struct state *s, const struct step_compute *c, const struct replay_plan *plan, int *reduced,
                            int *updated)
{
    double done = c->forward_end;
    for (int b = 0; b < plan->n; b++) {
        double ready = fmax(done, c->ready[plan->bucket[b].last_tensor]);
        compute_for(s, REPLAY_BACKWARD, b, ready - done);
        done = ready;
        if (plan->after_backward)
            continue;
        reduced[b] = issue_reduction(s, plan, b);
        for (; plan->updates_early && *updated < b && reduced[*updated] <= s->done; ++*updated) {
            wait_for(s, reduced[*updated]);
            compute_for(s, REPLAY_UPDATE, *updated, c->update * plan->bucket[*updated].share);
        }
    }
    compute_for(s, REPLAY_BACKWARD, -1, c->backward_end - done);
    for (int b = 0; b < plan->n && plan->after_backward; b++)
        reduced[b] = issue_reduction(s, plan, b);
}

/* The optimizer: waits for the sums, updates, and starts to gather what this rank does not update. */
static void replay_update(struct state *s, const struct step_compute *c, const struct replay_plan *plan,
                          const int *reduced, int updated, int *gathered)
{
    for (int b = updated; b < plan->n; b++) {
        s->result->exposed += wait_for(s, reduced[b]);
        if (plan->updates_early)
            compute_for(s, REPLAY_UPDATE, b, c->update * plan->bucket[b].share);
    }
    if (plan->shards)
        s->records = s->event && !s->events; /* from the first update to the next one */
    if (!plan->shards && !plan->updates_early)
        compute_for(s, REPLAY_UPDATE, -1, c->update * plan->update_share);
    for (int b = plan->n - 1; b >= 0 && plan->shards; b--) {
        compute_for(s, REPLAY_UPDATE, b, c->update * plan->update_share * plan->bucket[b].share);
        gathered[b] = issue(s, REPLAY_GATHER, b, plan->bucket[b].gather);
    }
}

struct replay_step replay(const struct step_compute *compute, const struct replay_plan *plan,
                          struct replay_overlap overlap, struct replay_event *event)
{
    enum { STEADY = 2 }; /* all-gathers reach into the next step, so the second step is like all later ones */
    size_t n = (size_t)plan->n;
    struct replay_step step = {0};
    struct state s = {.overlap = overlap,
                      .flight = allocate(2 * STEADY * n + 1, sizeof *s.flight),
                      .event = event,
                      .records = event && !plan->shards,
                      .waited = -1};
    int *reduced = allocate(2 * n + 1, sizeof *reduced), *gathered = reduced + n;
    for (int steps = plan->shards ? STEADY : 1; steps; steps--) {
        double start = s.now;
        int updated = 0;
        step = (struct replay_step){0};
        s.result = &step;
        replay_forward(&s, compute, plan, gathered);
        replay_backward(&s, compute, plan, reduced, &updated);
        replay_update(&s, compute, plan, reduced, updated, gathered);
        compute_for(&s, REPLAY_REST, -1, compute->rest);
        step.step = s.now - start;
    }
    step.events = s.events;
    free(s.flight);
    free(reduced);
    return step;
}
