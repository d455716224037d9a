/* progress.h - progress of a long run and the time left, on stderr: a bar on a terminal, otherwise a line every 10 s.
 */
#ifndef BENCH_BASE_PROGRESS_H
#define BENCH_BASE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct progress {
    size_t total; /* units of work, each about as long as the others */
    int64_t start_ns, shown_ns;
    int terminal;
};

/* With total 0 nothing is shown, as on ranks other than 0. */
void progress_begin(struct progress *progress, size_t total);

/* Tells that `done` units are complete; `words` describes the last of them. */
void progress_show(struct progress *progress, size_t done, const char *words);

/* Clears the bar before other output. */
void progress_end(struct progress *progress);

#endif
