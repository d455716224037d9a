/* alignment.h - one clock for all ranks: what a rank's clock shows, in rank 0's time.
 *
 * Ranks that read one clock (struct job) have the same alignment, and those that read rank 0's need none. Others
 * compare theirs with rank 0's before and after the run (job_compare_clocks), and in between the offset is taken to
 * change evenly, as it does when two crystals differ in frequency. Besides, no collective ends before its last rank has
 * posted it, which bounds the offset from both sides. Source: Cristian, Probabilistic Clock Synchronization,
 * Distributed Computing 3 (1989) 146-158. */
#ifndef DDP_ALIGNMENT_H
#define DDP_ALIGNMENT_H

#include <stdint.h>

struct clock_sample {
    int64_t at_ns;       /* of this rank's clock */
    int64_t offset_ns;   /* what to add to it to have rank 0's */
    int64_t residual_ns; /* how far that can be wrong: half of the shortest round trip; 0 if it is rank 0's clock */
};

/* offset + drift * (t - at) is what to add to a reading t. A zeroed one changes nothing. */
struct alignment {
    int64_t at_ns, offset_ns;
    double drift, drift_error; /* nanoseconds per second, and how far that can be wrong */
    int64_t residual_ns;       /* how far an aligned time between the samples can be wrong */
};

/* From a single sample: no drift. */
struct alignment alignment_from(const struct clock_sample *sample);

/* From one before and one after. Drift is what they differ by, where that is more than both residuals and no more than
 * crystals do (200 us/s); its error is both residuals over the time between. Otherwise there is none: the offset is
 * that of the sample with the smaller residual, and the residual covers what the other says, or what crystals could
 * have drifted by. */
struct alignment alignment_between(const struct clock_sample *before, const struct clock_sample *after);

/* A reading of this rank's clock as rank 0's clock would have shown it. */
int64_t alignment_apply(const struct alignment *alignment, int64_t ns);

/* Says that aligned times have to be moved by at least `least` and at most `most`, which may be negative, to agree with
 * what rank 0 saw. Moves them by as little as that takes, and lowers the residual to what is then possible. Bounds that
 * contradict the residual or each other are met half way, and raise it. */
void alignment_bound(struct alignment *alignment, int64_t least, int64_t most);

#endif
