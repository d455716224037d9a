/* results.h - the directory of a run. It holds one run: run.json, rank_<r>_metrics.jsonl, metrics.csv, and
 * summary.json, .csv, .txt and .prom. Files are written as whole lines or replaced as a whole, so they are valid
 * whenever the run ends. */
#ifndef BENCH_RESULTS_RESULTS_H
#define BENCH_RESULTS_RESULTS_H

#include "base/lines.h"
#include "base/option_table.h"
#include "ddp/comm.h"
#include "ddp/job.h"
#include "results/findings.h"
#include "results/saved_run.h"
#include "results/summary.h"
#include "results/verdict.h"

/* ---- options ---- */

struct results_options {
    const char *output;     /* "": results/<time>[-<label>] */
    const char *label;      /* "": none */
    const char *prometheus; /* "": none */
    size_t dry_run_ranks;   /* > 0: the command line is checked for that many ranks, and nothing is run */
};

/* --output, --label, --prometheus and --dry-run. */
struct option_section results_options_section(struct results_options *options);

/* ---- the directory ---- */

struct results {
    char top[512];          /* the directory that the user named */
    char directory[576];    /* the directory of the files: top, or in profile mode top/<implementation> */
    char label[104];        /* --label */
    const char *prometheus; /* file to replace at each summary; NULL or "": no file */
    int prometheus_failed;  /* whether the last copy to it failed; results_close reports it */
    int rank;
    struct watchdog *watchdog; /* of the job: it ends a write that hangs */
    struct lines telemetry;    /* rank_<r>_metrics.jsonl; telemetry.file is -1 before it is open */
    int lock;                  /* descriptor of the directory, on rank 0; 0: none */
};

/* The first line of a --prometheus file (files_check_path). No file of a run or report has it. */
#define RESULTS_PROMETHEUS_MARK "# From ddpbench --prometheus."

/* Where the results of a run go. */
struct results_target {
    const char *option;     /* that names the directory, for messages */
    const char *given;      /* the directory; "": results/<time>[-<label>] */
    const char *label;      /* "": none */
    const char *below;      /* the directory below it that holds the files; "": none */
    const char *prometheus; /* file of --prometheus; "": none */
};

/* Makes the directory on every host and opens this rank's metrics. All ranks call. Returns 0; or -1 on every rank,
 * reported: the directory cannot be written, holds a file that a run writes, or is used by another run; or the file of
 * --prometheus may not be replaced. */
int results_open(struct results *results, const struct job *job, const struct results_target *target);

/* Checks that top and top/below, which need not exist, hold no file that a run with this target would write. Returns 0;
 * or -1, reported. */
int results_check_free(const char *option, const char *top, const char *below);

/* ---- run.json: what was run, where and with what ---- */

/* A command line, and the table that it was parsed with. */
struct command {
    int argc;
    char *const *argv;
    const struct option_table *table;
};

/* Creates a run.json with schema version, program, version, mode, time, label, argv, and the value of every option as
 * "configuration". The caller owns it. */
cJSON *provenance_create(const char *mode, const char *label, const struct command *command);

/* Adds the communication backend, how its messages progress or which NCCL it is, and the MPI library. */
void provenance_add_comm(cJSON *json, const struct comm *comm);

/* Adds the environment variables that affect a run, and writes run.json on rank 0. Deletes the JSON on every rank.
 * Returns 0; or -1, reported. */
int provenance_write(const struct results *results, cJSON *json);

/* ---- the steps of a rank ---- */

/* Appends whole lines to this rank's metrics, all or none of them, and frees the text. Returns 0; or -1, reported. */
int results_append(struct results *results, char *text, size_t length);

/* Makes metrics.csv from rank_0_metrics.jsonl in the directory of a run, which may be running or killed. Each line
 * becomes a row; each member of any line that is neither array nor object becomes a column, in the order of first
 * appearance. Numbers keep their value; a missing member or null is an empty field; texts are quoted by RFC 4180. A
 * last line that was cut off is left out; without any line no file is written. Only one line is in memory at a time.
 * Returns 0; or -1, reported. */
int results_write_metrics_csv(const char *directory);

/* Closes this rank's metrics. Rank 0 also makes metrics.csv from its metrics. Returns 0; or -1, reported, also if the
 * last summary could not be copied to the file of --prometheus. Closed results are fine. */
int results_close(struct results *results);

#endif
