/* link_model.h - the model of a link, seconds = latency + bus bytes / bandwidth, fitted to the times of a collective.
 * Source: Hockney, The communication challenge for MPP, Parallel Computing 20 (1994) 389-398. Times may need two lines
 * (regimes): a library changes its protocol, a shaped link lets a burst pass, or messages outgrow a cache. */
#ifndef BENCH_BASE_LINK_MODEL_H
#define BENCH_BASE_LINK_MODEL_H

#include <stddef.h>

enum {
    LINK_REGIMES = 2,      /* most regimes in a fit */
    LINK_SIZES = 4,        /* fewest sizes in a regime */
    LINK_MOST_SIZES = 2000 /* most sizes in a fit, which takes time proportional to their square */
};

/* A line for one range of sizes, with 95 % intervals: latency is 0 or more, bandwidth INFINITY if times do not grow. */
struct link_regime {
    double from_bytes, to_bytes; /* the smallest and the largest size in the range */
    size_t sizes;
    double latency, latency_interval[2];     /* seconds */
    double bandwidth, bandwidth_interval[2]; /* bus bytes / second, as busbw is */
    double residual;                         /* root mean square of (seconds - line) / seconds */
};

/* Fits the model to seconds[n], the times at increasing bus_bytes[n] = message bytes x bus factor.
 *
 * A line minimises the sum of squared relative residuals (weights 1 / seconds^2); its intervals are Student's t times
 * the standard errors of weighted least squares. If the root mean square residual of one line is above 2 %, the sizes
 * are cut in two where two lines fit best. Both lines are kept if they halve that residual and an F test (Chow,
 * Econometrica 28 (1960) 591-605) prefers them at the 0.1 % level, which is strict because the cut is the best of many.
 *
 * Returns the number of regimes, from small sizes to large ones; 0 if n is below LINK_SIZES or above LINK_MOST_SIZES,
 * or a size or time is not a finite number above 0. */
int link_model_fit(struct link_regime regime[LINK_REGIMES], const double *bus_bytes, const double *seconds, size_t n);

#endif
