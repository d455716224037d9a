/* progress.h - shows progress and time left on stderr: as a bar on a terminal, otherwise as a line every 10 s. */
#ifndef BENCH_BASE_PROGRESS_H
#define BENCH_BASE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct progress {
    size_t total;   /* units of work, which all take about the same time */
    double limit_s; /* > 0: the work ends once something is decided, after this time at most; 0: with the last unit */
    int64_t start_ns, shown_ns;
    int terminal;
};

/* Begins to show progress. total 0: shows nothing, for ranks other than 0. limit_s: see above. */
void progress_begin(struct progress *progress, size_t total, double limit_s);

/* Returns the seconds left after `spent` seconds, in which `done` units (at least 1) were completed: spent / done x the
 * units left; with a limit, the time until the limit, which is the most that may be left. */
double progress_left(const struct progress *progress, size_t done, double spent);

/* Shows that `done` units are complete; `words` describes the last of these units. */
void progress_show(struct progress *progress, size_t done, const char *words);

/* Clears the bar, so that other output can follow; progress_show may draw it again. */
void progress_end(struct progress *progress);

#endif
