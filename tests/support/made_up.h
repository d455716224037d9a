/* made_up.h - timelines with known results, recorded span by span as in a run. */
#ifndef TESTS_SUPPORT_MADE_UP_H
#define TESTS_SUPPORT_MADE_UP_H

#include "ddp/step.h"
#include "kernels/operations.h"

enum { US = 1000 }; /* nanoseconds in a microsecond */

/* Creates a timeline with capacity for `spans` spans per lane. */
void made_up_create(struct timeline *timeline, size_t spans);

/* Add a span to the current step; times in nanoseconds. */
void made_up_phase(struct timeline *timeline, enum step_phase phase, int64_t start_ns, int64_t end_ns);
void made_up_ready(struct timeline *timeline, int tensor, int64_t ns);
void made_up_range(struct timeline *timeline, const char *name, int number, int64_t start_ns, int64_t end_ns);
void made_up_operation(struct timeline *timeline, enum operation operation, const size_t sizes[SPAN_SIZES],
                       int64_t start_ns, int64_t end_ns);
void made_up_collective(struct timeline *timeline, size_t ticket, int index, size_t elements, int64_t posted_ns,
                        int64_t completed_ns); /* `elements` of fp32; queued 3 us before posted_ns */

/* Records a step of one of two ranks, from 1000 us to 2900 us, in an empty timeline: four operations, and two
 * collectives in flight for 600 us (300 us exposed) on rank 0 and 550 us (250 us exposed) on rank 1, which posts its
 * second collective 50 us later. On both ranks the second collective ends at 2530 us, 308 us after backward;
 * gradient_sync lasts from 2222 to 2535 us. */
void made_up_two_ranks(struct timeline *timeline, int rank);

#endif
