/* link_model.h - the model of a link, seconds = latency + bus bytes / bandwidth, fitted to the times of a collective.
 * Source: Hockney, The communication challenge for MPP, Parallel Computing 20 (1994) 389-398. One range of sizes may be
 * two: a library changes its protocol, a shaped link lets a burst pass, a message outgrows a cache. */
#ifndef BENCH_MEASURE_ALLREDUCE_LINK_MODEL_H
#define BENCH_MEASURE_ALLREDUCE_LINK_MODEL_H

#include <stddef.h>

enum {
    LINK_REGIMES = 2,      /* at most */
    LINK_SIZES = 4,        /* sizes of a regime, at least */
    LINK_MOST_SIZES = 2000 /* of a fit: its time grows with the square of their number */
};

/* The line of one range of sizes: latency at least 0, bandwidth INFINITY where times do not grow; 95 % intervals. */
struct link_regime {
    double from_bytes, to_bytes; /* the smallest and the largest bus bytes in it */
    size_t sizes;
    double latency, latency_interval[2];     /* seconds */
    double bandwidth, bandwidth_interval[2]; /* bus bytes / second, comparable to busbw */
    double residual;                         /* root mean square of (seconds - line) / seconds */
};

/* Fits the model to seconds[n] of increasing bus_bytes[n] = message bytes x bus factor.
 *
 * A line has the least sum of squared relative residuals (weights 1 / seconds^2); its intervals are Student's t times
 * the standard errors of weighted least squares. Where one line is off by more than 2 % (root mean square), the sizes
 * are cut where two lines leave the least squares; both are kept if they halve that figure and an F test (Chow,
 * Econometrica 28 (1960) 591-605) at 0.1 %, strict because the best of many cuts is tested, finds them.
 *
 * Returns the number of regimes, from small sizes to large ones; 0 if n is below LINK_SIZES or above LINK_MOST_SIZES,
 * or a size or time is not a finite number above 0. */
int link_model_fit(struct link_regime regime[LINK_REGIMES], const double *bus_bytes, const double *seconds, size_t n);

#endif
