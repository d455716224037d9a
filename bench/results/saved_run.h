/* saved_run.h - reads a run back from its directory. */
#ifndef BENCH_RESULTS_SAVED_RUN_H
#define BENCH_RESULTS_SAVED_RUN_H

#include "base/figures.h"
#include "base/files.h"

#include <cJSON.h>
#include <sys/types.h>

struct saved_run {
    char directory[FILES_PATH]; /* holds run.json and summary.json */
    dev_t device;               /* device and inode of summary.json, equal for two paths to the same run */
    ino_t inode;
    cJSON *run, *summary;       /* contents of run.json and of summary.json */
    struct figure_list figures; /* the figures of summary.json */
};

/* Reads a run from its directory. If the run is in a subdirectory, as a profile is, the directory above may be given,
 * unless it holds several runs. so_far != 0: also accepts a run that was interrupted or is still going on, if it has
 * figures, from the rounds or rows that are done or from a profile's captured steps. Returns 0; or -1, reported with
 * the path, if the run cannot be read, is not complete, has another schema, or was not written by ddpbench, or has a
 * member of a wrong type or an impossible value. Release with saved_run_destroy in either case. */
int saved_run_read(struct saved_run *saved, const char *directory, int so_far);
void saved_run_destroy(struct saved_run *saved); /* frees all members, which may be 0 */

/* ---- where the run took place, from run.json ---- */

/* place_machine and place_link write "" if run.json lacks the facts; control characters become spaces. */

/* Writes to text[size] the model of the GPU or, in a run without GPUs, of the first host's CPU. */
void place_machine(char *text, size_t size, const cJSON *run);

/* The machines of the ranks. All members are 0 if run.json lacks the facts. */
struct place {
    size_t machines;     /* number of machines; smaller than the number of hosts if containers share a machine */
    size_t cpus;         /* logical CPUs of all machines together */
    double memory_bytes; /* memory of all machines together */
};
struct place place_of(const cJSON *run);

/* Writes to text[size] the network between the ranks: the environment variable DDPBENCH_LINK of the run or, if it was
 * not set, the communication backend and the number of hosts; "" for one rank. */
void place_link(char *text, size_t size, const cJSON *run);

/* Writes the `tune` command for the model, data and batch of a run. run: run.json, or what provenance_create returns.
 */
enum { TUNE_COMMAND = 600 };
const char *saved_run_tune(char text[TUNE_COMMAND], const cJSON *run, size_t ranks);

#endif
