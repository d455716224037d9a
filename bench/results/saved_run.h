/* saved_run.h - what a run left in its directory, read back. */
#ifndef BENCH_RESULTS_SAVED_RUN_H
#define BENCH_RESULTS_SAVED_RUN_H

#include "base/figures.h"
#include "base/files.h"

#include <cJSON.h>
#include <sys/types.h>

struct saved_run {
    char directory[FILES_PATH]; /* of run.json and summary.json */
    dev_t device;               /* of summary.json; device and inode are the same for two paths to one run */
    ino_t inode;
    cJSON *run, *summary;
    struct figure_list figures; /* of the summary */
};

/* Reads a complete run from its directory, or from the directory above if that holds no other run (a profile). Returns
 * 0; or -1, reported with the directory or file: it cannot be read, is not complete, has another schema, or was not
 * written by ddpbench. Release with saved_run_destroy in either case. */
int saved_run_read(struct saved_run *saved, const char *directory);

/* The same, but also takes a run that was interrupted or is still running, if at least one round or row is done. */
int saved_run_read_so_far(struct saved_run *saved, const char *directory);

void saved_run_destroy(struct saved_run *saved); /* a zeroed one is fine */

#endif
