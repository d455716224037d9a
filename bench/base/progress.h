/* progress.h - how far a long run is and how long the rest will take, on stderr: a bar on a terminal, a line now and
 * then otherwise. */
#ifndef BENCH_BASE_PROGRESS_H
#define BENCH_BASE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct progress {
    size_t total; /* units of work, of about the same length */
    int64_t start_ns, shown_ns;
    int terminal;
};

/* A progress of total 0 shows nothing (ranks other than 0). */
void progress_begin(struct progress *progress, size_t total);

/* `done` units are over; `words` describes the last of them. */
void progress_show(struct progress *progress, size_t done, const char *words);

/* Clears the bar, so that other output can follow. */
void progress_end(struct progress *progress);

#endif
