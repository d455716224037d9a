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

/* Reads a run from its directory, or from the directory above if that holds no other run (a profile). so_far: also one
 * that was interrupted or is still running, if at least one round or row is done. Returns 0; or -1, reported with the
 * directory or file: it cannot be read, is not complete, has another schema, or was not written by ddpbench. Release
 * with saved_run_destroy in either case. */
int saved_run_read(struct saved_run *saved, const char *directory, int so_far);
void saved_run_destroy(struct saved_run *saved); /* a zeroed one is fine */

/* ---- where it ran, from run.json ---- */

/* Each text is "" if run.json does not have it; control characters are replaced by spaces. */

/* The model of the GPU, or of the CPU of the first host. */
void place_machine(char *text, size_t size, const cJSON *run);

/* The machines that the ranks run on. All 0 if run.json does not have it. */
struct place {
    size_t machines;     /* kernels: fewer than hosts if containers or namespaces share one */
    size_t cpus;         /* logical CPUs of all machines */
    double memory_bytes; /* of all machines */
};
struct place place_of(const cJSON *run);

/* The link between the ranks: DDPBENCH_LINK of the run, or else the communication backend and the number of hosts; ""
 * for one rank. */
void place_link(char *text, size_t size, const cJSON *run);

#endif
