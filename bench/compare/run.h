/* run.h - reads one result directory: what was run, with what, and its figures. */
#ifndef BENCH_COMPARE_RUN_H
#define BENCH_COMPARE_RUN_H

#include "base/files.h"
#include "compare/figures.h"
#include "compare/settings.h"

#include <sys/types.h>

struct compare_run {
    char directory[FILES_PATH]; /* where run.json and summary.json are */
    dev_t device;               /* of run.json, with its inode: the same for two names of one run */
    ino_t inode;
    struct settings settings; /* mode and schema_version first */
    struct compare_figures figures;
};

/* Reads a directory that holds run.json and summary.json, or one with a single directory below that does (a profile's).
 * What only names a run or says where its files go (label, output, times) is no setting, nor is what follows from
 * others. Returns 0; or -1, reported with the directory: unreadable, incomplete (as long as a run goes on, its summary
 * is of the rounds so far), or not ours. Release with destroy in either case. */
int compare_read(struct compare_run *run, const char *directory);
void compare_run_destroy(struct compare_run *run); /* a zeroed one is fine */

#endif
