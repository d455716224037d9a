/* results.h - the directory of a run. It holds one run: run.json, rank_<r>_metrics.jsonl, metrics.csv, and
 * summary.json, .csv, .txt and .prom. Files grow by whole lines or are replaced as a whole, so they are valid whenever
 * the run ends. */
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
    size_t dry_run_ranks;   /* > 0: only checks the command line, for that many ranks */
};

/* --output, --label, --prometheus and --dry-run as options of a command line. */
struct option_section results_options_section(struct results_options *options);

/* ---- the directory ---- */

struct results {
    char top[512];          /* the directory that the user named */
    char directory[576];    /* directory of the files: top, or for a profile top/<implementation> */
    char label[104];        /* --label */
    const char *prometheus; /* file that each summary replaces; NULL or "": none */
    int prometheus_failed;  /* the last write to `prometheus` failed; results_close reports it */
    int rank;
    struct watchdog *watchdog; /* the job's watchdog, which ends a write that hangs */
    struct lines telemetry;    /* rank_<r>_metrics.jsonl; telemetry.file is -1 before it is open */
    int lock;                  /* descriptor of the locked directory, on rank 0; 0: none */
};

/* The first line of a --prometheus file, which files_check_path expects. No file of a run or report begins with it. */
#define RESULTS_PROMETHEUS_MARK "# From ddpbench --prometheus."

/* The destinations of a run's results. */
struct results_target {
    const char *option;     /* the option that names the directory, for messages */
    const char *given;      /* the directory that the user named; "": results/<time>[-<label>] */
    const char *label;      /* "": none */
    const char *below;      /* subdirectory that holds the files; "": none */
    const char *prometheus; /* the file given to --prometheus; "": none */
};

/* Makes the directory on every host and opens this rank's metrics. Collective. Returns 0; or -1 on every rank,
 * reported, if the directory cannot be written, holds a file that a run writes, or is used by another run, or if the
 * file given to --prometheus may not be replaced. */
int results_open(struct results *results, const struct job *job, const struct results_target *target);

/* Checks that directories top and top/below hold no file that a run would write to them; they need not exist. Returns
 * 0; or -1, reported. */
int results_check_free(const char *option, const char *top, const char *below);

/* ---- run.json: what was run, where and with what ---- */

/* A command line, and the option table that parsed it. */
struct command {
    int argc;
    char *const *argv;
    const struct option_table *table;
};

/* Creates the JSON of run.json with schema version, program, version, mode, time, label, argv, and the value of every
 * option as "configuration". The caller owns it. */
cJSON *provenance_create(const char *mode, const char *label, const struct command *command);

/* Adds the communication backend, how its messages progress (MPI) or its version (NCCL), and the MPI library. */
void provenance_add_comm(cJSON *json, const struct comm *comm);

/* Adds the environment variables that affect a run, and writes run.json on rank 0. Deletes the JSON on every rank.
 * Returns 0; or -1, reported. */
int provenance_write(const struct results *results, cJSON *json);

/* ---- the steps of a rank ---- */

/* Appends a text of whole lines to this rank's metrics, completely or not at all, and frees it. Returns 0; or -1,
 * reported. */
int results_append(struct results *results, char *text, size_t length);

/* Makes metrics.csv from rank_0_metrics.jsonl in the directory of a run; the run may still be going on, or was killed.
 * Each line becomes a row. Each member that is neither array nor object becomes a column, in the order of first
 * appearance. Numbers keep their value; a missing member or null is an empty field; texts are quoted by RFC 4180. An
 * incomplete last line is left out. If there are no lines, no file is written. Returns 0; or -1, reported. */
int results_write_metrics_csv(const char *directory);

/* Closes this rank's metrics; does nothing if they are closed. Rank 0 also makes metrics.csv. Returns 0; or -1,
 * reported, also if the last summary could not be written to the file given to --prometheus. */
int results_close(struct results *results);

#endif
