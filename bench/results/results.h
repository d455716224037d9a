/* results.h - the files of one run, in a directory of its own: run.json (what was run, where, with what),
 * rank_<r>_metrics.jsonl, metrics.csv, and summary.json, .csv, .txt and .prom. Whole lines and whole files only: what
 * is there is valid whenever the run ends. Independent of the mode: each part of the program describes itself into the
 * JSON objects. */
#ifndef BENCH_RESULTS_RESULTS_H
#define BENCH_RESULTS_RESULTS_H

#include "base/figures.h"
#include "base/files.h"
#include "base/lines.h"
#include "base/option_table.h"
#include "base/table.h"
#include "ddp/comm.h"
#include "ddp/job.h"
#include "results/findings.h"
#include "results/verdict.h"

#include <cJSON.h>
#include <stdio.h>
#include <sys/types.h>

/* ---- options ---- */

struct results_options {
    const char *output, *label; /* "": results/<time>[-<label>]; "": none */
    const char *prometheus;     /* "": none */
    size_t dry_run_ranks;       /* > 0: nothing is run, so there are no results */
};

/* --output, --label, --prometheus and --dry-run. */
struct option_section results_options_section(struct results_options *options);

/* ---- writing ---- */

struct results {
    char top[512];          /* what the user named */
    char directory[576];    /* where the files are: the same, or in profile mode top/<implementation> */
    char label[104];        /* --label */
    const char *prometheus; /* file to replace at each summary; NULL or "": no file */
    int prometheus_failed;  /* the last time; reported by results_close */
    int rank;
    struct watchdog *watchdog; /* the job's, for writes that do not return */
    struct lines telemetry;    /* rank_<r>_metrics.jsonl; its file is -1 before it is open */
    int lock;                  /* descriptor of the directory, on rank 0; 0: none */
};

/* The first line of the file of --prometheus (files_check_path), which no file of a run or report has. */
#define RESULTS_PROMETHEUS_MARK "# From ddpbench --prometheus."

/* Where results go: the directory that an option named, or "" for results/<time>[-<label>]; and below that. And the
 * file that --prometheus named, or "". */
struct results_target {
    const char *option, *given, *label, *below, *prometheus;
};

/* Makes the directory (on every host) and opens this rank's metrics; all ranks call. Returns 0; or -1 on every rank,
 * reported: not writable, it already holds a file that a run writes, or another run writes there; or the file of
 * --prometheus may not be replaced. */
int results_open(struct results *results, const struct job *job, const struct results_target *place);

/* Checks that top and top/below hold no file that a run with this target (results_target) would write. Neither has to
 * exist. Returns 0; or -1, reported. */
int results_check_free(const char *option, const char *top, const char *below);

/* Checks that a path that another option names is no file that a run may write to the directory, which need not exist.
 * Returns 0; or -1, reported. */
int results_check_apart(const char *option, const char *path, const char *directory);

/* Adds whole lines to this rank's metrics, all or nothing, and frees the text. 0, or -1, reported. */
int results_append(struct results *results, char *text, size_t length);

/* Closes this rank's metrics; rank 0 writes metrics.csv from its own. 0, or -1, reported, also where the last summary
 * could not be copied to the file of --prometheus. A closed one is fine. */
int results_close(struct results *results);

/* Replaces metrics.csv in a run's directory, made from the lines of rank_0_metrics.jsonl that are there, also while the
 * run goes or after it was killed: a row a line, and of all lines each member that holds no array and no object is a
 * column, in the order in which they first appear. Numbers keep their value, to 15 digits or more;
 * null and what a line lacks is an empty field; texts are quoted by RFC 4180. A line that was cut off, or is no JSON
 * object, is left out; without any line no file is written. One line is in memory at a time. Returns 0; or -1,
 * reported. */
int results_write_metrics_csv(const char *directory);

/* A command line as it was given, and the table that it was parsed with. */
struct command {
    int argc;
    char *const *argv;
    const struct option_table *table;
};

