/* strategy_scattered.h - a strategy that uses every hook, for tests: each rank updates its part of each bucket.
 *
 * When a bucket is final, the strategy reduce-scatters the elements that divide evenly among the ranks, and all-reduces
 * the rest. Each rank updates its part and the rest. After the optimizer, all-gathers collect the weights bucket by
 * bucket in the order of the forward pass, which waits for the weights of each layer before it uses them. For fp32
 * models without clipping, one reducer at a time. */
#ifndef TESTS_SUPPORT_STRATEGY_SCATTERED_H
#define TESTS_SUPPORT_STRATEGY_SCATTERED_H

#include "ddp/strategy.h"

extern const struct strategy strategy_scattered;

/* Mistakes to inject, which matter with several ranks: parts begin one element late; the bucket of the output layer is
 * never gathered; rank 1 sends its weights from before the update. */
enum scattered_fault {
    SCATTERED_RIGHT,
    SCATTERED_OFF_BY_ONE,
    SCATTERED_NOT_GATHERED,
    SCATTERED_STALE,
    SCATTERED_FAULTS
};
extern enum scattered_fault scattered_fault;

#endif
