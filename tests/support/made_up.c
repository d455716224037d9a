/* made_up.c - timelines with known results. */
#include "tests/support/made_up.h"

#include "ddp/comm.h"

#include <string.h>

void made_up_create(struct timeline *timeline, size_t spans)
{
    size_t capacity[TIMELINE_LANES];
    for (int i = 0; i < TIMELINE_LANES; i++)
        capacity[i] = spans;
    timeline_create(timeline, capacity);
}

static struct span plain(const char *name, int index, int64_t start_ns, int64_t end_ns)
{
    return (struct span){.name = name,
                         .queued_ns = start_ns,
                         .returned_ns = end_ns,
                         .start_ns = start_ns,
                         .end_ns = end_ns,
                         .index = index};
}

void made_up_phase(struct timeline *timeline, enum step_phase phase, int64_t start_ns, int64_t end_ns)
{
    timeline_add(timeline, LANE_HOST, plain(phase_name[phase], (int)phase, start_ns, end_ns));
}

void made_up_ready(struct timeline *timeline, int tensor, int64_t ns)
{
    timeline_add(timeline, LANE_HOST, plain(ready_name, tensor, ns, ns));
}

void made_up_range(struct timeline *timeline, const char *name, int number, int64_t start_ns, int64_t end_ns)
{
    timeline_add(timeline, LANE_HOST, plain(name, number, start_ns, end_ns));
}

void made_up_operation(struct timeline *timeline, enum operation operation, const size_t sizes[SPAN_SIZES],
                       int64_t start_ns, int64_t end_ns)
{
    struct span span = plain(operation_facts[operation].name, (int)operation, start_ns, end_ns);
    memcpy(span.size, sizes, sizeof span.size);
    timeline_add(timeline, LANE_COMPUTE, span);
}

void made_up_collective(struct timeline *timeline, size_t ticket, int index, size_t elements, int64_t posted_ns,
                        int64_t completed_ns)
{
    struct collective collective = {.count = elements, .index = index};
    timeline_add(timeline, LANE_COMMUNICATION,
                 collective_span(&collective, 1, 1, (long)ticket, posted_ns - 3 * US, posted_ns, completed_ns));
}

void made_up_two_ranks(struct timeline *timeline, int rank)
{
    static const size_t linear[SPAN_SIZES] = {3, 5, 7}, arena[SPAN_SIZES] = {140};
    int64_t second = rank == 0 ? 2230 * US : 2280 * US;
    made_up_phase(timeline, PHASE_ZERO_GRAD, 1000 * US, 1010 * US);
    made_up_phase(timeline, PHASE_DATA_LOADING, 1010 * US, 1100 * US);
    made_up_operation(timeline, OPERATION_LINEAR_FORWARD, linear, 1100 * US, 1400 * US);
    made_up_phase(timeline, PHASE_FORWARD, 1100 * US, 1405 * US);
    made_up_operation(timeline, OPERATION_LINEAR_BACKWARD_WEIGHT, linear, 1410 * US, 1810 * US);
    made_up_ready(timeline, 1, 1815 * US);
    made_up_collective(timeline, 1, 0, 105, 1830 * US, 2130 * US);
    made_up_operation(timeline, OPERATION_LINEAR_BACKWARD_INPUT, linear, 1820 * US, 2220 * US);
    made_up_phase(timeline, PHASE_BACKWARD, 1405 * US, 2222 * US);
    made_up_collective(timeline, 2, 1, 35, second, 2530 * US);
    made_up_phase(timeline, PHASE_GRADIENT_SYNC, 2222 * US, 2535 * US);
    made_up_operation(timeline, OPERATION_ADAMW, arena, 2540 * US, 2690 * US);
    made_up_phase(timeline, PHASE_OPTIMIZER, 2535 * US, 2700 * US);
    made_up_phase(timeline, PHASE_LR_SCHEDULING, 2700 * US, 2900 * US);
}
