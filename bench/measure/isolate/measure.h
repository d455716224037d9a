/* measure.h - what the ranks measure in a round of `isolate`, and after the search under load. Members are numbered by
 * rank; a rank that is not a member only waits. */
#ifndef BENCH_MEASURE_ISOLATE_MEASURE_H
#define BENCH_MEASURE_ISOLATE_MEASURE_H

#include "ddp/comm.h"
#include "ddp/job.h"
#include "isolate/load.h"
#include "kernels/device.h"
#include "results/results.h"

/* How large a member's copy and matrix product are at most. */
struct measure_work {
    size_t copy_bytes; /* of each of the two arrays */
    size_t edge;       /* rows and columns of the matrices */
};

/* Returns the work for the CPU, or for a GPU with an L2 cache of that size (0: as an H100's): a copy of several times
 * the cache, which it cannot hold, and products so long that power and temperature limit the clock as in training. */
struct measure_work measure_work_for(int on_gpu, size_t cache_bytes);

struct measure {
    /* set by the caller */
    const struct job *job;
    const struct device *device;
    struct comm *comm;        /* for messages; owned */
    size_t bytes;             /* of a message */
    struct measure_work work; /* measure_create lowers the edge until a product takes about a millisecond */
    int members;              /* of the job */
    int member;               /* this rank's number as a member; -1: it is not a member */
    char part[80];            /* the current part of the run, for the lines of the metrics */
    struct results *results;
    /* set by measure_create */
    void *message;           /* [bytes], memory of the comm */
    void *matrix[3];         /* y, x and w of the product y = x w^T, in the device's compute type */
    float *from, *to;        /* [work.copy_bytes] each */
    size_t products, copies; /* numbers that are timed together */
    int turns;               /* number of turns in which members time these, if some have less than a core */
    size_t rounds;           /* measured so far */
    int status;              /* -1: a line could not be written, reported */
    /* on rank 0 only */
    int *rank;                  /* [members] rank of each member, set by the caller after measure_create */
    int *sent;                  /* [ranks] room for what each rank is sent */
    struct member_times *times; /* [ranks] the last round's times of each rank */
};

/* Creates what is measured. All ranks call it and the functions below. */
void measure_create(struct measure *measure);
void measure_destroy(struct measure *measure); /* a zeroed one is fine */

/* Measures a round in which partner[members] are paired, and fills times[members], both on rank 0. partner NULL: no
 * further round follows. Returns on every rank 1 if a round was measured, else 0. */
int measure_round(struct measure *measure, const int *partner, struct member_times *times);

/* Counts a round, and appends its line to this rank's metrics unless `value` is -1 (this rank rested): rank, part,
 * round, `name` with the value, and the times that are not NAN. */
struct measure_time {
    const char *name;
    double seconds;
};
void measure_write(struct measure *measure, const char *name, int value, const struct measure_time *time, int times);

/* ---- load_measure.c ---- */

/* Sets up a load from what the search found (diagnosis; NULL on ranks other than 0), measures messages of all pairs
 * across the middle at once and all-reduces of groups, and fills the load on rank 0. Regroups measure->comm.
 * limit_s: the time for each part, but a level of groups that has begun is measured LOAD_REPEATS times. All ranks call
 * it while no collective is in flight. Release with load_destroy. */
enum { LOAD_REPEATS = 12 };
void load_measure(struct load *load, struct measure *measure, const struct diagnosis *diagnosis, double resolve,
                  double limit_s);

#endif
