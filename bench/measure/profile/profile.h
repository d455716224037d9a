/* profile.h - profile mode: traces the steps of an implementation, and measures its overlap against controls. */
#ifndef BENCH_MEASURE_PROFILE_PROFILE_H
#define BENCH_MEASURE_PROFILE_PROFILE_H

#include "training/training.h"

/* What to trace: operations as the host requests them, the GPU's work, or both. TRACE_AUTO: both if there is a GPU. */
enum activities_wanted { TRACE_AUTO, TRACE_CPU, TRACE_CUDA, TRACE_CPU_CUDA };

/* Percentages above which (for busy, below which) a figure becomes a finding. */
struct thresholds {
    double busy, data_loading, exposed, memory;
};

/* --profile-ranks: the ranks that write a trace. */
struct rank_list {
    int all, n;
    int rank[256];
};

/* --profile-sort: a column of the table of operations, counted from `calls`; initially self time. */
enum { SORT_TIME = 2 };

struct profile_options {
    int profile, inference;
    struct strategy_list implementations;
    const char *output_dir;
    size_t wait, warmup, active, repeat; /* steps of a cycle; repeat: number of cycles; active or repeat 0: no limit */
    enum activities_wanted activities;
    struct rank_list ranks;
    double buffer_mb;
    int trace_gzip, verbose, sort;
    struct thresholds thresholds;
};

/* Appends the section of a profile's options to a table; each of these options needs --profile. */
void profile_options_add(struct option_table *table, struct profile_options *options);

/* Returns what the recorder must record for a profile with these options. */
struct recording profile_recording(const struct profile_options *options);

/* Checks a profile's options against those of the training, and calls profile_rows_make. Returns 0; or -1, reported. */
int profile_options_check(const struct profile_options *options, const struct option_table *table,
                          struct training_options *training);

/* Makes the rows that are trained (training->implementation) for the workload's strategies. Each strategy (with
 * buckets: each bucket size) has a row that is captured, a copy without tracing, and, if it overlaps, a copy with its
 * collectives after backward. `none` is added if missing. Returns 0; or -1, reported: too many rows or a bad label. */
int profile_rows_make(struct training_options *training);

/* Checks that every rank in the list is below `ranks`. Returns 0; or -1, reported. */
int rank_list_check(const struct rank_list *list, int ranks);
int rank_list_has(const struct rank_list *list, int rank); /* whether the list includes the rank */

/* Parts of a cycle, as in torch.profiler.schedule: steps that are not traced, then steps that are traced but dropped,
 * then steps that are traced and kept. capture_state returns the part that a step (counted from 0) is in. */
enum capture_state { CAPTURE_WAIT, CAPTURE_WARMUP, CAPTURE_ACTIVE };
enum capture_state capture_state(const struct profile_options *options, size_t step);

/* Returns how many steps a capture runs: until its last cycle ends, at most `steps`, the steps of all epochs. */
size_t capture_steps(const struct profile_options *options, size_t steps);

/* For --dry-run: as training_dry_run, with the captured steps. */
int profile_dry_run(const struct profile_options *options, const struct run_options *run, int ranks, int on_gpus,
                    cJSON *summary);

/* Runs the profile and writes its traces and summaries. Returns 0; or -1, reported, after writing what was measured so
 * far. All ranks call and get the same result. */
int profile_run(const struct job *job, const struct run_options *options, const struct profile_options *profile,
                const struct command *command);

#endif
