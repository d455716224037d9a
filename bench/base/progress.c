/* progress.c - shows the progress of a long run. */
#include "base/progress.h"

#include "base/text.h"
#include "kernels/clock.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

void progress_begin(struct progress *progress, size_t total, double limit_s)
{
    int64_t now = clock_now_ns();
    *progress = (struct progress){total, limit_s, now, now, total && isatty(STDERR_FILENO)};
}

double progress_left(const struct progress *progress, size_t done, double spent)
{
    return progress->limit_s > 0 ? fmax(0, progress->limit_s - spent)
                                 : spent / (double)done * (double)(progress->total - done);
}

void progress_show(struct progress *progress, size_t done, const char *words)
{
    enum { WIDTH = 30, LINE_SECONDS = 10 };
    int64_t now = clock_now_ns();
    if (!progress->total || !done)
        return;
    double spent = 1e-9 * (double)(now - progress->start_ns), left = progress_left(progress, done, spent);
    double share = spent / (spent + left);
    int full = (int)(WIDTH * share);
    const char *how = left < 1 ? "under" : progress->limit_s > 0 ? "at most" : "about";
    char text[CELL];
    text_duration(text, fmax(1, left));
    if (progress->terminal) {
        fprintf(stderr, "[%.*s%.*s] %3.0f %%, %s %s left  %.70s\033[K\r", full, "##############################",
                WIDTH - full, "..............................", 100 * share, how, text, words);
    } else if (now - progress->shown_ns > (int64_t)LINE_SECONDS * 1000000000) {
        progress->shown_ns = now;
        fprintf(stderr, "%3.0f %%, %s %s left; %s\n", 100 * share, how, text, words);
    }
}

void progress_end(struct progress *progress)
{
    if (progress->total && progress->terminal)
        fprintf(stderr, "\033[K");
}
