/* alignment.h - one clock for all ranks: converts times of a rank's clock to rank 0's clock.
 *
 * Ranks that read the same clock (struct job) share an alignment; ranks that read rank 0's clock need none. Other
 * clocks are compared with rank 0's before and after the run (job_compare_clocks), and the offset is assumed to change
 * linearly in between, as it does if two crystals differ in frequency. No collective ends on any rank before every rank
 * has posted it; this bounds the offset from both sides (alignment_bound). Source: Cristian, Probabilistic Clock
 * Synchronization, Distributed Computing 3 (1989) 146-158. */
#ifndef DDP_ALIGNMENT_H
#define DDP_ALIGNMENT_H

#include <stdint.h>

struct clock_sample {
    int64_t at_ns;       /* when the offset was measured, on this rank's clock */
    int64_t offset_ns;   /* rank 0's clock minus this rank's clock */
    int64_t residual_ns; /* largest error of the offset: half of the shortest round trip; 0 for rank 0's clock */
};

/* A time t on this rank's clock is t + offset + drift * (t - at) on rank 0's. A zeroed alignment changes nothing. */
struct alignment {
    int64_t at_ns, offset_ns;
    double drift, drift_error; /* drift: in ns per second; drift_error: the largest error of drift */
    int64_t residual_ns;       /* the largest error of an aligned time that lies between the two samples */
};

/* Returns the alignment from a single sample, without drift. */
struct alignment alignment_from(const struct clock_sample *sample);

/* Returns the alignment from a sample before the run and one after it. If the offsets differ by more than the sum of
 * the residuals, but by no more than crystals drift (200 us/s), the drift is the difference of the offsets divided by
 * the time between the samples, and its error is the sum of the residuals divided by that time. Otherwise the drift is
 * 0, and the alignment is that of the sample with the smaller residual. Its residual is raised to cover the other
 * sample's offset; if the offsets agree within the residuals, it is raised by at most the largest drift of crystals. */
struct alignment alignment_between(const struct clock_sample *before, const struct clock_sample *after);

/* Converts a time of this rank's clock to rank 0's clock. */
int64_t alignment_apply(const struct alignment *alignment, int64_t ns);

/* Shifts the alignment by as little as possible, so that aligned times move by at least `least` and at most `most` ns
 * (either may be negative), and lowers the residual to the error that these bounds still allow. If the bounds
 * contradict the residual or each other, shifts by the middle of the bounds and raises the residual. */
void alignment_bound(struct alignment *alignment, int64_t least, int64_t most);

#endif
