/* results.h - the files of one run, in a directory of its own: run.json, rank_<r>_metrics.jsonl, summary.json, .csv and
 * .txt. Whole lines and whole files only: what is there is valid whenever the run ends. */
#ifndef BENCH_RESULTS_RESULTS_H
#define BENCH_RESULTS_RESULTS_H

#include "ddp/job.h"
#include "monitor/findings.h"

#include <cJSON.h>

struct results {
    char top[512];       /* what the user named */
    char directory[576]; /* where the files are: the same, or in profile mode top/<implementation> */
    char label[104];     /* --label */
    int rank;
    int telemetry_file; /* file descriptor of rank_<r>_metrics.jsonl, -1 if none */
    long length;        /* of its complete blocks */
};

/* Where results go: the directory that an option named, or "" for results/<time>[-<label>]; and below that. */
struct results_target {
    const char *option, *given, *label, *below;
};

/* Makes the directory (on every host) and opens this rank's metrics; all ranks call. Returns 0; or -1, reported: not
 * writable, or it already holds results. */
int results_open(struct results *results, const struct job *job, const struct results_target *place);

/* Adds whole lines to this rank's metrics, all or nothing, and frees the text. 0, or -1, reported. */
int results_append(struct results *results, char *text, size_t length);

/* Closes this rank's metrics. 0, or -1, reported. A closed one is fine. */
int results_close(struct results *results);

/* Replaces a file by a JSON tree, which is deleted. 0, or -1, reported. */
int results_replace_json(const struct results *results, const char *name, cJSON *json);

/* What the monitors found, and what a sample cost them; nothing of a run without them. */
void results_add_monitor(cJSON *json, const struct monitor_findings *findings);

#endif
