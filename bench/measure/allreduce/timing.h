/* timing.h - times one collective at one message size: alone, and how much of it computation hides. */
#ifndef BENCH_MEASURE_ALLREDUCE_TIMING_H
#define BENCH_MEASURE_ALLREDUCE_TIMING_H

#include "base/stats.h"
#include "ddp/comm.h"
#include "ddp/job.h"
#include "kernels/device.h"

#include <stdint.h>

/* What a rank needs to run collectives: a comm, its device, and two buffers for the largest message. */
struct endpoint {
    const struct job *job;
    const struct device *device;
    struct comm *comm;
    void *in, *buffer;           /* [most_bytes], in the device's memory */
    void *host_in, *host_buffer; /* copies in host memory; or `in` and `buffer` itself, if the host can reach them */
};

/* Creates the comm, and buffers for messages of most_bytes. All ranks call it. Release with endpoint_destroy in either
 * case. Returns 0; or -1 on every rank, reported. */
int endpoint_create(struct endpoint *endpoint, const struct job *job, const struct device *device,
                    const struct comm_options *options, size_t most_bytes);
void endpoint_destroy(struct endpoint *endpoint); /* does not close the device; a zeroed endpoint is fine */

/* Which collectives to time: one kind, with each chosen type and operation, at every size. */
struct collective_choice {
    enum comm_kind kind;
    unsigned dtypes, ops; /* bit i chooses value i of enum comm_dtype (in ops: of enum comm_op) */
    size_t root;          /* source rank of a broadcast */
};

/* How the time of an iteration is made from the times of the ranks; numbered as in nccl-tests (-a). */
enum rank_time { TIME_OF_RANK0, TIME_MEAN, TIME_OF_FASTEST, TIME_OF_SLOWEST, RANK_TIMES };
extern const char *const rank_time_name[RANK_TIMES]; /* names of the values */

/* How iterations are issued. NO: queued, in up to ten stretches of 20 or more, as in nccl-tests. YES: blocking, as in
 * OSU's benchmarks. YIELDS: non-blocking, as strategies issue them. AUTO: NO with NCCL, YES with MPI. */
enum blocking { BLOCKING_AUTO, BLOCKING_NO, BLOCKING_YES, BLOCKING_YIELDS, BLOCKINGS };
extern const char *const blocking_name[BLOCKINGS]; /* names of the values */

enum { TIMING_MOST_ITERATIONS = 2000 }; /* most iterations, unless --iters asks for more */
struct timing_options {
    size_t iters;        /* timed iterations; 0: as many as fit into 0.2 s */
    size_t warmup_iters; /* untimed iterations before the timed ones, at least 1 */
    size_t cycles;       /* passes over all collectives; each pass times a share of the iterations */
    size_t check;        /* untimed iterations whose results are checked */
    enum rank_time time;
    enum blocking blocking;
};

/* One collective at one size, and the times of its iterations. */
struct collective_timing {
    struct collective collective; /* its buffers are not set */
    int in_place;
    const char *dtype, *op, *placement; /* names; op "none": no reduction; placement is out_of_place or in_place */
    int root;                           /* -1 if the collective has no root */
    size_t bytes;                       /* size of the message: a rank's result, or a reduce-scatter's input */

    size_t n;           /* iterations timed so far */
    double *seconds;    /* [n] time of each iteration on this rank; of queued iterations, the mean of their stretch */
    double cpu_seconds; /* CPU time of all threads of this rank in the n iterations */
    double wrong;       /* wrong elements: of this rank; after timing_finish, of all ranks together; NAN: not checked */
    size_t planned;     /* iterations in all cycles; 0 before the first cycle */
    size_t parts;       /* parts of the n iterations after which the clock was read, the same on every rank */
    size_t last_n;      /* iterations in the last cycle */
    size_t discarded;   /* iterations timed before the times were stable, and replaced by others */
    int is_unstable;    /* 1: the times were still changing in the last iterations */
    int64_t start_ns;   /* start of the last cycle, on this rank's clock */

    /* the fields below: set by timing_finish to the same values on every rank */
    struct estimate time; /* seconds of an iteration: the median of the means of up to ten stretches, with an interval
                             from 6 stretches on. A plain mean follows every hiccup; a plain median shows only the
                             faster half if a link alternates between bursts and pauses */
    double half_width;    /* the larger half of the interval / time */
    struct {
        double min, mean, median, p95, p99, max;
    } iterations;         /* seconds; statistics over iterations of the time that enum rank_time selects */
    double cpu_time;      /* CPU seconds of an iteration, mean over ranks */
    double algbw, busbw;  /* bytes / second */
    double nominal_share; /* busbw / the link's nominal rate; NAN if no rate was given */
};

/* Creates *n timings: one for each type, operation, size and placement, sorted by these in turn. Out of place comes
 * before in place, and is omitted for a broadcast or with in_place_only. bytes[sizes] increase. Sizes are rounded down
 * to whole elements, the same number for each rank; equal sizes are timed once. Release with timing_destroy. */
struct collective_timing *timing_create(const struct collective_choice *choice, const size_t *bytes, size_t sizes,
                                        int ranks, int in_place_only, size_t *n);

void timing_destroy(struct collective_timing *timing, size_t n);

/* Returns `asked`; but if `asked` is BLOCKING_AUTO, the choice for this endpoint. */
enum blocking timing_blocking(const struct endpoint *endpoint, enum blocking asked);

/* Runs the collective `times` times, each time on other inputs, and counts in timing->wrong the wrong elements of this
 * rank's results (payload.h). All ranks call. */
void timing_check(struct endpoint *endpoint, enum blocking blocking, struct collective_timing *timing, size_t times);

/* Runs one cycle of a collective: checks results (in cycle 0 only), warms up, times iterations. All ranks call. */
void timing_measure(struct endpoint *endpoint, const struct timing_options *options, struct collective_timing *timing,
                    size_t cycle);

/* Sets `wrong`, and the fields from `time` on, from the iterations of all ranks. All ranks call. */
void timing_finish(const struct job *job, enum rank_time time, struct collective_timing *timing);

/* Describes the collective, such as "all_reduce of 1.0 KiB (float sum, in place)". */
enum { TIMING_WORDS = 128 };
void timing_words(const struct collective_timing *timing, char words[TIMING_WORDS]);

/* ---- overlap.c ---- */

/* One collective that runs at the same time as computation. Each estimate is over rounds, of means over ranks. */
struct overlap_timing {
    struct collective_timing of;         /* the collective, in place; has no times */
    struct estimate compute, comm, both; /* seconds of the computation alone, the collective alone, both at once */
    struct estimate overlap; /* 1 - (both - compute) / comm, not clamped: negative if both at once take longer than one
                                after the other. Source: osu_iallreduce */
};

/* Returns the overlap of one round from the seconds of computation alone, collective alone, and both at once. */
static inline double overlap_timing_ratio(double compute, double comm, double both)
{
    return 1 - (both - compute) / comm;
}

/* Measures the overlap of a collective in place. Each round runs the computation, the collective, and both at once;
 * rounds 0: as many as fit into 1 s, from 10 to 200. All ranks call and get the same result. */
struct overlap_timing overlap_timing_measure(struct endpoint *endpoint, const struct collective_timing *timing,
                                             size_t rounds);

/* Returns the number of rows (and of columns) of the square matrices that the computation multiplies. */
size_t overlap_timing_edge(const struct device *device);

#endif
