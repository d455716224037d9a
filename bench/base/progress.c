/* progress.c - how far a long run is. */
#include "base/progress.h"

#include "base/text.h"
#include "kernels/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The parent of a process and the name of its program; 0 if it cannot be told. */
static int parent_of(int process, char name[32])
{
    char path[64];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    if (fscanf(file, "%*d (%31[^)]) %*c %d", name, &parent) != 2)
        parent = 0;
    fclose(file);
    return parent;
}

/* Whether words on stderr reach a terminal. Under a launcher stderr is a pipe to it, so it is the launcher's own stderr
 * that tells: the first ancestor that is not part of MPICH's launcher ends the search. */
static int stderr_reaches_terminal(void)
{
    char path[64], target[64], name[32];
    if (isatty(STDERR_FILENO))
        return 1;
    for (int process = getppid(); process > 1; process = parent_of(process, name)) {
        if (!parent_of(process, name) || (strncmp(name, "hydra", 5) && strncmp(name, "mpi", 3)))
            return 0;
        snprintf(path, sizeof path, "/proc/%d/fd/2", process);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (n < 0)
            return 0;
        target[n] = 0;
        if (strncmp(target, "pipe:", 5))
            return !strncmp(target, "/dev/pts/", 9) || !strncmp(target, "/dev/tty", 8);
    }
    return 0;
}

void progress_begin(struct progress *progress, size_t total)
{
    int64_t now = clock_now_ns();
    *progress = (struct progress){total, now, now, total && stderr_reaches_terminal()};
}

void progress_show(struct progress *progress, size_t done, const char *words)
{
    enum { WIDTH = 30, LINE_SECONDS = 10 };
    int64_t now = clock_now_ns();
    if (!progress->total || !done)
        return;
    double left = 1e-9 * (double)(now - progress->start_ns) / (double)done * (double)(progress->total - done);
    char text[CELL], bar[WIDTH + 1];
    text_duration(text, left);
    if (progress->terminal) {
        size_t full = done * WIDTH / progress->total;
        for (size_t i = 0; i < WIDTH; i++)
            bar[i] = i < full ? '#' : '.';
        bar[WIDTH] = 0;
        fprintf(stderr, "[%s] %3zu %%, %s left  %.70s\033[K\r", bar, done * 100 / progress->total, text, words);
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
