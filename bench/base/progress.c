/* progress.c - shows the progress of a long run. */
#include "base/progress.h"

#include "base/text.h"
#include "kernels/clock.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

void progress_begin(struct progress *progress, size_t total)
{
    int64_t now = clock_now_ns();
    *progress = (struct progress){total, now, now, total && isatty(STDERR_FILENO), 0};
}

void progress_show(struct progress *progress, size_t done, const char *words)
{
    enum { WIDTH = 30, LINE_SECONDS = 10 };
    int64_t now = clock_now_ns();
    if (!progress->total || !done)
        return;
    double spent = 1e-9 * (double)(now - progress->start_ns);
    double left = spent / (double)done * (double)(progress->total - done);
    if (progress->limit_s > 0)
        left = fmin(left, fmax(0, progress->limit_s - spent));
    char text[CELL];
    text_duration(text, left);
    if (progress->terminal) {
        int full = (int)(done * WIDTH / progress->total);
        fprintf(stderr, "[%.*s%.*s] %3zu %%, %s left  %.70s\033[K\r", full, "##############################",
                WIDTH - full, "..............................", done * 100 / progress->total, text, words);
    } else if (now - progress->shown_ns > (int64_t)LINE_SECONDS * 1000000000) {
        progress->shown_ns = now;
        fprintf(stderr, "%3zu %%, about %s left; %s\n", done * 100 / progress->total, text, words);
    }
}

void progress_end(struct progress *progress)
{
    if (progress->total && progress->terminal)
        fprintf(stderr, "\033[K");
}
