/* correct.c - checks every collective, without timing it. */
#include "allreduce/allreduce.h"

#include <stdio.h>

static const size_t message_bytes[] = {1 << 10, 100 << 10, 3 << 20};
enum { MESSAGES = sizeof message_bytes / sizeof *message_bytes };

/* Checks the collectives of one kind. */
static void check_kind(struct endpoint *e, enum comm_kind kind, struct collectives_check *check)
{
    const struct collective_choice choice = {
        .kind = kind, .dtypes = (1u << COMM_DTYPES) - 1, .ops = (1u << COMM_OPS) - 1, .root = (size_t)e->job->size - 1};
    size_t n;
    struct collective_timing *timing = timing_create(&choice, message_bytes, MESSAGES, e->job->size, 0, &n);
    for (struct collective_timing *t = timing; t < timing + n; t++) {
        timing_check(e, BLOCKING_YIELDS, t, 1);
        job_sum(e->job, &t->wrong, 1);
        if (t->wrong > 0 && !*check->first)
            timing_words(t, check->first);
        check->wrong += t->wrong;
    }
    check->collectives += n;
    timing_destroy(timing, n);
}

int allreduce_check(const struct job *job, const struct device *device, const struct comm_options *options,
                    struct collectives_check *check)
{
    enum { LONGEST_ELEMENT = 8 }; /* in bytes; each rank has one at least */
    struct endpoint endpoint;
    *check = (struct collectives_check){0};
    int status = endpoint_create(&endpoint, job, device, options,
                                 message_bytes[MESSAGES - 1] + LONGEST_ELEMENT * (size_t)job->size);
    if (!status)
        snprintf(check->comm, sizeof check->comm, "%s", endpoint.comm->name);
    for (int kind = 0; kind <= COMM_BROADCAST && !status; kind++)
        check_kind(&endpoint, (enum comm_kind)kind, check);
    endpoint_destroy(&endpoint);
    return status;
}
