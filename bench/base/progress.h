/* progress.h - shows progress and time left on stderr: as a bar on a terminal, otherwise as a line every 10 s. */
#ifndef BENCH_BASE_PROGRESS_H
#define BENCH_BASE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct progress {
    size_t total; /* units of work, which all take about the same time */
    int64_t start_ns, shown_ns;
    int terminal;
    double limit_s; /* the work stops after this time, whatever is left; 0: no limit */
};

/* Begins to show progress. total 0: shows nothing, for ranks other than 0. */
void progress_begin(struct progress *progress, size_t total);

/* Shows that `done` units are complete; `words` describes the last of these units. */
void progress_show(struct progress *progress, size_t done, const char *words);

/* Clears the bar, so that other output can follow; progress_show may draw it again. */
void progress_end(struct progress *progress);

#endif
