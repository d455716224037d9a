/* results.h - the directory of a run. It holds the files of one run, among them run.json, rank_<r>_metrics.jsonl,
 * metrics.csv, and summary.json, .csv, .txt and .prom. A file grows by whole lines or is replaced as a whole, so it is
 * valid whenever the run ends. */
#ifndef BENCH_RESULTS_RESULTS_H
#define BENCH_RESULTS_RESULTS_H

#include "base/files.h"
#include "base/lines.h"
#include "base/option_table.h"
#include "ddp/job.h"
#include "results/summary.h"

/* ---- options ---- */

struct results_options {
    const char *output;     /* result directory; "": results/<time>[-<label>] */
    const char *label;      /* name of the run; "": none */
    const char *prometheus; /* file replaced at each write of the summary; "": none */
    size_t dry_run_ranks;   /* ranks of a dry run; 0: as many as the job has */
};

/* Returns the section of an option table for --output, --label, --prometheus and --dry-run; parsing fills *options. */
struct option_section results_options_section(struct results_options *options);

/* ---- the directory ---- */

struct results {
    char top[512];          /* the directory that the user named, or the default */
    char directory[576];    /* directory that holds the files: top, or for a profile top/<implementation> */
    char label[104];        /* --label */
    const char *prometheus; /* file replaced at each write of the summary; NULL or "": none */
    int prometheus_failed;  /* 1: the last write to `prometheus` failed; results_close reports it */
    int rank;
    struct watchdog *watchdog; /* the job's watchdog, which ends the job if a write hangs */
    FILE *lines;               /* from results_begin to results_end: prints into text[length] */
    char *text;
    size_t length;
    struct lines telemetry; /* rank_<r>_metrics.jsonl; telemetry.file is -1 while this file is not open */
    int lock;               /* file descriptor of the locked directory, on rank 0; 0 or less: none */
};

/* Mark of the --prometheus file (struct named_path): its first line, which no other file of a run or report has. */
#define RESULTS_PROMETHEUS_MARK "# From ddpbench --prometheus."

/* Where a run's results are written. */
struct results_target {
    const char *option;      /* the option that names the directory, for messages */
    const char *given;       /* the directory that the user named; "": results/<time>[-<label>] */
    const char *label;       /* name of the run; "": none */
    const char *below;       /* subdirectory of the named directory that holds the files; "": none */
    const char *prometheus;  /* the file given to --prometheus; "": none */
    struct named_path other; /* another file of the command, to read or to write; zeroed: none */
};

/* Makes the directory on every host and opens this rank's metrics file, rank_<r>_metrics.jsonl. Collective. Returns 0;
 * or -1 on every rank, reported, if the directory cannot be written, holds a file that a run writes, or is used by
 * another run, or if files_check_named refuses a path. */
int results_open(struct results *results, const struct job *job, const struct results_target *target);

/* Checks that the directories top and top/below hold no file that a run would write there; the directories need not
 * exist. option: the option that names top, for messages. Returns 0; or -1, reported. */
int results_check_free(const char *option, const char *top, const char *below);

/* ---- the steps of a rank ---- */

/* results_begin returns a stream for whole lines; results_end appends them, all or none, to this rank's metrics file,
 * and returns 0; or -1, reported. */
FILE *results_begin(struct results *results);
int results_end(struct results *results);

/* Closes this rank's metrics file; does nothing if it is closed. Rank 0 also makes metrics.csv and unlocks the
 * directory. Returns 0; or -1, reported, also if the last summary did not get into the file given to --prometheus. */
int results_close(struct results *results);

#endif
