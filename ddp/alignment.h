/* alignment.h - one clock for all ranks: what a rank's clock shows, in rank 0's time.
 *
 * Each rank compares its clock with rank 0's before and after the run (job_compare_clocks), and in between the offset
 * is taken to change evenly, as it does when two crystals differ in frequency.
 * Source: Cristian, Probabilistic Clock Synchronization, Distributed Computing 3 (1989) 146-158. */
#ifndef DDP_ALIGNMENT_H
#define DDP_ALIGNMENT_H

#include <stdint.h>

struct clock_sample {
    int64_t at_ns;       /* of this rank's clock */
    int64_t offset_ns;   /* what to add to it to have rank 0's */
    int64_t residual_ns; /* how far the offset can be wrong: half of the shortest round trip; 0 on rank 0 */
};

struct alignment {
    struct clock_sample before, after; /* `after` with at_ns not above before's: not taken yet, and no drift assumed */
};

/* A reading of this rank's clock as rank 0's clock would have shown it. */
int64_t alignment_apply(const struct alignment *alignment, int64_t ns);

/* How fast the offset changes, in nanoseconds per second; 0 without a second sample. */
double alignment_drift(const struct alignment *alignment);

/* How far the drift can be wrong: both residuals together over the time between the samples. */
double alignment_drift_error(const struct alignment *alignment);

/* How far an aligned time between the samples can be wrong. */
int64_t alignment_residual_ns(const struct alignment *alignment);

#endif