/* Begins a run.json: schema version, program, version, mode, time, label, argv, and every option's value as
 * "configuration". The caller owns it. To that, what sends, how it advances or what NCCL it is, and the MPI library. */
cJSON *provenance_create(const char *mode, const char *label, const struct command *command);
void provenance_add_comm(cJSON *json, const struct comm *comm);

/* Adds the part of the environment that matters, and writes run.json on rank 0; deletes the JSON on every rank. 0, or
 * -1, reported. */
int provenance_write(const struct results *results, cJSON *json);

/* Begins a summary.json: schema version, mode, label, how many rounds or rows (`of`) are done of those planned, and
 * empty heading, answers, tables and notes. The caller owns it, and fills it. */
cJSON *results_summary_create(const char *mode, const char *label, double done, double planned, const char *of);

/* Adds one or more whole sentences, in printf's format, to the summary's "heading", "answers" or "notes": a paragraph
 * of its own, without newlines or padding, since lines are made when it is printed. */
void results_add_sentence(cJSON *summary, const char *list, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a table below the heading, after those that are there. The summary is printed without one that is a detail. */
void results_add_table(cJSON *summary, const struct table *table);

/* From now on the summary is printed with its details, and all tables with all their rows. */
void results_show_all(cJSON *summary);

/* Such as "769 of 100000 rounds", where less is done than was planned; "" otherwise. */
enum { RESULTS_UNFINISHED = 80 };
const char *results_unfinished(char text[RESULTS_UNFINISHED], const cJSON *summary);

/* Puts the figures into the summary, and if it is unfinished that as the last line of its heading; replaces
 * summary.json, summary.csv and summary.prom (the figures) and summary.txt (what results_print_summary prints), where
 * they lie below what the user named, <below>_summary.txt there, and the file of --prometheus. Rank 0 only. 0, or -1,
 * reported. */
int results_write_summary(struct results *results, cJSON *summary, const struct figure_list *figures);

/* Prints the heading of a summary, its answers, its tables and its notes; or the heading alone, before a run, and the
 * rest after it. Of `allreduce`, each line of text begins with '#', as with nccl-tests. */
void results_print_summary(FILE *out, const cJSON *summary);
void results_print_heading(FILE *out, const cJSON *summary);
void results_print_body(FILE *out, const cJSON *summary);

/* ---- reading back ---- */

struct saved_run {
    char directory[FILES_PATH]; /* where run.json and summary.json are */
    dev_t device;               /* of summary.json, with its inode: the same for two names of one run */
    ino_t inode;
    cJSON *run, *summary;
    struct figure_list figures; /* of the summary */
};

/* Reads a directory that holds run.json and summary.json, or one with a single directory below that does (a profile's).
 * Returns 0; or -1, reported with the directory or file: unreadable, not finished, of another schema, or not ours.
 * Release with saved_run_destroy in either case. */
int results_read(struct saved_run *saved, const char *directory);

/* The same, and also a run that was interrupted, or goes on, of which one round or row is done: what is known so far.
 */
int results_read_so_far(struct saved_run *saved, const char *directory);

void saved_run_destroy(struct saved_run *saved); /* a zeroed one is fine */

/* ---- where a run ran, from its run.json ---- */

/* What computes: the GPU, or the CPU of the first host. "" where the run does not say. Control characters
 * are spaces, here and below. */
void place_machine(char *text, size_t size, const cJSON *run);

/* The kernels that its ranks run under, which is fewer than hosts where containers or namespaces share one, and the
 * logical CPUs and bytes of memory of these together. All 0 where the run does not say. */
struct place {
    size_t machines, cpus;
    double memory_bytes;
};
struct place place_of(const cJSON *run);

/* What joins its ranks: its name, if it was given one, or what sends and between how many hosts; "" of one rank, and
 * where the run does not say. Control characters are spaces. */
void place_link(char *text, size_t size, const cJSON *run);

#endif
