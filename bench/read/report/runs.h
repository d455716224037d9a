/* runs.h - reads the runs of a report from their directories. */
#ifndef BENCH_READ_REPORT_RUNS_H
#define BENCH_READ_REPORT_RUNS_H

#include "results/saved_run.h"

/* The parts of a step: computation (zero_grad, forward, backward, clipping and optimizer), waiting for data, exposed
 * communication (gradient_sync and parameter_gather), and other time (learning rate, checkpoints; if implementations
 * are compared, also the difference between the slowest rank and the mean over ranks). */
enum step_part { PART_COMPUTE, PART_DATA, PART_EXPOSED, PART_OTHER, PARTS };
extern const char *const part_name[PARTS];

/* The phases of a step in order, as files name them (ddp/step.h), up to a NULL name; label: for pictures, or NULL. */
struct step_phase_part {
    const char *name, *label;
    enum step_part part;
};
extern const struct step_phase_part step_phases[];

struct run_implementation {
    char subject[128], strategy[64];
    int compared;            /* 0: a control: it reduces nothing, or trains with other arithmetic */
    char plan[50];           /* bucket size as --bucket-size-mb takes it, if buckets differ in size; else "" */
    double mb;               /* bucket size of most buckets, MiB; NAN: no buckets */
    size_t buckets, tensors; /* numbers of buckets and of tensors in the gradient */
};

/* A captured step of a profile; or steps of an implementation that are timed together, in a round. */
enum { RUN_RANKS = 64 };
enum { RUN_COMPUTE, RUN_COMMUNICATION, RUN_BOTH, RUN_STEP, RUN_SUMS }; /* both: at once */
struct run_block {
    const struct run_implementation *of;
    int captured, is_placed;  /* is_placed: 1: has synchronised clocks, and is not in the warm-up */
    size_t steps, lines;      /* timed or captured: of rank 0; of all ranks */
    double number, round, ms; /* number of the captured step, from 1, or of the block; ms: a step of the slowest rank */
    double global_step;       /* of rank 0 */
    double cores;             /* that other processes used meanwhile; NAN: unknown */
    double sum_ms[RUN_SUMS];  /* over the lines */
    float wait_ms[RUN_RANKS]; /* of each rank for communication, summed over the steps */
};

enum { RUN_LABEL = 104 }; /* room for the longest --label */

struct report_run {
    char label[RUN_LABEL];
    struct saved_run saved; /* without the figures in its summary; of a run that cannot be read, only the directory */
    char problem[400];      /* why the run cannot be read (members below are unset); "": it can be read */
    char unfinished[80];    /* text such as "interrupted, 1 of 2 rounds"; "": the run is complete */
    int is_alone;           /* 1: the report is on this run only */
    double done;            /* rounds, rows or captures */
    char mode[16], time[40];
    char workload[200]; /* model, data type and device; only runs with equal workloads are compared */
    char machine[128];  /* model of the GPU or, without GPUs, of the CPU */
    char link[80];      /* network between the ranks */
    size_t ranks, hosts, threads;
    struct place place;
    double cpus_per_rank;         /* logical CPUs of a rank; a CPU shared by ranks counts in part; NAN: unknown */
    double parameters, sequences; /* parameters of the model, sequences of a rank in a step; NAN for `allreduce` */
    double tokens;                /* tokens of all ranks in a step; NAN for `allreduce` */
    char subject[128];            /* the profiled implementation, or the best of a comparison; "": none */
    double phase_s[PARTS + 1];    /* profile: mean seconds of each part of a step, then of the step; else NAN */
    struct run_implementation *implementation; /* [implementations], owned */
    size_t implementations;
    struct run_block *block;   /* [blocks], owned, in the order in which they ran; by run_read_blocks */
    size_t blocks, ranks_read; /* ranks_read: ranks in wait_ms, at most RUN_RANKS */
};

struct report_runs {
    struct report_run *item; /* [n], owned */
    size_t n;
};

/* Adds the run in the directory, or all runs at most four levels below it, in the order of their names. label "": uses
 * the run's --label or, if that is "", the name of its directory. For a run that cannot be read, sets `problem`. */
void runs_add(struct report_runs *runs, const char *label, const char *directory);

void runs_destroy(struct report_runs *runs); /* frees all members, which may be 0 */

/* Calls take for each line of rank_<r>_metrics.jsonl of at most `most` ranks (NULL: not a JSON object), of each rank
 * until take returns 0. Returns the number of ranks: those before the first one without a file. */
size_t run_each_line(const struct report_run *run, size_t most,
                     int (*take)(void *context, size_t rank, const cJSON *line), void *context);

void run_read_blocks(struct report_run *run); /* fills block from the lines of the ranks */

/* Fills found[run->blocks] with the captured steps of a profile, or the blocks of an implementation of a comparison.
 * Returns their number. */
size_t run_blocks(const struct run_block **found, const struct report_run *run, const char *subject);

/* Returns "complete", run->unfinished, or "unreadable". */
const char *run_state(const struct report_run *run);

/* Whether the run compares implementations round by round: a run of the benchmark or of tune. */
int run_compares(const struct report_run *run);

/* Writes the name of a bar or panel: label, subject (unless the label ends in it), and whether the run is a profile. */
void run_words(char *text, size_t size, const char *label, const char *subject, const char *mode);

/* Returns a figure of a subject, with its interval; all NAN if the run lacks the figure. */
struct measured run_figure(const struct report_run *run, const char *subject, const char *name);

/* Return a run's table with this key, or its rows; NULL: none. */
const cJSON *run_table(const struct report_run *run, const char *key);
const cJSON *run_rows(const struct report_run *run, const char *key);

int run_is_busy(const struct report_run *run); /* whether other processes used the machine (busy_is) */
int run_has_finding(const struct report_run *run, const char *name); /* whether a profile has this finding */

/* ---- where the time of a step goes ---- */

struct breakdown {
    double part[PARTS], sum; /* part: seconds; sum: of all parts, the step unless medians of the others exceed it */
    double share[PARTS];     /* part / sum */
    struct measured step;    /* seconds, with a 95 % interval; NAN: none */
    /* Sum of the times of the computation's phases, in seconds. Its interval reaches from the sum of their low ends to
     * the sum of their high ends, which is wide enough even if phases are correlated. */
    struct measured compute;
    size_t n; /* number of samples */
};

/* Computes the breakdown of an implementation: in a profile from means over the captured steps of all ranks, in a
 * comparison from the figures over the rounds, with PART_OTHER as the rest of the step. Returns 0; or -1 if a figure is
 * missing or the step is not above 0. */
int run_breakdown(struct breakdown *breakdown, const struct report_run *run, const char *subject);

#endif
