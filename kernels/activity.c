/* activity.c - stores and sorts a tracer's records, and finds the event that each wait refers to. */
#include "kernels/activity.h"

#include "kernels/error.h"

#include <stdlib.h>
#include <string.h>

void activities_create(struct activities *a, size_t capacity, size_t mark_capacity)
{
    *a = (struct activities){.capacity = capacity, .mark_capacity = mark_capacity};
    a->of = allocate(capacity, sizeof *a->of);
    a->mark = allocate(mark_capacity, sizeof *a->mark);
    memset(a->of, 1, capacity * sizeof *a->of); /* touches the memory, so that page faults happen now, not in a step */
    memset(a->mark, 1, mark_capacity * sizeof *a->mark);
}

void activities_destroy(struct activities *a)
{
    free(a->of);
    free(a->mark);
    memset(a, 0, sizeof *a);
}

struct activities_mark activities_mark(const struct activities *a)
{
    return (struct activities_mark){a->n, a->marks};
}

void activities_rewind(struct activities *a, const struct activities_mark *mark)
{
    a->n = mark->n;
    a->marks = mark->marks;
}

void activities_add(struct activities *a, const struct activity *activity)
{
    if (activity->start_ns <= 0 || activity->end_ns < activity->start_ns)
        a->untimed += (size_t)activity_on_gpu(activity->kind);
    else if (a->n == a->capacity)
        a->dropped++;
    else
        a->of[a->n++] = *activity;
}

void activities_add_mark(struct activities *a, const struct activity_mark *mark)
{
    if (a->marks == a->mark_capacity)
        a->dropped++;
    else
        a->mark[a->marks++] = *mark;
}

/* Compares by start time; the longer record comes first if two start together. */
static int by_time(const void *a, const void *b)
{
    const struct activity *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static int by_event(const void *a, const void *b)
{
    const struct activity_mark *x = a, *y = b;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

/* Tests whether a wait comes before `mark` in the order of by_event (context, event, correlation). */
static int is_before(const struct activity *wait, const struct activity_mark *mark)
{
    if (mark->context != wait->context)
        return wait->context < mark->context;
    if (mark->event != wait->wait.event)
        return wait->wait.event < mark->event;
    return wait->correlation < mark->correlation;
}

/* Returns the event that a wait refers to; NULL if it was recorded before tracing began, or its mark was dropped. */
static const struct activity_mark *find_mark(const struct activities *a, const struct activity *wait)
{
    size_t low = 0, high = a->marks; /* no mark before `low` comes after the wait */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(wait, &a->mark[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    const struct activity_mark *last = low > 0 ? &a->mark[low - 1] : NULL;
    return last && last->context == wait->context && last->event == wait->wait.event ? last : NULL;
}

/* A call that records an event, and the call's correlation number. */
struct marking {
    uint32_t correlation;
    struct activity *call;
};

static int by_correlation(const void *a, const void *b)
{
    const struct marking *x = a, *y = b;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static size_t find_markings(struct activities *a, struct marking *marking)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        if (a->of[i].kind == ACTIVITY_CALL && a->of[i].call.marks)
            marking[n++] = (struct marking){a->of[i].correlation, &a->of[i]};
    qsort(marking, n, sizeof *marking, by_correlation);
    return n;
}

void activities_settle(struct activities *a)
{
    struct marking *marking = allocate(a->n + 1, sizeof *marking);
    qsort(a->of, a->n, sizeof *a->of, by_time);
    qsort(a->mark, a->marks, sizeof *a->mark, by_event);
    size_t markings = find_markings(a, marking);
    for (size_t i = 0; i < a->n; i++) {
        struct activity *wait = &a->of[i];
        const struct activity_mark *mark;
        if (wait->kind != ACTIVITY_WAIT || wait->wait.event == ACTIVITY_NONE || !(mark = find_mark(a, wait)))
            continue;
        wait->wait.stream = mark->stream;
        wait->wait.correlation = mark->correlation;
        struct marking key = {mark->correlation, NULL};
        struct marking *made = bsearch(&key, marking, markings, sizeof *marking, by_correlation);
        if (made)
            made->call->call.waited = 1;
    }
    free(marking);
}
