/* strategy_scattered.h - a strategy that uses every hook, for tests: each rank updates its part of each bucket.
 *
 * As a bucket becomes final, reduce-scatters as many elements as divide by the ranks and all-reduces the rest. Updates
 * the own part and the rest. After the optimizer, all-gathers the weights bucket by bucket in the order of the forward
 * pass, which waits for those of a part before it uses them. For models of fp32 without clipping, one reducer at a
 * time. */
#ifndef TESTS_SUPPORT_STRATEGY_SCATTERED_H
#define TESTS_SUPPORT_STRATEGY_SCATTERED_H

#include "ddp/strategy.h"

extern const struct strategy strategy_scattered;

/* Mistakes for several ranks: the own parts begin an element late; the bucket of the output is never gathered; rank 1
 * sends the weights of before the update. */
enum scattered_fault {
    SCATTERED_RIGHT,
    SCATTERED_OFF_BY_ONE,
    SCATTERED_NOT_GATHERED,
    SCATTERED_STALE,
    SCATTERED_FAULTS
};
extern enum scattered_fault scattered_fault;

#endif
