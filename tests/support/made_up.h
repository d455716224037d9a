/* made_up.h - timelines with known answers, put down span by span as a run would have recorded them. */
#ifndef TESTS_SUPPORT_MADE_UP_H
#define TESTS_SUPPORT_MADE_UP_H

#include "ddp/step.h"
#include "kernels/operations.h"

enum { US = 1000 }; /* nanoseconds */

/* Room for `spans` spans on each lane. */
void made_up_create(struct timeline *timeline, size_t spans);

/* One span in the timeline's current step; times in nanoseconds. */
void made_up_phase(struct timeline *timeline, enum step_phase phase, int64_t start_ns, int64_t end_ns);
void made_up_ready(struct timeline *timeline, int tensor, int64_t ns);
void made_up_range(struct timeline *timeline, const char *name, int number, int64_t start_ns, int64_t end_ns);
void made_up_operation(struct timeline *timeline, enum operation operation, const size_t sizes[SPAN_SIZES],
                       int64_t start_ns, int64_t end_ns);
void made_up_collective(struct timeline *timeline, size_t ticket, int index, size_t elements, int64_t posted_ns,
                        int64_t completed_ns); /* fp32, queued 3 us before */

/* A step of one of two ranks from 1000 us to 2900 us, into an empty timeline: four operations, two collectives in
 * flight for 600 us on rank 0 and 550 us on rank 1, of which 300 us and 250 us are exposed, since rank 1 posts its
 * second one 50 us later; both end at 2530 us, 308 us after backward, while gradient_sync goes on from 2222 to 2535. */
void made_up_two_ranks(struct timeline *timeline, int rank);

#endif
