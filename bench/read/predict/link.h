/* link.h - how long collectives of any size and number of ranks take: from sweeps, or a latency and a bandwidth. */
#ifndef BENCH_READ_PREDICT_LINK_H
#define BENCH_READ_PREDICT_LINK_H

#include "predict/algorithms.h"

#include <stddef.h>

/* How a time was obtained, from the most to the least certain. MEASURED: a sweep has this size and number of ranks.
 * INTERPOLATED: between two sizes of a sweep with this number of ranks, or below its smallest size, whose time is an
 * upper bound. EXTRAPOLATED: a larger size, another number of ranks, kind of collective, latency or bandwidth, or no
 * sweep. FOLDED: no sweep has this kind and this number of ranks, which MPICH folds (algorithms.h). */
enum link_basis { LINK_MEASURED, LINK_INTERPOLATED, LINK_EXTRAPOLATED, LINK_FOLDED, LINK_BASES };
extern const char *const link_basis_name[LINK_BASES];

/* The times of a collective between `ranks` ranks at increasing sizes. */
struct link_sweep {
    enum comm_kind kind;
    size_t ranks, n;
    double *bytes, *seconds; /* [n] each, n at least 4: message sizes as `allreduce` counts them, and times */
};

struct link {
    struct link_sweep *sweep; /* [n], owned; n 0: the link is only a latency and a bandwidth */
    size_t n;
    enum library library; /* whose algorithms decide how times change with the number of ranks */
    int alone_on_host;    /* 1: in all sweeps each host has one rank, and NCCL is 2.23 or later, which has PAT */
    double latency;       /* seconds of a message */
    double bandwidth;     /* bytes / second that a rank sends */
    size_t fitted_ranks;  /* ranks of the all-reduces to which latency and bandwidth were fitted; 0: both were given */
    double fitted_latency, fitted_bandwidth; /* this fit: seconds, and bus bytes / second; or as given */
    double error; /* relative standard deviation of a time, from intervals and interpolation; 0: no sweeps */
    double latency_scale, bandwidth_scale; /* factors of the link's latency and bandwidth; 1: as measured */
};

/* Reads sweeps from result directories of `allreduce`, separated by commas: the rows of fp32 that sum in place or, if
 * there are none, out of place. Latency and bandwidth are fitted to the all-reduces between the fewest ranks, as
 * `allreduce` fits and prints them (base/link_model.h): if there are two ranges of sizes, the latency of the smaller
 * sizes and the bandwidth of the larger ones. A message takes the fitted latency / the stages at the smallest size; a
 * rank sends at the bandwidth with which the model gives the fitted time of the largest size. option: the option that
 * names the directories, for messages. Returns 0; or -1, reported, if a directory cannot be read, holds an unfinished
 * run, one of another command or of one rank, or no such rows; if a sweep has fewer than 4 sizes, or has the kind and
 * number of ranks of another one; if libraries differ; if no sweep is of all-reduces; or if large all-reduces take
 * hardly longer than small ones. Release with link_destroy in either case. */
int link_read(struct link *link, const char *option, const char *directories);

/* Parses words such as latency=23us,bandwidth=11.7MB/s: latency in s, ms, us or ns, bandwidth as option_nominal takes
 * it (100gbit, nvlink4). The algorithms are MPICH's. Returns 0; or -1, reported. Release it in any case. */
int link_parse(struct link *link, const char *option, const char *words);
void link_destroy(struct link *link); /* a zeroed link is fine */

/* Returns the seconds of a collective of `bytes` (as `allreduce` counts them: of a rank's whole bucket) between `ranks`
 * ranks; 0 for one rank. Raises *basis to this time's basis.
 *
 * Between two sizes, times are interpolated linearly. Above the largest size they follow the line through the last two
 * sizes, or are constant if that line falls; below the smallest size they are its time. The time of the smallest size
 * counts as latency L, at most T: with the factors, a time T becomes latency_scale x L + (T - L) / bandwidth_scale.
 *
 * The sweep is one of the kind (if there is none, of all-reduces) whose number of ranks p is nearest by ratio to q, the
 * number asked for; of two equally near ones, the one of more ranks. Its time is multiplied by the model's time of the
 * kind for q ranks / that of the sweep's kind for p ranks: stages x latency + volume x bytes / bandwidth, with the
 * factors, of the algorithm that the library would choose (algorithms.h). */
double link_seconds(const struct link *link, enum comm_kind kind, size_t ranks, double bytes, enum link_basis *basis);

#endif
