/* link_model.h - what a link behaves like: latency + bytes / bandwidth, fitted to a sweep of collective times. Pure.
 *
 * The model is Hockney's (The communication challenge for MPP, Parallel Computing 20 (1994) 389-398), in up to three
 * regimes over ranges of size: a library may send large messages by another protocol, a shaped link lets a burst pass
 * before its limit holds, a message may outgrow a cache. */
#ifndef BENCH_ALLREDUCE_LINK_MODEL_H
#define BENCH_ALLREDUCE_LINK_MODEL_H

#include <cJSON.h>
#include <stddef.h>
#include <stdio.h>

enum {
    LINK_REGIMES = 3, /* at most */
    LINK_SIZES = 4    /* different sizes of a regime, at least */
};

/* How far a fit is off: the relative residual of a time is (seconds - model) / seconds, above 0 where the link was
 * slower than the model. */
struct link_residuals {
    double rms;                       /* root of the mean square */
    double largest, largest_at_bytes; /* the one farthest from 0, with its sign, and its bus bytes */
};

/* One range of sizes. Intervals are of 95 % and hold the true value if the regime is one line with relative noise, and
 * its range is the true one. latency_s is 0 where no latency was seen, and bandwidth INFINITY where times do not grow
 * with size; the interval then says how large the latency, or how small the bandwidth, may still be. It is [0, 0] or
 * [INFINITY, INFINITY] where the times contradict any: they grow faster than the bytes (after a burst that a shaped
 * link lets pass, say), or they fall. Then the model is rough, as the residuals tell. */
struct link_regime {
    double from_bytes, to_bytes; /* the smallest and the largest bus bytes in it */
    size_t points;
    double latency_s, latency_low_s, latency_high_s;
    double bandwidth, bandwidth_low, bandwidth_high; /* bus bytes / second, comparable to busbw */
    struct link_residuals residuals;
};

struct link_model {
    int regimes;
    struct link_regime regime[LINK_REGIMES]; /* from small sizes to large ones */
    size_t points, sizes;                    /* times, and different sizes among them */
    struct link_residuals residuals;         /* of all points */
};

/* Fits a model to n times of a collective, in any order: seconds[i] for bus_bytes[i] = message bytes x bus factor, such
 * as 2 (ranks - 1) / ranks for an all-reduce. One rank sends nothing: its bus bytes are 0, and there is no link to fit.
 * A size may occur more than once.
 *
 * Each regime minimises the sum of squared relative residuals under latency >= 0 and 1 / bandwidth >= 0. Borders lie
 * where all regimes together leave the least squares. One regime more is accepted only if two tests find it: an F test
 * at 1 %, corrected for the number of places where its borders could have been (Bonferroni), and a wild bootstrap at
 * 5 %, since late points, or small messages that are noisier than large ones, mislead the F test. Noise of 0.5 % is
 * taken to be there even where residuals are smaller. Deterministic. Takes up to 200 n^2 steps of some 20 ns: for tens
 * to hundreds of sizes.
 *
 * Returns 0; or -1, not reported, and *model unchanged, if there is nothing to fit: fewer than LINK_SIZES different
 * sizes, or a size or time that is not a finite number above 0. */
int link_model_fit(struct link_model *model, const double *bus_bytes, const double *seconds, size_t n);

/* Prints the model in words, a line for each regime and one for the residuals. Sizes S are message bytes: bus bytes /
 * bus_factor (above 0). */
void link_model_print(FILE *out, const struct link_model *model, double bus_factor);

/* Adds the model to json as an object "link_model", with every figure; a bandwidth that was not seen is null. Sizes are
 * message bytes as above, latencies in us, bandwidths in 1e9 bus bytes / s, residuals relative. */
void link_model_json(cJSON *json, const struct link_model *model, double bus_factor);

#endif
