/* gradient_error.h - how far a reduced gradient is from the exact sum of the ranks' gradients. */
#ifndef DDP_GRADIENT_ERROR_H
#define DDP_GRADIENT_ERROR_H

#include "ddp/job.h"
#include "ddp/reducer.h"

/* Returns the relative L2 distance of the reduced gradient r from s, the sum over the ranks of local[arena], in fp64:
 * sqrt(sum of (r - s)^2 / sum of s^2), where both sums are over the owned ranges of all ranks; not finite if every s
 * is 0. If there are more than 2^20 parameters, the sums take only the beginning of each quarter of each tensor, always
 * the same share of it and about 2^20 numbers together, because s is summed over a link that may be slow. local: this
 * rank's gradient before the reduction, in the device's memory. Call it after reducer_finish, while no collective is in
 * flight. All ranks call it, and get the same result. */
double gradient_error(const struct reducer *reducer, const struct job *job, const float *local);

#endif
