/* runs.h - the runs that a report is about, and what it needs to know of each. */
#ifndef BENCH_READ_REPORT_RUNS_H
#define BENCH_READ_REPORT_RUNS_H

#include "base/figures.h"
#include "base/files.h"
#include "results/results.h"

#include <cJSON.h>
#include <stddef.h>

/* The parts of a step: computation (zero_grad, forward, backward, clipping and optimizer), waiting for data, waiting
 * for communication that nothing hides (gradient_sync), and the rest (learning rate, checkpoints, and in a comparison
 * what the slowest rank takes longer than the mean). */
enum step_part { PART_COMPUTE, PART_DATA, PART_EXPOSED, PART_OTHER, PARTS };
extern const char *const part_name[PARTS];

/* An implementation of a run. */
struct tried {
    char subject[128], strategy[64];
    double mb;               /* of its buckets, MiB; NAN: it has none */
    size_t buckets, tensors; /* into which the gradient is cut, and might be */
};

/* Of a measurement of collectives, the line that was fitted to a range of sizes: seconds = latency + bus bytes /
 * bandwidth. */
struct fitted_line {
    char of[96]; /* data type, operation and placement, which end the name of the collective */
    double from_bytes, to_bytes, latency, bandwidth; /* from and to: bus bytes */
};

enum { RUN_LABEL = 104 }; /* has room for any --label */

struct report_run {
    char label[RUN_LABEL];      /* what the reader calls it: of several runs, if they were given as one */
    char directory[FILES_PATH]; /* where its results are */
    char problem[400];          /* why it could not be read, and then nothing below is known; "": it could */
    char unfinished[80];        /* such as "interrupted, 1 of 2 rounds": all below is of these; "": it is complete */
    double done, planned;       /* rounds or rows */
    char mode[16], time[40];
    char workload[200]; /* model, data type and device as words: runs that differ in them are not compared */
    char machine[128];  /* what computes */
    char link[80];      /* what joins the ranks */
    size_t ranks, hosts, threads;
    struct place place;
    double cpus_per_rank;         /* that it may use, its share of those that several may; NAN: not known */
    double parameters, sequences; /* of the model, and of a rank in a step; NAN of an allreduce */
    double tokens;                /* of a step of all ranks; NAN of an allreduce */
    char subject[128]; /* the implementation to look at: of a profile the profiled one, of a comparison the best one;
                          "" where there is none */
    double phase_s[PARTS + 1]; /* of a profile: the means of the parts of a step, and the whole; NAN elsewhere */
    struct tried *tried;       /* [n_tried], owned */
    size_t n_tried;
    struct fitted_line *line; /* [lines], owned: of an allreduce */
    size_t lines;
    cJSON *findings;      /* of a profile, as in its summary.json; NULL elsewhere. Owned */
    cJSON *run, *summary; /* owned; NULL where there are several runs */
    struct figure_list figures;
};

struct report_runs {
    struct report_run *item; /* [n], owned */
    size_t n;
};

/* Adds the run whose results are in the directory, or all of those below it, at most four levels deep, in the order of
 * their names. label "": each run's own label, or else the name of its directory. What cannot be read is added with its
 * problem. */
void runs_add(struct report_runs *runs, const char *label, const char *directory);

void runs_destroy(struct report_runs *runs); /* zeroed ones are fine */

/* "complete", what is known of it as in `unfinished`, or "unreadable". */
const char *run_state(const struct report_run *run);

/* The mode is that of a comparison of implementations, round by round. */
int run_compares(const struct report_run *run);

/* An implementation of a run, or NULL. And a figure of one with its interval; all NAN: there is none. */
const struct tried *run_tried(const struct report_run *run, const char *subject);
const char *run_name(char name[160], const struct report_run *run, const char *subject); /* with its bucket size */
struct measured run_figure(const struct report_run *run, const char *subject, const char *name);

/* Whether the ranks have fewer CPUs than threads, by this run or another of that label on as many ranks. */
int run_lacks_cpus(const struct report_runs *runs, const struct report_run *run);

/* ---- where a step's time goes ---- */

/* In seconds; they add up to the step. */
struct breakdown {
    double part[PARTS], step;
    double interval[2];      /* 95 %, of the step; NAN: none */
    struct measured compute; /* with the sums of its phases' ends, which holds it however they depend on each other */
    size_t n;                /* samples */
};

/* Of an implementation of a run: of a profile from the means over the captured steps of all ranks, of a comparison from
 * the medians, with the rest as `other`. Returns 0; or -1 where the run does not have these figures, or a step above 0.
 */
int run_breakdown(struct breakdown *breakdown, const struct report_run *run, const char *subject);

#endif
