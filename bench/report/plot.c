/* plot.c - the points of a grid as data for pictures. */
#include "report/plot.h"

#include "base/files.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_point(FILE *out, double x, const struct grid_point *p, int with_interval)
{
    int has = with_interval && isfinite(p->interval_s[0]);
    fprintf(out, "%.10g\t%.9g\t%.9g\t%.9g\n", x, 1e3 * p->mean_s, 1e3 * (has ? p->interval_s[0] : p->mean_s),
            1e3 * (has ? p->interval_s[1] : p->mean_s));
}

/* Point `first` and those behind it of the same implementation, by bucket size; nothing if one before it is of the
 * same. */
static void print_series(FILE *out, const struct grid_point *point, size_t n, size_t first)
{
    const struct grid_point *next = NULL;
    double last = 0;
    for (size_t i = 0; i < first; i++)
        if (isfinite(point[i].bucket_mb) && !strcmp(point[i].implementation, point[first].implementation))
            return;
    fprintf(out, "\n\n%s\n", point[first].implementation);
    do {
        next = NULL;
        for (size_t i = first; i < n; i++)
            if (point[i].bucket_mb > last && (!next || point[i].bucket_mb < next->bucket_mb) &&
                !strcmp(point[i].implementation, point[first].implementation))
                next = &point[i];
        if (next)
            print_point(out, last = next->bucket_mb, next, 1);
    } while (next);
}

/* The points are sorted by their steps. */
static void print_plot(FILE *out, const struct grid_point *point, size_t n)
{
    const struct grid_point *best = NULL;
    double least = INFINITY, most = 0;
    char step[CELL];
    int lines = 0;
    for (size_t i = n; i-- > 0;)
        if (isfinite(point[i].bucket_mb)) {
            best = &point[i];
            least = fmin(least, point[i].bucket_mb);
            most = fmax(most, point[i].bucket_mb);
        }
    double space = most > least ? pow(most / least, 0.035) : 1.05;
    fprintf(out, "best\n%.10g\t%.9g\tbest bucket: %.10g MiB, %s\n", best->bucket_mb, 1e3 * best->mean_s,
            best->bucket_mb, text_value(step, best->mean_s, "s"));
    for (size_t i = 0; i < n; i++) {
        if (isfinite(point[i].bucket_mb)) {
            print_series(out, point, n, i);
            continue;
        }
        fprintf(out, "\n\n%s\n", point[i].implementation);
        print_point(out, least / space, &point[i], 0);
        print_point(out, most * pow(space, ++lines), &point[i], 1);
    }
}

int plot_write(const struct grid *grid, const char *directory)
{
    int status = 0;
    for (size_t first = 0, end; first < grid->n && !status; first = end) {
        const struct grid_point *point = &grid->point[first];
        char *text = NULL, name[200];
        size_t length = 0, buckets = 0;
        end = grid_group_end(grid, first);
        for (size_t i = first; i < end; i++)
            buckets += isfinite(grid->point[i].bucket_mb) != 0;
        if (!buckets)
            continue;
        FILE *out = open_memstream(&text, &length);
        if (!out)
            FATAL("no memory for a picture");
        print_plot(out, point, end - first);
        if (fclose(out))
            FATAL("no memory for a picture");
        snprintf(name, sizeof name, "sweep-%zu-%s.tsv", point->ranks, point->model);
        status = files_replace(directory, name, text);
        free(text);
    }
    return status;
}
