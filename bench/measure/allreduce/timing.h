/* timing.h - times one collective of one size: alone, and how much of it computation hides. */
#ifndef BENCH_MEASURE_ALLREDUCE_TIMING_H
#define BENCH_MEASURE_ALLREDUCE_TIMING_H

#include "base/stats.h"
#include "ddp/comm.h"
#include "ddp/job.h"
#include "kernels/device.h"

#include <stdint.h>

/* Everything that a rank needs to run collectives: a comm, its device, and two buffers for the largest message. */
struct endpoint {
    const struct job *job;
    const struct device *device;
    struct comm *comm;
    void *in, *buffer;           /* [most bytes], in the device's memory */
    void *host_in, *host_buffer; /* copies for the host; where it can reach the device's memory, the same memory */
};

/* Makes the comm, and buffers for messages of most_bytes. All ranks call. Returns 0; or -1 on every rank, reported by
 * rank 0. Destroy in either case. */
int endpoint_create(struct endpoint *endpoint, const struct job *job, const struct device *device,
                    const struct comm_options *options, size_t most_bytes);
void endpoint_destroy(struct endpoint *endpoint); /* leaves the device alone; a zeroed endpoint is fine */

/* Which collectives: every size is timed for each type and operation chosen. */
struct collective_choice {
    enum comm_kind kind;
    unsigned dtypes, ops; /* bit i: of the ith enum comm_dtype, enum comm_op */
    size_t root;          /* of a broadcast */
};

/* Which of the ranks' times is that of an iteration; the numbers are nccl-tests'. */
enum rank_time { TIME_OF_RANK0, TIME_MEAN, TIME_OF_FASTEST, TIME_OF_SLOWEST, RANK_TIMES };
extern const char *const rank_time_name[RANK_TIMES]; /* in words */

/* How iterations follow one another: queued calls, timed in up to ten stretches of at least 20, as in nccl-tests (auto
 * with NCCL); blocking calls, as in OSU's benchmarks (auto with MPI); or non-blocking calls, as strategies send. */
enum blocking { BLOCKING_AUTO, BLOCKING_NO, BLOCKING_YES, BLOCKING_YIELDS, BLOCKINGS };
extern const char *const blocking_name[BLOCKINGS]; /* in words */

enum { TIMING_MOST_ITERATIONS = 2000 }; /* unless more are asked for */
struct timing_options {
    size_t iters;        /* timed iterations; 0: as many as fit into 0.2 s */
    size_t warmup_iters; /* before them, at least 1 */
    size_t cycles;       /* parts of the iterations, with other collectives between them */
    size_t check;        /* untimed iterations whose results are checked */
    enum rank_time time;
    enum blocking blocking;
};

/* One collective, and the times of its iterations. */
struct collective_timing {
    struct collective collective; /* without buffers */
    int in_place;
    const char *dtype, *op, *placement; /* in words: op is "none" where nothing is reduced; out_of_place or in_place */
    int root;                           /* -1: there is none */
    size_t bytes;                       /* of the whole message: a rank's result, or, reduce-scatter, its input */

    size_t n;           /* iterations timed so far */
    double *seconds;    /* [n] of this rank, all cycles; the mean of a stretch whose iterations were queued */
    double cpu_seconds; /* of this rank's threads, in the n iterations */
    double wrong;       /* elements of this rank, when finished of all ranks; NAN: not checked */
    size_t planned;     /* iterations in all cycles; 0 before the first */
    size_t last_n;      /* iterations of the last cycle, */
    int64_t start_ns;   /* which began then, on this rank's clock */

    /* made by timing_finish, the same on every rank */
    double time; /* seconds of an iteration: the median over up to ten stretches of their mean. A mean alone follows
                    every hiccup; a median alone the faster half where a link alternates between bursts and pauses */
    struct {
        double min, mean, median, p95, p99, max;
    } iterations;         /* seconds, over iterations, of the time that enum rank_time selects */
    double cpu_time;      /* CPU seconds of an iteration, mean of ranks */
    double algbw, busbw;  /* bytes / second */
    double nominal_share; /* busbw / the link's nominal rate; NAN: none was given */
};

/* Makes a timing for each type, operation, size and placement, in this order: out of place (not for a broadcast or with
 * in_place_only) before in place. bytes[sizes] increase. Sizes are rounded down to whole elements in equal parts for
 * the ranks, and equal ones are timed once. Release with timing_destroy. */
struct collective_timing *timing_create(const struct collective_choice *choice, const size_t *bytes, size_t sizes,
                                        int ranks, int in_place_only, size_t *n);

void timing_destroy(struct collective_timing *timing, size_t n);

/* Resolves BLOCKING_AUTO for this endpoint. */
enum blocking timing_blocking(const struct endpoint *endpoint, enum blocking asked);

/* Runs one cycle of a collective: checks results (in cycle 0), warms up, times. All ranks call. */
void timing_measure(struct endpoint *endpoint, const struct timing_options *options, struct collective_timing *timing,
                    size_t cycle);

/* Makes the figures from the samples of all ranks. All ranks call. */
void timing_finish(const struct job *job, enum rank_time time, struct collective_timing *timing);

/* The collective in words, such as "all_reduce of 1.0 KiB (float sum, in place)". */
enum { TIMING_WORDS = 128 };
void timing_words(const struct collective_timing *timing, char words[TIMING_WORDS]);

/* ---- overlap.c ---- */

/* One collective concurrent with computation. A sample is a round, the mean over ranks. */
struct overlap_timing {
    struct collective_timing of;         /* which collective, in place; never timed */
    struct estimate compute, comm, both; /* seconds: each alone, and both at once */
    struct estimate overlap;             /* 1 - (both - compute) / comm, not clamped: below 0 where both at once take
                                            longer than one after the other. Source: osu_iallreduce */
};

/* The overlap of one round, from the seconds of each alone and of both at once. */
double overlap_timing_ratio(double compute, double comm, double both);

/* Measures a collective in place, in rounds (0: as many as fit into 1 s, 10 to 200) of three runs: each alone, and both
 * at once. All ranks call and get the same. */
struct overlap_timing overlap_timing_measure(struct endpoint *endpoint, const struct collective_timing *timing,
                                             size_t rounds);

/* Edge of the square matrices of the computation. */
size_t overlap_timing_edge(const struct device *device);

#endif
