/* output.h - what a run of `isolate` found, in sentences, tables, figures and files. Rank 0 only. */
#ifndef BENCH_MEASURE_ISOLATE_OUTPUT_H
#define BENCH_MEASURE_ISOLATE_OUTPUT_H

#include "base/figures.h"
#include "base/junit.h"
#include "isolate/diagnosis.h"
#include "isolate/isolate.h"
#include "isolate/load.h"

struct member {
    int rank, host;
    char host_name[HOST_TEXT];
    char name[HOST_TEXT + 24]; /* "host NAME", or "rank R on NAME" */
};

/* What was found so far. */
struct outcome {
    const struct diagnosis *diagnosis;
    const struct member *member; /* [members] */
    int members;
    double resolve;          /* 0.05 is 5 % */
    size_t bytes;            /* of a message */
    double seconds;          /* of the search */
    int complete;            /* 1: no further round follows */
    int crowded;             /* 1: ranks share cores */
    int busy;                /* 1: other processes used the machine (busy.h), so that faults are notes */
    const struct load *load; /* NULL: not measured */
    struct diagnosis_progress progress;
    struct matrix_row *row; /* [rows] of matrix.h; the first are of the ring, which all runs on these members measure */
    size_t rows, ring_rows;
    struct fault *fault;      /* [all] */
    size_t faults, all;       /* faults: number of members' faults, which come first; all: with groups' faults */
    enum member_state *state; /* [members] */
    size_t count[3];          /* number of members in each state */
    char *left_out;           /* hosts_leave_out */
};

/* Fills the fields from `progress` on, from the fields before it. Release with outcome_destroy. */
void outcome_create(struct outcome *outcome);
void outcome_destroy(struct outcome *outcome);

/* Returns the verdict: slow if there is a fault, else undecided if a member is, else healthy. */
enum isolate_status outcome_status(const struct outcome *outcome);

/* Adds to a summary the answer and the tables of members, faults and, unprinted, the matrix; and figures to a list. */
void outcome_add(const struct outcome *outcome, cJSON *summary, struct figure_list *figures);

/* Writes good.txt and bad.txt (hosts.h) and matrix.csv to a directory. Returns 0; or -1, reported. */
int outcome_write_files(const struct outcome *outcome, const char *directory);

/* Writes test cases to the file given to --junit ("": none): that the run finished, the members, and the groups at
 * fault. Returns 0; or -1, reported. */
#define OUTCOME_JUNIT_MARK JUNIT_BEGIN "ddpbench isolate\""
int outcome_write_junit(const struct outcome *outcome, const char *path);

#endif
