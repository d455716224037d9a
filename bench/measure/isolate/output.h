/* output.h - what a run of `isolate` found, in sentences, tables, figures and files. Rank 0 only. */
#ifndef BENCH_MEASURE_ISOLATE_OUTPUT_H
#define BENCH_MEASURE_ISOLATE_OUTPUT_H

#include "base/figures.h"
#include "base/junit.h"
#include "base/nominal.h"
#include "base/table.h"
#include "isolate/diagnosis.h"
#include "isolate/isolate.h"
#include "isolate/load.h"

struct member {
    int rank, host;
    char host_name[HOST_TEXT];
    char name[HOST_TEXT + 24]; /* "host NAME", or "rank R on NAME" */
};

/* Messages from a member to another, and round trips of both. */
struct matrix_row {
    const char *from, *to;
    double bytes_per_second;
    struct fault message, round_trip; /* diagnosis_typical of member `from` with other `to` */
};

/* What was found so far. */
struct outcome {
    const struct diagnosis *diagnosis;
    const struct member *member; /* [members] */
    int members;
    double resolve;          /* 0.05 is 5 % */
    size_t bytes;            /* of a message */
    size_t copy_bytes;       /* of a copy */
    double seconds;          /* of the search */
    int complete;            /* 1: no further round follows */
    int crowded;             /* 1: ranks share cores */
    int busy;                /* 1: other processes used the machine (busy.h), so that faults are notes */
    const struct load *load; /* NULL: not measured */
    struct diagnosis_progress progress;
    struct matrix_row *row; /* [rows] pairing by pairing; the first are of the ring, which all runs on these members
                               measure */
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

/* Adds to a summary the answer, the table of members and, unprinted, faults and the matrix; and figures to a list. */
void outcome_add(const struct outcome *outcome, cJSON *summary, struct figure_list *figures);

/* Writes good.txt, bad.txt and matrix.csv to a directory. Returns 0; or -1, reported. */
int outcome_write_files(const struct outcome *outcome, const char *directory);

/* Writes test cases to the file given to --junit ("": none): that the run finished, the members, and the groups at
 * fault. Returns 0; or -1, reported. */
#define OUTCOME_JUNIT_MARK JUNIT_BEGIN "ddpbench isolate\""
int outcome_write_junit(const struct outcome *outcome, const char *path);

/* ---- load_output.c ---- */

/* Adds to a summary, which has its array of findings, a load's notes, table and figures; the faults are outcome_add's.
 * member[load->members]: the members' names. */
void load_output(const struct load *load, const struct member *member, cJSON *summary, struct figure_list *figures);

/* ---- matrix.c ---- */

/* Fills outcome->row[rows] with what was measured so far. */
void matrix_create(struct outcome *outcome);

/* Prints matrix.csv. */
void matrix_print(FILE *out, const struct outcome *outcome);

/* Adds the table "matrix", which is not printed, to a summary; and the figures of the ring to a list: "message" of
 * "host n1 -> host n2", "round_trip" of "host n1 <-> host n2". */
void matrix_add(const struct outcome *outcome, cJSON *summary, struct figure_list *figures);

/* Appends a figure in seconds: what `fault` measured; bytes 0: it has no size. Long subjects are cut off. */
void matrix_add_figure(struct figure_list *figures, const char *subject, const char *name, const struct fault *fault,
                       size_t bytes, int judged);

/* Adds to a summary notes on the nominal rate and on the share of it that the median message reaches, which shows if
 * most members are equally slow; and to a list the figure nominal_share of "all": bytes / (median seconds of the ring's
 * messages x rate). If the link joins hosts, only messages between hosts count, unless there are none. Adds nothing if
 * no rate was given, and only the first note if nothing was measured. */
void matrix_add_share(const struct outcome *outcome, const struct nominal *nominal, cJSON *summary,
                      struct figure_list *figures);

/* ---- hosts.c ---- */

/* Returns an array [outcome->members], by number of the host; 1: leave the host out. A host is left out if one of its
 * members has a fault, or if two of its members are a slow pair. If two hosts have a slow pair and neither is left out
 * otherwise, one of them is: the host in more such pairs, then the host with more undecided members, then the second
 * host. The caller frees the array. */
char *hosts_leave_out(const struct outcome *outcome);

/* Print the names of hosts, one a line: good.txt has the hosts that are not left out and have no undecided member or
 * open fault; bad.txt has the hosts that are left out. */
void hosts_print_good(FILE *out, const struct outcome *outcome);
void hosts_print_bad(FILE *out, const struct outcome *outcome);

#endif
