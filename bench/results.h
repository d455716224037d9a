/* results.h - the files of one run, in a directory of its own: run.json, rank_<r>_metrics.jsonl, summary.json and
 * summary.txt. Whole lines and whole files only: what is there is valid whenever the run ends. */
#ifndef RESULTS_H
#define RESULTS_H

#include "run.h"
#include "steps.h"

#define RESULTS_SCHEMA 1

struct results {
    char directory[512];
    int rank;
    int metrics; /* file descriptor of rank_<r>_metrics.jsonl, -1 if none */
    long length; /* of its complete blocks */
};

/* Makes the directory (on every host) and opens this rank's metrics; all ranks call. Returns 0; or -1, reported: not
 * writable, or it already holds results. */
int results_open(struct results *results, const struct job *job, const struct options *options);

/* Closes this rank's metrics. 0, or -1, reported. A closed one is fine. */
int results_close(struct results *results);

/* Writes run.json: what was run, where, and with what. All ranks call; rank 0 writes. 0, or -1, reported. */
int results_write_run(const struct results *results, const struct run *run);

/* What the lines of a block have in common. The first `discarded` of its steps were not timed; schedule_step is the
 * position of the first in the schedule. */
struct block_facts {
    const char *implementation;
    size_t round, block;
    int steps, discarded;
    long schedule_step;
    double other_cores;
    int64_t origin_ns; /* what `start` counts from */
};

/* Appends the steps of a block to this rank's metrics, as one piece; times and record are [steps]. 0, or -1, reported.
 */
int results_write_block(struct results *results, const struct block_facts *block, const struct run *run,
                        const struct step_times *times, const float *record);

/* Replaces summary.json and summary.txt (the text given). Rank 0 only. 0, or -1, reported. */
int results_write_summary(const struct results *results, const struct run *run, const struct comparison *comparison,
                          const char *text);

/* ddpbench's version, as git described it when it was built. */
const char *results_version(void);

#endif
