/* profile.h - profile mode: traces the steps of one implementation, and measures its overlap against controls. */
#ifndef BENCH_PROFILE_PROFILE_H
#define BENCH_PROFILE_PROFILE_H

#include "profile/options.h"
#include "results/results.h"

/* Runs the profile and writes its traces and summaries. Returns 0; or -1 when something went wrong that rank 0 has
 * said; what was measured until then has been written. All ranks call it and get the same answer. */
int run_profile(const struct job *job, const struct run_options *options, const struct profile_options *profile,
                const struct command *command);

#endif
