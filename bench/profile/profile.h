/* profile.h - profile mode: traces the steps of one implementation, and measures its overlap against controls. */
#ifndef BENCH_PROFILE_PROFILE_H
#define BENCH_PROFILE_PROFILE_H

#include "profile/findings.h"
#include "spans/spans.h"

/* All that a profile's summary is written from. */
struct profile {
    struct run *run;
    struct capture capture;
    struct profile_figures figures;
    struct totals totals;
    struct controls controls;
    struct findings findings;
    size_t peak_bytes; /* the largest open_device_memory of a rank */
};

/* Runs the profile and writes its traces and summaries. Returns 0; or -1 when something went wrong that rank 0 has
 * said; what was measured until then has been written. All ranks call it and get the same answer. */
int run_profile(const struct job *job, const struct options *options, int argc, char *const argv[]);

/* The summary in words and columns, and as JSON (rank 0). */
void profile_report(FILE *out, const struct profile *profile);
int profile_write_json(const struct results *results, const struct profile *profile);

#endif
