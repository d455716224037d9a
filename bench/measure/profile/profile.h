/* profile.h - profile mode: traces the steps of one implementation, and measures its overlap against controls. */
#ifndef BENCH_MEASURE_PROFILE_PROFILE_H
#define BENCH_MEASURE_PROFILE_PROFILE_H

#include "training/training.h"

/* Which operations are traced; auto: the CPU's, and the GPU's if there is one. */
enum activities_wanted { TRACE_AUTO, TRACE_CPU, TRACE_CUDA, TRACE_CPU_CUDA };

/* Percentages at which a figure becomes a finding. */
struct thresholds {
    double busy, data_loading, exposed, memory;
};

/* Ranks that write a trace. */
struct rank_list {
    int all, n;
    int rank[256];
};

struct profile_options {
    int profile;
    struct strategy_list implementations;
    const char *output_dir;
    size_t wait, warmup, active, repeat; /* steps; active and repeat 0: all there is */
    enum activities_wanted activities;
    struct rank_list ranks;
    double buffer_mb;
    int record_shapes, with_flops, cuda_profiler_range, counters, trace_gzip, verbose;
    struct thresholds thresholds;
};

/* Appends the section of these options; each needs --profile. */
void profile_options_add(struct option_table *table, struct profile_options *options);

/* Returns what a run with these options records. */
struct recording profile_recording(const struct profile_options *options);

/* Checks them against the training, and makes its rows. Returns 0; or -1, reported. */
int profile_options_check(const struct profile_options *options, const struct option_table *table,
                          struct training_options *training);

/* Makes the rows of the training. For each strategy, one with buckets for each size: traced and captured; the same
 * without tracing; the same with its collectives after backward, if it overlaps. And `none`, unless it is one of them.
 * Returns 0; or -1, reported: too many, or two of one label. */
int profile_rows_make(struct training_options *training, const struct strategy_list *list);

/* Checks that every rank of the list is below `ranks`. Returns 0; or -1, reported. */
int rank_list_check(const struct rank_list *list, int ranks);

int rank_list_has(const struct rank_list *list, int rank);

/* What is done in a step, in cycles as in torch.profiler.schedule: nothing; tracing, then discarding; tracing. */
enum capture_state { CAPTURE_WAIT, CAPTURE_WARMUP, CAPTURE_ACTIVE };
enum capture_state capture_state(const struct profile_options *options, size_t step);

/* Returns the number of steps until the last cycle has ended. `steps`: of all epochs, at least one cycle. */
size_t capture_steps(const struct profile_options *options, size_t steps);

/* Runs the profile and writes its traces and summaries. Returns 0; or -1, reported, and then what was measured until
 * then has been written. All ranks call it and get the same answer. */
int profile_run(const struct job *job, const struct run_options *options, const struct profile_options *profile,
                const struct command *command);

#endif
