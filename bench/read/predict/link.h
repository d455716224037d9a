/* link.h - how long a collective takes on a link, for any size and number of ranks: from measured sweeps (`ddpbench
 * allreduce`) or from a latency and a bandwidth. */
#ifndef BENCH_READ_PREDICT_LINK_H
#define BENCH_READ_PREDICT_LINK_H

#include "predict/algorithms.h"

#include <stddef.h>

/* How a time was obtained, from the surest to the least sure: a sweep has this size and number of ranks; a time between
 * two sizes of a sweep of this number of ranks; a larger size, another number of ranks, another kind of collective,
 * another latency or bandwidth, or no sweep; or no sweep of this kind and number of ranks, which MPICH folds
 * (algorithms.h). Sizes below the smallest one of a sweep count as interpolated: its time is an upper bound. */
enum link_basis { LINK_MEASURED, LINK_INTERPOLATED, LINK_EXTRAPOLATED, LINK_FOLDED, LINK_BASES };
extern const char *const link_basis_name[LINK_BASES];

/* A collective between so many ranks at increasing sizes. */
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
    size_t fitted_ranks;  /* ranks of the all-reduces to which both were fitted; 0: they were given */
    double fitted_latency, fitted_bandwidth; /* of these all-reduces: seconds, and bus bytes / second */
    double error; /* relative standard deviation of a time, by intervals and interpolation; 0: no sweeps */
    double latency_scale, bandwidth_scale; /* factors of the link's latency and bandwidth; 1: as measured */
};

/* Reads sweeps from result directories of `allreduce`, separated by commas: the rows of fp32 that sum in place or, if
 * there are none, out of place. Latency and bandwidth are fitted to the all-reduces between the fewest ranks, as
 * `allreduce` fits and prints them (base/link_model.h): of two ranges of sizes, the latency of the smaller ones and the
 * bandwidth of the larger ones. A message takes that latency / the stages of the smallest size; a rank sends at the
 * bandwidth with which the model gives the fitted time of the largest size. option: the option that names the
 * directories, for messages. Returns 0; or -1, reported, if a directory cannot be read, holds an unfinished run, one of
 * another command or of one rank, or no such rows; if a sweep has fewer than 4 sizes, or has the kind and number of
 * ranks of another one; if libraries differ; if no sweep is of all-reduces; or if large all-reduces take hardly longer
 * than small ones. Release with link_destroy in either case. */
int link_read(struct link *link, const char *option, const char *directories);

/* Parses words such as latency=23us,bandwidth=11.7MB/s: latency in s, ms, us or ns, bandwidth as option_nominal takes
 * it (100gbit, nvlink4). The link has MPICH's algorithms. Returns 0; or -1, reported. Release with link_destroy in
 * either case. */
int link_parse(struct link *link, const char *option, const char *words);
void link_destroy(struct link *link); /* a zeroed link is fine */

/* Returns the seconds of a collective of so many bytes (as `allreduce` counts them: of a rank's whole bucket) between
 * so many ranks, 0 for one rank, and raises *basis to that of the time.
 *
 * Between two sizes times are on a line; above the largest, on the line through the last two sizes, or level if that
 * line falls; below the smallest, its time. The time of the smallest size counts as latency L, so that with the factors
 * a time T becomes latency_scale x L + (T - L) / bandwidth_scale, L at most T.
 *
 * The sweep is that of the kind (without one, of all-reduces) with the number of ranks p nearest to q, the number asked
 * for, by ratio; of two equally near ones, that of more ranks. Its time is multiplied by the model's time of the kind
 * for q over that of the sweep's kind for p: stages x latency + volume x bytes / bandwidth, with the factors, of the
 * algorithm that the library would choose (algorithms.h). */
double link_seconds(const struct link *link, enum comm_kind kind, size_t ranks, double bytes, enum link_basis *basis);

#endif
