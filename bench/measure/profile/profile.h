/* profile.h - profile mode: traces the steps of an implementation, and measures its overlap against controls. */
#ifndef BENCH_MEASURE_PROFILE_PROFILE_H
#define BENCH_MEASURE_PROFILE_PROFILE_H

#include "training/training.h"

/* Which operations are traced; TRACE_AUTO: the CPU's, and the GPU's if there is one. */
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

struct profile_options {
    int profile;
    struct strategy_list implementations;
    const char *output_dir;
    size_t wait, warmup, active, repeat; /* steps in a cycle; repeat: cycles; active or repeat 0: no limit */
    enum activities_wanted activities;
    struct rank_list ranks;
    double buffer_mb;
    int record_shapes, with_flops, cuda_profiler_range, counters, trace_gzip, verbose;
    struct thresholds thresholds;
};

/* Appends the option section of a profile; each of its options needs --profile. */
void profile_options_add(struct option_table *table, struct profile_options *options);

/* Returns what the recorder must record for these options. */
struct recording profile_recording(const struct profile_options *options);

/* Checks the profile's options against those of the training, and makes its rows. Returns 0; or -1, reported. */
int profile_options_check(const struct profile_options *options, const struct option_table *table,
                          struct training_options *training);

/* Makes the rows of the training. Each strategy (with buckets: each bucket size) has a captured row, a copy without
 * tracing, and, if it overlaps, a copy with its collectives after backward. `none` is added unless it is in the list.
 * Returns 0; or -1, reported, if there are too many rows or a label is taken. */
int profile_rows_make(struct training_options *training, const struct strategy_list *list);

/* Checks that every rank in the list is below `ranks`. Returns 0; or -1, reported. */
int rank_list_check(const struct rank_list *list, int ranks);

int rank_list_has(const struct rank_list *list, int rank);

/* Parts of a cycle, as in torch.profiler.schedule: in turn, steps not traced, traced but dropped, traced and kept. */
enum capture_state { CAPTURE_WAIT, CAPTURE_WARMUP, CAPTURE_ACTIVE };
enum capture_state capture_state(const struct profile_options *options, size_t step);

/* Returns the number of steps until the last cycle ends. `steps`: steps of all epochs, at least one cycle. */
size_t capture_steps(const struct profile_options *options, size_t steps);

/* Runs the profile and writes its traces and summaries. Returns 0; or -1, reported, after writing what was measured so
 * far. All ranks call and get the same result. */
int profile_run(const struct job *job, const struct run_options *options, const struct profile_options *profile,
                const struct command *command);

#endif
