/* link_model.h - what a link behaves like: seconds = latency + bus bytes / bandwidth, fitted to the times of a
 * collective over a range of sizes. Pure.
 *
 * The model is Hockney's (The communication challenge for MPP, Parallel Computing 20 (1994) 389-398), in one range of
 * sizes or in two: a library may send large messages by another protocol, a shaped link lets a burst pass before its
 * limit holds, a message may outgrow a cache. */
#ifndef BENCH_MEASURE_ALLREDUCE_LINK_MODEL_H
#define BENCH_MEASURE_ALLREDUCE_LINK_MODEL_H

#include <stddef.h>

enum {
    LINK_REGIMES = 2,      /* at most */
    LINK_SIZES = 4,        /* sizes of a regime, at least */
    LINK_MOST_SIZES = 2000 /* of a fit: its time grows with the square of their number */
};

/* The line of one range of sizes. A latency below 0 is taken as 0, and a bandwidth is INFINITY where times do not grow
 * with size. Intervals are of 95 %; a bound of the bandwidth may be INFINITY too. */
struct link_regime {
    double from_bytes, to_bytes; /* the smallest and the largest bus bytes in it */
    size_t sizes;
    double latency, latency_interval[2];     /* seconds */
    double bandwidth, bandwidth_interval[2]; /* bus bytes / second, comparable to busbw */
    double residual;                         /* root mean square of (seconds - line) / seconds */
};

/* Fits the model to the times of n sizes: seconds[i] for bus_bytes[i] = message bytes x bus factor, which increase.
 *
 * A line has the least sum of squared relative residuals, that is weights 1 / seconds^2; its intervals are Student's t
 * times the standard errors of weighted least squares, so they hold the true values in 95 % of fits if times scatter
 * about a line in proportion to themselves. Where one line is off by more than 2 % (root mean square), the sizes are
 * cut in two where two lines leave the least squares. Both are kept if they halve that figure, and an F test (Chow,
 * Tests of equality between sets of coefficients in two linear regressions, Econometrica 28 (1960) 591-605) at 0.1 %
 * finds them: strict, because it is the best of many cuts that is tested. Straight lines are cut in less than 5 % of
 * fits, also where one time is late or small messages are noisier than large ones.
 *
 * Returns the number of regimes, from small sizes to large ones; 0 if there is nothing to fit: fewer than LINK_SIZES
 * sizes, more than LINK_MOST_SIZES, or a size or time that is not a finite number above 0. */
int link_model_fit(struct link_regime regime[LINK_REGIMES], const double *bus_bytes, const double *seconds, size_t n);

#endif
