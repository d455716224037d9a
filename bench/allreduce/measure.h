/* measure.h - times collectives over a range of sizes: the measuring itself. */
#ifndef BENCH_ALLREDUCE_MEASURE_H
#define BENCH_ALLREDUCE_MEASURE_H

#include "allreduce/link_model.h"
#include "allreduce/options.h"
#include "ddp/watchdog.h"
#include "kernels/device.h"
#include "machine/machine.h"
#include "monitor/monitor.h"

/* Figures of a series of times, in seconds. */
struct spread {
    double min, mean, median, p95, p99, max;
};

struct overlapped;

/* One collective of the sweep and what its iterations took. */
struct measured {
    struct collective collective; /* without buffers */
    int in_place;
    size_t bytes; /* of the whole message: what a rank ends up with, or, reduce-scatter, what it starts with */

    size_t n, capacity;
    double *seconds;    /* [n] of this rank, all cycles */
    double cpu_seconds; /* of this rank's threads, in the n iterations */
    long wrong;         /* elements over all ranks; -1: not checked */
    size_t aim;         /* iterations to do in all; 0 before the first cycle */
    size_t last_n;      /* of them in the last cycle, */
    int64_t start_ns;   /* which began then, on this rank's clock */

    /* made by sweep_finish, the same on every rank */
    double sustained; /* seconds of one, and what rates are made of: the median, over up to ten stretches of consecutive
                         iterations, of their mean. A mean alone follows every hiccup of the machine, and a median
                         alone the faster half where a link alternates between bursts and pauses */
    struct spread iterations; /* over iterations, of the time that --average says */
    struct spread ranks;      /* over ranks, of their medians; p99 as p95 */
    int slowest_rank;
    double cpu_iteration; /* CPU seconds of an iteration, mean of ranks */
    double algbw, busbw;  /* bytes a second */

    struct overlapped *overlapped; /* with --overlap, instead of all that; NULL until it was measured */
};

/* The model of a family of rows, and its first row. */
struct sweep_link {
    const struct measured *first;
    struct link_model model;
};

struct sweep {
    const struct job *job;
    const struct sweep_options *options;
    struct open_device opened;
    const struct device *device; /* the one that was opened */
    struct comm *comm;
    struct timeline timeline;
    struct monitor_findings monitored; /* zero until the monitors, if any, have ended */
    void *in, *buffer;                 /* [largest message], in the device's memory */
    void *host_in, *host_buffer;       /* what the host reads and writes of them: the same where it can */
    struct measured *row;
    size_t rows; /* by type, operation, size, and then out of place before in place (with --overlap the latter alone) */
    struct sweep_link *link; /* [links] */
    size_t links;
};

/* Bytes of memory that a rank needs, for its two buffers and for samples. */
size_t sweep_memory(const struct sweep_options *options, int ranks);

/* Makes the rows and the comm, and allocates; all ranks call. device, job and options are set before; the rest is zero.
 * core_to_spare as in struct comm_options. Returns 0; or -1 on every rank, and rank 0 has said why. */
int sweep_create(struct sweep *sweep, int core_to_spare);
void sweep_destroy(struct sweep *sweep); /* leaves the device alone; a zeroed sweep is fine */

/* One cycle of a row: checks results (in the first), warms up, times. All ranks call. */
void sweep_measure(struct sweep *sweep, struct measured *row, size_t cycle);

/* Makes the figures of a row from the samples of all ranks. All ranks call. */
void sweep_finish(const struct sweep *sweep, struct measured *row);

/* Once all rows are finished: fits a model of the link (link_model.h) to each family of rows, those that differ in size
 * alone, into sweep->link[links]. Families of too few sizes, or of more than SWEEP_LINK_SIZES, whose fit would take
 * minutes, have none, nor has a single rank. */
enum { SWEEP_LINK_SIZES = 500 };
void sweep_fit_links(struct sweep *sweep);

/* What a row is called: its operation, or "none" where nothing is reduced; its root, or -1 where there is none; and all
 * of it in words. */
enum { SWEEP_WORDS = 128 };
const char *sweep_op(const struct collective *collective);
int sweep_root(const struct collective *collective);
void sweep_words(const struct measured *row, char words[SWEEP_WORDS]);

#endif
